/** Sizes that costs are counted by (cel.md §5.8). */
import { CelMap, Opaque, Optional, type Value } from './values.ts';

/** Cost of going once over a string, per code point or byte: cel-go's `StringTraversalCostFactor`. */
export const STRING_TRAVERSAL = 0.1;

/** Cost of a regular expression per code point of its text: cel-go's `RegexStringLengthCostFactor`. */
export const REGEX_LENGTH = 0.25;

/** How many code points a string has. A lone surrogate counts as one. */
export function codePointCount(text: string): number {
  let count = text.length;
  for (let i = text.length - 1; i > 0; i--) {
    const low = text.charCodeAt(i);
    if (low < 0xdc00 || low > 0xdfff) continue;
    const high = text.charCodeAt(i - 1);
    if (high < 0xd800 || high > 0xdbff) continue;
    count--;
    i--;
  }
  return count;
}

/** Whether a string has a code unit that is no character of its own, so that units and code points differ. */
export function hasSurrogates(text: string): boolean {
  for (let i = 0; i < text.length; i++) if ((text.charCodeAt(i) & 0xf800) === 0xd800) return true;
  return false;
}

/** Bytes of a string in UTF-8. A lone surrogate stands for one byte that is no UTF-8 (`bytesOfString`). */
export function utf8Length(text: string): number {
  let bytes = text.length;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit < 0x80) continue;
    if (unit < 0x800) bytes += 1;
    else if (unit < 0xd800 || unit > 0xdfff) bytes += 2;
    else if (unit < 0xdc00 && (text.charCodeAt(i + 1) & 0xfc00) === 0xdc00) {
      bytes += 2;
      i++;
    }
  }
  return bytes;
}

/**
 * Size of a value as Kubernetes' estimator sees it: what has a size has that (code points, bytes, elements, entries),
 * everything else is 1, also an optional and an error.
 */
export function actualSize(value: Value): number {
  if (typeof value === 'string') return codePointCount(value);
  if (typeof value !== 'object' || value === null) return 1;
  if (Array.isArray(value) || value instanceof Uint8Array) return value.length;
  if (value instanceof CelMap) return value.size;
  if (value instanceof Opaque) return value.size ?? 1;
  return isPlainObject(value) ? Object.keys(value).length : 1;
}

/** Cost of going over a whole tree: bytes of strings, a tenth each, rounded down per string; 1 for a scalar. */
export function traversalCost(value: Value): number {
  if (typeof value === 'string') return Math.floor(utf8Length(value) * STRING_TRAVERSAL);
  if (typeof value !== 'object' || value === null) return 1;
  if (value instanceof Uint8Array) return Math.floor(value.length * STRING_TRAVERSAL);
  let cost = 0;
  if (Array.isArray(value)) {
    for (const element of value as readonly Value[]) cost += traversalCost(element);
    return cost;
  }
  if (value instanceof CelMap) {
    for (const [key, entry] of value.entries()) cost += traversalCost(key) + traversalCost(entry);
    return cost;
  }
  if (!isPlainObject(value)) return 1;
  for (const key of Object.keys(value)) {
    cost += traversalCost(key) + traversalCost((value as Readonly<Record<string, Value>>)[key] ?? null);
  }
  return cost;
}

/** Size as cel-go's own estimator sees it, which looks into optionals: for the functions of its standard library. */
export function standardSize(value: Value): number {
  return value instanceof Optional && value.value !== undefined
    ? standardSize(value.value)
    : actualSize(value);
}

/** Cost of going over a value once: a tenth of its size, rounded up. */
export function stringCost(value: Value): number {
  return Math.ceil(standardSize(value) * STRING_TRAVERSAL);
}

/** Maps of a review: objects that no class of ours made. */
function isPlainObject(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}
