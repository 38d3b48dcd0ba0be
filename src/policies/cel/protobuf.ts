/**
 * Messages of protocol buffers that stand for plain values: what an expression makes of `google.protobuf.Value{…}`
 * (cel-go common/types, ConvertToNative, and provider.go).
 */
import { isMap } from './equality.ts';
import { formatDuration, formatTimestamp } from './go-time.ts';
import { entriesOf } from './libraries/comprehensions.ts';
import { isInt64 } from './ordering.ts';
import { typeNameOf } from './type-name.ts';
import {
  CelError,
  CelMap,
  Duration,
  Opaque,
  Optional,
  Timestamp,
  Uint,
  type Value,
  doubleOf,
  isBoxedDouble,
} from './values.ts';

const NANOSECONDS = 1_000_000_000n;
const JSON_VALUE = '*structpb.Value';

/** A value that a field cannot take: Go's text. */
class Misfit {
  readonly reason: string;
  constructor(reason: string) {
    this.reason = reason;
  }
}

class EmptyMessage extends Opaque {
  override readonly typeName = 'google.protobuf.Empty';

  override equals(other: Value): boolean {
    return other instanceof EmptyMessage;
  }
}

/** How Go's kinds of fields are called, and which CEL type they take. */
const SCALARS: Readonly<Record<string, string>> = {
  bool: 'bool',
  float32: 'double',
  float64: 'double',
  int32: 'int',
  int64: 'int',
  'protoreflect.EnumNumber': 'int',
  string: 'string',
  uint32: 'uint',
  uint64: 'uint',
  '[]uint8': 'bytes',
};

/** Fields of the messages, and their kinds in Go. */
const FIELDS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  Any: { type_url: 'string', value: '[]uint8' },
  BoolValue: { value: 'bool' },
  BytesValue: { value: '[]uint8' },
  DoubleValue: { value: 'float64' },
  Duration: { seconds: 'int64', nanos: 'int32' },
  Empty: {},
  FloatValue: { value: 'float32' },
  Int32Value: { value: 'int32' },
  Int64Value: { value: 'int64' },
  ListValue: { values: 'list' },
  StringValue: { value: 'string' },
  Struct: { fields: 'map' },
  Timestamp: { seconds: 'int64', nanos: 'int32' },
  UInt32Value: { value: 'uint32' },
  UInt64Value: { value: 'uint64' },
  Value: {
    bool_value: 'bool',
    list_value: '*structpb.ListValue',
    null_value: 'protoreflect.EnumNumber',
    number_value: 'float64',
    string_value: 'string',
    struct_value: '*structpb.Struct',
  },
};

const PACKAGE = 'google.protobuf.';

/** As Go prints the types that have parameters. */
const GENERIC_NAMES: Readonly<Record<string, string>> = {
  list: 'list(dyn)',
  map: 'map(dyn, dyn)',
};

/** The value of a message. @returns the error of a type that is no such message, or of a field that does not fit. */
export function messageValue(typeName: string, fields: ReadonlyMap<string, Value>): Value {
  const name = typeName.slice(PACKAGE.length);
  const kinds = typeName.startsWith(PACKAGE) && Object.hasOwn(FIELDS, name) ? FIELDS[name] : undefined;
  if (kinds === undefined) return new CelError(`unknown type '${typeName}'`);
  const set = new Map<string, Value>();
  for (const [field, value] of fields) {
    const converted = convert(value, kinds[field] ?? '', `${typeName}.${field}`);
    if (converted instanceof CelError) return converted;
    set.set(field, converted);
  }
  return valueOf(name, set);
}

function convert(value: Value, kind: string, field: string): Value {
  if ((kind === 'list' && !Array.isArray(value)) || (kind === 'map' && !isMap(value))) {
    return new CelError(
      `unsupported field type for ${field}: ${GENERIC_NAMES[typeNameOf(value)] ?? typeNameOf(value)}`,
    );
  }
  const converted = SCALARS[kind] === undefined ? toJson(value, kind) : toScalar(value, kind);
  return converted instanceof Misfit
    ? new CelError(`field type conversion error for ${field} value type: ${converted.reason}`)
    : converted;
}

function valueOf(name: string, set: ReadonlyMap<string, Value>): Value {
  switch (name) {
    case 'Duration':
      return durationOf(set);
    case 'Timestamp':
      return new Timestamp(nanosecondsOf(set));
    case 'Empty':
      return new EmptyMessage();
    case 'Any': {
      const url = set.get('type_url');
      const text = typeof url === 'string' && url !== '' ? `type_url:${JSON.stringify(url)}` : '';
      return new CelError(`unsupported conversion to ref.Val: (*dynamicpb.Message)${text}`);
    }
    case 'Value':
      return jsonOf(set);
    default: {
      const [value] = set.values();
      return value === undefined ? unset(name) : value;
    }
  }
}

function unset(name: string): Value {
  switch (name) {
    case 'BoolValue':
      return false;
    case 'BytesValue':
      return new Uint8Array();
    case 'DoubleValue':
    case 'FloatValue':
      return doubleOf(0);
    case 'ListValue':
      return [];
    case 'StringValue':
      return '';
    case 'Struct':
      return new CelMap();
    case 'UInt32Value':
    case 'UInt64Value':
      return new Uint(0n);
    default:
      return 0;
  }
}

/** The last of the fields that is set: they exclude each other. */
function jsonOf(set: ReadonlyMap<string, Value>): Value {
  let value: Value = null;
  for (const [name, given] of set) value = name === 'null_value' ? null : given;
  return value;
}

function nanosecondsOf(set: ReadonlyMap<string, Value>): bigint {
  const part = (name: string): bigint => BigInt((set.get(name) ?? 0) as number | bigint);
  return part('seconds') * NANOSECONDS + part('nanos');
}

/** Go's conversion stops at what fits. */
function durationOf(set: ReadonlyMap<string, Value>): Duration {
  const nanoseconds = nanosecondsOf(set);
  if (isInt64(nanoseconds)) return new Duration(nanoseconds);
  return new Duration(nanoseconds < 0n ? -(2n ** 63n) : 2n ** 63n - 1n);
}

function toScalar(value: Value, kind: string): Value | Misfit {
  if (value instanceof Optional) {
    return value.value === undefined
      ? new Misfit('optional.none() dereference')
      : toScalar(value.value, kind);
  }
  if (typeNameOf(value) !== SCALARS[kind]) return misfit(value, kind);
  switch (kind) {
    case 'float32':
      return doubleOf(Math.fround(Number(value)));
    case 'int32':
    case 'protoreflect.EnumNumber':
      return Number(value) === (Number(value) | 0) ? value : new Misfit('integer overflow');
    case 'uint32':
      return (value as Uint).value <= 0xffff_ffffn ? value : new Misfit('unsigned integer overflow');
    default:
      return value;
  }
}

/** As a value of JSON: numbers are doubles, or strings where a double is not exact. */
function toJson(value: Value, kind = JSON_VALUE): Value | Misfit {
  if (value instanceof Optional) {
    return value.value === undefined ? new Misfit('optional.none() dereference') : toJson(value.value, kind);
  }
  if (Array.isArray(value))
    return kind === '*structpb.Struct' ? misfit(value, kind) : jsonList(value as readonly Value[]);
  if (isMap(value)) return kind === '*structpb.ListValue' ? misfit(value, kind) : jsonMap(value);
  return kind === JSON_VALUE ? jsonScalar(value) : misfit(value, kind);
}

function jsonScalar(value: Value): Value | Misfit {
  switch (typeof value) {
    case 'number':
      return doubleOf(value);
    case 'bigint':
      return String(value);
    case 'object':
      break;
    default:
      return value;
  }
  if (value === null || isBoxedDouble(value)) return value;
  if (value instanceof Uint) {
    return Number.isSafeInteger(Number(value.value)) ? doubleOf(Number(value.value)) : String(value.value);
  }
  if (value instanceof Uint8Array) return base64(value);
  if (value instanceof Duration) return formatDuration(value);
  return value instanceof Timestamp ? formatTimestamp(value) : misfit(value, JSON_VALUE);
}

function jsonList(list: readonly Value[]): Value | Misfit {
  const converted: Value[] = [];
  for (const element of list) {
    const one = toJson(element);
    if (one instanceof Misfit) return one;
    converted.push(one);
  }
  return converted;
}

function jsonMap(map: Parameters<typeof entriesOf>[0]): Value | Misfit {
  const converted: (readonly [Value, Value])[] = [];
  for (const [key, value] of entriesOf(map)) {
    const name = toScalar(key, 'string');
    const one = name instanceof Misfit ? name : toJson(value);
    if (name instanceof Misfit || one instanceof Misfit) return one;
    converted.push([name, one]);
  }
  return new CelMap(converted);
}

/** How Go words it, type by type. */
function misfit(value: Value, kind: string): Misfit {
  const type = typeNameOf(value);
  switch (type) {
    case 'int':
    case 'uint':
      return new Misfit(`unsupported type conversion from '${type}' to ${kind}`);
    case 'string':
      return new Misfit(`unsupported native conversion from string to '${kind}'`);
    case 'double':
      return new Misfit(`type conversion error from Double to '${kind}'`);
    case 'bytes':
      return new Misfit(`type conversion error from Bytes to '${kind}'`);
    case 'bool':
    case 'list':
    case 'map':
      return new Misfit(`type conversion error from ${type} to '${kind}'`);
    case 'type':
      return new Misfit(`type conversion not supported for 'type'`);
    default:
      return new Misfit(`type conversion error from '${type.slice(type.lastIndexOf('.') + 1)}' to '${kind}'`);
  }
}

function base64(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes));
}
