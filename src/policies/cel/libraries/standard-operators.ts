/**
 * Operators, `size`, `type` and `dyn` of the standard library (cel-go common/stdlib). The planner has ways of its own
 * for most of them; what stands here is what the checker has to know, and the same functions.
 */
import { type ArithmeticOperator, calculate, negate } from '../arithmetic.ts';
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
  mapOf,
  param,
} from '../cel-type.ts';
import { isEqual, isMap } from '../equality.ts';
import type { CallFacts, FunctionDefinition, Library, Overload } from '../library.ts';
import { NO_SUCH_OVERLOAD, compare, isComparable } from '../ordering.ts';
import { conjunction, contains, disjunction } from '../plan-logic.ts';
import { missing, qualify } from '../qualify.ts';
import { STRING_TRAVERSAL, actualSize, standardSize } from '../sizes.ts';
import { typeNameOf } from '../type-name.ts';
import { CelError, TypeValue, type Value } from '../values.ts';
import { define, global, member } from './declare.ts';

const A = param('A');
const B = param('B');
const LIST = listOf(A);
const MAP = mapOf(A, B);

/** Types as the ids of overloads name them. */
const TYPES: Readonly<Record<string, CelType>> = {
  bool: BOOL,
  bytes: BYTES,
  double: DOUBLE,
  duration: DURATION,
  int64: INT,
  list: LIST,
  string: STRING,
  timestamp: TIMESTAMP,
  uint64: UINT,
};

function typeOf(name: string): CelType {
  return TYPES[name] ?? DYN;
}

/** The function that cel-go binds for all overloads of an operator, whatever its left side is. */
function anyType(): boolean {
  return true;
}

/** Suffixes of the ids of `_+_` and its kin, with the types of both sides and of the result. */
type Rows = readonly (readonly [suffix: string, left: string, right: string, result: string])[];

function sameTypes(...names: readonly string[]): Rows {
  return names.map((name) => [name, name, name, name]);
}

function arithmetic(name: ArithmeticOperator, prefix: string, rows: Rows): FunctionDefinition {
  const impl = (left: Value, right: Value): Value =>
    calculate(name, left, right) ?? new CelError(`no such overload: ${name}`);
  const overloads = rows.map(([suffix, left, right, result]) =>
    global(`${prefix}_${suffix}`, [typeOf(left), typeOf(right)], typeOf(result), impl),
  );
  return { ...define(name, name === '_+_' ? additionCost : undefined, overloads), singleton: anyType };
}

/** Strings and bytes are copied; a list is not. */
export function additionCost({ args, overloadId }: CallFacts): number {
  if (overloadId !== 'add_string' && overloadId !== 'add_bytes') return 1;
  return Math.ceil((standardSize(args[0] ?? null) + standardSize(args[1] ?? null)) * STRING_TRAVERSAL);
}

const NUMERIC_PAIRS: readonly string[] = [
  'bool',
  'int64',
  'int64_double',
  'int64_uint64',
  'uint64',
  'uint64_double',
  'uint64_int64',
  'double',
  'double_int64',
  'double_uint64',
  'string',
  'bytes',
  'timestamp',
  'duration',
];

export type Relation = '_<_' | '_<=_' | '_>_' | '_>=_';

/** Whether an order of two values, as `compare` tells it, satisfies a relation. */
export const RELATIONS: Readonly<Record<Relation, (order: number) => boolean>> = {
  '_<_': (order) => order < 0,
  '_<=_': (order) => order <= 0,
  '_>_': (order) => order > 0,
  '_>=_': (order) => order >= 0,
};

function relation(name: Relation, prefix: string): FunctionDefinition {
  const satisfies = RELATIONS[name];
  const impl = (left: Value, right: Value): Value => {
    const order = isComparable(left) ? compare(left, right) : NO_SUCH_OVERLOAD;
    return typeof order === 'number' ? satisfies(order) : order;
  };
  const overloads = NUMERIC_PAIRS.map((suffix) => {
    const [left = '', right = left] = suffix.split('_');
    return global(`${prefix}_${suffix}`, [typeOf(left), typeOf(right)], BOOL, impl);
  });
  return { ...define(name, relationCost, overloads), singleton: anyType };
}

/** Strings and bytes are gone through up to the end of the shorter one. */
export function relationCost({ args, overloadId }: CallFacts): number {
  if (overloadId === undefined || !/_(?:string|bytes)$/.test(overloadId)) return 1;
  return Math.ceil(Math.min(standardSize(args[0] ?? null), standardSize(args[1] ?? null)) * STRING_TRAVERSAL);
}

function nonStrict(name: string, overload: Overload): FunctionDefinition {
  return { ...define(name, undefined, [overload]), nonStrict: true, singleton: anyType };
}

function operator(name: string, overloads: readonly Overload[]): FunctionDefinition {
  return { ...define(name, undefined, overloads), singleton: anyType };
}

function not(value: Value): Value {
  return typeof value === 'boolean' ? !value : NO_SUCH_OVERLOAD;
}

function negated(value: Value): Value {
  return negate(value) ?? new CelError('no such overload: -_');
}

function at(container: Value, key: Value): Value {
  const found = qualify(container, key);
  return found === undefined ? missing(container, key) : found;
}

function choose(condition: Value, whenTrue: Value, whenFalse: Value): Value {
  if (typeof condition === 'boolean') return condition ? whenTrue : whenFalse;
  return condition instanceof CelError ? condition : NO_SUCH_OVERLOAD;
}

/** Whether a value has a size. */
export function isSized(value: Value): boolean {
  return typeof value === 'string' || Array.isArray(value) || value instanceof Uint8Array || isMap(value);
}

function sizes(): readonly Overload[] {
  return (['bytes', 'list', 'map', 'string'] as const).flatMap((name) => {
    const type = name === 'map' ? MAP : typeOf(name);
    return [global(`size_${name}`, [type], INT, actualSize), member(`${name}_size`, [type], INT, actualSize)];
  });
}

export const standardOperators: Library = {
  name: 'cel.lib.std.operators',
  since: 0,
  functions: [
    nonStrict('_?_:_', global('conditional', [BOOL, A, A], A, choose)),
    nonStrict('_&&_', global('logical_and', [BOOL, BOOL], BOOL, conjunction)),
    nonStrict('_||_', global('logical_or', [BOOL, BOOL], BOOL, disjunction)),
    operator('!_', [global('logical_not', [BOOL], BOOL, not)]),
    operator('_==_', [global('equals', [A, A], BOOL, (left: Value, right: Value) => isEqual(left, right))]),
    operator('_!=_', [
      global('not_equals', [A, A], BOOL, (left: Value, right: Value) => !isEqual(left, right)),
    ]),
    arithmetic('_+_', 'add', [
      ...sameTypes('bytes', 'double'),
      ['duration_duration', 'duration', 'duration', 'duration'],
      ['duration_timestamp', 'duration', 'timestamp', 'timestamp'],
      ['timestamp_duration', 'timestamp', 'duration', 'timestamp'],
      ...sameTypes('int64', 'list', 'string', 'uint64'),
    ]),
    arithmetic('_/_', 'divide', sameTypes('double', 'int64', 'uint64')),
    arithmetic('_%_', 'modulo', sameTypes('int64', 'uint64')),
    arithmetic('_*_', 'multiply', sameTypes('double', 'int64', 'uint64')),
    operator('-_', [
      global('negate_double', [DOUBLE], DOUBLE, negated),
      global('negate_int64', [INT], INT, negated),
    ]),
    arithmetic('_-_', 'subtract', [
      ...sameTypes('double'),
      ['duration_duration', 'duration', 'duration', 'duration'],
      ...sameTypes('int64'),
      ['timestamp_duration', 'timestamp', 'duration', 'timestamp'],
      ['timestamp_timestamp', 'timestamp', 'timestamp', 'duration'],
      ...sameTypes('uint64'),
    ]),
    relation('_<_', 'less'),
    relation('_<=_', 'less_equals'),
    relation('_>_', 'greater'),
    relation('_>=_', 'greater_equals'),
    operator('_[_]', [global('index_list', [LIST, INT], A, at), global('index_map', [MAP, A], B, at)]),
    operator('@in', [
      global('in_list', [A, LIST], BOOL, contains),
      global('in_map', [A, MAP], BOOL, contains),
    ]),
    { ...define('size', undefined, sizes()), singleton: isSized },
    operator('type', [
      global('type', [A], { kind: 'type', of: A }, (value: Value) => new TypeValue(typeNameOf(value))),
    ]),
    operator('dyn', [global('to_dyn', [A], DYN, (value: Value) => value)]),
  ],
};
