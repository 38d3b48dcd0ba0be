/** A value as Go's `%v` prints it, which is what an error text has where cel-go puts a value into it. */
import { formatShortest } from '../go-float.ts';
import { nanosecondOfSecond, unixSeconds } from '../go-time.ts';
import { typeNameOf } from '../type-name.ts';
import {
  CelMap,
  Duration,
  type JsonMap,
  Opaque,
  Optional,
  Timestamp,
  TypeValue,
  Uint,
  type Value,
} from '../values.ts';

/** What Go code sees that takes a value as it lies: a type is its name, an optional is what it holds. */
export function plainValue(value: Value): Value {
  if (value instanceof TypeValue) return value.name;
  return value instanceof Optional ? plainValue(value.value ?? null) : value;
}

export function goText(value: Value): string {
  switch (typeNameOf(value)) {
    case 'string':
      return value as string;
    case 'bool':
      return value === true ? 'true' : 'false';
    case 'int':
      return (value as number | bigint).toString();
    case 'double':
      return formatShortest(Number(value));
    // A number to Go.
    case 'null_type':
      return '0';
    case 'bytes':
      return `[${Array.from(value as Uint8Array).join(' ')}]`;
    case 'list':
      return `[${(value as readonly Value[]).map(goText).join(', ')}]`;
    case 'map':
      return `{${mapEntries(value as CelMap | JsonMap).join(', ')}}`;
    default:
      return objectText(value);
  }
}

function mapEntries(map: CelMap | JsonMap): readonly string[] {
  const entries = map instanceof CelMap ? [...map.entries()] : Object.entries(map);
  return entries.map(([key, value]) => `${goText(key)}: ${goText(value)}`);
}

function objectText(value: Value): string {
  if (value instanceof Uint) return String(value.value);
  if (value instanceof Duration) return durationText(value.nanoseconds);
  if (value instanceof Timestamp) return timestampText(value);
  if (value instanceof TypeValue) return value.name;
  if (value instanceof Optional) {
    return value.value === undefined ? 'optional.none()' : `optional(${goText(value.value)})`;
  }
  // oxlint-disable-next-line typescript/no-base-to-string -- libraries print their values themselves
  return value instanceof Opaque ? String(value) : '';
}

/** Go's `Duration.String()`: `1h30m0s`, `1.5s`, `2ms`. */
function durationText(nanoseconds: bigint): string {
  const magnitude = nanoseconds < 0n ? -nanoseconds : nanoseconds;
  const sign = nanoseconds < 0n ? '-' : '';
  if (magnitude === 0n) return '0s';
  if (magnitude < 1_000n) return `${sign}${String(magnitude)}ns`;
  if (magnitude < 1_000_000n) return `${sign}${decimal(magnitude, 3)}\u00b5s`;
  if (magnitude < 1_000_000_000n) return `${sign}${decimal(magnitude, 6)}ms`;
  const minutes = magnitude / 60_000_000_000n;
  const hours = minutes / 60n;
  const seconds = `${decimal(magnitude % 60_000_000_000n, 9)}s`;
  const whole = `${hours > 0n ? `${String(hours)}h` : ''}${minutes > 0n ? `${String(minutes % 60n)}m` : ''}`;
  return `${sign}${whole}${seconds}`;
}

function decimal(value: bigint, places: number): string {
  const digits = value.toString().padStart(places + 1, '0');
  const fraction = digits.slice(-places).replace(/0+$/, '');
  return `${digits.slice(0, -places)}${fraction === '' ? '' : `.${fraction}`}`;
}

/** Go's `Time.String()`; an offset that has no name is written twice. */
function timestampText(timestamp: Timestamp): string {
  const { offsetMinutes } = timestamp;
  const local = new Date((Number(unixSeconds(timestamp)) + offsetMinutes * 60) * 1000);
  const two = (value: number) => value.toString().padStart(2, '0');
  const day = `${local.getUTCFullYear().toString().padStart(4, '0')}-${two(local.getUTCMonth() + 1)}-${two(local.getUTCDate())}`;
  const time = `${two(local.getUTCHours())}:${two(local.getUTCMinutes())}:${two(local.getUTCSeconds())}`;
  const fraction = nanosecondOfSecond(timestamp.nanoseconds).toString().padStart(9, '0').replace(/0+$/, '');
  const magnitude = Math.abs(offsetMinutes);
  const offset = `${offsetMinutes < 0 ? '-' : '+'}${two(Math.trunc(magnitude / 60))}${two(magnitude % 60)}`;
  return `${day} ${time}${fraction === '' ? '' : `.${fraction}`} ${offset} ${offsetMinutes === 0 ? 'UTC' : offset}`;
}
