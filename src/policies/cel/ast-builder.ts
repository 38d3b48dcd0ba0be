/** Nodes of the tree, with the checks that cel-go makes while it builds them: reserved words, literals, macros. */
import type { CallNode, Expr, ListNode, MapNode, StructNode } from './ast.ts';
import type { LiteralReading } from './literals.ts';
import type { Syntax } from './macros.ts';
import { hasMacro, receiverMacro } from './macros.ts';
import { ErrorLog } from './source-error.ts';

/** No names of variables and functions, but names of fields (cel-go parser.go). */
export const RESERVED: ReadonlySet<string> = new Set([
  'as',
  'break',
  'const',
  'continue',
  'else',
  'false',
  'for',
  'function',
  'if',
  'import',
  'in',
  'let',
  'loop',
  'package',
  'namespace',
  'null',
  'return',
  'true',
  'var',
  'void',
  'while',
]);

type Entry = MapNode['entries'][number];
type Field = StructNode['fields'][number];
type Element = ListNode['elements'][number];

export class AstBuilder {
  readonly errors = new ErrorLog();
  readonly #syntax: Syntax;
  #lastId = 0;

  constructor(syntax: Syntax) {
    this.#syntax = syntax;
  }

  id(): number {
    return ++this.#lastId;
  }

  /** Stands where an error is: its kind passes for nothing that macros look for. */
  error(at: number | undefined, message?: string): Expr {
    if (message !== undefined) this.errors.add(at, message);
    return { id: this.id(), at: at ?? 0, kind: 'literal', literal: { type: 'null' } };
  }

  literal(at: number, reading: LiteralReading): Expr {
    if ('error' in reading) return this.error(at, reading.error);
    return { id: this.id(), at, kind: 'literal', literal: reading.literal };
  }

  /** @param at of the name; `start` of the leading dot where there is one. */
  ident(at: number, name: string, leadingDot: boolean, start: number): Expr {
    if (RESERVED.has(name)) return this.error(start, `reserved identifier: ${name}`);
    return { id: this.id(), at, kind: 'ident', name: leadingDot ? `.${name}` : name };
  }

  /** @param at of the parenthesis; `start` of the name or its leading dot. */
  globalCall(at: number, name: string, leadingDot: boolean, start: number, args: readonly Expr[]): Expr {
    if (RESERVED.has(name)) return this.error(start, `reserved identifier: ${name}`);
    const call: CallNode = {
      id: this.id(),
      at,
      kind: 'call',
      function: leadingDot ? `.${name}` : name,
      args,
    };
    if (name !== 'has' || leadingDot || args.length !== 1) return call;
    const has = hasMacro(call);
    return 'kind' in has ? has : this.error(has.at, has.message);
  }

  memberCall(at: number, name: string, target: Expr, args: readonly Expr[]): Expr {
    const call = { id: this.id(), at, kind: 'call', function: name, target, args } as const;
    if (!this.#syntax.macros.has(`${name}:${args.length}`)) return call;
    const macro = receiverMacro(call);
    return 'kind' in macro ? macro : this.error(macro.at, macro.message);
  }

  operator(at: number, name: string, args: readonly Expr[]): Expr {
    return { id: this.id(), at, kind: 'call', function: name, args };
  }

  select(at: number, operand: Expr, field: string, optional: boolean): Expr {
    if (optional && !this.#syntax.optionals) return this.error(at, `unsupported syntax '.?'`);
    return { id: this.id(), at, kind: 'select', operand, field, test: false, optional };
  }

  index(at: number, operand: Expr, index: Expr, optional: boolean): Expr {
    if (optional && !this.#syntax.optionals) {
      this.errors.add(at, `unsupported syntax '[?'`);
      return this.error(at);
    }
    return this.operator(at, optional ? '_[?_]' : '_[_]', [operand, index]);
  }

  /** Names in back quotes are in the grammar and in no environment. */
  escapedName(at: number): void {
    this.errors.add(at, `unsupported syntax: '\`'`);
  }

  /** Whether an optional element, key or field may stand at `at`, where its `?` is. */
  allowsOptional(at: number): boolean {
    if (!this.#syntax.optionals) this.errors.add(at, `unsupported syntax '?'`);
    return this.#syntax.optionals;
  }

  list(at: number, elements: readonly Element[]): Expr {
    return { id: this.id(), at, kind: 'list', elements };
  }

  map(at: number, entries: readonly Entry[]): Expr {
    return { id: this.id(), at, kind: 'map', entries };
  }

  struct(at: number, typeName: string, fields: readonly Field[]): Expr {
    return { id: this.id(), at, kind: 'struct', typeName, fields };
  }

  /** `&&` and `||` of many terms: a balanced tree, so that its depth is the logarithm of their number. */
  balanced(name: string, terms: readonly Expr[], operatorsAt: readonly number[]): Expr {
    return this.#balance(name, terms, operatorsAt, 0, operatorsAt.length - 1);
  }

  #balance(
    name: string,
    terms: readonly Expr[],
    operatorsAt: readonly number[],
    low: number,
    high: number,
  ): Expr {
    const middle = (low + high + 1) >> 1;
    const left = middle === low ? terms[middle] : this.#balance(name, terms, operatorsAt, low, middle - 1);
    const right =
      middle === high ? terms[middle + 1] : this.#balance(name, terms, operatorsAt, middle + 1, high);
    const at = operatorsAt[middle] ?? 0;
    return this.operator(at, name, [left ?? this.error(at), right ?? this.error(at)]);
  }
}
