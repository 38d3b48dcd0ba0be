import { describe, expect, it } from 'vitest';

import { goSortedIndexes } from '../../../src/policies/cel/libraries/go-sort.ts';
import { EXPRESSION_LIMIT } from '../../../src/policies/cel/libraries/list-cost.ts';
import {
  firstAndLastLibrary,
  listExtensionLibrary,
  listsLibrary,
} from '../../../src/policies/cel/libraries/lists.ts';
import { quantityLibrary } from '../../../src/policies/cel/libraries/quantity.ts';
import { setsLibrary } from '../../../src/policies/cel/libraries/sets.ts';
import { PER_EXPRESSION_LIMIT } from '../../../src/policies/cel/program.ts';
import { EvaluationCancelled } from '../../../src/policies/cel/signals.ts';
import {
  CelError,
  Duration,
  Optional,
  Timestamp,
  Uint,
  type Value,
  doubleOf,
} from '../../../src/policies/cel/values.ts';
import { callOverload, costOfOverload, shown } from './support/overload.ts';

const bytes = (...values: number[]) => new Uint8Array(values);

describe('lists of Kubernetes', () => {
  const TABLE: readonly (readonly [id: string, args: readonly Value[], result: unknown])[] = [
    ['list_int_is_sorted_bool', [[]], true],
    ['list_int_is_sorted_bool', [[1, 1, 2]], true],
    ['list_int_is_sorted_bool', [[1, 3, 2]], false],
    ['list_string_is_sorted_bool', [['\uffff', '😀']], true],
    // What has no order with its neighbour is in order, what has none at all is an error.
    ['list_int_is_sorted_bool', [[1, 'a', 0]], true],
    ['list_int_is_sorted_bool', [[1, null]], 'error: no such overload'],
    ['list_int_sum_int', [[]], 0],
    ['list_int_sum_int', [[1, 2n ** 60n]], 2n ** 60n + 1n],
    ['list_int_sum_int', [[2n ** 63n - 1n, 1]], 'error: integer overflow'],
    ['list_int_sum_int', [[1, 1.5]], 'error: no such overload'],
    ['list_int_sum_int', [[1, null]], 'error: no such overload'],
    ['list_uint_sum_uint', [[new Uint(1n), new Uint(2n)]], '3u'],
    ['list_double_sum_double', [[]], 'double 0'],
    ['list_double_sum_double', [[1.5, doubleOf(1)]], 2.5],
    ['list_duration_sum_duration', [[new Duration(1n), new Duration(2n)]], '3ns'],
    ['list_int_min_int', [[]], 'error: min called on empty list'],
    ['list_int_max_int', [[]], 'error: max called on empty list'],
    ['list_int_min_int', [[2, 1.5, 3]], 1.5],
    ['list_int_max_int', [[1, 'a', 2]], 2],
    ['list_int_max_int', [[1, []]], 'error: no such overload'],
    ['list_bool_max_bool', [[false, true]], true],
    ['list_timestamp_min_timestamp', [[new Timestamp(2n), new Timestamp(1n)]], '1ns'],
    ['list_bytes_max_bytes', [[bytes(1), bytes(1, 0)]], bytes(1, 0)],
    ['list_a_index_of_int', [[1, 2, 2], 2], 1],
    ['list_a_index_of_int', [[1, 2], doubleOf(2)], 1],
    ['list_a_index_of_int', [['a'], 'b'], -1],
    ['list_a_last_index_of_int', [[1, 2, 2], 2], 2],
    ['list_a_last_index_of_int', [[[1], [2]], [1]], 0],
    ['list_includes_dyn_dyn', [['a', 'b'], 'b'], true],
    ['list_includes_dyn_dyn', ['a', 'a'], true],
    ['list_includes_dyn_dyn', ['ab', 'a'], false],
  ];

  it.each(TABLE)('%s of %o', (id, args, result) => {
    expect(shown(callOverload(listsLibrary, id, ...args))).toEqual(result);
  });

  it('keep the first of the least and of the greatest', () => {
    const [one, other] = [doubleOf(1), 1];
    expect(callOverload(listsLibrary, 'list_double_min_double', [one, other])).toBe(one);
    expect(callOverload(listsLibrary, 'list_int_max_int', [other, one])).toBe(other);
  });

  it('cost as much as going over all they hold', () => {
    const facts = { overloadId: 'list_int_sum_int', result: null };
    expect(costOfOverload(listsLibrary, { ...facts, args: [[1, 'x'.repeat(19), [2, 3]]] })).toBe(4);
    expect(costOfOverload(listsLibrary, { ...facts, args: [new CelError('')] })).toBe(1);
  });
});

describe('first and last', () => {
  it('are none in an empty list', () => {
    expect(callOverload(firstAndLastLibrary, 'list_first', [])).toEqual(new Optional(undefined));
    expect(callOverload(firstAndLastLibrary, 'list_first', [1, 2])).toEqual(new Optional(1));
    expect(callOverload(firstAndLastLibrary, 'list_last', [1, null])).toEqual(new Optional(null));
  });
});

describe('the extension of lists', () => {
  const TABLE: readonly (readonly [id: string, args: readonly Value[], result: unknown])[] = [
    ['list_slice', [[1, 2, 3], 1, 3], [2, 3]],
    ['list_slice', [[1, 2], 2, 2], []],
    ['list_slice', [[1], -1, 0], 'error: cannot slice(-1, 0), negative indexes not supported'],
    [
      'list_slice',
      [[1], 1, 0],
      'error: cannot slice(1, 0), start index must be less than or equal to end index',
    ],
    ['list_slice', [[1], 0, 2n ** 60n], 'error: cannot slice(0, 1152921504606846976), list is length 1'],
    ['list_flatten', [[[1], [[2]], 3]], [1, [2], 3]],
    ['list_flatten_int', [[[1], [[2]]], 9], [1, 2]],
    ['list_flatten_int', [[[1]], 0], [[1]]],
    ['list_flatten_int', [[[1]], -1], 'error: level must be non-negative'],
    ['list_flatten_int', [[[1]], 'a'], 'error: no such overload: list.flatten(string)'],
    ['list_flatten', ['x'], 'error: no such overload: string.flatten()'],
    ['list_int_sort', [[3, 1, 2]], [1, 2, 3]],
    ['list_int_sort', [[]], []],
    ['list_int_sort', [[null]], 'error: list elements must be comparable'],
    ['list_int_sort', [[1, 1.5]], 'error: list elements must have the same type'],
    ['list_double_sort', [[Number.NaN, 1.5, -1.5]], [Number.NaN, -1.5, 1.5]],
    [
      'list_int_sortByAssociatedKeys',
      [
        ['a', 'b', 'c'],
        [2, 1, 2],
      ],
      ['b', 'a', 'c'],
    ],
    [
      'list_int_sortByAssociatedKeys',
      [['a'], []],
      'error: @sortByAssociatedKeys() expected a list of the same size as the associated keys list, ' +
        'but got 1 and 0 elements respectively',
    ],
    ['lists_range', [3], [0, 1, 2]],
    ['lists_range', [-3], []],
    ['list_reverse', [[1, 2, 3]], [3, 2, 1]],
    ['list_distinct', [[1, doubleOf(1), '1', [1], [1]]], [1, '1', [1]]],
    ['list_distinct', [['b', 'a', 'b']], ['b', 'a']],
  ];

  it.each(TABLE)('%s of %o', (id, args, result) => {
    expect(shown(callOverload(listExtensionLibrary, id, ...args))).toEqual(result);
  });

  it.each([
    ['list_slice', [null, 1, 3], [2, 3], 13],
    ['list_flatten', [[[1], [2]]], null, 13],
    ['list_flatten_int', [[[1], [2]], 5], null, 21],
    ['lists_range', [5], [0, 1, 2, 3, 4], 16],
    ['lists_range', [5], new CelError(''), 12],
    ['list_int_sort', [[1, 2, 3]], null, 29],
    ['list_string_sort', [['a', 'b', 'c', 'd', 'e', 'f']], null, 86],
    ['list_int_sortByAssociatedKeys', [null, [1, 2]], null, 19],
    ['list_distinct', [[]], null, 11],
  ] as const)('%s of %o costs what it makes or compares', (overloadId, args, result, cost) => {
    expect(costOfOverload(listExtensionLibrary, { overloadId, args, result })).toBe(cost);
  });

  it.each([
    [null, 'types.Null is not traits.Lister: missing method Add'],
    ['x', 'types.String is not traits.Lister: missing method Contains'],
    [new CelError(''), '*types.Err is not traits.Lister: missing method Add'],
  ])('ends where the API server does not survive the cost of %o', (value, text) => {
    const facts = { overloadId: 'list_distinct', args: [value], result: null };
    expect(() => costOfOverload(listExtensionLibrary, facts)).toThrow(
      expect.objectContaining({ message: `internal error: interface conversion: ${text}` }),
    );
    expect(() => costOfOverload(listExtensionLibrary, facts)).toThrow(EvaluationCancelled);
  });

  it('does not begin what nobody will see the result of', () => {
    expect(EXPRESSION_LIMIT).toBe(PER_EXPRESSION_LIMIT);
    const started = performance.now();
    const maps: readonly Value[] = Array.from({ length: 50_000 }, (_, i) => ({ i }));
    callOverload(listExtensionLibrary, 'list_distinct', maps);
    callOverload(setsLibrary, 'list_sets_contains_list', maps, maps);
    const range = callOverload(listExtensionLibrary, 'lists_range', 2n ** 62n) as readonly Value[];
    expect(performance.now() - started).toBeLessThan(2000);
    const facts = { overloadId: 'lists_range', args: [2n ** 62n], result: range };
    expect(costOfOverload(listExtensionLibrary, facts)).toBeGreaterThan(EXPRESSION_LIMIT);
  });
});

describe('the order of equal elements', () => {
  /** Recorded from Go 1.26: the indexes of `i % modulus` for i below length. */
  it.each([
    [12, 3, '0 3 6 9 1 4 7 10 2 5 8 11'],
    [13, 2, '8 12 2 0 4 10 6 3 7 9 5 11 1'],
    [
      60,
      4,
      '0 20 28 56 4 36 24 52 8 16 44 48 12 40 32 37 25 17 49 41 1 13 21 45 53 9 5 33 57 29 14 46 30 58 34 2 26 54 38 6 22 50 42 10 18 15 7 47 11 43 19 51 31 39 23 55 3 35 27 59',
    ],
  ])('is that of Go for %i elements of %i kinds', (length, modulus, order) => {
    expect(goSortedIndexes(length, (a, b) => a % modulus < b % modulus).join(' ')).toBe(order);
  });

  it('sorts what is sorted, reversed, equal or neither', () => {
    for (const keys of [
      Array.from({ length: 500 }, (_, i) => i),
      Array.from({ length: 500 }, (_, i) => -i),
      Array.from({ length: 500 }, () => 7),
      Array.from({ length: 500 }, (_, i) => (i * 7919) % 503),
      Array.from({ length: 500 }, (_, i) => (i % 50 === 49 ? 0 : i)),
    ]) {
      const sorted = goSortedIndexes(keys.length, (a, b) => (keys[a] ?? 0) < (keys[b] ?? 0));
      expect(sorted.map((index) => keys[index])).toEqual(keys.toSorted((a, b) => a - b));
      expect(new Set(sorted).size).toBe(keys.length);
    }
  });
});

describe('sets', () => {
  const quantity = (text: string) => callOverload(quantityLibrary, 'string_to_quantity', text);

  it.each([
    ['contains', [1, 2], [1, 1], true],
    ['contains', [1], [1, 2], false],
    ['contains', [], [], true],
    ['equivalent', [1, 1], [doubleOf(1)], true],
    ['equivalent', [1, 2], [1], false],
    ['intersects', [1, 'a'], ['a'], true],
    ['intersects', [1], [], false],
  ] as const)('%s of %o and %o', (relation, a, b, holds) => {
    expect(callOverload(setsLibrary, `list_sets_${relation}_list`, a, b)).toBe(holds);
  });

  it('look for an element from its own side', () => {
    const sum = callOverload(quantityLibrary, 'quantity_add_int', quantity('1'), 1);
    expect(callOverload(setsLibrary, 'list_sets_contains_list', [quantity('2')], [sum])).toBe(true);
    expect(callOverload(setsLibrary, 'list_sets_contains_list', [sum], [quantity('2')])).toBe(false);
  });

  it('cost each element with each', () => {
    const facts = {
      args: [
        [1, 2],
        [1, 2, 3],
      ],
      result: null,
    };
    expect(costOfOverload(setsLibrary, { ...facts, overloadId: 'list_sets_contains_list' })).toBe(7);
    expect(costOfOverload(setsLibrary, { ...facts, overloadId: 'list_sets_equivalent_list' })).toBe(13);
  });
});
