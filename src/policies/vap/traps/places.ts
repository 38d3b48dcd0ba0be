/** Words for what expressions stand for in one kind of request. */
import type { Expr } from '../../cel/ast.ts';
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

/** What macros go over. */
export interface Elements {
  readonly place: Place;
  /** Of the list or map, where it is one place of an object. */
  readonly range: Key | undefined;
  readonly isMap: boolean;
  /** Conditions that each element satisfies, of the variable it is called there, outermost first. */
  readonly filters: readonly { readonly variable: string; readonly body: Expr; readonly scope: Scope }[];
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
