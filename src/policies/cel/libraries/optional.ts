/** Optionals (cel-go cel/library.go). `or`, `orValue` and optional selects have ways of their own in the planner. */
import { BOOL, DYN, INT, STRING, listOf, mapOf, opaque, optionalOf, param } from '../cel-type.ts';
import { isMap, mapSize } from '../equality.ts';
import type { Library } from '../library.ts';
import { qualify } from '../qualify.ts';
import { CelError, Duration, Optional, Timestamp, Uint, type Value, isBoxedDouble } from '../values.ts';
import { define, global, member } from './declare.ts';
import { goText } from './go-value.ts';

const K = param('K');
const V = param('V');
const OPTIONAL = optionalOf(V);
const LIST = listOf(V);
const MAP = mapOf(K, V);
/** The name alone has no parameter. */
const OPTIONAL_TYPE = opaque('optional_type');

/** The zero time of Go: 0001-01-01T00:00:00Z. */
const ZERO_TIME = -62_135_596_800_000_000_000n;

/** Whether a value is the zero value of its type; some types have none. */
function isZero(value: Value): boolean {
  if (value === null || value === false || value === '') return true;
  if (typeof value === 'number') return value === 0;
  if (typeof value !== 'object') return false;
  if (Array.isArray(value) || value instanceof Uint8Array) return value.length === 0;
  if (isBoxedDouble(value)) return value.valueOf() === 0;
  if (value instanceof Uint) return value.value === 0n;
  if (value instanceof Duration) return value.nanoseconds === 0n;
  if (value instanceof Timestamp) return value.nanoseconds === ZERO_TIME;
  return isMap(value) && mapSize(value) === 0;
}

function valueOf(optional: Optional): Value {
  return optional.value === undefined ? new CelError('optional.none() dereference') : optional.value;
}

/** `a.or(b)`; what is no optional stays what it is, as there. */
function or(left: Value, right: Value): Value {
  return left instanceof Optional && left.value === undefined ? right : left;
}

/** `a.orValue(b)`. */
function orValue(left: Value, right: Value): Value {
  if (!(left instanceof Optional)) return left;
  return left.value === undefined ? right : left.value;
}

function optionalAt(container: Value, key: Value): Value {
  const inner = container instanceof Optional ? container.value : container;
  const found = inner === undefined ? undefined : qualify(inner, key);
  return found instanceof CelError ? found : new Optional(found);
}

function unwrap(list: readonly Value[]): Value {
  const values: Value[] = [];
  for (const value of list) {
    // Only the first element was looked at before the call.
    if (!(value instanceof Optional)) return new CelError(`value ${goText(value)} is not optional`);
    if (value.value !== undefined) values.push(value.value);
  }
  return values;
}

export const optionalLibrary: Library = {
  name: 'optional',
  since: 28,
  typeNames: { optional_type: OPTIONAL_TYPE },
  functions: [
    define('optional.of', undefined, [
      global('optional_of', [V], OPTIONAL, (value: Value) => new Optional(value)),
    ]),
    define('optional.ofNonZeroValue', undefined, [
      global(
        'optional_ofNonZeroValue',
        [V],
        OPTIONAL,
        (value: Value) => new Optional(isZero(value) ? undefined : value),
      ),
    ]),
    define('optional.none', undefined, [
      global('optional_none', [], OPTIONAL, () => new Optional(undefined)),
    ]),
    define('value', undefined, [member('optional_value', [OPTIONAL], V, valueOf)]),
    define('hasValue', undefined, [
      member('optional_hasValue', [OPTIONAL], BOOL, (optional: Optional) => optional.value !== undefined),
    ]),
    {
      ...define('or', undefined, [member('optional_or_optional', [OPTIONAL, OPTIONAL], OPTIONAL, or)]),
      unguarded: true,
    },
    {
      ...define('orValue', undefined, [member('optional_orValue_value', [OPTIONAL, V], V, orValue)]),
      unguarded: true,
    },
    define('_?._', undefined, [global('select_optional_field', [DYN, STRING], OPTIONAL, optionalAt)]),
    define('_[?_]', undefined, [
      global('list_optindex_optional_int', [LIST, INT], OPTIONAL, optionalAt),
      global('optional_list_optindex_optional_int', [optionalOf(LIST), INT], OPTIONAL, optionalAt),
      global('map_optindex_optional_value', [MAP, K], OPTIONAL, optionalAt),
      global('optional_map_optindex_optional_value', [optionalOf(MAP), K], OPTIONAL, optionalAt),
    ]),
    define('_[_]', undefined, [
      global('optional_list_index_int', [optionalOf(LIST), INT], OPTIONAL, optionalAt),
      global('optional_map_index_value', [optionalOf(MAP), K], OPTIONAL, optionalAt),
    ]),
    define('optional.unwrap', undefined, [global('optional_unwrap', [listOf(OPTIONAL)], LIST, unwrap)]),
    define('unwrapOpt', undefined, [member('optional_unwrapOpt', [listOf(OPTIONAL)], LIST, unwrap)]),
  ],
};
