/** `+ - * / %` and unary `-` with Go's overflow rules (cel-go common/types, overflow.go). */
import { NO_SUCH_OVERLOAD, isInt64 } from './ordering.ts';
import {
  CelError,
  Duration,
  Timestamp,
  Uint,
  type Value,
  doubleOf,
  intOf,
  isBoxedDouble,
  isIntNumber,
} from './values.ts';

const INT_OVERFLOW = new CelError('integer overflow');
const UINT_OVERFLOW = new CelError('unsigned integer overflow');
const DIVISION_BY_ZERO = new CelError('division by zero');
const MODULUS_BY_ZERO = new CelError('modulus by zero');
const TIMESTAMP_OVERFLOW = new CelError('timestamp overflow');

const UINT64_MAX = 2n ** 64n - 1n;
/** 0001-01-01T00:00:00Z and 9999-12-31T23:59:59.999999999Z. */
const TIMESTAMP_MIN = -62_135_596_800_000_000_000n;
const TIMESTAMP_MAX = 253_402_300_799_999_999_999n;

export type ArithmeticOperator = '_+_' | '_-_' | '_*_' | '_/_' | '_%_';

/**
 * One operation on two values. What the left side's type does not know at all is the caller's to tell
 * (`no such overload: _+_`), by `undefined`; a wrong right side is `no such overload`.
 */
export function calculate(operator: ArithmeticOperator, left: Value, right: Value): Value | undefined {
  if (typeof left === 'number' && typeof right === 'number' && isIntNumber(left) && isIntNumber(right)) {
    return smallInts(operator, left, right);
  }
  if (typeof left === 'bigint' || typeof left === 'number') return numbers(operator, left, right);
  if (typeof left === 'string') {
    // Strings have methods in cel-go, so an operator that they lack is looked for among these.
    return operator === '_+_' && typeof right === 'string' ? left + right : NO_SUCH_OVERLOAD;
  }
  return typeof left === 'object' && left !== null ? objects(operator, left, right) : undefined;
}

function numbers(operator: ArithmeticOperator, left: number | bigint, right: Value): Value | undefined {
  if (typeof left === 'number' && !isIntNumber(left)) return doubles(operator, left, right);
  const other = intOperand(right);
  return other === undefined ? NO_SUCH_OVERLOAD : ints(operator, BigInt(left), other);
}

function objects(operator: ArithmeticOperator, left: object, right: Value): Value | undefined {
  if (isBoxedDouble(left)) return doubles(operator, left.valueOf(), right);
  if (left instanceof Uint) {
    return right instanceof Uint ? uints(operator, left.value, right.value) : NO_SUCH_OVERLOAD;
  }
  if (left instanceof Timestamp) return timestamps(operator, left, right);
  if (left instanceof Duration) return durations(operator, left, right);
  if (operator !== '_+_') return undefined;
  if (left instanceof Uint8Array) {
    return right instanceof Uint8Array ? concatBytes(left, right) : NO_SUCH_OVERLOAD;
  }
  if (!Array.isArray(left)) return undefined;
  return Array.isArray(right)
    ? concatLists(left as readonly Value[], right as readonly Value[])
    : NO_SUCH_OVERLOAD;
}

/** @returns undefined where the value's type has no unary minus: `no such overload: -_`. */
export function negate(value: Value): Value | undefined {
  if (typeof value === 'number') return isIntNumber(value) ? (value === 0 ? 0 : -value) : doubleOf(-value);
  if (typeof value === 'bigint') return isInt64(-value) ? intOf(-value) : INT_OVERFLOW;
  if (isBoxedDouble(value)) return doubleOf(-value.valueOf());
  if (typeof value === 'boolean' || typeof value === 'string' || value instanceof Timestamp) {
    return NO_SUCH_OVERLOAD;
  }
  if (!(value instanceof Duration)) return undefined;
  return isInt64(-value.nanoseconds) ? new Duration(-value.nanoseconds) : INT_OVERFLOW;
}

function intOperand(value: Value): bigint | undefined {
  if (typeof value === 'bigint') return value;
  return typeof value === 'number' && isIntNumber(value) ? BigInt(value) : undefined;
}

function smallInts(operator: ArithmeticOperator, left: number, right: number): Value {
  let result: number;
  switch (operator) {
    case '_+_':
      result = left + right;
      break;
    case '_-_':
      result = left - right;
      break;
    case '_*_':
      result = left * right;
      break;
    case '_/_':
      if (right === 0) return DIVISION_BY_ZERO;
      result = Math.trunc(left / right);
      break;
    case '_%_':
      if (right === 0) return MODULUS_BY_ZERO;
      result = left % right;
      break;
  }
  // `+ 0` makes -0 the int that it is; what left the safe range is done again, exactly.
  return Number.isSafeInteger(result) ? result + 0 : ints(operator, BigInt(left), BigInt(right));
}

function ints(operator: ArithmeticOperator, left: bigint, right: bigint): Value {
  if (right === 0n && operator === '_/_') return DIVISION_BY_ZERO;
  if (right === 0n && operator === '_%_') return MODULUS_BY_ZERO;
  // Go refuses the remainder too where the quotient is out of range.
  if (operator === '_%_' && right === -1n && !isInt64(-left)) return INT_OVERFLOW;
  const result = exactly(operator, left, right);
  return isInt64(result) ? intOf(result) : INT_OVERFLOW;
}

function uints(operator: ArithmeticOperator, left: bigint, right: bigint): Value {
  if (right === 0n && operator === '_/_') return DIVISION_BY_ZERO;
  if (right === 0n && operator === '_%_') return MODULUS_BY_ZERO;
  const result = exactly(operator, left, right);
  return result >= 0n && result <= UINT64_MAX ? new Uint(result) : UINT_OVERFLOW;
}

function exactly(operator: ArithmeticOperator, left: bigint, right: bigint): bigint {
  switch (operator) {
    case '_+_':
      return left + right;
    case '_-_':
      return left - right;
    case '_*_':
      return left * right;
    case '_/_':
      return left / right;
    case '_%_':
      return left % right;
  }
}

function doubles(operator: ArithmeticOperator, left: number, right: Value): Value | undefined {
  if (operator === '_%_') return undefined;
  let other: number;
  if (isBoxedDouble(right)) other = right.valueOf();
  else if (typeof right === 'number' && !isIntNumber(right)) other = right;
  else return NO_SUCH_OVERLOAD;
  switch (operator) {
    case '_+_':
      return doubleOf(left + other);
    case '_-_':
      return doubleOf(left - other);
    case '_*_':
      return doubleOf(left * other);
    case '_/_':
      return doubleOf(left / other);
  }
}

function timestamps(operator: ArithmeticOperator, left: Timestamp, right: Value): Value {
  if (operator === '_+_') {
    return right instanceof Duration ? timestampOf(left, right.nanoseconds) : NO_SUCH_OVERLOAD;
  }
  if (operator !== '_-_') return NO_SUCH_OVERLOAD;
  if (right instanceof Duration) {
    // Go negates the duration first.
    if (!isInt64(-right.nanoseconds)) return INT_OVERFLOW;
    return timestampOf(left, -right.nanoseconds);
  }
  return right instanceof Timestamp ? durationOf(left.nanoseconds - right.nanoseconds) : NO_SUCH_OVERLOAD;
}

function durations(operator: ArithmeticOperator, left: Duration, right: Value): Value {
  if (operator === '_+_' && right instanceof Timestamp) {
    return timestampOf(right, left.nanoseconds);
  }
  if (!(right instanceof Duration)) return NO_SUCH_OVERLOAD;
  if (operator === '_+_') return durationOf(left.nanoseconds + right.nanoseconds);
  return operator === '_-_' ? durationOf(left.nanoseconds - right.nanoseconds) : NO_SUCH_OVERLOAD;
}

/** In the zone of the timestamp that it is counted from. */
function timestampOf({ nanoseconds, offsetMinutes }: Timestamp, added: bigint): Value {
  const sum = nanoseconds + added;
  return sum < TIMESTAMP_MIN || sum > TIMESTAMP_MAX ? TIMESTAMP_OVERFLOW : new Timestamp(sum, offsetMinutes);
}

function durationOf(nanoseconds: bigint): Value {
  return isInt64(nanoseconds) ? new Duration(nanoseconds) : INT_OVERFLOW;
}

function concatBytes(left: Uint8Array, right: Uint8Array): Uint8Array {
  const result = new Uint8Array(left.length + right.length);
  result.set(left);
  result.set(right, left.length);
  return result;
}

function concatLists(left: readonly Value[], right: readonly Value[]): readonly Value[] {
  if (left.length === 0) return right;
  return right.length === 0 ? left : [...left, ...right];
}
