/** `==` as cel-go decides it: numbers across types, lists and maps by their elements (cel-go common/types). */
import type { Effort } from './effort.ts';
import {
  CelError,
  CelMap,
  Duration,
  Opaque,
  Optional,
  Timestamp,
  TypeValue,
  Uint,
  type JsonMap,
  type Value,
  isBoxedDouble,
  isIntNumber,
} from './values.ts';

/** Bounds beyond which a double is no int64 and no uint64: 2^63 and 2^64. */
const TWO_TO_63 = 2 ** 63;
const TWO_TO_64 = 2 ** 64;

/**
 * @param effort what is gone through is counted there; undefined: only by the caller.
 * @returns undefined where equality is not defined: `no such overload` for `==`, true for `!=`.
 */
export function equal(left: Value, right: Value, effort?: Effort): boolean | undefined {
  if (typeof left === 'string' || typeof left === 'boolean' || left === null) return left === right;
  if (typeof left === 'number') return numberEquals(left, right);
  if (right === null) return false;
  if (typeof left === 'bigint') {
    return typeof right === 'bigint' ? left === right : intEquals(Number(left), left, right);
  }
  return objectEquals(left, right, effort);
}

/** Whether both are equal, and equality is defined: what `in`, `distinct` and lists look for. */
export function isEqual(left: Value, right: Value, effort?: Effort): boolean {
  return equal(left, right, effort) === true;
}

function numberEquals(left: number, right: Value): boolean {
  if (typeof right === 'number') return left === right;
  return isIntNumber(left) ? intEquals(left, undefined, right) : doubleEquals(left, right);
}

/** An int and anything: against a double it is rounded to one, as Go compares them. */
function intEquals(rounded: number, exact: bigint | undefined, right: Value): boolean {
  if (typeof right === 'number') return rounded === right;
  if (isBoxedDouble(right)) return rounded === right.valueOf();
  if (right instanceof Uint) return (exact ?? BigInt(rounded)) === right.value;
  return false;
}

function doubleEquals(left: number, right: Value): boolean {
  if (typeof right === 'number') return left === right;
  if (isBoxedDouble(right)) return left === right.valueOf();
  if (typeof right === 'bigint') return left >= -TWO_TO_63 && left <= TWO_TO_63 && left === Number(right);
  return right instanceof Uint && left >= 0 && left <= TWO_TO_64 && left === Number(right.value);
}

function objectEquals(left: object, right: Value, effort: Effort | undefined): boolean | undefined {
  if (Array.isArray(left)) return Array.isArray(right) && listEquals(left as readonly Value[], right, effort);
  if (isBoxedDouble(left)) return doubleEquals(left.valueOf(), right);
  if (left instanceof Uint) {
    return right instanceof Uint ? left.value === right.value : uintEquals(left.value, right);
  }
  if (left instanceof Opaque) return left.equals(right);
  if (left instanceof Optional) return right instanceof Optional && optionalEquals(left, right, effort);
  if (left instanceof Uint8Array) return right instanceof Uint8Array && bytesEqual(left, right);
  if (left instanceof Timestamp) return right instanceof Timestamp && left.nanoseconds === right.nanoseconds;
  if (left instanceof Duration) return right instanceof Duration && left.nanoseconds === right.nanoseconds;
  if (left instanceof TypeValue) return right instanceof TypeValue && left.name === right.name;
  if (left instanceof CelError) return undefined;
  return isMap(right) && mapEquals(left as CelMap | JsonMap, right, effort);
}

function uintEquals(left: bigint, right: Value): boolean {
  if (typeof right === 'bigint') return left === right;
  if (typeof right === 'number' && isIntNumber(right)) return left === BigInt(right);
  if (typeof right === 'number') return doubleEquals(right, new Uint(left));
  return isBoxedDouble(right) && doubleEquals(right.valueOf(), new Uint(left));
}

function optionalEquals(left: Optional, right: Optional, effort: Effort | undefined): boolean | undefined {
  if (left.value === undefined || right.value === undefined) return left.value === right.value;
  return equal(left.value, right.value, effort);
}

function bytesEqual(left: Uint8Array, right: Uint8Array): boolean {
  return left.length === right.length && left.every((byte, index) => byte === right[index]);
}

/** Elements whose equality is not defined do not make lists unequal: Go looks for `false` only. */
function listEquals(left: readonly Value[], right: readonly Value[], effort: Effort | undefined): boolean {
  if (left.length !== right.length) return false;
  effort?.elements(left.length);
  for (let i = 0; i < left.length; i++) {
    effort?.pass(left[i] as Value);
    if (equal(left[i] as Value, right[i] as Value, effort) === false) return false;
  }
  return true;
}

function mapEquals(left: CelMap | JsonMap, right: CelMap | JsonMap, effort: Effort | undefined): boolean {
  const size = mapSize(left);
  effort?.entries(size);
  if (size !== mapSize(right)) return false;
  if (left instanceof CelMap) {
    for (const [key, value] of left.entries()) if (!entryEquals(key, value, right, effort)) return false;
    return true;
  }
  for (const key of Object.keys(left)) if (!entryEquals(key, left[key] as Value, right, effort)) return false;
  return true;
}

function entryEquals(key: Value, value: Value, map: CelMap | JsonMap, effort: Effort | undefined): boolean {
  const other = findKey(map, key);
  effort?.pass(value);
  return other !== undefined && equal(value, other, effort) !== false;
}

/** Whether a value is a map: of a review, or made by an expression. */
export function isMap(value: Value): value is CelMap | JsonMap {
  if (typeof value !== 'object' || value === null) return false;
  if (value instanceof CelMap) return true;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

export function mapSize(map: CelMap | JsonMap): number {
  return map instanceof CelMap ? map.size : Object.keys(map).length;
}

/** @returns the value under a key, or undefined: numbers are found across types, in maps of a review only strings. */
export function findKey(map: CelMap | JsonMap, key: Value): Value | undefined {
  if (map instanceof CelMap) return map.get(key);
  return typeof key === 'string' && Object.hasOwn(map, key) ? map[key] : undefined;
}
