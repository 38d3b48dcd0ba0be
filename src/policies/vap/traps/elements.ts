/** What macros go through: the elements of lists of an object, of selections from them, of lists that are written down. */
import type { Expr, MacroNode } from '../../cel/ast.ts';
import { OUTSIDE, type Elements, type Local, type Places, type Scope } from './places.ts';
import { NOWHERE } from './presence.ts';

const NOTHING_KNOWN: Elements = { place: NOWHERE, range: undefined, isMap: false, filters: [] };

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
    filters: [],
  };
}

function listed(resolver: Places, { elements }: Expr & { readonly kind: 'list' }, scope: Scope): Elements {
  const constants = elements.flatMap(({ value, optional }) => {
    const constant = optional ? undefined : resolver.constant(value, scope);
    return constant === undefined ? [] : [constant];
  });
  return constants.length === elements.length ? { ...NOTHING_KNOWN, constants } : NOTHING_KNOWN;
}

function selected(resolver: Places, range: MacroNode, scope: Scope): Elements {
  if (range.variables.length !== 1) return NOTHING_KNOWN;
  const [variable = ''] = range.variables;
  const of = elementsOf(resolver, range.range, scope);
  if (range.macro === 'filter') {
    return {
      ...of,
      range: undefined,
      filters: [...of.filters, { variable, body: range.body, scope }],
    };
  }
  if (range.macro !== 'map' || of.isMap || range.filter !== undefined) return NOTHING_KNOWN;
  const element: Local = { is: 'element', key: '?', place: of.place };
  const made = resolver.access(range.body, new Map([...scope, [variable, element]]));
  return made === undefined ? NOTHING_KNOWN : { ...NOTHING_KNOWN, place: made.place };
}

function called(
  resolver: Places,
  range: Expr & { readonly kind: 'call' },
  scope: Scope,
): Elements | undefined {
  const [first, second, third] = range.args;
  if (range.function === 'orValue' && range.target !== undefined)
    return elementsOf(resolver, range.target, scope);
  if (first === undefined || second === undefined) return undefined;
  if (range.function === '_+_') return both(resolver, first, second, scope);
  if (range.function === '_?_:_' && third !== undefined) return both(resolver, second, third, scope);
  return undefined;
}

/** Of two lists that are of the same kind, or of which one is empty. */
function both(resolver: Places, a: Expr, b: Expr, scope: Scope): Elements {
  const [first, second] = [elementsOf(resolver, a, scope), elementsOf(resolver, b, scope)];
  if (first.constants?.length === 0) return { ...second, range: undefined };
  if (second.constants?.length === 0) return { ...first, range: undefined };
  const same = first.place.schema !== undefined && first.place.schema === second.place.schema;
  return same ? { ...NOTHING_KNOWN, place: first.place } : NOTHING_KNOWN;
}
