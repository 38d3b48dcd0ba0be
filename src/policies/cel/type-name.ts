/** The type of a value at run time, under the name that `type(x)` and cel-go's error texts give it. */
import {
  CelError,
  CelMap,
  Duration,
  Opaque,
  Optional,
  Timestamp,
  TypeValue,
  Uint,
  type Value,
  isBoxedDouble,
  isIntNumber,
} from './values.ts';

/** @returns `int`, `null_type`, `google.protobuf.Timestamp`, `kubernetes.Quantity`, …; what no class claims is a map. */
export function typeNameOf(value: Value): string {
  switch (typeof value) {
    case 'string':
      return 'string';
    case 'boolean':
      return 'bool';
    case 'bigint':
      return 'int';
    case 'number':
      return isIntNumber(value) ? 'int' : 'double';
    default:
      return value === null ? 'null_type' : objectTypeName(value);
  }
}

function objectTypeName(value: object): string {
  if (Array.isArray(value)) return 'list';
  if (isBoxedDouble(value)) return 'double';
  if (value instanceof CelMap) return 'map';
  if (value instanceof Uint) return 'uint';
  if (value instanceof Uint8Array) return 'bytes';
  if (value instanceof Timestamp) return 'google.protobuf.Timestamp';
  if (value instanceof Duration) return 'google.protobuf.Duration';
  if (value instanceof TypeValue) return 'type';
  if (value instanceof Optional) return 'optional_type';
  if (value instanceof Opaque) return value.typeName;
  if (value instanceof CelError) return 'error';
  return 'map';
}
