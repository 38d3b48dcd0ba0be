/**
 * Reading objects that somebody else wrote: nothing here throws, inherited keys do not exist, and numbers are those of
 * a review (design decision 2: number, bigint, or a boxed `Number` for an integral double).
 */

export type ForeignRecord = Readonly<Record<string, unknown>>;

export function isRecord(value: unknown): value is ForeignRecord {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !isBoxed(value);
}

/** Whether this is an integral double of a review: an object around a number. */
function isBoxed(value: unknown): boolean {
  return typeof value === 'object' && Object.prototype.toString.call(value) === '[object Number]';
}

/** The value below a path of keys, or undefined where any step is missing or no object. */
export function at(value: unknown, ...path: readonly string[]): unknown {
  let current = value;
  for (const key of path) {
    if (!isRecord(current) || !Object.hasOwn(current, key)) return undefined;
    current = current[key];
  }
  return current;
}

/** Absent, null and empty collections are one thing to Kubernetes. */
export function isEmpty(value: unknown): boolean {
  if (value === undefined || value === null) return true;
  if (Array.isArray(value)) return value.length === 0;
  return isRecord(value) && Object.keys(value).length === 0;
}

/** Whether there are more than `most` values inside a value, at any depth; looks at no more than that. */
export function holdsMoreThan(most: number, value: unknown): boolean {
  let left = most;
  const fits = (inside: unknown): boolean => {
    if (typeof inside !== 'object' || inside === null) return true;
    const values: readonly unknown[] = Array.isArray(inside) ? inside : Object.values(inside);
    left -= values.length;
    return left >= 0 && values.every(fits);
  };
  return !fits(value);
}

/** Equality of two JSON values; order counts in lists and not among keys. A boxed double is its number. */
export function sameJson(left: unknown, right: unknown): boolean {
  const a = isBoxed(left) ? Number(left) : left;
  const b = isBoxed(right) ? Number(right) : right;
  if (Object.is(a, b)) return true;
  if (Array.isArray(a) && Array.isArray(b))
    return a.length === b.length && a.every((item, index) => sameJson(item, b[index]));
  if (!isRecord(a) || !isRecord(b)) return false;
  const keys = Object.keys(a);
  return (
    keys.length === Object.keys(b).length &&
    keys.every((key) => Object.hasOwn(b, key) && sameJson(a[key], b[key]))
  );
}

/**
 * One text for all JSON values that `sameJson` calls equal, so that lists of strangers are compared in linear time: a
 * quadratic comparison of 20,000 entries stops the process for seconds.
 */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join()}]`;
  if (isRecord(value)) {
    const keys = Object.keys(value).toSorted();
    return `{${keys.map((key) => `${JSON.stringify(key)}:${canonicalJson(value[key])}`).join()}}`;
  }
  if (typeof value === 'string') return JSON.stringify(value);
  const plain = isBoxed(value) ? Number(value) : value;
  return Object.is(plain, -0) ? '-0' : String(plain);
}

/** How a value of an unexpected type is called in a finding; never the value itself. */
export function typeName(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (value === null) return 'null';
  if (Array.isArray(value)) return `a list of ${String(value.length)}`;
  if (typeof value === 'bigint' || isBoxed(value)) return 'a number';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}
