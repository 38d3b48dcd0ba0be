/** Words for what expressions stand for in one kind of request. */
import type { Expr } from '../../cel/ast.ts';
import { print } from '../../cel/printer.ts';
import { identName, nodesOf } from './walk-expression.ts';
import type { ObjectPresence, Place, Presence } from './presence.ts';

/** The same text for the same place: `object.spec.replicas`, `object.metadata.labels.app`, `c#1.image`. */
export type Key = string;

export interface Access {
  readonly key: Key;
  readonly place: Place;
  /** Of the last step, if everything before it is there. */
  readonly presence: Presence;
  /** Whether everything before the last step is always there. */
  readonly isReached: boolean;
}

export type Constant = string | boolean | bigint | null;

/** What the variable of a macro stands for. */
export type Local =
  | { readonly is: 'element'; readonly key: Key; readonly place: Place }
  /** A key of the map at `map`. */
  | { readonly is: 'key'; readonly key: Key; readonly map: Key }
  | { readonly is: 'constant'; readonly value: Constant };

export type Scope = ReadonlyMap<string, Local>;
export const OUTSIDE: Scope = new Map();

/** A condition that elements were selected by, of the variable they are called there. */
export interface Filter {
  readonly variable: string;
  readonly body: Expr;
  readonly scope: Scope;
}

/** What macros go over. */
export interface Elements {
  readonly place: Place;
  /** Of the list or map; of one that was put together, a name that no place has. */
  readonly range: Key | undefined;
  readonly isMap: boolean;
  /** Where the range may be absent, and something without elements is gone over in its place. */
  readonly orNothing?: true;
  /** Each element satisfies all conditions of one of these; of lists put together, they differ. */
  readonly filters: readonly (readonly Filter[])[];
  /** All of them, where they are written down. */
  readonly constants?: readonly Constant[];
}

/** Finds out what an expression stands for (access.ts). */
export interface Places {
  readonly presence: ObjectPresence;
  /**
   * Runs with the expression of a variable in place of its name, once for each question: variables may use variables,
   * twice each.
   *
   * @returns undefined for what is no variable
   */
  inVariable<T>(expr: Expr, question: string, run: (inner: Expr) => T): T | undefined;
  /** @returns undefined for what is no place in an object */
  access(expr: Expr, scope: Scope): Access | undefined;
  /** @returns what the expression gives in every request of this kind; undefined where that is not known */
  constant(expr: Expr, scope: Scope): Constant | undefined;
}

/** Of what is no place: as it is written, with the local variables that it uses. No place has such a name. */
export function keyOf(expr: Expr, scope: Scope): Key {
  const locals = new Set<string>();
  for (const node of nodesOf(expr)) {
    const local = scope.get(identName(node) ?? '');
    if (local?.is === 'constant') locals.add(JSON.stringify(String(local.value)));
    else if (local !== undefined) locals.add(local.key);
  }
  return `(${[print(expr), ...locals].join(' of ')})`;
}
