/**
 * Lists: what Kubernetes adds (`isSorted`, `sum`, `min`, `max`, `indexOf`, `lastIndexOf`, from 1.37 on `includes`),
 * cel-go's list extension in version 3, and `first` and `last`, which come with the optionals (cel.md §4).
 */
import { calculate } from '../arithmetic.ts';
import {
  BOOL,
  BYTES,
  type CelType,
  DOUBLE,
  DURATION,
  DYN,
  INT,
  STRING,
  TIMESTAMP,
  UINT,
  listOf,
  optionalOf,
  param,
} from '../cel-type.ts';
import { allowElements, sortEffort } from '../effort.ts';
import { isEqual, isMap } from '../equality.ts';
import type { CallFacts, FunctionDefinition, Library, Overload } from '../library.ts';
import { NO_SUCH_OVERLOAD, compare, isComparable } from '../ordering.ts';
import { traversalCost } from '../sizes.ts';
import { typeNameOf } from '../type-name.ts';
import { CelError, Duration, Optional, Uint, type Value, doubleOf } from '../values.ts';
import { define, global, member } from './declare.ts';
import { goSortedIndexes } from './go-sort.ts';
import {
  EXPRESSION_LIMIT,
  flattenCost,
  isTooLongToCompare,
  resultListCost,
  selfCompareCost,
} from './list-cost.ts';

type List = readonly Value[];

const A = param('A');
const T = param('T');
const LIST = listOf(T);

/** Types that have an order, in the order in which dispatch tries them. */
const COMPARABLE: readonly [name: string, type: CelType][] = [
  ['int', INT],
  ['uint', UINT],
  ['double', DOUBLE],
  ['bool', BOOL],
  ['duration', DURATION],
  ['timestamp', TIMESTAMP],
  ['string', STRING],
  ['bytes', BYTES],
];

/** What sums begin with. */
const SUMMABLE: readonly [name: string, type: CelType, zero: Value][] = [
  ['int', INT, 0],
  ['uint', UINT, new Uint(0n)],
  ['double', DOUBLE, doubleOf(0)],
  ['duration', DURATION, new Duration(0n)],
];

function isSorted(list: List): Value {
  for (const [i, element] of list.entries()) {
    if (!isComparable(element)) return NO_SUCH_OVERLOAD;
    const order = i === 0 ? 0 : compare(list[i - 1] ?? null, element);
    // Neighbours without an order are in order.
    if (typeof order === 'number' && order > 0) return false;
  }
  return true;
}

function sum(zero: Value): (list: List) => Value {
  return (list) => {
    let total = zero;
    for (const element of list) {
      total = calculate('_+_', total, element) ?? NO_SUCH_OVERLOAD;
      if (total instanceof CelError) return total;
    }
    return total;
  };
}

/** @param sign 1: the first of the least elements; -1: the first of the greatest */
function extreme(name: 'min' | 'max', sign: 1 | -1): (list: List) => Value {
  return (list) => {
    let found: Value | undefined;
    for (const element of list) {
      if (!isComparable(element)) return NO_SUCH_OVERLOAD;
      const order = found === undefined ? sign : compare(found, element);
      if (typeof order === 'number' && order * sign > 0) found = element;
    }
    return found ?? new CelError(`${name} called on empty list`);
  };
}

function indexOf(list: List, item: Value): Value {
  return list.findIndex((element) => isEqual(element, item));
}

function lastIndexOf(list: List, item: Value): Value {
  return list.findLastIndex((element) => isEqual(element, item));
}

function includes(target: Value, item: Value): Value {
  return Array.isArray(target) ? (target as List).some((e) => isEqual(e, item)) : isEqual(target, item);
}

function slice(list: List, start: number | bigint, end: number | bigint): Value {
  const call = `cannot slice(${String(start)}, ${String(end)})`;
  if (start < 0 || end < 0) return new CelError(`${call}, negative indexes not supported`);
  if (start > end) return new CelError(`${call}, start index must be less than or equal to end index`);
  if (end > list.length) return new CelError(`${call}, list is length ${String(list.length)}`);
  return list.slice(Number(start), Number(end));
}

/** Dispatch does not look at the types here, so that flat lists of unknown elements pass. */
function flatten(list: Value, levels?: Value): Value {
  const isLevels = levels === undefined || typeNameOf(levels) === 'int';
  if (!Array.isArray(list) || !isLevels) {
    const signature = levels === undefined ? '' : typeNameOf(levels);
    const receiver = isMap(list) ? 'map(dyn, dyn)' : typeNameOf(list);
    return new CelError(`no such overload: ${receiver}.flatten(${signature})`);
  }
  const depth = Number(levels ?? 1);
  if (depth < 0) return new CelError('level must be non-negative');
  const flat: Value[] = [];
  addFlat(list as List, depth, flat);
  return flat;
}

function addFlat(list: List, levels: number, flat: Value[]): void {
  for (const element of list) {
    if (levels > 0 && Array.isArray(element)) addFlat(element as List, levels - 1, flat);
    else flat.push(element);
  }
  allowElements(flat.length);
}

function distinct(list: List): Value {
  if (list.every((element) => typeof element === 'string')) return [...new Set(list)];
  if (isTooLongToCompare(list)) return list;
  const found: Value[] = [];
  for (const element of list) if (!found.some((other) => isEqual(element, other))) found.push(element);
  return found;
}

function range(end: number | bigint): Value {
  // Longer lists cost more than an expression may: nobody looks at their elements.
  if (end <= EXPRESSION_LIMIT) return Array.from({ length: Math.max(Number(end), 0) }, (_, index) => index);
  const list: Value[] = [];
  list.length = Math.min(Number(end), 2 ** 32 - 1);
  return list;
}

function sortByKeys(list: Value, keys: Value): Value {
  // No dispatch has looked at the keys (a singleton).
  if (!Array.isArray(list) || !Array.isArray(keys)) return NO_SUCH_OVERLOAD;
  if (list.length !== keys.length) {
    return new CelError(
      '@sortByAssociatedKeys() expected a list of the same size as the associated keys list, ' +
        `but got ${String(list.length)} and ${String(keys.length)} elements respectively`,
    );
  }
  const [first] = keys as List;
  if (first === undefined) return list as List;
  if (!isComparable(first)) return new CelError('list elements must be comparable');
  const type = typeNameOf(first);
  if ((keys as List).some((key) => typeNameOf(key) !== type)) {
    return new CelError('list elements must have the same type');
  }
  const indexes = goSortedIndexes(keys.length, (a, b) => {
    const order = compare((keys as List)[a] ?? null, (keys as List)[b] ?? null);
    return typeof order === 'number' && order < 0;
  });
  return indexes.map((index) => (list as List)[index] ?? null);
}

function firstOf(list: List): Value {
  return new Optional(list[0]);
}

function lastOf(list: List): Value {
  return new Optional(list.at(-1));
}

function traversed({ args }: CallFacts): number {
  return traversalCost(args[0] ?? null);
}

function perType(make: (name: string, type: CelType) => Overload): readonly Overload[] {
  return COMPARABLE.map(([name, type]) => make(name, type));
}

function extremes(name: 'min' | 'max', sign: 1 | -1): FunctionDefinition {
  const find = extreme(name, sign);
  return define(
    name,
    traversed,
    perType((typeName, type) => member(`list_${typeName}_${name}_${typeName}`, [listOf(type)], type, find)),
  );
}

function isList(value: Value): boolean {
  return Array.isArray(value);
}

/** cel-go names the overloads of its extension by the full names of the types. */
function extensionId(name: string, suffix: string): string {
  const full: Readonly<Record<string, string>> = {
    duration: 'google.protobuf.Duration',
    timestamp: 'google.protobuf.Timestamp',
  };
  return `list_${full[name] ?? name}_${suffix}`;
}

export const listsLibrary: Library = {
  name: 'kubernetes.lists',
  since: 0,
  functions: [
    define(
      'isSorted',
      traversed,
      perType((name, type) => member(`list_${name}_is_sorted_bool`, [listOf(type)], BOOL, isSorted)),
    ),
    define(
      'sum',
      traversed,
      SUMMABLE.map(([name, type, zero]) =>
        member(`list_${name}_sum_${name}`, [listOf(type)], type, sum(zero)),
      ),
    ),
    extremes('max', -1),
    extremes('min', 1),
    define('indexOf', traversed, [member('list_a_index_of_int', [listOf(A), A], INT, indexOf)]),
    define('lastIndexOf', traversed, [member('list_a_last_index_of_int', [listOf(A), A], INT, lastIndexOf)]),
    {
      ...define('includes', traversed, [member('list_includes_dyn_dyn', [DYN, DYN], BOOL, includes)]),
      since: 37,
    },
  ],
};

/** Part of the optionals. */
export const firstAndLastLibrary: Library = {
  name: 'optional.lists',
  since: 28,
  functions: [
    define('first', undefined, [member('list_first', [LIST], optionalOf(T), firstOf)]),
    define('last', undefined, [member('list_last', [LIST], optionalOf(T), lastOf)]),
  ],
};

export const listExtensionLibrary: Library = {
  name: 'cel.lib.ext.lists',
  since: 34,
  functions: [
    define('slice', resultListCost('list_slice'), [member('list_slice', [LIST, INT, INT], LIST, slice)]),
    {
      ...define('flatten', flattenCost, [
        member('list_flatten', [listOf(LIST)], LIST, flatten),
        member('list_flatten_int', [listOf(DYN), INT], listOf(DYN), flatten),
      ]),
      unguarded: true,
    },
    {
      ...define(
        'sort',
        selfCompareCost(0),
        perType((name, type) =>
          member(extensionId(name, 'sort'), [listOf(type)], listOf(type), (list: Value) =>
            sortByKeys(list, list),
          ),
        ),
      ),
      singleton: isList,
      effort: sortEffort,
    },
    {
      ...define(
        '@sortByAssociatedKeys',
        selfCompareCost(1),
        perType((name, type) =>
          member(extensionId(name, 'sortByAssociatedKeys'), [LIST, listOf(type)], LIST, sortByKeys),
        ),
      ),
      singleton: isList,
      effort: sortEffort,
    },
    define('lists.range', resultListCost('lists_range'), [global('lists_range', [INT], listOf(INT), range)]),
    define('reverse', resultListCost('list_reverse'), [
      member('list_reverse', [LIST], LIST, (list: List) => list.toReversed()),
    ]),
    define('distinct', selfCompareCost(0), [member('list_distinct', [LIST], LIST, distinct)]),
  ],
};
