/**
 * ajv knows no bigint. Integers beyond 2^53 become the nearest number, so that their kind and their order against limits
 * hold; only a `const` or `enum` that differs from them by less than a number can tell counts as equal.
 */
import type { Json } from './answer.ts';

/** @param instance the worker's own copy; it is changed. */
export function withPlainNumbers(instance: Json): Json {
  if (typeof instance === 'bigint') return Number(instance);
  const parents: object[] = typeof instance === 'object' && instance !== null ? [instance] : [];
  for (let parent = parents.pop(); parent !== undefined; parent = parents.pop())
    for (const [key, value] of Object.entries(parent as Readonly<Record<string, Json>>)) {
      if (typeof value === 'bigint') Reflect.defineProperty(parent, key, { value: Number(value) });
      else if (typeof value === 'object' && value !== null) parents.push(value);
    }
  return instance;
}
