/** Values and types of the tests of the CEL specification, from the JSON that the package of the tests has them in. */
import type { CelType } from '../../src/policies/cel/cel-type.ts';
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
  optionalOf,
  param,
} from '../../src/policies/cel/cel-type.ts';
import { parseDuration, parseTimestamp } from '../../src/policies/cel/go-time.ts';
import { WELL_KNOWN_MESSAGES } from '../../src/policies/cel/well-known-types.ts';
import { CelMap, TypeValue, Uint, doubleOf, intOf, type Value } from '../../src/policies/cel/values.ts';

export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

const MESSAGE_PREFIX = 'type.googleapis.com/google.protobuf.';

/** @returns undefined for what the environment has no values of: test messages and enumerations. */
export function specValue(value: Json): Value | undefined {
  const [kind = '', content = null] = Object.entries(value as Readonly<Record<string, Json>>)[0] ?? [];
  switch (kind) {
    case 'nullValue':
      return null;
    case 'boolValue':
    case 'stringValue':
      return content;
    case 'int64Value':
      return intOf(BigInt(content as string));
    case 'uint64Value':
      return new Uint(BigInt(content as string));
    case 'doubleValue':
      return doubleOf(Number(content));
    case 'bytesValue':
      return bytesOf(content as string);
    case 'typeValue':
      return new TypeValue(content as string);
    case 'listValue':
      return listValue(content);
    case 'mapValue':
      return mapValue(content);
    case 'objectValue':
      return messageValue(content as Readonly<Record<string, Json>>);
    default:
      return undefined;
  }
}

function bytesOf(base64: string): Value {
  return new Uint8Array(Buffer.from(base64, 'base64'));
}

function listValue(list: Json): Value | undefined {
  const { values = [] } = list as { readonly values?: readonly Json[] };
  const elements = values.map(specValue);
  return elements.includes(undefined) ? undefined : (elements as readonly Value[]);
}

function mapValue(map: Json): Value | undefined {
  const { entries = [] } = map as { readonly entries?: readonly { key: Json; value: Json }[] };
  const made: [Value, Value][] = [];
  for (const entry of entries) {
    const key = specValue(entry.key);
    const value = specValue(entry.value);
    if (key === undefined || value === undefined) return undefined;
    made.push([key, value]);
  }
  return new CelMap(made);
}

/** A message that stands for a plain value, in the JSON form of protocol buffers. */
function messageValue(message: Readonly<Record<string, Json>>): Value | undefined {
  const { '@type': type = '', value = null } = message;
  if (typeof type !== 'string' || !type.startsWith(MESSAGE_PREFIX)) return undefined;
  const name = type.slice(MESSAGE_PREFIX.length);
  switch (name) {
    case 'BoolValue':
    case 'StringValue':
      return value;
    case 'BytesValue':
      return bytesOf(value as string);
    case 'Int32Value':
    case 'Int64Value':
      return intOf(BigInt(value as string | number));
    case 'UInt32Value':
    case 'UInt64Value':
      return new Uint(BigInt(value as string | number));
    case 'FloatValue':
    case 'DoubleValue':
      return doubleOf(Number(value));
    case 'Duration':
      return parseDuration(value as string);
    case 'Timestamp':
      return parseTimestamp(value as string);
    case 'ListValue':
    case 'Struct':
    case 'Value':
      return jsonValue(value);
    default:
      return undefined;
  }
}

/** Numbers of `google.protobuf.Value` are doubles. */
function jsonValue(json: Json): Value {
  if (typeof json === 'number') return doubleOf(json);
  if (json === null || typeof json !== 'object') return json;
  if (isList(json)) return json.map(jsonValue);
  return Object.fromEntries(Object.entries(json).map(([key, value]) => [key, jsonValue(value)]));
}

function isList(json: Json): json is readonly Json[] {
  return Array.isArray(json);
}

const PRIMITIVES: Readonly<Record<string, CelType>> = {
  BOOL,
  INT64: INT,
  UINT64: UINT,
  DOUBLE,
  STRING,
  BYTES,
};

const WELL_KNOWN: Readonly<Record<string, CelType>> = { ANY: { kind: 'any' }, DURATION, TIMESTAMP };

const TYPES: Readonly<Record<string, (content: Json) => CelType>> = {
  null: () => NULL,
  primitive: primitiveType,
  wellKnown: (name) => WELL_KNOWN[name as string] ?? DYN,
  wrapper: (name) => ({ kind: 'wrapper', of: primitiveType(name) }),
  listType: (list) => listOf(memberType(list, 'elemType')),
  mapType: (map) => mapOf(memberType(map, 'keyType'), memberType(map, 'valueType')),
  type: (of) => ({ kind: 'type', of: specType(of) }),
  typeParam: (name) => param(name as string),
  messageType: (name) => messageType(name as string),
  abstractType: (type) => abstractType(type as unknown as AbstractType),
};

export function specType(type: Json): CelType {
  const [kind = '', content = null] = Object.entries(type as Readonly<Record<string, Json>>)[0] ?? [];
  return TYPES[kind]?.(content) ?? DYN;
}

function primitiveType(name: Json): CelType {
  return PRIMITIVES[name as string] ?? DYN;
}

function memberType(type: Json, member: string): CelType {
  return specType((type as Readonly<Record<string, Json>>)[member] ?? {});
}

/** Of a message that the environment does not know: nothing can be read from it. */
function messageType(name: string): CelType {
  return WELL_KNOWN_MESSAGES.get(name)?.type ?? { kind: 'struct', name, fields: new Map() };
}

interface AbstractType {
  readonly name: string;
  readonly parameterTypes?: readonly Json[];
}

/**
 * The engine has no abstract types of its users, only optionals. Maps within maps take their place: their parameters
 * are compared in the same way.
 */
function abstractType({ name, parameterTypes = [] }: AbstractType): CelType {
  const types = parameterTypes.map(specType);
  const last = types.pop() ?? DYN;
  if (name === 'optional_type') return optionalOf(last);
  return types.reduceRight((rest, type) => mapOf(type, rest), last);
}
