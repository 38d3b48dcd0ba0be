import { describe, expect, it } from 'vitest';

import { type CelType, DYN, INT, STRING, listOf, opaque } from '../../../src/policies/cel/cel-type.ts';
import { type EstimatedNode, UNBOUNDED, fixed } from '../../../src/policies/cel/estimate-range.ts';
import { FUNCTION_ESTIMATES } from '../../../src/policies/cel/libraries/kubernetes-estimates.ts';
import { OVERLOAD_ESTIMATES } from '../../../src/policies/cel/libraries/list-estimates.ts';

function sized(type: CelType, size?: number): EstimatedNode {
  return { type, size: size === undefined ? undefined : fixed(BigInt(size)) };
}

function int(literal: number): EstimatedNode {
  return { type: INT, size: fixed(1n), literal: BigInt(literal) };
}

const text = (size?: number) => sized(STRING, size);
const ints = (size?: number) => sized(listOf(INT), size);
const strings = (size?: number) => sized(listOf(STRING), size);
const of = (name: string, size?: number) => sized(opaque(name), size);

/** A tenth of everything, in doubles and rounded up. */
const TENTH = 1_844_674_407_370_955_264n;

describe('estimates by function', () => {
  it.each([
    ['check', '', of('x'), [text(3)], 350_000n, 350_000n],
    ['allowed', '', of('x'), [], 1n, 1n],
    ['labelSelector', '', of('x'), [text(7)], 211n, 211n],
    ['isSorted', '', ints(3), [], 3n, 3n],
    ['isSorted', '', strings(2), [], 2n, 2n * (TENTH + 1n)],
    ['indexOf', '', text(12), [text(1)], 2n, 2n],
    ['sum', '', sized(DYN), [], 0n, TENTH],
    ['url', '', undefined, [text(11)], 2n, 2n],
    ['ip', 'string_to_ip', undefined, [text(11)], 2n, 2n],
    ['ip', 'cidr_ip', of('net.CIDR'), [], 1n, 1n],
    ['ip.isCanonical', '', undefined, [text(11)], 3n, 3n],
    ['containsIP', 'cidr_contains_ip_ip', of('net.CIDR'), [of('net.IP')], 1n, 4n],
    ['containsIP', 'cidr_contains_ip_string', of('net.CIDR'), [text(11)], 3n, 6n],
    ['containsCIDR', 'cidr_contains_cidr', of('net.CIDR'), [of('net.CIDR')], 3n, 7n],
    ['containsCIDR', 'cidr_contains_cidr_string', of('net.CIDR'), [text(11)], 5n, 9n],
    ['validate', '', of('kubernetes.NamedFormat'), [text(11)], 64n, 64n],
    ['_==_', 'equals', undefined, [of('kubernetes.Quantity'), of('kubernetes.Quantity')], 1n, 1n],
    ['_==_', 'equals', undefined, [of('kubernetes.NamedFormat'), of('kubernetes.NamedFormat')], 1n, 7n],
    ['_==_', 'equals', undefined, [of('kubernetes.URL', 9), of('kubernetes.URL', 19)], 1n, 2n],
  ] as const)('%s (%s)', (name, overloadId, target, args, min, max) => {
    expect(FUNCTION_ESTIMATES.get(name)?.({ overloadId, target, args })?.cost).toEqual({ min, max });
  });

  it('has nothing to say of other equalities', () => {
    const call = { overloadId: 'equals', target: undefined, args: [text(1), text(1)] };
    expect(FUNCTION_ESTIMATES.get('_==_')?.(call)).toBeUndefined();
  });
});

describe('estimates by overload', () => {
  it.each([
    ['list_slice', ints(), [int(1), int(4)], 14n, 14n],
    ['list_slice', ints(3), [sized(DYN), sized(DYN)], 14n, 14n],
    ['list_flatten', ints(4), [], 15n, 15n],
    ['list_flatten_int', ints(4), [int(2)], 19n, 19n],
    ['lists_range', undefined, [int(-5)], 11n, 11n],
    ['lists_range', undefined, [sized(DYN)], UNBOUNDED, UNBOUNDED],
    ['list_reverse', ints(), [], 11n, UNBOUNDED],
    ['list_distinct', ints(3), [], 29n, 29n],
    ['list_string_sort', strings(6), [], 87n, 87n],
    ['list_int_sortByAssociatedKeys', strings(), [ints(2)], 19n, 19n],
    ['list_sets_contains_list', undefined, [ints(2), ints(3)], 7n, 7n],
    ['list_sets_equivalent_list', undefined, [ints(2), ints(3)], 13n, 13n],
  ] as const)('%s', (overloadId, target, args, min, max) => {
    expect(OVERLOAD_ESTIMATES.get(overloadId)?.({ overloadId, target, args })?.cost).toEqual({ min, max });
  });

  it('tells the size of the list that is made', () => {
    const call = { overloadId: 'list_slice', target: ints(), args: [int(1), int(4)] };
    expect(OVERLOAD_ESTIMATES.get('list_slice')?.(call)?.resultSize).toEqual(fixed(3n));
  });
});
