/**
 * An expression as cel-go estimates it: macros expanded into loops, names resolved. Each node remembers what has been
 * found out about it. What a macro copies stands here once, so that chains of macros stay small.
 */
import type { CallNode, Expr, Literal, MacroNode } from './ast.ts';
import type { CelType } from './cel-type.ts';
import { BOOL, DYN, INT, STRING, listOf, mapOf } from './cel-type.ts';
import type { Checked } from './checker.ts';
import type { Range } from './estimate-range.ts';

/** Sizes of keys (or indices) and values of a list or map. */
export interface EntrySize {
  readonly isList: boolean;
  readonly key: Range;
  readonly value: Range;
}

type Shape =
  | { readonly kind: 'literal'; readonly literal: Literal }
  | { readonly kind: 'ident'; readonly name: string }
  | { readonly kind: 'select'; readonly operand: CostNode }
  | { readonly kind: 'test'; readonly operand: CostNode }
  | {
      readonly kind: 'call';
      readonly function: string;
      readonly overloads: readonly string[];
      readonly target: CostNode | undefined;
      readonly args: readonly CostNode[];
    }
  | { readonly kind: 'list'; readonly elements: readonly CostNode[] }
  | { readonly kind: 'map'; readonly entries: readonly (readonly [key: CostNode, value: CostNode])[] }
  | { readonly kind: 'struct'; readonly values: readonly CostNode[] }
  | {
      readonly kind: 'loop';
      readonly range: CostNode;
      readonly variables: readonly string[];
      readonly initial: CostNode;
      readonly condition: CostNode;
      readonly step: CostNode;
      readonly result: CostNode;
    }
  /** A loop over nothing, that gives a value a name. */
  | { readonly kind: 'bind'; readonly name: string; readonly value: CostNode; readonly result: CostNode };

export interface CostNode {
  readonly type: CelType;
  readonly shape: Shape;
  cost?: Range;
  size?: Range;
  entrySize?: EntrySize;
}

/** Of the loops that macros become: no name of an expression. */
export const ACCUMULATOR = '@result';
const SORTED = '@__sortBy_input__';

function node(type: CelType, shape: Shape): CostNode {
  return { type, shape };
}

function ident(name: string, type: CelType): CostNode {
  return node(type, { kind: 'ident', name });
}

function literal(value: Literal, type: CelType): CostNode {
  return node(type, { kind: 'literal', literal: value });
}

function list(elements: readonly CostNode[], type: CelType): CostNode {
  return node(type, { kind: 'list', elements });
}

function call(
  name: string,
  overload: string | readonly string[],
  type: CelType,
  args: readonly CostNode[],
  target?: CostNode,
): CostNode {
  const overloads = typeof overload === 'string' ? [overload] : overload;
  return node(type, { kind: 'call', function: name, overloads, target, args });
}

/** @param checked an expression without errors. */
export function costTree(checked: Checked): CostNode {
  return new TreeBuilder(checked).build(checked.ast.expr);
}

class TreeBuilder {
  readonly #checked: Checked;

  constructor(checked: Checked) {
    this.#checked = checked;
  }

  build(expr: Expr): CostNode {
    const type = this.#type(expr);
    switch (expr.kind) {
      case 'literal':
        return literal(expr.literal, type);
      case 'ident':
        return ident(this.#name(expr) ?? expr.name, type);
      case 'select': {
        const name = this.#name(expr);
        if (name !== undefined) return ident(name, type);
        const operand = this.build(expr.operand);
        if (expr.test) return node(type, { kind: 'test', operand });
        if (!expr.optional) return node(type, { kind: 'select', operand });
        const field = literal({ type: 'string', value: expr.field }, STRING);
        return call('_?._', 'select_optional_field', type, [operand, field]);
      }
      case 'call':
        return this.#call(expr, type);
      case 'list':
        return list(
          expr.elements.map(({ value }) => this.build(value)),
          type,
        );
      case 'map': {
        const entries = expr.entries.map(({ key, value }) => [this.build(key), this.build(value)] as const);
        return node(type, { kind: 'map', entries });
      }
      case 'struct':
        return node(type, { kind: 'struct', values: expr.fields.map(({ value }) => this.build(value)) });
      default:
        return this.#macro(expr, type);
    }
  }

  #type(expr: Expr): CelType {
    return this.#checked.types.get(expr.id) ?? DYN;
  }

  #name(expr: Expr): string | undefined {
    const reference = this.#checked.references.get(expr.id);
    return reference === undefined || reference.kind === 'function' ? undefined : reference.name;
  }

  #call(expr: CallNode, type: CelType): CostNode {
    const reference = this.#checked.references.get(expr.id);
    const args = expr.args.map((arg) => this.build(arg));
    if (reference?.kind !== 'function') return call(expr.function, [], type, args);
    const target = expr.target === undefined || reference.qualified ? undefined : this.build(expr.target);
    const overloads = reference.overloads.map(({ overload }) => overload.id);
    return call(reference.function.name, overloads, type, args, target);
  }

  #macro(expr: MacroNode, type: CelType): CostNode {
    const range = this.build(expr.range);
    if (expr.macro === 'optMap' || expr.macro === 'optFlatMap') return this.#optionalMacro(expr, type, range);
    if (expr.macro !== 'sortBy') return this.#loop(expr, type, range);
    const keys = this.#loop(expr, listOf(this.#type(expr.body)), ident(SORTED, range.type));
    const reference = this.#checked.references.get(expr.id);
    const overloads =
      reference?.kind === 'function' ? reference.overloads.map(({ overload }) => overload.id) : [];
    const sorted = call('@sortByAssociatedKeys', overloads, type, [keys], ident(SORTED, range.type));
    return node(type, { kind: 'bind', name: SORTED, value: range, result: sorted });
  }

  #optionalMacro(expr: MacroNode, type: CelType, optional: CostNode): CostNode {
    const body = this.build(expr.body);
    const held = optional.type.kind === 'optional' ? optional.type.value : DYN;
    const value = call('value', 'optional_value', held, [], optional);
    const bound = node(body.type, { kind: 'bind', name: expr.variables[0] ?? '', value, result: body });
    const some = expr.macro === 'optMap' ? call('optional.of', 'optional_of', type, [bound]) : bound;
    const none = call('optional.none', 'optional_none', type, []);
    const hasValue = call('hasValue', 'optional_hasValue', BOOL, [], optional);
    return conditional(hasValue, some, none, type);
  }

  #loop(expr: MacroNode, type: CelType, range: CostNode): CostNode {
    const { macro, variables } = expr;
    const body = this.build(expr.body);
    switch (macro) {
      case 'all':
      case 'exists':
        return quantifier(macro, variables, range, body);
      case 'exists_one':
      case 'existsOne':
        return counter(variables, range, body);
      default: {
        const condition = expr.filter === undefined ? undefined : this.build(expr.filter);
        return collector(expr, type, range, condition, body);
      }
    }
  }
}

function conditional(condition: CostNode, whenTrue: CostNode, whenFalse: CostNode, type: CelType): CostNode {
  return call('_?_:_', 'conditional', type, [condition, whenTrue, whenFalse]);
}

function quantifier(
  macro: 'all' | 'exists',
  variables: readonly string[],
  range: CostNode,
  body: CostNode,
): CostNode {
  const accumulator = ident(ACCUMULATOR, BOOL);
  const isAll = macro === 'all';
  const goOn = isAll ? accumulator : call('!_', 'logical_not', BOOL, [accumulator]);
  return node(BOOL, {
    kind: 'loop',
    range,
    variables,
    initial: literal({ type: 'bool', value: isAll }, BOOL),
    condition: call('@not_strictly_false', 'not_strictly_false', BOOL, [goOn]),
    step: call(isAll ? '_&&_' : '_||_', isAll ? 'logical_and' : 'logical_or', BOOL, [
      ident(ACCUMULATOR, BOOL),
      body,
    ]),
    result: ident(ACCUMULATOR, BOOL),
  });
}

function counter(variables: readonly string[], range: CostNode, body: CostNode): CostNode {
  const one = () => literal({ type: 'int', value: 1n }, INT);
  const more = call('_+_', 'add_int64', INT, [ident(ACCUMULATOR, INT), one()]);
  return node(BOOL, {
    kind: 'loop',
    range,
    variables,
    initial: literal({ type: 'int', value: 0n }, INT),
    condition: literal({ type: 'bool', value: true }, BOOL),
    step: conditional(body, more, ident(ACCUMULATOR, INT), INT),
    result: call('_==_', 'equals', BOOL, [ident(ACCUMULATOR, INT), one()]),
  });
}

/** Macros that make a list or a map. */
function collector(
  macro: MacroNode,
  type: CelType,
  range: CostNode,
  filter: CostNode | undefined,
  body: CostNode,
): CostNode {
  const isFilter = macro.macro === 'filter';
  const variable = ident(macro.variables[0] ?? '', variableType(range.type, macro.variables.length === 2));
  const accumulator = () => ident(ACCUMULATOR, type);
  const element = isFilter ? variable : body;
  const condition = isFilter ? body : filter;
  const makesMap = macro.macro === 'transformMap' || macro.macro === 'transformMapEntry';
  let more: CostNode;
  if (macro.macro === 'transformMap') {
    more = call('cel.@mapInsert', '@mapInsert_map_key_value', type, [accumulator(), variable, element]);
  } else if (macro.macro === 'transformMapEntry') {
    more = call('cel.@mapInsert', '@mapInsert_map_map', type, [accumulator(), element]);
  } else {
    more = call('_+_', 'add_list', type, [accumulator(), list([element], listOf(element.type))]);
  }
  return node(type, {
    kind: 'loop',
    range,
    variables: macro.variables,
    initial: makesMap ? node(mapOf(DYN, DYN), { kind: 'map', entries: [] }) : list([], type),
    condition: literal({ type: 'bool', value: true }, BOOL),
    step: condition === undefined ? more : conditional(condition, more, accumulator(), type),
    result: accumulator(),
  });
}

/** Of the first variable of a loop. */
function variableType(range: CelType, two: boolean): CelType {
  if (range.kind === 'list') return two ? INT : range.element;
  return range.kind === 'map' ? range.key : DYN;
}
