/** Names of static types. */
import type { CelType } from './cel-type.ts';

/** Where the two forms differ; first as error texts of the checker have it, then as `compile.type` and return types. */
const NAMES: Readonly<Partial<Record<CelType['kind'], readonly [string, string]>>> = {
  null: ['null', 'null_type'],
  timestamp: ['timestamp', 'google.protobuf.Timestamp'],
  duration: ['duration', 'google.protobuf.Duration'],
  any: ['any', 'google.protobuf.Any'],
  error: ['!error!', '*error*'],
};

/** As texts of check errors name a type: `timestamp`, `list(int)`, `optional_type(string)`. */
export function formatType(type: CelType): string {
  return format(type, 0);
}

/** As cel-go prints a type elsewhere: `google.protobuf.Timestamp`, `null_type`. */
export function typeString(type: CelType): string {
  return format(type, 1);
}

/** Of a type, without its parameters. */
export function typeName(type: CelType): string {
  switch (type.kind) {
    case 'list':
    case 'map':
    case 'type':
      return type.kind;
    case 'optional':
      return 'optional_type';
    default:
      return typeString(type);
  }
}

function format(type: CelType, form: 0 | 1): string {
  switch (type.kind) {
    case 'list':
      return `list(${format(type.element, form)})`;
    case 'map':
      return `map(${format(type.key, form)}, ${format(type.value, form)})`;
    case 'optional':
      return `optional_type(${format(type.value, form)})`;
    case 'type':
      return type.of === undefined ? 'type' : `type(${format(type.of, form)})`;
    case 'wrapper':
      return `wrapper(${format(type.of, form)})`;
    case 'param':
      return form === 0 ? type.name : `<${type.name}>`;
    case 'opaque':
    case 'struct':
      return type.name;
    default:
      return NAMES[type.kind]?.[form] ?? type.kind;
  }
}

/** Arguments of a call: `(int, string)`, or `string.(int)` with a receiver. */
export function formatSignature(args: readonly CelType[], member: boolean): string {
  const names = args.map(formatType);
  return member ? `${names[0] ?? ''}.(${names.slice(1).join(', ')})` : `(${names.join(', ')})`;
}
