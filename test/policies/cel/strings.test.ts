import { describe, expect, it } from 'vitest';

import { strings } from '../../../src/policies/cel/libraries/strings.ts';
import {
  Duration,
  Optional,
  Timestamp,
  TypeValue,
  Uint,
  type Value,
} from '../../../src/policies/cel/values.ts';
import { callOverload, costOfOverload, shown } from './support/overload.ts';

const TABLE: readonly (readonly [id: string, args: readonly Value[], result: unknown])[] = [
  ['string_char_at_int', ['a😀b', 1], '😀'],
  ['string_char_at_int', ['a😀b', 3], ''],
  ['string_char_at_int', ['a😀b', 4], 'error: index out of range: 4'],
  ['string_char_at_int', ['a', -1], 'error: index out of range: -1'],
  ['string_char_at_int', ['a', 2n ** 60n], 'error: index out of range: 1152921504606846976'],
  ['string_index_of_string', ['😀b😀', 'b'], 1],
  ['string_index_of_string_int', ['😀b😀', '😀', 1], 2],
  ['string_index_of_string_int', ['abc', '', 30], 30],
  ['string_index_of_string_int', ['abc', 'b', 30], -1],
  ['string_index_of_string_int', ['abc', 'b', -1], 'error: index out of range: -1'],
  ['string_last_index_of_string', ['😀b😀', '😀'], 2],
  ['string_last_index_of_string', ['😀b', ''], 2],
  ['string_last_index_of_string', ['', 'a'], -1],
  ['string_last_index_of_string_int', ['abab', 'ab', 1], 0],
  ['string_last_index_of_string_int', ['abab', 'ab', 9], -1],
  ['string_last_index_of_string_int', ['abab', 'ab', -1], 'error: index out of range: -1'],
  ['string_lower_ascii', ['ÀBC'], 'Àbc'],
  ['string_upper_ascii', ['ßabcé'], 'ßABCé'],
  ['string_replace_string_string', ['a$b', '$', '$&'], 'a$&b'],
  ['string_replace_string_string', ['a😀', '', '-'], '-a-😀-'],
  ['string_replace_string_string_int', ['aaa', 'a', 'b', 2], 'bba'],
  ['string_replace_string_string_int', ['ab', '', '-', 1], '-ab'],
  ['string_replace_string_string_int', ['aaa', 'a', 'b', 0], 'aaa'],
  ['string_replace_string_string_int', ['aaa', 'a', 'b', -1], 'bbb'],
  ['string_split_string', ['a,b,,c', ','], ['a', 'b', '', 'c']],
  ['string_split_string', ['a😀', ''], ['a', '😀']],
  ['string_split_string', ['', ''], []],
  ['string_split_string', ['', ','], ['']],
  ['string_split_string_int', ['a,b,c', ',', 2], ['a', 'b,c']],
  ['string_split_string_int', ['a,b,c', ',', 0], []],
  ['string_split_string_int', ['abc', '', 2], ['a', 'bc']],
  ['string_substring_int', ['a😀b', 2], 'b'],
  ['string_substring_int', ['a', 2], 'error: index out of range: 2'],
  ['string_substring_int_int', ['a😀b', 1, 2], '😀'],
  ['string_substring_int_int', ['abc', 2, 1], 'error: invalid substring range. start: 2, end: 1'],
  ['string_substring_int_int', ['abc', 0, 4], 'error: index out of range: 4'],
  ['string_trim', ['\u0085\u00a0 a\ufeff\t\n'], 'a\ufeff'],
  ['strings_quote', ['a"\\\n\u0007é'], '"a\\"\\\\\\n\\aé"'],
  ['strings_quote', ['\udcff'], '"\ufffd"'],
];

describe('strings', () => {
  it.each(TABLE)('%s gives what Go gives, line %#', (id, args, result) => {
    expect(shown(callOverload(strings, id, ...args))).toStrictEqual(result);
  });

  it.each([
    ['string_lower_ascii', ['x'.repeat(31)], 4],
    ['string_replace_string_string', ['x'.repeat(31), 'x', 'y'], 7],
    ['string_index_of_string', ['é'.repeat(16), 'x'], 3],
    ['string_char_at_int', ['x'.repeat(31), 0], 1],
    ['string_format', ['x'.repeat(31), []], 4],
  ] as const)('%s costs by the length of its text', (overloadId, args, cost) => {
    expect(costOfOverload(strings, { args, result: '', overloadId })).toBe(cost);
  });
});

describe('join', () => {
  const join = (gate: number, list: readonly Value[]) => {
    const overloads = strings.functions.find(({ name }) => name === 'join')?.overloads ?? [];
    const overload = overloads.find(
      ({ id, since, until }) => id === 'list_join_string' && (since ?? 0) <= gate && gate < (until ?? 99),
    );
    return shown(overload?.impl(list, ',') ?? null);
  };

  it('joins strings in every version', () => {
    expect(join(28, ['a', 'b'])).toBe('a,b');
    expect(join(36, ['a', 'b'])).toBe('a,b');
    expect(join(36, [])).toBe('');
  });

  it.each<readonly [Value, string]>([
    [1, '1'],
    [new Uint(1n), '1'],
    [1e21, '1e+21'],
    [true, 'true'],
    [null, '0'],
    [[1, 'a'], '[1, a]'],
    [{ a: 1 }, '{a: 1}'],
    [new Duration(5_400_500_000_000n), '1h30m0.5s'],
    [new Duration(-1_500n), '-1.5µs'],
    [new Timestamp(500_000_000n), '1970-01-01 00:00:00.5 +0000 UTC'],
    [new Timestamp(0n, 90), '1970-01-01 01:30:00 +0130 +0130'],
  ])('refuses a list with other values, line %#', (value, text) => {
    expect(join(36, ['a', value])).toBe(`error: join: invalid input: ${text}`);
  });

  it('refuses with the words of the conversion up to 1.28', () => {
    expect(join(28, ['a', 1])).toBe("error: unsupported type conversion from 'int' to string");
    expect(join(28, ['a', new Optional('b')])).toBe('a,b');
    expect(join(28, ['a', new Optional(undefined)])).toBe('error: optional.none() dereference');
    expect(join(28, ['a', new TypeValue('int')])).toBe("error: type conversion not supported for 'type'");
    expect(join(28, ['a', true])).toBe("error: type conversion error from bool to 'string'");
  });
});
