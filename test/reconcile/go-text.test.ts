import { describe, expect, it } from 'vitest';
import type { JsonValue } from '../../src/policies/contract/json-value.ts';
import { goText } from '../../src/reconcile/go-text.ts';

describe('a value as Go prints it', () => {
  it.each<[string, JsonValue, string]>([
    ['nothing', null, '<nil>'],
    ['a text', 'yes', 'yes'],
    ['a truth value', true, 'true'],
    ['an integer', 1_000_000, '1000000'],
    ['a fraction', 1.5, '1.5'],
    ['a small fraction', 0.000_01, '1e-05'],
    ['negative zero, which only a float is', -0, '-0'],
    ['a float beyond what an integer would be', 1e20, '1e+20'],
    ['an integer beyond what a double tells apart', 12_345_678_901_234_567_890n, '12345678901234567890'],
    ['a list', [1, 'a', [true]], '[1 a [true]]'],
    ['an empty list', [], '[]'],
    ['a map, by its keys', { b: 1, a: { c: null } }, 'map[a:map[c:<nil>] b:1]'],
    ['an empty map', {}, 'map[]'],
    [
      'a key that objects have by themselves',
      JSON.parse('{"__proto__": 1}') as JsonValue,
      'map[__proto__:1]',
    ],
  ])('is that of %s', (_name, value, text) => {
    expect(goText(value)).toBe(text);
  });

  it.each<[string, JsonValue, JsonValue, string]>([
    ['a day', '2027-01-02T00:00:00Z', '2027-01-02', '2027-01-02 00:00:00 +0000 UTC'],
    ['an instant', '2027-01-02T03:04:05.5Z', '2027-01-02 03:04:05.5', '2027-01-02 03:04:05.5 +0000 UTC'],
    [
      'one elsewhere',
      '2027-01-02T03:04:05+02:00',
      '2027-01-02 03:04:05 +2',
      '2027-01-02 03:04:05 +0200 +0200',
    ],
    ['one in a list', ['2027-01-02T00:00:00Z'], ['2027-01-02'], '[2027-01-02 00:00:00 +0000 UTC]'],
    [
      'one in a map',
      { d: '2027-01-02T00:00:00Z' },
      { d: '2027-01-02' },
      'map[d:2027-01-02 00:00:00 +0000 UTC]',
    ],
  ])('is a date where the contract has a date: %s', (_name, value, written, text) => {
    expect(goText(value, written)).toBe(text);
  });

  it.each<[string, JsonValue, JsonValue | undefined]>([
    ['is written so', '2027-01-02T00:00:00Z', '2027-01-02T00:00:00Z'],
    ['of which nothing is known', '2027-01-02T00:00:00Z', undefined],
    ['that only begins like one', '2027-01-02T00:00', 'x'],
  ])('is no date for a text that %s', (_name, value, written) => {
    expect(goText(value, written)).toBe(value);
  });

  it('ends where values are nested without end', () => {
    let deep: JsonValue = 'x';
    for (let depth = 0; depth < 10_000; depth += 1) deep = [deep];
    expect(goText(deep)).toBe(`${'['.repeat(32)}...${']'.repeat(32)}`);
  });
});
