/** Static types, names and overloads of an expression (cel-go checker/checker.go). */
import type { Ast, CallNode, Expr, IdentNode, ListNode, MapNode, SelectNode, StructNode } from './ast.ts';
import type { CelType } from './cel-type.ts';
import { BOOL, BYTES, DOUBLE, DYN, INT, NULL, STRING, UINT, listOf, mapOf, optionalOf } from './cel-type.ts';
import { checkMacro } from './checker-macros.ts';
import type { DeclaredFunction, DeclaredOverload, Environment, NamedConstant } from './environment.ts';
import { constantType } from './environment.ts';
import { ErrorLog } from './source-error.ts';
import { formatSignature, formatType, typeName } from './type-format.ts';
import { Unifier, isDyn, isDynOrError, isExactType } from './unifier.ts';

/** What a node stands for, beside what it says itself. */
export type Reference =
  /** An identifier, or a chain of selections, that is a variable of the environment or of a macro. */
  | { readonly kind: 'variable'; readonly name: string }
  | { readonly kind: 'constant'; readonly name: string; readonly constant: NamedConstant }
  | {
      readonly kind: 'function';
      /** With its qualifier, where the receiver turned out to be one: there is no receiver then. */
      readonly function: DeclaredFunction;
      readonly qualified: boolean;
      /** Those that the static types leave open, in order; at least one. */
      readonly overloads: readonly DeclaredOverload[];
    };

export interface Checked {
  readonly ast: Ast;
  readonly type: CelType;
  readonly types: ReadonlyMap<number, CelType>;
  /** By node id; of macros, `sortBy` alone has one. */
  readonly references: ReadonlyMap<number, Reference>;
}

const ERROR: CelType = { kind: 'error' };

/** Types that may be built under another name than that of their message. */
const WELL_KNOWN_NAMES: Partial<Record<CelType['kind'], string>> = {
  timestamp: 'google.protobuf.Timestamp',
  duration: 'google.protobuf.Duration',
};

const LITERAL_TYPES = {
  null: NULL,
  bool: BOOL,
  int: INT,
  uint: UINT,
  double: DOUBLE,
  string: STRING,
  bytes: BYTES,
} as const;

/** @returns errors in the order they were found. */
export function check(ast: Ast, environment: Environment): Checked | { readonly errors: ErrorLog } {
  const checker = new Checker(environment);
  checker.check(ast.expr);
  if (checker.errors.total > 0) return { errors: checker.errors };
  return checker.finish(ast);
}

export class Checker {
  readonly errors = new ErrorLog();
  readonly unifier = new Unifier();
  /** How many macros copy the expression that is being checked. */
  copies = 0;
  readonly #environment: Environment;
  readonly #types = new Map<number, CelType>();
  readonly #references = new Map<number, Reference>();
  /** Variables of the macros around the node, innermost last. */
  readonly #locals: { readonly name: string; readonly type: CelType }[] = [];
  #crossTypeComparisons: boolean;

  constructor(environment: Environment) {
    this.#environment = environment;
    this.#crossTypeComparisons = environment.crossTypeComparisons;
  }

  finish(ast: Ast): Checked {
    for (const [id, type] of this.#types) {
      const substituted = this.unifier.substitute(type, true);
      if (substituted !== type) this.#types.set(id, substituted);
    }
    const type = this.#types.get(ast.expr.id) ?? DYN;
    return { ast, type, types: this.#types, references: this.#references };
  }

  /** @returns the type, which may hold variables. */
  check(expr: Expr): CelType {
    const type = this.#typeOf(expr);
    this.#types.set(expr.id, type);
    return type;
  }

  report(at: number, message: string): void {
    this.errors.add(at, message);
  }

  mismatch(at: number, expected: CelType, found: CelType): void {
    this.report(at, `expected type '${formatType(expected)}' but found '${formatType(found)}'`);
  }

  /** Checks with variables declared around; `check` runs inside. */
  inScope(variables: readonly { readonly name: string; readonly type: CelType }[], run: () => void): void {
    // cel-go forgets its filter of overloads where it enters a scope, and never finds it again.
    this.#crossTypeComparisons = true;
    const outside = this.#locals.length;
    this.#locals.push(...variables);
    run();
    this.#locals.length = outside;
  }

  /** @returns the type of the call; undefined where no overload fits, which is reported. */
  resolve(name: string, args: readonly CelType[], member: boolean, at: number): CelType | undefined {
    const declared = this.#environment.functions.get(name);
    if (declared === undefined) {
      this.#undeclared(at, name);
      return undefined;
    }
    return this.#resolve(declared, args, member, at)?.type;
  }

  /** The same, for the function that a macro ends with: it is what the macro refers to. */
  resolveFor(
    id: number,
    name: string,
    args: readonly CelType[],
    member: boolean,
    at: number,
  ): CelType | undefined {
    const declared = this.#environment.functions.get(name);
    const resolution = declared && this.#resolve(declared, args, member, at);
    if (declared === undefined || resolution === undefined) return undefined;
    this.#references.set(id, {
      kind: 'function',
      function: declared,
      qualified: false,
      overloads: resolution.overloads,
    });
    return resolution.type;
  }

  #undeclared(at: number, name: string): void {
    this.report(at, `undeclared reference to '${name}' (in container '')`);
  }

  #typeOf(expr: Expr): CelType {
    switch (expr.kind) {
      case 'literal':
        return LITERAL_TYPES[expr.literal.type];
      case 'ident':
        return this.#ident(expr);
      case 'select':
        return this.#select(expr);
      case 'call':
        return this.#call(expr);
      case 'list':
        return this.#list(expr);
      case 'map':
        return this.#map(expr);
      case 'struct':
        return this.#struct(expr);
      default:
        return checkMacro(this, expr);
    }
  }

  /** @param name as written, perhaps with a leading dot. */
  #lookUp(id: number, name: string): CelType | undefined {
    const plain = name.startsWith('.') ? name.slice(1) : name;
    for (let i = this.#locals.length - 1; i >= 0; i--) {
      const local = this.#locals[i];
      if (local?.name !== plain) continue;
      this.#references.set(id, { kind: 'variable', name: plain });
      return local.type;
    }
    const variable = this.#environment.variables.get(plain);
    if (variable !== undefined) {
      this.#references.set(id, { kind: 'variable', name: plain });
      return variable;
    }
    const constant = this.#environment.constants.get(plain);
    if (constant === undefined) return undefined;
    this.#references.set(id, { kind: 'constant', name: plain, constant });
    return constantType(constant);
  }

  #ident(expr: IdentNode): CelType {
    const type = this.#lookUp(expr.id, expr.name);
    if (type !== undefined) return type;
    this.#undeclared(expr.at, expr.name);
    return ERROR;
  }

  #select(expr: SelectNode): CelType {
    const name = this.#environment.qualifiers.has(rootName(expr)) ? qualifiedName(expr) : undefined;
    const named = name === undefined ? undefined : this.#lookUp(expr.id, name);
    if (named !== undefined) return named;
    const field = this.#field(expr);
    return expr.test ? BOOL : this.unifier.substitute(field, false);
  }

  #field(expr: SelectNode): CelType {
    const operand = this.unifier.substitute(this.check(expr.operand), false);
    const target = operand.kind === 'optional' ? operand.value : operand;
    let type: CelType;
    if (target.kind === 'map') type = target.value;
    else if (isMessage(target)) type = this.#fieldOf(target.name, expr.field, expr.at) ?? ERROR;
    else {
      if (target.kind === 'param') this.unifier.isAssignable(DYN, target);
      else if (!isDynOrError(target)) {
        this.report(expr.at, `type '${formatType(target)}' does not support field selection`);
      }
      type = DYN;
    }
    return operand.kind === 'optional' || expr.optional ? optionalOf(type) : type;
  }

  #fieldOf(message: string, field: string, at: number): CelType | undefined {
    const fields = this.#environment.messages.get(message)?.fields;
    if (fields === undefined) {
      this.report(at, `unexpected failed resolution of '${message}'`);
      return undefined;
    }
    const type = fields.get(field);
    if (type === undefined) this.report(at, `undefined field '${field}'`);
    return type;
  }

  #call(expr: CallNode): CelType {
    const args = expr.args.map((arg) => this.check(arg));
    const { target } = expr;
    if (target === undefined) return this.#resolveAt(expr, globalName(expr.function), args, false, false);
    const qualifier = this.#environment.qualifiers.has(rootName(target)) ? qualifiedName(target) : undefined;
    if (qualifier !== undefined) {
      const name = globalName(`${qualifier}.${expr.function}`);
      if (this.#environment.functions.has(name)) return this.#resolveAt(expr, name, args, false, true);
    }
    const receiver = this.check(target);
    return this.#resolveAt(expr, expr.function, [receiver, ...args], true, false);
  }

  #resolveAt(expr: CallNode, name: string, args: CelType[], member: boolean, qualified: boolean): CelType {
    const declared = this.#environment.functions.get(name);
    if (declared === undefined) {
      this.#undeclared(expr.at, expr.target === undefined ? expr.function : name);
      return ERROR;
    }
    if (name === '_&&_' || name === '_||_') return this.#logic(expr, declared, args);
    const resolution = this.#resolve(declared, args, member, expr.at);
    if (resolution === undefined) return ERROR;
    const { overloads } = resolution;
    this.#references.set(expr.id, { kind: 'function', function: declared, qualified, overloads });
    return resolution.type;
  }

  /** `&&` and `||` say which operand is no bool. */
  #logic(expr: CallNode, declared: DeclaredFunction, args: readonly CelType[]): CelType {
    let failed = false;
    args.forEach((type, i) => {
      if (this.unifier.isAssignable(type, BOOL)) return;
      this.mismatch(expr.args[i]?.at ?? expr.at, BOOL, type);
      failed = true;
    });
    if (failed) return ERROR;
    const { overloads } = declared;
    this.#references.set(expr.id, { kind: 'function', function: declared, qualified: false, overloads });
    return BOOL;
  }

  #resolve(
    declared: DeclaredFunction,
    args: readonly CelType[],
    member: boolean,
    at: number,
  ): { readonly type: CelType; readonly overloads: readonly DeclaredOverload[] } | undefined {
    const overloads: DeclaredOverload[] = [];
    let type: CelType | undefined;
    for (const candidate of declared.overloads) {
      const { overload } = candidate;
      if (overload.member !== member || (candidate.crossType && !this.#crossTypeComparisons)) continue;
      const fresh = candidate.generic ? new Map<string, CelType>() : undefined;
      // Variables are counted, fitting or not: their numbers show in texts.
      const wanted =
        fresh === undefined ? overload.params : overload.params.map((param) => this.#instance(param, fresh));
      const result = fresh === undefined ? overload.result : this.#instance(overload.result, fresh);
      if (!this.unifier.areAssignable(args, wanted)) continue;
      overloads.push(candidate);
      const found = this.unifier.substitute(result, false);
      if (type === undefined) type = found;
      else if (!isDyn(type) && !isExactType(found, type)) type = DYN;
    }
    if (type !== undefined) return { type, overloads };
    const given = args.map((arg) => this.unifier.substitute(arg, true));
    const signature = formatSignature(given, member);
    this.report(at, `found no matching overload for '${declared.name}' applied to '${signature}'`);
    return undefined;
  }

  #instance(type: CelType, fresh: Map<string, CelType>): CelType {
    switch (type.kind) {
      case 'param': {
        let variable = fresh.get(type.name);
        if (variable === undefined) {
          variable = this.unifier.newVariable();
          fresh.set(type.name, variable);
        }
        return variable;
      }
      case 'list':
        return listOf(this.#instance(type.element, fresh));
      case 'map':
        return mapOf(this.#instance(type.key, fresh), this.#instance(type.value, fresh));
      case 'optional':
        return optionalOf(this.#instance(type.value, fresh));
      case 'type':
        return type.of === undefined ? type : { kind: 'type', of: this.#instance(type.of, fresh) };
      default:
        return type;
    }
  }

  #list(expr: ListNode): CelType {
    let joined: CelType | undefined;
    for (const { value, optional } of expr.elements) {
      const type = this.check(value);
      joined = this.#join(joined, optional ? this.#unwrap(value, type) : type);
    }
    return listOf(joined ?? this.unifier.newVariable());
  }

  #map(expr: MapNode): CelType {
    let keys: CelType | undefined;
    let values: CelType | undefined;
    for (const { key, value, optional } of expr.entries) {
      keys = this.#join(keys, this.check(key));
      const type = this.check(value);
      values = this.#join(values, optional ? this.#unwrap(value, type) : type);
    }
    if (keys === undefined || values === undefined)
      return mapOf(this.unifier.newVariable(), this.unifier.newVariable());
    return mapOf(keys, values);
  }

  /** What is behind `?` is an optional of what the literal holds. */
  #unwrap(expr: Expr, type: CelType): CelType {
    if (type.kind === 'optional') return type.value;
    if (!isDyn(type)) this.mismatch(expr.at, optionalOf(type), type);
    return type;
  }

  /** What elements of both types have in common; that they are of one type is for validators.ts to say. */
  #join(previous: CelType | undefined, current: CelType): CelType {
    if (previous === undefined) return current;
    return this.unifier.isAssignable(previous, current) ? this.unifier.mostGeneral(previous, current) : DYN;
  }

  #struct(expr: StructNode): CelType {
    const type = this.#lookUp(expr.id, expr.typeName);
    if (type === undefined) {
      this.#undeclared(expr.at, expr.typeName);
      return ERROR;
    }
    const of = type.kind === 'type' ? type.of : undefined;
    const name = (of === undefined ? undefined : WELL_KNOWN_NAMES[of.kind]) ?? globalName(expr.typeName);
    const result = this.#messageType(expr, name, type);
    for (const field of expr.fields) {
      const given = this.check(field.value);
      const wanted = this.#fieldOf(name, field.name, field.at) ?? ERROR;
      const value = field.optional ? this.#unwrap(field.value, given) : given;
      if (this.unifier.isAssignable(wanted, value)) continue;
      const types = `is '${formatType(wanted)}' but provided type is '${formatType(value)}'`;
      this.report(field.at, `expected type of field '${field.name}' ${types}`);
    }
    return result;
  }

  #messageType(expr: StructNode, name: string, type: CelType): CelType {
    if (type.kind === 'error') return ERROR;
    if (type.kind !== 'type') {
      this.report(expr.at, `'${typeName(type)}' is not a type`);
      return ERROR;
    }
    const message = this.#environment.messages.get(name);
    if (message !== undefined) return message.type;
    this.report(expr.at, `'${type.of === undefined ? 'type' : typeName(type.of)}' is not a message type`);
    return ERROR;
  }
}

/** Types that are messages to cel-go: their fields are looked up, and those of Kubernetes' own types never found. */
function isMessage(type: CelType): type is CelType & { readonly kind: 'struct' | 'opaque' } {
  return type.kind === 'struct' || (type.kind === 'opaque' && type.name.startsWith('kubernetes.'));
}

function globalName(name: string): string {
  return name.startsWith('.') ? name.slice(1) : name;
}

/** The name that a chain of plain selections begins with; empty where it begins with something else. */
function rootName(expr: Expr): string {
  let root = expr;
  while (root.kind === 'select' && !root.test && !root.optional) root = root.operand;
  return root.kind === 'ident' ? globalName(root.name) : '';
}

/** `a.b.c` of a chain of plain selections. */
function qualifiedName(expr: Expr): string | undefined {
  if (expr.kind === 'ident') return expr.name;
  if (expr.kind !== 'select' || expr.test || expr.optional) return undefined;
  const qualifier = qualifiedName(expr.operand);
  return qualifier === undefined ? undefined : `${qualifier}.${expr.field}`;
}
