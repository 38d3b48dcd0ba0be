/** Lists as sets: `sets.contains`, `sets.equivalent`, `sets.intersects` (cel-go ext/sets.go). */
import { BOOL, listOf, param } from '../cel-type.ts';
import { isEqual } from '../equality.ts';
import type { CallFacts, Library } from '../library.ts';
import { actualSize } from '../sizes.ts';
import type { Value } from '../values.ts';
import { define, global } from './declare.ts';
import { EXPRESSION_LIMIT } from './list-cost.ts';

type List = readonly Value[];

const LIST = listOf(param('T'));

/** Whether each element of the one is in the other; whose side an element stands on matters to equality. */
function contains(list: List, part: List): boolean {
  return part.every((wanted) => holds(list, wanted));
}

function holds(list: List, wanted: Value): boolean {
  // Strings are equal to themselves alone.
  if (typeof wanted === 'string') return list.includes(wanted);
  return list.some((element) => isEqual(wanted, element));
}

function equivalent(a: List, b: List): boolean {
  return contains(a, b) && contains(b, a);
}

function intersects(a: List, b: List): boolean {
  return a.some((wanted) => holds(b, wanted));
}

/** A call, and each element with each other one. @param rounds how often */
function comparisons(rounds: number) {
  return ({ overloadId, args: [a = null, b = null] }: CallFacts): number | undefined =>
    overloadId === undefined ? undefined : 1 + actualSize(a) * actualSize(b) * rounds;
}

function relation(name: string, rounds: number, holds: (a: List, b: List) => boolean) {
  return define(`sets.${name}`, comparisons(rounds), [
    global(
      `list_sets_${name}_list`,
      [LIST, LIST],
      BOOL,
      // What costs more than an expression may ends it: nobody looks at the result.
      (a: List, b: List) => a.length * b.length * rounds <= EXPRESSION_LIMIT && holds(a, b),
    ),
  ]);
}

export const setsLibrary: Library = {
  name: 'cel.lib.ext.sets',
  since: 29,
  functions: [
    relation('contains', 1, contains),
    relation('equivalent', 2, equivalent),
    relation('intersects', 1, intersects),
  ],
};
