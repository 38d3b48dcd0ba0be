/**
 * Types of macros. cel-go expands them before the check, so what is wrong in them is said of the expansion: the same
 * steps are made here, on types alone, at the place of the macro.
 */
import type { Expr, MacroNode } from './ast.ts';
import type { CelType } from './cel-type.ts';
import { BOOL, DYN, INT, listOf, mapOf } from './cel-type.ts';
import type { Checker } from './checker.ts';
import { formatType } from './type-format.ts';

/** Of macros that copy what is before them, one in the range of the other. */
const MAX_COPIES = 5;

const ERROR: CelType = { kind: 'error' };

export function checkMacro(checker: Checker, macro: MacroNode): CelType {
  switch (macro.macro) {
    case 'optMap':
    case 'optFlatMap':
      return checkOptionalMacro(checker, macro);
    case 'sortBy':
      return checkSortBy(checker, macro);
    default:
      return checkComprehension(checker, macro, checker.check(macro.range), macro.range.at);
  }
}

function checkComprehension(
  checker: Checker,
  macro: MacroNode,
  rangeType: CelType,
  rangeAt: number,
): CelType {
  const initial = accumulator(checker, macro);
  const range = checker.unifier.substitute(rangeType, false);
  const types = variableTypes(checker, macro, range, rangeAt);
  const variables = macro.variables.map((name, i) => ({ name, type: types[i] ?? ERROR }));
  checker.inScope(variables, () => {
    const step = stepType(checker, macro, initial, types);
    if (!checker.unifier.isAssignable(initial, step)) checker.mismatch(macro.at, initial, step);
  });
  const result = isCount(macro)
    ? (checker.resolve('_==_', [initial, INT], false, macro.at) ?? ERROR)
    : initial;
  return checker.unifier.substitute(result, false);
}

function isCount(macro: MacroNode): boolean {
  return macro.macro === 'exists_one' || macro.macro === 'existsOne';
}

/** What the expansion begins with. */
function accumulator(checker: Checker, macro: MacroNode): CelType {
  switch (macro.macro) {
    case 'all':
    case 'exists':
      return BOOL;
    case 'exists_one':
    case 'existsOne':
      return INT;
    case 'transformMap':
    case 'transformMapEntry':
      return mapOf(checker.unifier.newVariable(), checker.unifier.newVariable());
    default:
      return listOf(checker.unifier.newVariable());
  }
}

function variableTypes(checker: Checker, macro: MacroNode, range: CelType, rangeAt: number): CelType[] {
  const two = macro.variables.length === 2;
  switch (range.kind) {
    case 'list':
      return two ? [INT, range.element] : [range.element];
    case 'map':
      return two ? [range.key, range.value] : [range.key];
    case 'param':
      checker.unifier.isAssignable(DYN, range);
      return [DYN, DYN];
    case 'dyn':
    case 'error':
      return [DYN, DYN];
    default: {
      const text = `expression of type '${formatType(range)}' cannot be range of a comprehension`;
      checker.report(rangeAt, `${text} (must be list, map, or dynamic)`);
      return [ERROR, ERROR];
    }
  }
}

/** One round of the loop: the type of what the accumulator becomes. */
function stepType(
  checker: Checker,
  macro: MacroNode,
  initial: CelType,
  variables: readonly CelType[],
): CelType {
  const { at, body, filter } = macro;
  switch (macro.macro) {
    case 'all':
    case 'exists':
      return logicStep(checker, body);
    case 'exists_one':
    case 'existsOne': {
      const condition = checker.check(body);
      const more = checker.resolve('_+_', [initial, INT], false, at) ?? ERROR;
      return checker.resolve('_?_:_', [condition, more, initial], false, at) ?? ERROR;
    }
    case 'filter': {
      const condition = checker.check(body);
      const more = checker.resolve('_+_', [initial, listOf(variables[0] ?? ERROR)], false, at) ?? ERROR;
      return checker.resolve('_?_:_', [condition, more, initial], false, at) ?? ERROR;
    }
    default: {
      const condition = filter === undefined ? undefined : checker.check(filter);
      const element = checker.check(body);
      const more = addStep(checker, macro, initial, variables, element);
      if (condition === undefined) return more;
      return checker.resolve('_?_:_', [condition, more, initial], false, at) ?? ERROR;
    }
  }
}

function logicStep(checker: Checker, body: Expr): CelType {
  const type = checker.check(body);
  if (checker.unifier.isAssignable(type, BOOL)) return BOOL;
  checker.mismatch(body.at, BOOL, type);
  return ERROR;
}

function addStep(
  checker: Checker,
  macro: MacroNode,
  initial: CelType,
  variables: readonly CelType[],
  element: CelType,
): CelType {
  switch (macro.macro) {
    case 'transformMap': {
      const entry = [initial, variables[0] ?? ERROR, element];
      return checker.resolve('cel.@mapInsert', entry, false, macro.at) ?? ERROR;
    }
    case 'transformMapEntry':
      return checker.resolve('cel.@mapInsert', [initial, element], false, macro.at) ?? ERROR;
    default:
      return checker.resolve('_+_', [initial, listOf(element)], false, macro.at) ?? ERROR;
  }
}

/**
 * `o.hasValue() ? optional.of(body with o.value()) : optional.none()`. cel-go copies the optional, checks both and says
 * twice what is wrong with it. Within many of these macros the copy is only counted: checking it would take time
 * exponential in their number.
 */
function checkOptionalMacro(checker: Checker, macro: MacroNode): CelType {
  const { at } = macro;
  const errorsBefore = checker.errors.total;
  checker.copies++;
  const range = checker.check(macro.range);
  const errorsBehind = checker.errors.total;
  const condition = checker.resolve('hasValue', [range], true, at) ?? ERROR;
  // The loop that binds the variable goes over an empty list.
  checker.unifier.newVariable();
  let copy = range;
  if (checker.copies <= MAX_COPIES) copy = checker.check(macro.range);
  else checker.errors.repeat(errorsBefore, errorsBehind);
  checker.copies--;
  const value = checker.resolve('value', [copy], true, at) ?? ERROR;
  let body: CelType = ERROR;
  const [name = ''] = macro.variables;
  checker.inScope([{ name, type: value }], () => {
    // The loop would keep its variable, which cel-go looks up: with a leading dot it means another.
    if (name.startsWith('.')) checker.check({ kind: 'ident', id: macro.id, at, name });
    body = checker.check(macro.body);
  });
  body = checker.unifier.substitute(body, false);
  const some = macro.macro === 'optMap' ? (checker.resolve('optional.of', [body], false, at) ?? ERROR) : body;
  const none = checker.resolve('optional.none', [], false, at) ?? ERROR;
  return checker.resolve('_?_:_', [condition, some, none], false, at) ?? ERROR;
}

/** `list.map(v, key)` gives what the list is sorted by. */
function checkSortBy(checker: Checker, macro: MacroNode): CelType {
  checker.unifier.newVariable();
  const list = checker.check(macro.range);
  let sorted: CelType = ERROR;
  checker.inScope([], () => {
    const keys = checkComprehension(checker, macro, list, macro.at);
    sorted = checker.resolveFor(macro.id, '@sortByAssociatedKeys', [list, keys], true, macro.at) ?? ERROR;
  });
  return checker.unifier.substitute(sorted, false);
}
