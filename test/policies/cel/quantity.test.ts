import { describe, expect, it } from 'vitest';

import { QuantityValue, quantityLibrary } from '../../../src/policies/cel/libraries/quantity.ts';
import type { CelError, Value } from '../../../src/policies/cel/values.ts';
import { callOverload, printed, shown } from './support/overload.ts';

const FORMAT = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
const SUFFIX = "unable to parse quantity's suffix";

function quantity(text: string): QuantityValue {
  const value = callOverload(quantityLibrary, 'string_to_quantity', text);
  if (!(value instanceof QuantityValue)) throw new Error(`${text}: ${String(shown(value))}`);
  return value;
}

function add(a: Value, b: Value): Value {
  return callOverload(
    quantityLibrary,
    b instanceof QuantityValue ? 'quantity_add' : 'quantity_add_int',
    a,
    b,
  );
}

function sub(a: Value, b: Value): Value {
  return callOverload(
    quantityLibrary,
    b instanceof QuantityValue ? 'quantity_sub' : 'quantity_sub_int',
    a,
    b,
  );
}

function asInteger(value: Value): unknown {
  return shown(callOverload(quantityLibrary, 'quantity_get_int', value));
}

function compare(a: Value, b: Value): Value {
  return callOverload(quantityLibrary, 'quantity_compare_to', a, b);
}

const NO_INTEGER = 'error: cannot convert value to integer';

describe('quantity', () => {
  it.each([
    ['1.5Gi', '1536Mi', NO_INTEGER, 1_610_612_736],
    ['0.1Ki', '102400m', NO_INTEGER, 102.4],
    ['1e21', '1e21', NO_INTEGER, 1e21],
    // No suffix is that large, and none is printed.
    ['1000000000000000000000', '1', NO_INTEGER, 1.000_000_000_000_000_1e21],
    ['1e-12', '1e-9', NO_INTEGER, 1e-9],
    ['-1', '-1', -1, -1],
    ['+1', '+1', 1, 1],
    ['.', '0', 0, 0],
    ['-', '0', 0, 0],
    ['Mi', '0', 0, 0],
    ['00012', '00012', 12, 12],
    ['1000Ki', '1000Ki', 1_024_000, 1_024_000],
    ['1000m', '1', NO_INTEGER, 1],
    ['7Ei', '7Ei', NO_INTEGER, 8_070_450_532_247_929_000],
    ['12345678901234567890Ki', '9223372036854775807', NO_INTEGER, 2 ** 63],
    ['0.5Mi', '512Ki', NO_INTEGER, 524_288],
    ['1e2147483647', '10e2147483646', NO_INTEGER, Infinity],
    ['999999999999999999', '999999999999999999', 999_999_999_999_999_999n, 1e18],
  ])('reads %s', (text, canonical, integer, float) => {
    expect(printed(quantity(text))).toBe(canonical);
    expect(asInteger(quantity(text))).toBe(integer);
    expect(Number(callOverload(quantityLibrary, 'quantity_get_float', quantity(text)))).toBe(float);
  });

  it.each([
    ['', FORMAT],
    ['1 Gi', FORMAT],
    ['1e3k', FORMAT],
    ['1.5.5', FORMAT],
    ['1gi', FORMAT],
    ['1K', SUFFIX],
    ['1e', SUFFIX],
    ['1M5', SUFFIX],
    ['--1', SUFFIX],
    ['1e9223372036854775808', SUFFIX],
    ['Ei', 'unable to parse numeric part of quantity'],
  ])('refuses %j', (text, reason) => {
    const refused = callOverload(quantityLibrary, 'string_to_quantity', text) as CelError;
    expect(refused.message).toBe(reason);
    expect(callOverload(quantityLibrary, 'is_quantity_string', text)).toBe(false);
  });

  it('reads hostile texts in linear time', () => {
    const started = performance.now();
    callOverload(quantityLibrary, 'is_quantity_string', `${'0'.repeat(1_000_000)}x`);
    callOverload(quantityLibrary, 'is_quantity_string', `1e${'0'.repeat(1_000_000)}x`);
    expect(performance.now() - started).toBeLessThan(2000);
  });

  it.each([
    ['100m', '0.4', '500m', '-300m'],
    ['1Ki', '1', '1025', '1023'],
    ['0', '5Ki', '5Ki', '-5Ki'],
    ['1Gi', '1500m', '1073741825500m', '1073741822500m'],
    ['9223372036854775807000m', '1', '9223372036854775808', '9223372036854775806'],
    ['1e3', '1', '1001', '999'],
  ])('adds and subtracts %s and %s', (a, b, sum, difference) => {
    expect(printed(add(quantity(a), quantity(b)))).toBe(sum);
    expect(printed(sub(quantity(a), quantity(b)))).toBe(difference);
  });

  it('adds integers', () => {
    expect(printed(add(quantity('100m'), 1))).toBe('1100m');
    expect(printed(add(quantity('1'), 2n ** 63n - 1n))).toBe('9223372036854775808');
    // The smallest integer has no counterpart, and Go subtracts it by adding it.
    expect(printed(sub(quantity('1'), -(2n ** 63n)))).toBe('-9223372036854775807');
  });

  it('refuses a sum whose digits nobody could hold', () => {
    expect(shown(add(quantity('1e2147483647'), quantity('1')))).toBe('error: quantity out of range');
    expect(compare(quantity('1e2147483647'), quantity('1'))).toBe(1);
    expect(compare(quantity('-1e2147483647'), quantity('1'))).toBe(-1);
  });

  it('changes a number of arbitrary length in place, and no other', () => {
    const long = quantity('12345678901234567890');
    const sum = add(long, quantity('1'));
    expect(printed(sum)).toBe('12345678901234567891');
    expect(compare(long, sum)).toBe(0);
    const short = quantity('1');
    add(short, quantity('1'));
    expect(printed(short)).toBe('1');
  });

  it('turns the left side of a comparison into a decimal where the right one is', () => {
    const short = quantity('1');
    expect(compare(short, quantity('12345678901234567890'))).toBe(-1);
    expect(asInteger(short)).toBe(NO_INTEGER);
    const equal = quantity('1');
    expect(equal.equals(quantity('12345678901234567890'))).toBe(false);
    expect(asInteger(equal)).toBe(1);
  });

  it('does not know sums on the right side of an equality', () => {
    const two = quantity('2');
    const sum = add(quantity('1'), 1) as QuantityValue;
    expect(sum.equals(two)).toBe(true);
    expect(two.equals(sum)).toBeUndefined();
    expect(two.equals('2')).toBeUndefined();
  });
});
