/** Conversions of the standard library, with cel-go's ranges and Go's readings of texts. */
import { BOOL, BYTES, type CelType, DOUBLE, DURATION, INT, STRING, TIMESTAMP, UINT } from '../cel-type.ts';
import { formatShortest, parseFloat64 } from '../go-float.ts';
import {
  MAX_UNIX_SECONDS,
  MIN_UNIX_SECONDS,
  NANOSECONDS_PER_SECOND,
  formatDuration,
  formatTimestamp,
  parseDuration,
  parseTimestamp,
  unixSeconds,
} from '../go-time.ts';
import type { CallFacts, FunctionDefinition, Library } from '../library.ts';
import { stringCost } from '../sizes.ts';
import { CelError, type Duration, Timestamp, Uint, type Value, doubleOf, intOf } from '../values.ts';
import { define, global } from './declare.ts';
import { bytesOfText } from './go-text.ts';

const TWO_TO_63 = 2 ** 63;
const TWO_TO_64 = 2 ** 64;
const MAX_INT = 2n ** 63n - 1n;
const MIN_INT = -(2n ** 63n);
const MAX_UINT = 2n ** 64n - 1n;

const TRUE_TEXTS: ReadonlySet<string> = new Set(['1', 't', 'T', 'true', 'TRUE', 'True']);
const FALSE_TEXTS: ReadonlySet<string> = new Set(['0', 'f', 'F', 'false', 'FALSE', 'False']);

function unconvertible(from: string, to: string): CelError {
  return new CelError(`type conversion error from '${from}' to '${to}'`);
}

function identity(value: Value): Value {
  return value;
}

/** A double arrives plain or in a box. */
function plainDouble(value: Value): number {
  return Number(value);
}

function intOfDouble(value: Value): Value {
  const double = plainDouble(value);
  // Both ends are out of range, as in cel-go.
  if (!(double > -TWO_TO_63 && double < TWO_TO_63)) return new CelError('integer overflow');
  return intOf(BigInt(Math.trunc(double)));
}

function intOfText(text: string): Value {
  const value = /^[+-]?0*\d{1,19}$/.test(text) ? BigInt(text.replace(/^\+/, '')) : undefined;
  if (value === undefined || value > MAX_INT || value < MIN_INT) return unconvertible('string', 'int');
  return intOf(value);
}

function intOfUint(value: Uint): Value {
  return value.value > MAX_INT ? new CelError('integer overflow') : intOf(value.value);
}

function uintOfDouble(value: Value): Value {
  const double = plainDouble(value);
  if (!(double >= 0 && double < TWO_TO_64)) return new CelError('unsigned integer overflow');
  return new Uint(BigInt(Math.trunc(double)));
}

function uintOfInt(value: number | bigint): Value {
  return value < 0 ? new CelError('unsigned integer overflow') : new Uint(BigInt(value));
}

function uintOfText(text: string): Value {
  const value = /^0*\d{1,20}$/.test(text) ? BigInt(text) : undefined;
  return value === undefined || value > MAX_UINT ? unconvertible('string', 'uint') : new Uint(value);
}

function doubleOfText(text: string): Value {
  const value = parseFloat64(text);
  return value === undefined ? unconvertible('string', 'double') : doubleOf(value);
}

function boolOfText(text: string): Value {
  if (TRUE_TEXTS.has(text)) return true;
  return FALSE_TEXTS.has(text) ? false : unconvertible('string', 'bool');
}

function bytesOfString(text: string): Uint8Array {
  if (text.isWellFormed()) return new TextEncoder().encode(text);
  // Bytes that are no UTF-8 stand in the text as lone surrogates (go-text.ts).
  return Uint8Array.from(bytesOfText(text), (byte) => byte.charCodeAt(0));
}

function stringOfBytes(bytes: Uint8Array): Value {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return new CelError('invalid UTF-8 in bytes, cannot convert to string');
  }
}

/** `duration(text)`. @returns a Duration, or cel-go's error. */
function durationOfText(text: string): Value {
  return parseDuration(text) ?? unconvertible('string', 'google.protobuf.Duration');
}

/** `timestamp(text)`. @returns a Timestamp, or cel-go's error. */
function timestampOfText(text: string): Value {
  const timestamp = parseTimestamp(text);
  if (timestamp === undefined) return unconvertible('string', 'google.protobuf.Timestamp');
  return isInRange(unixSeconds(timestamp)) ? timestamp : new CelError('timestamp overflow');
}

function timestampOfInt(value: number | bigint): Value {
  const seconds = BigInt(value);
  return isInRange(seconds)
    ? new Timestamp(seconds * NANOSECONDS_PER_SECOND)
    : new CelError('timestamp overflow');
}

function isInRange(seconds: bigint): boolean {
  return seconds >= MIN_UNIX_SECONDS && seconds <= MAX_UNIX_SECONDS;
}

/**
 * `string(value)`, which the formatter prints with too.
 *
 * @returns undefined for a type that has no such conversion.
 */
export function stringOf(value: Value, type: string): Value | undefined {
  switch (type) {
    case 'string':
      return value;
    case 'bool':
    case 'int':
      // oxlint-disable-next-line typescript/no-base-to-string -- a boolean, number or bigint by its type
      return String(value);
    case 'uint':
      return String((value as Uint).value);
    case 'double':
      return formatShortest(plainDouble(value));
    case 'bytes':
      return stringOfBytes(value as Uint8Array);
    case 'google.protobuf.Timestamp':
      return formatTimestamp(value as Timestamp);
    case 'google.protobuf.Duration':
      return formatDuration(value as Duration);
    default:
      return undefined;
  }
}

/** cel-go goes by the overload: on dyn operands it is not known, and the call costs 1. */
function traversalOf(overload: string): NonNullable<FunctionDefinition['cost']> {
  return ({ args, overloadId }: CallFacts) =>
    overloadId === overload ? stringCost(args[0] ?? null) : undefined;
}

function convert(
  from: string,
  to: string,
  [parameter, result]: readonly [CelType, CelType],
  impl: (value: never) => Value,
) {
  return global(`${from}_to_${to}`, [parameter], result, impl as (value: Value) => Value);
}

export const standardConversions: Library = {
  name: 'standard conversions',
  since: 0,
  functions: [
    define('bool', undefined, [
      convert('bool', 'bool', [BOOL, BOOL], identity),
      convert('string', 'bool', [STRING, BOOL], boolOfText),
    ]),
    define('bytes', traversalOf('string_to_bytes'), [
      convert('bytes', 'bytes', [BYTES, BYTES], identity),
      convert('string', 'bytes', [STRING, BYTES], bytesOfString),
    ]),
    define('double', undefined, [
      convert('double', 'double', [DOUBLE, DOUBLE], identity),
      convert('int64', 'double', [INT, DOUBLE], (value: number | bigint) => doubleOf(Number(value))),
      convert('string', 'double', [STRING, DOUBLE], doubleOfText),
      convert('uint64', 'double', [UINT, DOUBLE], (value: Uint) => doubleOf(Number(value.value))),
    ]),
    define('duration', undefined, [
      convert('duration', 'duration', [DURATION, DURATION], identity),
      // cel-go declares it and cannot do it.
      convert('int64', 'duration', [INT, DURATION], () => unconvertible('int', 'google.protobuf.Duration')),
      convert('string', 'duration', [STRING, DURATION], durationOfText),
    ]),
    define('int', undefined, [
      convert('int64', 'int64', [INT, INT], identity),
      convert('double', 'int64', [DOUBLE, INT], intOfDouble),
      convert('duration', 'int64', [DURATION, INT], (value: Duration) => intOf(value.nanoseconds)),
      convert('string', 'int64', [STRING, INT], intOfText),
      convert('timestamp', 'int64', [TIMESTAMP, INT], (value: Timestamp) => intOf(unixSeconds(value))),
      convert('uint64', 'int64', [UINT, INT], intOfUint),
    ]),
    define('string', traversalOf('bytes_to_string'), [
      convert('string', 'string', [STRING, STRING], identity),
      convert('bool', 'string', [BOOL, STRING], String),
      convert('bytes', 'string', [BYTES, STRING], stringOfBytes),
      convert('double', 'string', [DOUBLE, STRING], (value: Value) => formatShortest(plainDouble(value))),
      convert('duration', 'string', [DURATION, STRING], formatDuration),
      convert('int64', 'string', [INT, STRING], String),
      convert('timestamp', 'string', [TIMESTAMP, STRING], formatTimestamp),
      convert('uint64', 'string', [UINT, STRING], (value: Uint) => String(value.value)),
    ]),
    define('timestamp', undefined, [
      convert('timestamp', 'timestamp', [TIMESTAMP, TIMESTAMP], identity),
      convert('int64', 'timestamp', [INT, TIMESTAMP], timestampOfInt),
      convert('string', 'timestamp', [STRING, TIMESTAMP], timestampOfText),
    ]),
    define('uint', undefined, [
      convert('uint64', 'uint64', [UINT, UINT], identity),
      convert('double', 'uint64', [DOUBLE, UINT], uintOfDouble),
      convert('int64', 'uint64', [INT, UINT], uintOfInt),
      convert('string', 'uint64', [STRING, UINT], uintOfText),
    ]),
  ],
};
