/** `<` and its kin (cel-go common/types, traits.Comparer): numbers across types, strings by code points. */
import { CelError, Duration, Timestamp, Uint, type Value, isBoxedDouble, isIntNumber } from './values.ts';

/** The error of operators whose right side has the wrong type. */
export const NO_SUCH_OVERLOAD = new CelError('no such overload');
const NAN = new CelError('NaN values cannot be ordered');

const TWO_TO_63 = 2 ** 63;
const TWO_TO_64 = 2 ** 64;
const INT64_MAX = 2n ** 63n - 1n;

/** Whether `<` knows the type of its left side at all; if not, the error names the function. */
export function isComparable(value: Value): boolean {
  switch (typeof value) {
    case 'number':
    case 'string':
    case 'boolean':
    case 'bigint':
      return true;
    default:
      return (
        isBoxedDouble(value) ||
        value instanceof Uint ||
        value instanceof Uint8Array ||
        value instanceof Timestamp ||
        value instanceof Duration
      );
  }
}

/** @returns negative, 0 or positive; or why the values have no order. */
export function compare(left: Value, right: Value): number | CelError {
  if (typeof left === 'number' && typeof right === 'number') {
    if (Number.isNaN(left) || Number.isNaN(right)) return NAN;
    return compareNumbers(left, right);
  }
  if (typeof left === 'string') {
    return typeof right === 'string' ? compareStrings(left, right) : NO_SUCH_OVERLOAD;
  }
  if (typeof left === 'boolean') {
    return typeof right === 'boolean' ? Number(left) - Number(right) : NO_SUCH_OVERLOAD;
  }
  if (left instanceof Uint8Array) {
    return right instanceof Uint8Array ? compareBytes(left, right) : NO_SUCH_OVERLOAD;
  }
  if (left instanceof Timestamp) {
    return right instanceof Timestamp
      ? compareExactly(left.nanoseconds, right.nanoseconds)
      : NO_SUCH_OVERLOAD;
  }
  if (left instanceof Duration) {
    return right instanceof Duration ? compareExactly(left.nanoseconds, right.nanoseconds) : NO_SUCH_OVERLOAD;
  }
  return compareNumeric(left, right);
}

/** A number as it is ordered: doubles apart from ints, for both are plain numbers. */
type Numeric = { readonly double: number } | { readonly int: bigint; readonly unsigned: boolean };

function numericOf(value: Value): Numeric | undefined {
  if (typeof value === 'bigint') return { int: value, unsigned: false };
  if (value instanceof Uint) return { int: value.value, unsigned: true };
  if (isBoxedDouble(value)) return { double: value.valueOf() };
  if (typeof value !== 'number') return undefined;
  return isIntNumber(value) ? { int: BigInt(value), unsigned: false } : { double: value };
}

function compareNumeric(left: Value, right: Value): number | CelError {
  const a = numericOf(left);
  if (a !== undefined && 'double' in a && Number.isNaN(a.double)) return NAN;
  const b = numericOf(right);
  if (a === undefined || b === undefined) return NO_SUCH_OVERLOAD;
  if ('double' in b && Number.isNaN(b.double)) return NAN;
  if ('double' in a) {
    return 'double' in b ? compareNumbers(a.double, b.double) : compareDoubleToInt(a.double, b);
  }
  return 'double' in b ? -compareDoubleToInt(b.double, a) : compareExactly(a.int, b.int);
}

/** Rounds the integer to a double, as Go does, once the double is within the integer's range. */
function compareDoubleToInt(
  double: number,
  integer: { readonly int: bigint; readonly unsigned: boolean },
): number {
  if (double < (integer.unsigned ? 0 : -TWO_TO_63)) return -1;
  if (double > (integer.unsigned ? TWO_TO_64 : TWO_TO_63)) return 1;
  return compareNumbers(double, Number(integer.int));
}

function compareNumbers(left: number, right: number): number {
  return left < right ? -1 : left > right ? 1 : 0;
}

function compareExactly(left: bigint, right: bigint): number {
  return left < right ? -1 : left > right ? 1 : 0;
}

/** By code points: surrogates stand for what is above every other unit. */
export function compareStrings(left: string, right: string): number {
  if (left === right) return 0;
  const length = Math.min(left.length, right.length);
  for (let i = 0; i < length; i++) {
    const a = left.charCodeAt(i);
    const b = right.charCodeAt(i);
    if (a === b) continue;
    const highA = a >= 0xd800 && a <= 0xdfff;
    const highB = b >= 0xd800 && b <= 0xdfff;
    return highA === highB ? a - b : highA ? 1 : -1;
  }
  return left.length - right.length;
}

function compareBytes(left: Uint8Array, right: Uint8Array): number {
  const length = Math.min(left.length, right.length);
  for (let i = 0; i < length; i++) {
    const difference = (left[i] as number) - (right[i] as number);
    if (difference !== 0) return difference;
  }
  return left.length - right.length;
}

/** Whether a bigint is within int64. */
export function isInt64(value: bigint): boolean {
  return value <= INT64_MAX && value >= -INT64_MAX - 1n;
}
