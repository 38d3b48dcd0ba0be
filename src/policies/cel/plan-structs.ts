/**
 * `Type{field: value}`. Kubernetes' own types are declared without a way to make them; what can be made are the
 * messages of protocol buffers that stand for plain values.
 */
import { MAX_UNIX_SECONDS, MIN_UNIX_SECONDS } from './go-time.ts';
import type { Plan } from './plan.ts';
import { isInt64 } from './ordering.ts';
import { goText } from './libraries/go-value.ts';
import { CelError, CelMap, Duration, Optional, Timestamp, Uint, type Value, doubleOf } from './values.ts';

const STRUCT_COST = 40;
const NANOSECONDS = 1_000_000_000n;

export interface FieldPlan {
  readonly name: string;
  readonly value: Plan;
  readonly optional: boolean;
}

export function structPlan(typeName: string, fields: readonly FieldPlan[]): Plan {
  return {
    run: (frame) => {
      const made = new Map<string, Value>();
      let error: CelError | undefined;
      for (const { name, value: plan, optional } of fields) {
        const value = plan.run(frame);
        error = value instanceof CelError ? value : setField(made, name, value, optional);
        if (error !== undefined) break;
      }
      frame.charge(STRUCT_COST);
      return error ?? messageValue(typeName, made);
    },
  };
}

function setField(
  made: Map<string, Value>,
  name: string,
  value: Value,
  optional: boolean,
): CelError | undefined {
  if (!optional) {
    made.set(name, value);
    return undefined;
  }
  if (!(value instanceof Optional)) {
    return new CelError(
      `cannot initialize optional entry '${name}' from non-optional value ${goText(value)}`,
    );
  }
  if (value.value === undefined) made.delete(name);
  else made.set(name, value.value);
  return undefined;
}

type Message = (fields: ReadonlyMap<string, Value>) => Value;

/** What a wrapper is without its value. */
const WRAPPERS: Readonly<Record<string, Value>> = {
  'google.protobuf.BoolValue': false,
  'google.protobuf.BytesValue': new Uint8Array(),
  'google.protobuf.DoubleValue': doubleOf(0),
  'google.protobuf.Int64Value': 0,
  'google.protobuf.StringValue': '',
  'google.protobuf.UInt64Value': new Uint(0n),
};

const MESSAGES: Readonly<Record<string, Message>> = {
  'google.protobuf.Duration': durationOf,
  'google.protobuf.FloatValue': (fields) => doubleOf(Math.fround(Number(fields.get('value') ?? 0))),
  'google.protobuf.Int32Value': (fields) => narrow('Int32Value', fields.get('value') ?? 0),
  'google.protobuf.ListValue': (fields) => fields.get('values') ?? [],
  'google.protobuf.Struct': (fields) => fields.get('fields') ?? new CelMap(),
  'google.protobuf.Timestamp': timestampOf,
  'google.protobuf.UInt32Value': (fields) => narrow('UInt32Value', fields.get('value') ?? new Uint(0n)),
  'google.protobuf.Value': jsonValue,
};

function messageValue(typeName: string, fields: ReadonlyMap<string, Value>): Value {
  const message = MESSAGES[typeName];
  if (message !== undefined) return message(fields);
  const unset = WRAPPERS[typeName];
  return unset === undefined ? new CelError(`unknown type '${typeName}'`) : (fields.get('value') ?? unset);
}

function narrow(typeName: string, value: Value): Value {
  const unsigned = value instanceof Uint;
  const number = unsigned ? Number(value.value) : Number(value);
  const fits = unsigned ? number <= 0xffff_ffff : number >= -0x8000_0000 && number <= 0x7fff_ffff;
  if (fits) return value;
  const overflow = unsigned ? 'unsigned integer overflow' : 'integer overflow';
  return new CelError(
    `field type conversion error for google.protobuf.${typeName}.value value type: ${overflow}`,
  );
}

/** The last of the fields that is set: they exclude each other. */
function jsonValue(fields: ReadonlyMap<string, Value>): Value {
  let value: Value = null;
  for (const [name, set] of fields) value = name === 'null_value' ? null : set;
  return value;
}

function nanosecondsOf(fields: ReadonlyMap<string, Value>): bigint {
  return (
    BigInt(Number(fields.get('nanos') ?? 0)) +
    BigInt((fields.get('seconds') as number | bigint | undefined) ?? 0) * NANOSECONDS
  );
}

function durationOf(fields: ReadonlyMap<string, Value>): Value {
  const nanoseconds = nanosecondsOf(fields);
  if (isInt64(nanoseconds)) return new Duration(nanoseconds);
  // Go's conversion stops at what fits.
  return new Duration(nanoseconds < 0n ? -(2n ** 63n) : 2n ** 63n - 1n);
}

function timestampOf(fields: ReadonlyMap<string, Value>): Value {
  const nanoseconds = nanosecondsOf(fields);
  const within =
    nanoseconds >= MIN_UNIX_SECONDS * NANOSECONDS && nanoseconds < (MAX_UNIX_SECONDS + 1n) * NANOSECONDS;
  return within ? new Timestamp(nanoseconds) : new CelError('timestamp overflow');
}
