import { describe, expect, it } from 'vitest';

import { plainScalar } from '../../src/cluster/yaml-scalars.ts';

// Each row was compared with what kubectl 1.36.3 makes of it (`kubectl label --local -o json`), but for doubles that
// are whole: kubectl prints them without their point.
describe('plain YAML scalar', () => {
  it.each<[string, unknown]>([
    ['', null],
    ['~', null],
    ['null', null],
    ['n', false],
    ['y', true],
    ['No', false],
    ['on', true],
    ['TRUE', true],
    ['tRUE', 'tRUE'],
    ['0644', 420],
    ['-0644', -420],
    ['0_7', 7],
    ['0o17', 15],
    ['0x1F', 31],
    ['0b11', 3],
    ['+1', 1],
    ['1_000', 1000],
    ['1__0', 10],
    ['_1', '_1'],
    ['-0', 0],
    ['9007199254740991', 9007199254740991],
    ['9007199254740993', 9007199254740993n],
    ['-9223372036854775808', -9223372036854775808n],
    ['18446744073709551615', 18446744073709552000],
    ['.5', 0.5],
    ['1_0.5', 10.5],
    ['1e999', '1e999'],
    ['0x', '0x'],
    ['=', '='],
    ['1:30', '1:30'],
    ['2020-01-01', '2020-01-01'],
    ['1.2.3', '1.2.3'],
    ['-', '-'],
    ['1'.repeat(500), '1'.repeat(500)],
  ])('reads %s', (text, want) => {
    const value = plainScalar(text);
    expect(value).toBe(want);
  });

  it.each([
    ['1.0', 1],
    ['1e3', 1000],
    ['12e03', 12000],
    ['08', 8],
    ['-0.0', -0],
  ])('reads %s as a double that is whole', (text, want) => {
    const value = plainScalar(text);
    expect(typeof value).toBe('object');
    expect(Object.is(Number(value), want)).toBe(true);
  });

  it.each(['.inf', '-.Inf', '.nan'])('does not make a text of %s', (text) => {
    expect(plainScalar(text)).toBeNaN();
  });
});
