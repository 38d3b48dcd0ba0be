/**
 * What is looked at after the types: the elements of list and map literals, then literals that must be durations,
 * timestamps or patterns, and constant formats (cel-go cel/validator.go, ext/formatting.go), in that order.
 */
import type { CallNode, Expr, ListNode, MacroNode, MapNode } from './ast.ts';
import type { CelType } from './cel-type.ts';
import { DYN } from './cel-type.ts';
import type { Checked } from './checker.ts';
import { checkFormat } from './libraries/format-check.ts';
import { compilePattern } from './libraries/patterns.ts';
import { ErrorLog } from './source-error.ts';
import { formatType } from './type-format.ts';
import { isExactType } from './unifier.ts';
import { CelError, type Value, intOf } from './values.ts';

/** The API server's process of compiling falls over this one: cel-go does not expect a dyn behind `?`. */
const PANIC = 'runtime error: index out of range [0] with length 0';

export interface Validation {
  readonly errors: ErrorLog;
  /** What Go says where compiling panics; nothing else counts then. */
  readonly panic?: string;
}

interface Found<Node> {
  readonly node: Node;
  /** How often it stands in the tree that cel-go looks at: `optMap` copies the optional. */
  readonly copies: number;
}

/** Nodes by kind, inner ones first. */
class Finder {
  readonly calls: Found<CallNode>[] = [];
  /** Without those in arguments of `format`. */
  readonly lists: Found<ListNode>[] = [];
  readonly maps: Found<MapNode>[] = [];

  visit(expr: Expr, exempt: boolean, copies: number): void {
    switch (expr.kind) {
      case 'select':
        this.visit(expr.operand, exempt, copies);
        break;
      case 'call': {
        const below = exempt || expr.function === 'format';
        if (expr.target !== undefined) this.visit(expr.target, below, copies);
        for (const arg of expr.args) this.visit(arg, below, copies);
        this.calls.push({ node: expr, copies });
        break;
      }
      case 'list':
        for (const { value } of expr.elements) this.visit(value, exempt, copies);
        if (!exempt) this.lists.push({ node: expr, copies });
        break;
      case 'map':
        this.#visitEntries(expr, exempt, copies);
        if (!exempt) this.maps.push({ node: expr, copies });
        break;
      case 'struct':
        for (const { value } of expr.fields) this.visit(value, exempt, copies);
        break;
      case 'macro':
        this.#visitMacro(expr, exempt, copies);
        break;
      default:
    }
  }

  #visitEntries(expr: MapNode, exempt: boolean, copies: number): void {
    for (const { key, value } of expr.entries) {
      this.visit(key, exempt, copies);
      this.visit(value, exempt, copies);
    }
  }

  #visitMacro(expr: MacroNode, exempt: boolean, copies: number): void {
    const copied = expr.macro === 'optMap' || expr.macro === 'optFlatMap';
    this.visit(expr.range, exempt, copied ? copies * 2 : copies);
    if (expr.filter !== undefined) this.visit(expr.filter, exempt, copies);
    this.visit(expr.body, exempt, copies);
  }
}

/** @param literals whether the environment has more of it than the look at lists and maps. */
export function validate(checked: Checked, literals: boolean): Validation {
  const finder = new Finder();
  finder.visit(checked.ast.expr, false, 1);
  const errors = new ErrorLog();
  const typeOf = (id: number): CelType => checked.types.get(id) ?? DYN;
  for (const { node, copies } of finder.lists) {
    if (!validateList(node, typeOf, errors, copies)) return { errors, panic: PANIC };
  }
  for (const { node, copies } of finder.maps) {
    if (!validateMap(node, typeOf, errors, copies)) return { errors, panic: PANIC };
  }
  if (literals) validateCalls(checked, finder.calls, typeOf, errors);
  return { errors };
}

function validateCalls(
  checked: Checked,
  calls: readonly Found<CallNode>[],
  typeOf: TypeOf,
  errors: ErrorLog,
): void {
  for (const name of ['duration', 'timestamp']) {
    for (const { node, copies } of calls) {
      if (nameOf(node) !== name || !isInvalidCall(checked, node)) continue;
      errors.add(node.args[0]?.at, `invalid ${name} argument`, copies);
    }
  }
  for (const { node, copies } of calls) {
    if (nameOf(node) !== 'matches' || !isInvalidPattern(node)) continue;
    errors.add(node.args[0]?.at, 'invalid matches argument', copies);
  }
  for (const { node, copies } of calls) {
    const fault = formatFault(node, typeOf);
    if (fault !== undefined) errors.add(fault.at, fault.message, copies);
  }
}

/** Without the leading dot that a global function may be written with: the check has resolved it. */
function nameOf(node: CallNode): string {
  return node.function.startsWith('.') ? node.function.slice(1) : node.function;
}

/** Whether the call fails on its literal. */
function isInvalidCall(checked: Checked, node: CallNode): boolean {
  const [arg] = node.args;
  const reference = checked.references.get(node.id);
  if (arg?.kind !== 'literal' || reference?.kind !== 'function') return false;
  const { literal } = arg;
  if (literal.type !== 'string' && literal.type !== 'int') return true;
  const value: Value = literal.type === 'string' ? literal.value : intOf(literal.value);
  const [resolved] = reference.overloads;
  return resolved === undefined || resolved.overload.impl(value) instanceof CelError;
}

/** The first argument behind the receiver; of the global function that is the text, as cel-go has it. */
function isInvalidPattern(node: CallNode): boolean {
  const [arg] = node.args;
  if (arg?.kind !== 'literal' || arg.literal.type !== 'string') return false;
  return compilePattern(arg.literal.value) instanceof CelError;
}

type TypeOf = (id: number) => CelType;

/** @returns undefined where Go panics. */
function elementType(type: CelType, optional: boolean): CelType | undefined {
  if (!optional) return type;
  return type.kind === 'optional' ? type.value : undefined;
}

function validateList(node: ListNode, typeOf: TypeOf, errors: ErrorLog, copies: number): boolean {
  let expected: CelType | undefined;
  for (const { value, optional } of node.elements) {
    const type = elementType(typeOf(value.id), optional);
    if (type === undefined) return false;
    expected ??= type;
    if (isExactType(expected, type)) continue;
    mismatch(value, expected, type, errors, copies);
    break;
  }
  return true;
}

function validateMap(node: MapNode, typeOf: TypeOf, errors: ErrorLog, copies: number): boolean {
  let keys: CelType | undefined;
  let values: CelType | undefined;
  for (const { key, value, optional } of node.entries) {
    const keyType = typeOf(key.id);
    const valueType = elementType(typeOf(value.id), optional);
    if (valueType === undefined) return false;
    keys ??= keyType;
    values ??= valueType;
    if (!isExactType(keys, keyType)) mismatch(key, keys, keyType, errors, copies);
    if (!isExactType(values, valueType)) mismatch(value, values, valueType, errors, copies);
  }
  return true;
}

function mismatch(expr: Expr, expected: CelType, found: CelType, errors: ErrorLog, copies: number): void {
  errors.add(expr.at, `expected type '${formatType(expected)}' but found '${formatType(found)}'`, copies);
}

/** A constant format with arguments that are written as a list. */
function formatFault(node: CallNode, typeOf: TypeOf): { at: number; message: string } | undefined {
  const { target, args } = node;
  if (node.function !== 'format' || target?.kind !== 'literal' || target.literal.type !== 'string')
    return undefined;
  const [list] = args;
  if (args.length !== 1 || list?.kind !== 'list') return undefined;
  const elements = list.elements.map(({ value }) => value);
  const fault = checkFormat(target.literal.value, elements, typeOf);
  if (fault === undefined) return undefined;
  return { at: placeOf(fault.node, elements) ?? node.at, message: fault.message };
}

function placeOf(id: number | undefined, among: readonly Expr[]): number | undefined {
  for (const expr of among) {
    if (expr.id === id) return expr.at;
    if (expr.kind === 'list') {
      const at = placeOf(
        id,
        expr.elements.map(({ value }) => value),
      );
      if (at !== undefined) return at;
    }
    if (expr.kind === 'map') {
      const at = placeOf(
        id,
        expr.entries.flatMap(({ key, value }) => [key, value]),
      );
      if (at !== undefined) return at;
    }
  }
  return undefined;
}
