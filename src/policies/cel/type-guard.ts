/** Whether a value can be an argument where a type is declared (cel-go types.Type.IsAssignableRuntimeType). */
import type { CelType } from './cel-type.ts';
import { isMap } from './equality.ts';
import { typeNameOf } from './type-name.ts';
import { CelMap, Opaque, Optional, TypeValue, type Value, isBoxedDouble, isIntNumber } from './values.ts';

export type Guard = (value: Value) => boolean;

/** Of lists and maps only the first element is looked at, as cel-go does. */
export function guardOf(type: CelType): Guard {
  switch (type.kind) {
    case 'string':
      return (value) => typeof value === 'string';
    case 'bool':
      return (value) => typeof value === 'boolean';
    case 'int':
      return (value) => (typeof value === 'number' ? isIntNumber(value) : typeof value === 'bigint');
    case 'double':
      return (value) => (typeof value === 'number' ? !isIntNumber(value) : isBoxedDouble(value));
    case 'list':
      return listGuard(type.element);
    case 'map':
      return mapGuard(type.key, type.value);
    case 'optional':
      return (value) => value instanceof Optional;
    case 'type':
      return (value) => value instanceof TypeValue;
    case 'opaque':
    case 'struct':
      return (value) => value instanceof Opaque && value.typeName === type.name;
    case 'uint':
    case 'bytes':
    case 'null':
    case 'timestamp':
    case 'duration':
      return nameGuard(RUNTIME_NAMES[type.kind]);
    default:
      return () => true;
  }
}

const RUNTIME_NAMES = {
  uint: 'uint',
  bytes: 'bytes',
  null: 'null_type',
  timestamp: 'google.protobuf.Timestamp',
  duration: 'google.protobuf.Duration',
} as const;

function nameGuard(name: string): Guard {
  return (value) => typeNameOf(value) === name;
}

function listGuard(type: CelType): Guard {
  const element = guardOf(type);
  return (value) => {
    if (!Array.isArray(value)) return false;
    const list = value as readonly Value[];
    return list.length === 0 || element(list[0] as Value);
  };
}

function mapGuard(keyType: CelType, valueType: CelType): Guard {
  const key = guardOf(keyType);
  const entry = guardOf(valueType);
  return (value) => {
    if (!isMap(value)) return false;
    if (value instanceof CelMap) {
      for (const [first, second] of value.entries()) return key(first) && entry(second);
      return true;
    }
    for (const first of Object.keys(value)) return key(first) && entry(value[first] as Value);
    return true;
  };
}
