/** Values as Go prints them with `%v`: what upstream's statuses have, and what reads them compares (operator.md §1.1.2). */
import { goFloat } from '../policies/contract/go-float.ts';
import type { JsonValue } from '../policies/contract/json-value.ts';

/** As the decoder writes a time of a contract (contract.md §2.3 h). */
const TIME = /^(\d{4}-\d{2}-\d{2})T(\d{2}:\d{2}:\d{2}(?:\.\d+)?)(Z|[+-]\d{2}:\d{2})$/;
const DEPTH = 32;

/**
 * @param written the same value as the contract has it, where it is known: a date is told from a text by it.
 */
export function goText(value: JsonValue, written?: JsonValue, depth = 0): string {
  if (value === null) return '<nil>';
  if (typeof value === 'string') return dateText(value, written) ?? value;
  // Integers that a double cannot tell apart are bigint, so that any other number is a float of the contract.
  if (typeof value === 'number')
    return Number.isSafeInteger(value) && !Object.is(value, -0) ? String(value) : goFloat(value);
  if (typeof value !== 'object') return String(value);
  if (depth >= DEPTH) return '...';
  if (Array.isArray(value)) {
    const items = value as readonly JsonValue[];
    const others = Array.isArray(written) ? (written as readonly JsonValue[]) : [];
    return `[${items.map((item, index) => goText(item, others[index], depth + 1)).join(' ')}]`;
  }
  const fields = value as Readonly<Record<string, JsonValue>>;
  const others = isFields(written) ? written : {};
  const keys = Object.keys(fields).sort();
  const entries = keys.map((key) => `${key}:${goText(fields[key] ?? null, others[key], depth + 1)}`);
  return `map[${entries.join(' ')}]`;
}

/** `2027-01-02 00:00:00 +0000 UTC`. */
function dateText(value: string, written: JsonValue | undefined): string | undefined {
  if (typeof written !== 'string' || written === value) return undefined;
  const [, day, time, zone] = TIME.exec(value) ?? [];
  if (day === undefined || time === undefined || zone === undefined) return undefined;
  const offset = zone === 'Z' ? '+0000' : zone.replace(':', '');
  return `${day} ${time} ${offset} ${offset === '+0000' ? 'UTC' : offset}`;
}

function isFields(value: JsonValue | undefined): value is Readonly<Record<string, JsonValue>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
