/**
 * A document as JSON values: what layers 1 and 3, schemas and overrides look at. Objects are made without a prototype, so that
 * keys such as `__proto__` are data. Integers beyond 2^53 are bigint; every other number is a double, `80.0` as `80`.
 */
export type JsonValue =
  null | boolean | number | bigint | string | readonly JsonValue[] | { readonly [key: string]: JsonValue };

export type JsonObject = { readonly [key: string]: JsonValue };
