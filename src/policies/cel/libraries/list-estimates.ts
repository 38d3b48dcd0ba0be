/** Static costs of the list and set extensions of cel-go, by overload (ext/lists.go, ext/sets.go). */
import {
  type CallEstimate,
  type EstimatedNode,
  type EstimateRule,
  type Range,
  UNBOUNDED,
  addRanges,
  fixed,
  multiplyRanges,
  scaleRange,
  sizeOf,
} from '../estimate-range.ts';
import { STRING_TRAVERSAL } from '../sizes.ts';

/** The call, and the list that it makes. */
const CALL = fixed(1n);
const LIST = fixed(10n);

function madeList(factor: number, size: Range): CallEstimate {
  return { cost: addRanges(scaleRange(size, factor), CALL, LIST), resultSize: size };
}

/** What is no int literal may be anything; below zero there is nothing. */
function literalOr(node: EstimatedNode | undefined, otherwise: bigint): bigint {
  const literal = node?.literal ?? otherwise;
  return literal < 0n ? 0n : literal;
}

const slice: EstimateRule = ({ target, args: [start, end] }) => {
  if (target === undefined) return undefined;
  const length = literalOr(end, sizeOf(target).max) - literalOr(start, 0n);
  return madeList(1, fixed(BigInt.asUintN(64, length)));
};

const flatten: EstimateRule = ({ target, args: [depth] }) => {
  if (target === undefined) return undefined;
  return madeList(Number(depth === undefined ? 1n : literalOr(depth, UNBOUNDED)), sizeOf(target));
};

function selfCompare(list: EstimatedNode | undefined, factor: number): CallEstimate | undefined {
  return list && madeList(factor, multiplyRanges(sizeOf(list), sizeOf(list)));
}

/** Each element of one list with each of the other. @param rounds how often */
function compareLists(rounds: number): EstimateRule {
  return ({ args: [a, b] }) =>
    a && b && { cost: addRanges(scaleRange(multiplyRanges(sizeOf(a), sizeOf(b)), rounds), CALL) };
}

/** Elements that are compared; strings and bytes cost more. */
const SORTABLE: readonly [type: string, factor: number][] = [
  ['int', 2],
  ['uint', 2],
  ['double', 2],
  ['bool', 2],
  ['google.protobuf.Duration', 2],
  ['google.protobuf.Timestamp', 2],
  ['string', 2 + STRING_TRAVERSAL],
  ['bytes', 2 + STRING_TRAVERSAL],
];

/** By the id of the overload; these rules come before those by function. */
export const OVERLOAD_ESTIMATES: ReadonlyMap<string, EstimateRule> = new Map<string, EstimateRule>([
  ['list_slice', slice],
  ['list_flatten', flatten],
  ['list_flatten_int', flatten],
  ['lists_range', ({ args: [end] }) => madeList(1, fixed(literalOr(end, UNBOUNDED)))],
  ['list_reverse', ({ target }) => target && madeList(1, sizeOf(target))],
  ['list_distinct', ({ target }) => selfCompare(target, 2)],
  ...SORTABLE.flatMap(([type, factor]): [string, EstimateRule][] => [
    [`list_${type}_sort`, ({ target }) => selfCompare(target, factor)],
    [`list_${type}_sortByAssociatedKeys`, ({ args: [keys] }) => selfCompare(keys, factor)],
  ]),
  ['list_sets_contains_list', compareLists(1)],
  ['list_sets_intersects_list', compareLists(1)],
  ['list_sets_equivalent_list', compareLists(2)],
]);
