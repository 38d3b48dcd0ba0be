import { describe, expect, it } from 'vitest';

import { formatString } from '../../../src/policies/cel/libraries/format-string.ts';
import {
  CelMap,
  Duration,
  Timestamp,
  TypeValue,
  Uint,
  type Value,
  doubleOf,
} from '../../../src/policies/cel/values.ts';
import { shown } from './support/overload.ts';

const TABLE: readonly (readonly [format: string, args: readonly Value[], result: string])[] = [
  ['%s %s', ['a', 1], 'a 1'],
  ['100%%', [], '100%'],
  ['%s', [doubleOf(1_000_000)], '1e+06'],
  ['%s', [null], 'null'],
  ['%s', [new TypeValue('int')], 'int'],
  ['%s', [['a', 1.5, null, new Duration(1n)]], '["a", 1.500000, null, duration("0.000000001s")]'],
  ['%s', [[Number.NaN, new Timestamp(0n)]], '["NaN", timestamp("1970-01-01T00:00:00Z")]'],
  ['%s', [{ b: 1, a: [true] }], '{"a":[true], "b":1}'],
  [
    '%s',
    [
      new CelMap([
        [2, 'x'],
        [true, 'y'],
      ]),
    ],
    '{2:"x", true:"y"}',
  ],
  [
    '%s',
    [new CelMap([[1.5, 'x']])],
    'error: error during formatting: no formatting function for map key of type double',
  ],
  ['%d', [2n ** 62n], '4611686018427387904'],
  ['%d', [new Uint(7n)], '7'],
  [
    '%d',
    [doubleOf(1)],
    'error: error during formatting: decimal clause can only be used on integers, was given double',
  ],
  ['%x %X', ['né', 255], '6ec3a9 FF'],
  ['%x', [-255], '-ff'],
  ['%b %b', [5, true], '101 1'],
  ['%o', [8], '10'],
  ['%f', [1234.5], '1,234.500000'],
  ['%.2f', [-1234567.891], '-1,234,567.89'],
  ['%.0f', [2.5], '2'],
  ['%.0f', [-0.4], '-0'],
  ['%.20f', [0.1], '0.10000000000000000555'],
  ['%f', [Infinity], '∞'],
  ['%f', ['NaN'], 'NaN'],
  [
    '%f',
    ['1.5'],
    'error: error during formatting: fixed-point clause can only be used on doubles, was given string',
  ],
  ['%.256f', [1.5], '1.5'],
  ['%.32768f', [0.1], '0.1'],
  ['%.20000000f', [1.5], '%!(NOVERB)'],
  ['%e', [1234.5], '1.234500×10⁰³'],
  ['%e', [-1e-7], '-1.000000×10⁻⁰⁷'],
  ['%e', [Number.NaN], '   NaN'],
  ['%.3e', [-Infinity], ' -∞'],
  ['%.16e', [1.5], '   1.500000×10⁰⁰'],
  ['%e', [9.9999999e22], '1.000000×10²³'],
  ['%s', [], 'error: index 0 out of range'],
  ['%', ['a'], 'error: unexpected end of string'],
  ['%q', ['a'], 'error: could not parse formatting clause: unrecognized formatting clause "q"'],
  ['%é', ['a'], 'error: could not parse formatting clause: unrecognized formatting clause "Ã"'],
  [
    '%.',
    ['a'],
    'error: could not parse formatting clause: error while parsing precision: could not find end of precision specifier',
  ],
  [
    '%.f',
    [1.5],
    'error: could not parse formatting clause: error while parsing precision: error while converting precision to integer: strconv.Atoi: parsing "": invalid syntax',
  ],
];

describe('format', () => {
  it.each(TABLE)('prints %s as Kubernetes does, line %#', (format, args, result) => {
    expect(shown(formatString(format, args))).toBe(result);
  });
});
