import { describe, expect, it } from 'vitest';

import { standardConversions } from '../../../src/policies/cel/libraries/standard-conversions.ts';
import { Duration, Timestamp, Uint, type Value, doubleOf } from '../../../src/policies/cel/values.ts';
import { callOverload, costOfOverload, shown } from './support/overload.ts';

const HOUR = 3_600_000_000_000n;

function unconvertible(from: string, to: string): string {
  return `error: type conversion error from '${from}' to '${to}'`;
}

const TABLE: readonly (readonly [id: string, argument: Value, result: unknown])[] = [
  ['string_to_int64', '-12', -12],
  ['string_to_int64', '+5', 5],
  ['string_to_int64', '00000000000000000000000000012', 12],
  ['string_to_int64', '9223372036854775807', 9223372036854775807n],
  ['string_to_int64', '9223372036854775808', unconvertible('string', 'int')],
  ['string_to_int64', ' 1', unconvertible('string', 'int')],
  ['string_to_int64', '0x10', unconvertible('string', 'int')],
  ['string_to_int64', '', unconvertible('string', 'int')],
  ['double_to_int64', -1.99, -1],
  ['double_to_int64', 1e19, 'error: integer overflow'],
  ['double_to_int64', -(2 ** 63), 'error: integer overflow'],
  ['double_to_int64', Number.NaN, 'error: integer overflow'],
  ['uint64_to_int64', new Uint(2n ** 63n), 'error: integer overflow'],
  ['duration_to_int64', new Duration(HOUR), 3_600_000_000_000],
  ['timestamp_to_int64', new Timestamp(-1n), -1],
  ['string_to_uint64', '18446744073709551615', '18446744073709551615u'],
  ['string_to_uint64', '18446744073709551616', unconvertible('string', 'uint')],
  ['string_to_uint64', '+1', unconvertible('string', 'uint')],
  ['int64_to_uint64', -1, 'error: unsigned integer overflow'],
  ['double_to_uint64', -0.5, 'error: unsigned integer overflow'],
  ['double_to_uint64', 2.9, '2u'],
  ['string_to_double', '1e3', 'double 1000'],
  ['string_to_double', '1_000.5', 1000.5],
  ['string_to_double', '1__0', unconvertible('string', 'double')],
  ['string_to_double', '0x1p-2', 0.25],
  ['string_to_double', '0x10', unconvertible('string', 'double')],
  ['string_to_double', '-inf', -Infinity],
  ['string_to_double', '1e400', unconvertible('string', 'double')],
  ['string_to_bool', 'T', true],
  ['string_to_bool', 'False', false],
  ['string_to_bool', 'yes', unconvertible('string', 'bool')],
  ['double_to_string', doubleOf(1_000_000), '1e+06'],
  ['double_to_string', doubleOf(100_000), '100000'],
  ['double_to_string', 0.00001, '1e-05'],
  ['double_to_string', -0, '-0'],
  ['double_to_string', Infinity, '+Inf'],
  ['bytes_to_string', Uint8Array.of(0xef, 0xbb, 0xbf, 0x61), '\ufeffa'],
  ['bytes_to_string', Uint8Array.of(0xff), 'error: invalid UTF-8 in bytes, cannot convert to string'],
  ['string_to_bytes', 'é', Uint8Array.of(0xc3, 0xa9)],
  ['string_to_bytes', '\udcff', Uint8Array.of(0xff)],
  ['string_to_duration', '1h30m', '5400000000000ns'],
  ['string_to_duration', '-1.5µs', '-1500ns'],
  ['string_to_duration', '1', unconvertible('string', 'google.protobuf.Duration')],
  ['string_to_duration', '9223372036854775808ns', unconvertible('string', 'google.protobuf.Duration')],
  ['string_to_duration', '-9223372036854775808ns', '-9223372036854775808ns'],
  ['int64_to_duration', 1, unconvertible('int', 'google.protobuf.Duration')],
  ['duration_to_string', new Duration(1_500_000_001n), '1.500000001s'],
  ['duration_to_string', new Duration(HOUR), '3600s'],
  ['string_to_timestamp', '1970-01-01T01:00:01+01:00', '1000000000ns 60m'],
  ['string_to_timestamp', '1970-01-01T1:00:00,5Z', '3600500000000ns'],
  ['string_to_timestamp', '1970-01-01T00:00:00+24:60', '-90000000000000ns 1500m'],
  ['string_to_timestamp', '2023-02-29T00:00:00Z', unconvertible('string', 'google.protobuf.Timestamp')],
  ['string_to_timestamp', '1970-01-01t00:00:00Z', unconvertible('string', 'google.protobuf.Timestamp')],
  ['string_to_timestamp', '0001-01-01T00:00:00+01:00', 'error: timestamp overflow'],
  ['int64_to_timestamp', 253_402_300_799, '253402300799000000000ns'],
  ['int64_to_timestamp', 253_402_300_800, 'error: timestamp overflow'],
  ['timestamp_to_string', new Timestamp(500_000_000n), '1970-01-01T00:00:00.5Z'],
  ['timestamp_to_string', new Timestamp(0n, -510), '1969-12-31T15:30:00-08:30'],
];

describe('conversions', () => {
  it.each(TABLE)('%s gives what Go gives, line %#', (id, argument, result) => {
    expect(shown(callOverload(standardConversions, id, argument))).toStrictEqual(result);
  });

  it('count the text only where the overload is known', () => {
    const args = ['x'.repeat(35)];
    expect(costOfOverload(standardConversions, { args, result: null, overloadId: 'string_to_bytes' })).toBe(
      4,
    );
    expect(costOfOverload(standardConversions, { args, result: null, overloadId: 'string_to_string' })).toBe(
      1,
    );
  });
});
