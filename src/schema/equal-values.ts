/** Equality of values as JSON Schema has it; what ajv brings calls `toString` and `valueOf` of an instance's own keys. */
import type { Json } from './answer.ts';

/** Recursion is bound by the depth that a schema may have. */
export function areEqual(a: Json, b: Json): boolean {
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return a === b;
  if (Array.isArray(a) !== Array.isArray(b)) return false;
  const left = a as { readonly [key: string]: Json };
  const right = b as { readonly [key: string]: Json };
  const keys = Object.keys(left);
  return (
    keys.length === Object.keys(right).length &&
    keys.every((key) => Object.hasOwn(right, key) && areEqual(left[key] as Json, right[key] as Json))
  );
}

export function isAmong(value: Json, values: readonly Json[]): boolean {
  return values.some((one) => areEqual(value, one));
}
