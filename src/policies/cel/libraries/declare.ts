/** Short forms for the tables of functions that a library declares. */
import type { CelType } from '../cel-type.ts';
import type { CallFacts, FunctionDefinition, Overload } from '../library.ts';
import { STRING_TRAVERSAL, actualSize } from '../sizes.ts';
import type { Value } from '../values.ts';

/** What an overload does, over the types that it declares: dispatch has looked at the arguments (library.ts). */
type Implementation<Arguments extends readonly unknown[]> = (...args: Arguments) => Value;

function overload<Arguments extends readonly unknown[]>(
  id: string,
  member: boolean,
  params: readonly CelType[],
  result: CelType,
  impl: Implementation<Arguments>,
): Overload {
  return { id, member, params, result, impl: impl as unknown as Overload['impl'] };
}

/** `name(…)`. */
export function global<Arguments extends readonly unknown[]>(
  id: string,
  params: readonly CelType[],
  result: CelType,
  impl: Implementation<Arguments>,
): Overload {
  return overload(id, false, params, result, impl);
}

/** `receiver.name(…)`: the first parameter is the receiver. */
export function member<Arguments extends readonly unknown[]>(
  id: string,
  params: readonly CelType[],
  result: CelType,
  impl: Implementation<Arguments>,
): Overload {
  return overload(id, true, params, result, impl);
}

export function define(
  name: string,
  cost: FunctionDefinition['cost'],
  overloads: readonly Overload[],
): FunctionDefinition {
  return cost === undefined ? { name, overloads } : { name, overloads, cost };
}

/** Accessors cost one unit, whatever they do. */
export function unitCost(): number {
  return 1;
}

/** Reading the first argument once: a tenth of its size, rounded up. */
export function readingCost({ args }: CallFacts): number {
  return Math.ceil(actualSize(args[0] ?? null) * STRING_TRAVERSAL);
}
