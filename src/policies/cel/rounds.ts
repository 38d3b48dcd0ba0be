/** What a macro goes over: a list, or a map by its keys. */
import { VariableScope } from './activation.ts';
import { isMap } from './equality.ts';
import type { Frame } from './frame.ts';
import { goTypeName } from './go-type-name.ts';
import { NO_SUCH_OVERLOAD } from './ordering.ts';
import { missing } from './qualify.ts';
import { CelError, CelMap, type JsonMap, type Value } from './values.ts';

/** What the variables of a macro are in each round. */
export interface Rounds {
  readonly count: number;
  /** Undefined: the number of the round. */
  readonly first: readonly Value[] | undefined;
  /** Of macros of two variables. */
  readonly second: readonly Value[] | undefined;
}

/** Rounds of one variable: elements, or keys. @returns the error of what cannot be gone over. */
export function singleRounds(frame: Frame, range: Value): Rounds | CelError {
  if (Array.isArray(range)) {
    const first = range as readonly Value[];
    return { count: first.length, first, second: undefined };
  }
  if (!isMap(range)) {
    if (range instanceof VariableScope) return scopeRounds(range);
    return new CelError(`got '${goTypeName(range)}', expected iterable type`);
  }
  const first = keysOf(frame, range);
  return { count: first.length, first, second: undefined };
}

/** Rounds of two variables: index and element, or key and value. */
export function doubleRounds(frame: Frame, range: Value): Rounds | CelError {
  if (Array.isArray(range)) {
    const second = range as readonly Value[];
    return { count: second.length, first: undefined, second };
  }
  if (!isMap(range)) {
    if (range instanceof VariableScope) return scopeRounds(range);
    return new CelError(`unsupported comprehension range type: ${goTypeName(range)}`);
  }
  if (!(range instanceof CelMap)) {
    const first = frame.keysOf(range);
    frame.effort.elements(first.length);
    return { count: first.length, first, second: first.map((key) => range[key] as Value) };
  }
  const entries = entriesOf(frame, range);
  return {
    count: entries.length,
    first: entries.map(([key]) => key),
    second: entries.map(([, value]) => value),
  };
}

function keysOf(frame: Frame, map: CelMap | JsonMap): readonly Value[] {
  return map instanceof CelMap ? entriesOf(frame, map).map(([key]) => key) : frame.keysOf(map);
}

function entriesOf(frame: Frame, map: CelMap): readonly (readonly [key: Value, value: Value])[] {
  frame.effort.entries(map.size);
  return [...map.entries()];
}

/** The variables of a policy as a whole: Kubernetes goes over their values, and takes these for keys. */
export function scopeRounds(scope: VariableScope): Rounds {
  const first = [...scope.names()].map((name) => scope.get(name) ?? null);
  const second = first.map((key): Value => {
    if (typeof key !== 'string') return NO_SUCH_OVERLOAD;
    const value = scope.get(key);
    return value === undefined ? missing(scope, key) : value;
  });
  return { count: first.length, first, second };
}
