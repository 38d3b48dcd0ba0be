/** Protocol buffer messages that every environment of cel-go knows by name, and the names that stand for types. */
import type { CelType } from './cel-type.ts';
import {
  BOOL,
  BYTES,
  DOUBLE,
  DURATION,
  DYN,
  INT,
  NULL,
  STRING,
  TIMESTAMP,
  UINT,
  listOf,
  mapOf,
  param,
} from './cel-type.ts';

const ANY: CelType = { kind: 'any' };
const JSON_LIST = listOf(DYN);
const JSON_MAP = mapOf(STRING, DYN);

/** A message that an expression may build: what it is as a type, and its fields. */
export interface Message {
  readonly type: CelType;
  readonly fields: ReadonlyMap<string, CelType>;
}

function message(type: CelType, fields: Readonly<Record<string, CelType>>): Message {
  return { type, fields: new Map(Object.entries(fields)) };
}

function wrapper(of: CelType): Message {
  return message({ kind: 'wrapper', of }, { value: of });
}

function empty(name: string): Message {
  return message({ kind: 'struct', name, fields: new Map() }, {});
}

const SECONDS = { seconds: INT, nanos: INT };

export const WELL_KNOWN_MESSAGES: ReadonlyMap<string, Message> = new Map([
  ['google.protobuf.Any', message(ANY, { type_url: STRING, value: BYTES })],
  ['google.protobuf.Duration', message(DURATION, SECONDS)],
  ['google.protobuf.Timestamp', message(TIMESTAMP, SECONDS)],
  ['google.protobuf.Empty', empty('google.protobuf.Empty')],
  ['google.protobuf.ListValue', message(JSON_LIST, { values: JSON_LIST })],
  ['google.protobuf.Struct', message(JSON_MAP, { fields: JSON_MAP })],
  [
    'google.protobuf.Value',
    message(DYN, {
      null_value: INT,
      number_value: DOUBLE,
      string_value: STRING,
      bool_value: BOOL,
      struct_value: JSON_MAP,
      list_value: JSON_LIST,
    }),
  ],
  ['google.protobuf.BoolValue', wrapper(BOOL)],
  ['google.protobuf.BytesValue', wrapper(BYTES)],
  ['google.protobuf.DoubleValue', wrapper(DOUBLE)],
  ['google.protobuf.FloatValue', wrapper(DOUBLE)],
  ['google.protobuf.Int32Value', wrapper(INT)],
  ['google.protobuf.Int64Value', wrapper(INT)],
  ['google.protobuf.StringValue', wrapper(STRING)],
  ['google.protobuf.UInt32Value', wrapper(UINT)],
  ['google.protobuf.UInt64Value', wrapper(UINT)],
]);

/** Constants among the names: enumeration values. */
export const WELL_KNOWN_CONSTANTS: ReadonlyMap<string, bigint> = new Map([
  ['google.protobuf.NullValue.NULL_VALUE', 0n],
]);

/** Names of types that are values. */
export const TYPE_NAMES: ReadonlyMap<string, CelType> = new Map<string, CelType>([
  ['bool', BOOL],
  ['bytes', BYTES],
  ['double', DOUBLE],
  ['int', INT],
  ['list', listOf(param('A'))],
  ['map', mapOf(param('A'), param('B'))],
  ['null_type', NULL],
  ['string', STRING],
  ['type', { kind: 'type' }],
  ['uint', UINT],
  ['google.protobuf.Duration', DURATION],
  ['google.protobuf.Timestamp', TIMESTAMP],
]);

/** Names that the checker of Kubernetes takes for types, while building the program fails on them. */
export const UNREGISTERED_TYPE_NAMES: ReadonlyMap<string, CelType> = new Map([
  ['timestamp', TIMESTAMP],
  ['duration', DURATION],
]);
