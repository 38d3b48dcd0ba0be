/** What is known to be there once an expression has come out true, or false. */
import type { Expr, MacroNode } from '../../cel/ast.ts';
import type { Resolver } from './access.ts';
import { OUTSIDE, type Key, type Local, type Scope } from './places.ts';
import { operandsOf } from './walk-expression.ts';

/** Keys of places that are there. */
export type Facts = ReadonlySet<Key>;
export const NO_FACTS: Facts = new Set();

/** Macros within macros, and variables in them: beyond that nothing is found out. */
const MAX_DEPTH = 40;

export class Guards {
  readonly #resolver: Resolver;
  #depth = 0;

  constructor(resolver: Resolver) {
    this.#resolver = resolver;
  }

  /**
   * @param outcome of the expression
   * @param withParents whether what a test reaches through counts as there, as it does where the test has been made
   */
  of(expr: Expr, outcome: boolean, scope: Scope, withParents: boolean): Facts {
    if (this.#depth > MAX_DEPTH) return NO_FACTS;
    this.#depth += 1;
    try {
      return this.#of(expr, outcome, scope, withParents);
    } finally {
      this.#depth -= 1;
    }
  }

  #of(expr: Expr, outcome: boolean, scope: Scope, withParents: boolean): Facts {
    const inner = this.#resolver.inVariable(expr, `facts ${String(outcome)} ${String(withParents)}`, (body) =>
      this.of(body, outcome, OUTSIDE, withParents),
    );
    if (inner !== undefined) return inner;
    if (expr.kind === 'select') {
      if (!expr.test || !outcome) return NO_FACTS;
      const base = this.#resolver.access(expr.operand, scope);
      return base === undefined ? NO_FACTS : present(`${base.key}.${expr.field}`, withParents);
    }
    if (expr.kind === 'macro') return this.#ofMacro(expr, outcome, scope, withParents);
    return expr.kind === 'call' ? this.#ofCall(expr, outcome, scope, withParents) : NO_FACTS;
  }

  #ofCall(
    expr: Expr & { readonly kind: 'call' },
    outcome: boolean,
    scope: Scope,
    withParents: boolean,
  ): Facts {
    const [first, second, third] = expr.args;
    if (expr.target !== undefined)
      return outcome ? this.#ofOptional(expr, expr.target, scope, withParents) : NO_FACTS;
    if (first === undefined) return NO_FACTS;
    switch (expr.function) {
      case '_&&_':
      case '_||_':
        return this.#ofLogic(expr, outcome, scope, withParents);
      case '!_':
        return this.of(first, !outcome, scope, withParents);
      case '_?_:_':
        return second === undefined || third === undefined
          ? NO_FACTS
          : this.#ofChoice([first, second, third], outcome, scope, withParents);
      case '@in':
        return second !== undefined && outcome ? this.#ofKey(first, second, scope, withParents) : NO_FACTS;
      case '_==_':
      case '_!=_':
        return second === undefined
          ? NO_FACTS
          : this.#ofComparison(first, second, (expr.function === '_==_') === outcome, scope, withParents);
      default:
        return NO_FACTS;
    }
  }

  /** `a.?b.hasValue()`, `a.?b.orValue(false)`. */
  #ofOptional(
    { function: name, args }: Expr & { readonly kind: 'call' },
    target: Expr,
    scope: Scope,
    withParents: boolean,
  ): Facts {
    if (name !== 'hasValue' && !(name === 'orValue' && isFalse(args[0]))) return NO_FACTS;
    const access = this.#resolver.access(target, scope);
    return access === undefined ? NO_FACTS : present(access.key, withParents);
  }

  #ofLogic(
    expr: Expr & { readonly kind: 'call' },
    outcome: boolean,
    scope: Scope,
    withParents: boolean,
  ): Facts {
    const isAnd = expr.function === '_&&_';
    const facts = operandsOf(expr, expr.function)
      // One that cannot come out so says nothing of how the others did.
      .filter((one) => this.#resolver.constant(one, scope) !== isAnd)
      .map((one) => this.of(one, outcome, scope, withParents));
    return isAnd === outcome ? union(...facts) : intersection(facts);
  }

  #ofChoice(
    [condition, whenTrue, whenFalse]: readonly [Expr, Expr, Expr],
    outcome: boolean,
    scope: Scope,
    withParents: boolean,
  ): Facts {
    const branches = ([true, false] as const).flatMap((taken) => {
      const branch = taken ? whenTrue : whenFalse;
      const never =
        this.#resolver.constant(condition, scope) === !taken ||
        this.#resolver.constant(branch, scope) === !outcome;
      if (never) return [];
      return [
        union(this.of(condition, taken, scope, withParents), this.of(branch, outcome, scope, withParents)),
      ];
    });
    return intersection(branches);
  }

  /** `'app' in object.metadata.labels`. */
  #ofKey(key: Expr, container: Expr, scope: Scope, withParents: boolean): Facts {
    const base = this.#resolver.access(orNothing(container), scope);
    return base === undefined ? NO_FACTS : present(this.#resolver.member(base, key, scope).key, withParents);
  }

  /** Of a test with `true` or `false`, or of an optional that is not its default. */
  #ofComparison(a: Expr, b: Expr, areEqual: boolean, scope: Scope, withParents: boolean): Facts {
    for (const [one, other] of [
      [a, b],
      [b, a],
    ] as const) {
      if (other.kind !== 'literal') continue;
      if (other.literal.type === 'bool')
        return this.of(one, other.literal.value === areEqual, scope, withParents);
      const fallback = one.kind === 'call' && one.function === 'orValue' ? one.args[0] : undefined;
      if (one.kind !== 'call' || one.target === undefined || fallback?.kind !== 'literal') continue;
      const isFallback = sameLiteral(fallback, other);
      const access = isFallback === areEqual ? undefined : this.#resolver.access(one.target, scope);
      if (access !== undefined) return present(access.key, withParents);
    }
    return NO_FACTS;
  }

  /** What is true of all elements of a list is true of them in the next loop too. */
  #ofMacro(expr: MacroNode, outcome: boolean, scope: Scope, withParents: boolean): Facts {
    const [name = ''] = expr.variables;
    if (expr.variables.length !== 1) return NO_FACTS;
    const { range, place, isMap, orNothing, constants } = this.#resolver.elements(expr.range, scope);
    const isAll = expr.macro === 'all' && outcome;
    const isNone = expr.macro === 'exists' && !outcome;
    if (constants !== undefined) {
      if (!isAll && !isNone) return NO_FACTS;
      const each = constants.map((value) =>
        this.of(expr.body, outcome, new Map([...scope, [name, { is: 'constant', value }]]), withParents),
      );
      return union(...each);
    }
    if (range === undefined || isMap || (!isAll && !isNone)) return NO_FACTS;
    const element: Local = { is: 'element', key: elementKey(range), place };
    const facts = this.of(expr.body, outcome, new Map([...scope, [name, element]]), false);
    return orNothing ? facts : union(facts, present(range, withParents));
  }
}

/** What stands for each element of a list. */
function elementKey(range: Key): Key {
  return `${range}[*]`;
}

/** The facts about each element of a list, as those about this one. */
export function ofElement(facts: Facts, range: Key, element: Key): Facts {
  const prefix = elementKey(range);
  return new Set(
    [...facts].flatMap((key) =>
      key.startsWith(`${prefix}.`) || key.startsWith(`${prefix}[`)
        ? [element + key.slice(prefix.length)]
        : [],
    ),
  );
}

function present(key: Key, withParents: boolean): Facts {
  const facts = new Set([key]);
  if (!withParents) return facts;
  // Keys in brackets have dots too: what they cut off is the name of no place, and does no harm.
  for (let dot = key.lastIndexOf('.'); dot > 0; dot = key.lastIndexOf('.', dot - 1))
    facts.add(key.slice(0, dot));
  return facts;
}

export function union(...all: readonly Facts[]): Facts {
  const some = all.filter(({ size }) => size > 0);
  const [only] = some;
  if (only === undefined) return NO_FACTS;
  if (some.length === 1) return only;
  const together = new Set<Key>();
  for (const facts of some) for (const key of facts) together.add(key);
  return together;
}

export function intersection(all: readonly Facts[]): Facts {
  const [first, ...rest] = all;
  if (first === undefined) return NO_FACTS;
  return rest.length === 0
    ? first
    : new Set([...first].filter((key) => rest.every((facts) => facts.has(key))));
}

/** Of `a.?b.orValue({})`, what holds a key whenever the whole does. */
function orNothing(expr: Expr): Expr {
  if (expr.kind !== 'call' || expr.function !== 'orValue' || expr.target === undefined) return expr;
  const [fallback] = expr.args;
  const isEmpty =
    (fallback?.kind === 'map' && fallback.entries.length === 0) ||
    (fallback?.kind === 'list' && fallback.elements.length === 0);
  return isEmpty ? expr.target : expr;
}

function isFalse(expr: Expr | undefined): boolean {
  return expr?.kind === 'literal' && expr.literal.type === 'bool' && !expr.literal.value;
}

function sameLiteral(a: Expr, b: Expr): boolean {
  if (a.kind !== 'literal' || b.kind !== 'literal') return false;
  const [left, right] = [a.literal, b.literal];
  if (left.type === 'null' || right.type === 'null') return left.type === right.type;
  return left.type === right.type && left.value === right.value;
}
