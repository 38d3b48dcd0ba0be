/** Typed values of test/golden/cel (its README has the table), as compact JSON texts that compare as text. */
import { createHash } from 'node:crypto';

import { VariableScope } from '../../src/policies/cel/activation.ts';
import { scopeRounds } from '../../src/policies/cel/rounds.ts';
import {
  CelError,
  CelMap,
  Duration,
  Opaque,
  Optional,
  Timestamp,
  TypeValue,
  Uint,
  isBoxedDouble,
  isIntNumber,
  type Value,
} from '../../src/policies/cel/values.ts';

/** Kinds of opaque values that have a canonical text, and the member that carries it. */
const TEXT_MEMBERS: Readonly<Record<string, string>> = {
  'kubernetes.Quantity': 'quantity',
  'net.IP': 'ip',
  'net.CIDR': 'cidr',
  'kubernetes.URL': 'url',
  'kubernetes.Semver': 'semver',
  'kubernetes.NamedFormat': 'format',
};

const NANOSECONDS = 1_000_000_000n;

/** The typed JSON of what an evaluation gave. */
export function typedText(value: Value): string {
  if (value === null) return '{"null":null}';
  switch (typeof value) {
    case 'boolean':
      return `{"bool":${String(value)}}`;
    case 'string':
      return `{"string":${jsonString(value)}}`;
    case 'bigint':
      return `{"int":"${String(value)}"}`;
    case 'number':
      return isIntNumber(value) ? `{"int":"${String(value)}"}` : doubleText(value);
    default:
      return objectText(value);
  }
}

function objectText(value: object): string {
  if (isBoxedDouble(value)) return doubleText(value.valueOf());
  if (value instanceof Uint) return `{"uint":"${String(value.value)}"}`;
  if (value instanceof Uint8Array) return `{"bytes":"${Buffer.from(value).toString('base64')}"}`;
  if (value instanceof Duration) return `{"duration":"${String(value.nanoseconds)}"}`;
  if (value instanceof Timestamp) return `{"timestamp":"${timestampText(value.nanoseconds)}"}`;
  if (value instanceof TypeValue) return `{"type":${jsonString(value.name)}}`;
  if (value instanceof Optional) {
    return `{"optional":${value.value === undefined ? 'null' : typedText(value.value)}}`;
  }
  if (value instanceof CelError) return `{"error":${jsonString(value.message)}}`;
  if (value instanceof VariableScope) {
    const { first = [], second = [] } = scopeRounds(value);
    return mapText(first.map((key, index) => [key, second[index] ?? null]));
  }
  if (value instanceof Opaque) {
    const member = TEXT_MEMBERS[value.typeName];
    return member === undefined
      ? `{"opaque":${jsonString(value.typeName)}}`
      : // oxlint-disable-next-line typescript/no-base-to-string -- libraries print their values themselves
        `{"${member}":${jsonString(String(value))}}`;
  }
  if (Array.isArray(value)) return `{"list":[${(value as Value[]).map(typedText).join(',')}]}`;
  return mapText(
    value instanceof CelMap ? [...value.entries()] : (Object.entries(value) as [string, Value][]),
  );
}

function mapText(entries: readonly (readonly [key: Value, value: Value])[]): string {
  const pairs = entries.map(([key, item]): [string, string] => [typedText(key), typedText(item)]);
  pairs.sort(([a], [b]) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
  return `{"map":[${pairs.map(([key, item]) => `[${key},${item}]`).join(',')}]}`;
}

function timestampText(nanoseconds: bigint): string {
  const remainder = ((nanoseconds % NANOSECONDS) + NANOSECONDS) % NANOSECONDS;
  const seconds = (nanoseconds - remainder) / NANOSECONDS;
  const whole = new Date(Number(seconds) * 1000).toISOString().replace(/\.\d+Z$/, '');
  const fraction = remainder.toString().padStart(9, '0').replace(/0+$/, '');
  return `${whole.replace(/^\+00/, '')}${fraction === '' ? '' : `.${fraction}`}Z`;
}

function doubleText(value: number): string {
  if (Number.isNaN(value)) return '{"double":"NaN"}';
  if (!Number.isFinite(value)) return `{"double":"${value > 0 ? '' : '-'}Infinity"}`;
  return Object.is(value, -0) ? '{"double":"-0"}' : `{"double":${String(value)}}`;
}

/** As Go writes strings: without HTML escapes, but with those of U+2028 and U+2029. */
function jsonString(value: string): string {
  return JSON.stringify(value).replaceAll('\u2028', '\\u2028').replaceAll('\u2029', '\\u2029');
}

/** Writes recorded typed JSON anew, so that it is the text that `typedText` gives for the same value. */
export function canonicalText(recorded: unknown): string {
  if (recorded === null || typeof recorded === 'boolean') return String(recorded);
  if (typeof recorded === 'string') return jsonString(recorded);
  if (typeof recorded === 'number' || typeof recorded === 'bigint' || isBoxedDouble(recorded)) {
    return String(Number(recorded));
  }
  if (Array.isArray(recorded)) return `[${recorded.map(canonicalText).join(',')}]`;
  return `{${Object.entries(recorded as object)
    .map(([key, item]) => `${jsonString(key)}:${canonicalText(item)}`)
    .join(',')}}`;
}

/** Whether the text is that of a recorded value: in full, or as `valueSha256` and `valueBytes`. */
export function sameValue(text: string, recorded: Readonly<Record<string, unknown>>): boolean {
  if ('value' in recorded) return text === canonicalText(recorded['value']);
  return sameDigest(text, recorded['valueBytes'], recorded['valueSha256']);
}

/** Whether the text is recorded in full, or as its head, length and digest. */
export function sameText(text: string, recorded: unknown): boolean {
  if (typeof recorded === 'string') return text === recorded;
  const { bytes, sha256 } = recorded as { bytes?: unknown; sha256?: unknown };
  return sameDigest(text, bytes, sha256);
}

function sameDigest(text: string, bytes: unknown, sha256: unknown): boolean {
  return Buffer.byteLength(text) === bytes && createHash('sha256').update(text).digest('hex') === sha256;
}

/** The elements of a list in an order of their own: for lists whose order is that of a map. */
export function sortedElements(recorded: unknown): string {
  const { list } = recorded as { list: readonly unknown[] };
  return list.map(canonicalText).sort().join('\n');
}
