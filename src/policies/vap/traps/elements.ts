/** What macros go through: the elements of lists of an object, of selections from them, of lists that are written down. */
import type { Expr, MacroNode } from '../../cel/ast.ts';
import { keyOf, OUTSIDE, type Elements, type Filter, type Local, type Places, type Scope } from './places.ts';
import { anyOf, NOWHERE } from './presence.ts';

const NOTHING_KNOWN: Elements = { place: NOWHERE, range: undefined, isMap: false, filters: [[]] };

/** Ways to select elements that are told apart. */
const MOST_FILTERS = 8;

/** Functions whose result holds elements of the list that they are called on, and no others. */
const SELECTING: ReadonlySet<string> = new Set(['distinct', 'reverse', 'slice', 'sort', 'value']);

/** What a macro over this expression goes through. */
export function elementsOf(resolver: Places, range: Expr, scope: Scope): Elements {
  const inner = resolver.inVariable(range, 'elements', (body) => elementsOf(resolver, body, OUTSIDE));
  if (inner !== undefined) return inner;
  if (range.kind === 'list') return listed(resolver, range, scope);
  if (range.kind === 'macro') return selected(resolver, range, scope);
  if (range.kind === 'call') {
    const found = called(resolver, range, scope);
    if (found !== undefined) return found;
  }
  const access = resolver.access(range, scope);
  if (access === undefined) return NOTHING_KNOWN;
  const { key, place } = access;
  return {
    place: resolver.presence.element(place),
    range: key,
    isMap: resolver.presence.isMap(place),
    filters: [[]],
  };
}

function listed(resolver: Places, list: Expr & { readonly kind: 'list' }, scope: Scope): Elements {
  const { elements } = list;
  const constants = elements.flatMap(({ value, optional }) => {
    const constant = optional ? undefined : resolver.constant(value, scope);
    return constant === undefined ? [] : [constant];
  });
  if (constants.length === elements.length) return { ...NOTHING_KNOWN, constants };
  const places = elements.map(({ value }) => resolver.access(value, scope)?.place ?? NOWHERE);
  return { ...NOTHING_KNOWN, place: anyOf(places), range: keyOf(list, scope) };
}

function selected(resolver: Places, range: MacroNode, scope: Scope): Elements {
  if (range.variables.length !== 1) return NOTHING_KNOWN;
  const [variable = ''] = range.variables;
  const bound = (local: Local): Scope => new Map([...scope, [variable, local]]);
  if (range.macro === 'optMap' || range.macro === 'optFlatMap') {
    const held = resolver.access(range.range, scope);
    return held === undefined
      ? NOTHING_KNOWN
      : elementsOf(resolver, range.body, bound({ is: 'element', ...held }));
  }
  if (range.macro !== 'filter' && range.macro !== 'map') return NOTHING_KNOWN;
  const of = elementsOf(resolver, range.range, scope);
  const isKept = range.macro === 'filter' || isIdent(range.body, variable);
  const condition = range.macro === 'filter' ? range.body : range.filter;
  if (isKept && condition === undefined) return of;
  if (isKept && condition !== undefined) {
    const filter: Filter = { variable, body: condition, scope };
    const filters = of.filters.map((all) => [...all, filter]);
    // Of a map, these are keys, and each is one of the map.
    return { ...of, range: of.isMap ? of.range : keyOf(range, scope), filters };
  }
  if (of.isMap) return NOTHING_KNOWN;
  const made = resolver.access(range.body, bound({ is: 'element', key: '?', place: of.place }));
  return made === undefined || made.presence === 'never'
    ? NOTHING_KNOWN
    : { ...NOTHING_KNOWN, place: made.place, range: keyOf(range, scope) };
}

function isIdent(expr: Expr, name: string): boolean {
  return expr.kind === 'ident' && expr.name === name;
}

function called(
  resolver: Places,
  range: Expr & { readonly kind: 'call' },
  scope: Scope,
): Elements | undefined {
  const [first, second, third] = range.args;
  const { target } = range;
  if (target !== undefined) {
    if (SELECTING.has(range.function)) return elementsOf(resolver, target, scope);
    const isEither = range.function === 'orValue' || range.function === 'or';
    return isEither && first !== undefined ? both(resolver, [target, first], range, scope) : undefined;
  }
  if (range.function === 'dyn' && first !== undefined) return elementsOf(resolver, first, scope);
  if (first === undefined || second === undefined) return undefined;
  if (range.function === '_+_') return both(resolver, [first, second], range, scope);
  if (range.function !== '_?_:_' || third === undefined) return undefined;
  const value = resolver.constant(first, scope);
  return typeof value === 'boolean'
    ? elementsOf(resolver, value ? second : third, scope)
    : both(resolver, [second, third], range, scope);
}

/** Of two lists in one, or of one of them. */
function both(resolver: Places, exprs: readonly [Expr, Expr], of: Expr, scope: Scope): Elements {
  const [first, second] = [elementsOf(resolver, exprs[0], scope), elementsOf(resolver, exprs[1], scope)];
  if (isEmpty(exprs[0], first)) return { ...second, orNothing: true };
  if (isEmpty(exprs[1], second)) return { ...first, orNothing: true };
  const filters = eitherOf(first.filters, second.filters);
  if (filters.length > MOST_FILTERS || first.isMap !== second.isMap) return NOTHING_KNOWN;
  return {
    place: anyOf([first.place, second.place]),
    range: keyOf(of, scope),
    isMap: first.isMap,
    filters,
  };
}

function isEmpty(expr: Expr, { constants }: Elements): boolean {
  return constants?.length === 0 || (expr.kind === 'map' && expr.entries.length === 0);
}

/** Where some satisfy no condition, nothing is known of all. */
function eitherOf(a: Elements['filters'], b: Elements['filters']): Elements['filters'] {
  const all = [...new Set([...a, ...b])];
  return all.some(({ length }) => length === 0) ? [[]] : all;
}
