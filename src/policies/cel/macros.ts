/** Which calls are macros, and what their arguments must look like (cel-go parser/macro.go, ext/, cel/library.go). */
import type { CallNode, Expr, MacroName, MacroNode, SelectNode } from './ast.ts';
import type { SourceError } from './source-error.ts';

/** What the parser has to know of an environment. */
export interface Syntax {
  /** `a.?b`, `a[?b]`, `[?a]`, `{?a: b}`. */
  readonly optionals: boolean;
  /** `all:2`: name and number of arguments of the macros with a receiver; `has` is always there. */
  readonly macros: ReadonlySet<string>;
}

/** In every environment. */
export const STANDARD_MACROS: readonly string[] = [
  'all:2',
  'exists:2',
  'exists_one:2',
  'map:2',
  'map:3',
  'filter:2',
];

export const OPTIONAL_MACROS: readonly string[] = ['optMap:2', 'optFlatMap:2'];

export const TWO_VARIABLE_MACROS: readonly string[] = [
  'all:3',
  'exists:3',
  'exists_one:3',
  'existsOne:3',
  'transformList:3',
  'transformList:4',
  'transformMap:3',
  'transformMap:4',
  'transformMapEntry:3',
  'transformMapEntry:4',
];

export const LIST_MACROS: readonly string[] = ['sortBy:2'];

/** Name of the variable of cel-go's own that no user variable may take. */
const ACCUMULATOR = '__result__';

/** `call` names a macro with a receiver of the environment; its arguments are looked at here. */
export function receiverMacro(call: CallNode & { readonly target: Expr }): MacroNode | SourceError {
  const macro = call.function as MacroName;
  const { args, target } = call;
  const [first, second] = args;
  if (first === undefined || second === undefined) return { at: call.at, message: 'macro without arguments' };
  const base = { id: call.id, at: call.at, kind: 'macro', macro, range: target } as const;
  if (macro === 'optMap' || macro === 'optFlatMap') {
    if (first.kind !== 'ident') return problem(first, `${macro}() variable name must be a simple identifier`);
    return { ...base, variables: [first.name], body: second };
  }
  if (
    macro === 'sortBy' &&
    (target.kind === 'literal' || target.kind === 'map' || target.kind === 'struct')
  ) {
    return problem(
      target,
      'sortBy can only be applied to a list, identifier, comprehension, call or select expression',
    );
  }
  const two =
    macro.startsWith('transform') || macro === 'existsOne' || (args.length === 3 && macro !== 'map');
  const variables = two ? twoVariables(first, second) : oneVariable(macro, first);
  if ('message' in variables) return variables;
  const rest = args.slice(two ? 2 : 1);
  const [filter, body] = rest;
  if (filter === undefined) return problem(first, 'macro without a body');
  return body === undefined ? { ...base, variables, body: filter } : { ...base, variables, filter, body };
}

function oneVariable(macro: MacroName, variable: Expr): string[] | SourceError {
  if (variable.kind !== 'ident') {
    const transforms = macro === 'map' || macro === 'filter' || macro === 'sortBy';
    return problem(variable, transforms ? 'argument is not an identifier' : 'argument must be a simple name');
  }
  if (variable.name === ACCUMULATOR)
    return problem(variable, 'iteration variable overwrites accumulator variable');
  return [variable.name];
}

function twoVariables(first: Expr, second: Expr): string[] | SourceError {
  if (first.kind !== 'ident') return problem(first, 'argument must be a simple name');
  if (second.kind !== 'ident') return problem(second, 'argument must be a simple name');
  if (first.name === second.name) return problem(second, `duplicate variable name: ${first.name}`);
  for (const variable of [first, second]) {
    if (variable.name === ACCUMULATOR)
      return problem(variable, 'iteration variable overwrites accumulator variable');
  }
  return [first.name, second.name];
}

/** `has(operand.field)`. */
export function hasMacro(call: CallNode): SelectNode | SourceError {
  const [operand] = call.args;
  if (operand?.kind !== 'select' || operand.optional) {
    return { at: operand?.at, message: 'invalid argument to has() macro' };
  }
  return { ...operand, id: call.id, at: call.at, test: true };
}

function problem(expr: Expr, message: string): SourceError {
  return { at: expr.at, message };
}
