/** Reading the kinds of delivery: nothing throws, and what is missing or of another type is what the caller says. */
import { parseDuration } from '../cel/go-time.ts';
import { isTime } from '../contract/evidence-time.ts';
import { at, isRecord, type ForeignRecord } from '../identity/foreign.ts';
import type { Person } from './operation.ts';

const NANOSECONDS_PER_MS = 1_000_000n;
/** A hundred years: beyond, sums of times stop being exact. */
const MOST_MS = 3_155_760_000_000;

/** Entries of a list that are read, of whatever list: more is hostile, and the webhook refuses it. */
const MOST_ENTRIES = 64;

export function textAt(value: unknown, ...path: readonly string[]): string {
  const found = at(value, ...path);
  return typeof found === 'string' ? found : '';
}

/** @returns undefined for what is empty as well */
export function maybeTextAt(value: unknown, ...path: readonly string[]): string | undefined {
  const found = textAt(value, ...path);
  return found === '' ? undefined : found;
}

/** @param fallback for whatever is none of the choices: what opens least */
export function choiceAt<T extends string>(
  value: unknown,
  path: readonly string[],
  choices: readonly T[],
  fallback: T,
): T {
  const found = at(value, ...path);
  return choices.find((choice) => choice === found) ?? fallback;
}

/** Entries that are mappings, the first so many. */
export function entriesAt(value: unknown, ...path: readonly string[]): readonly ForeignRecord[] {
  const found = at(value, ...path);
  return Array.isArray(found) ? found.slice(0, MOST_ENTRIES).filter((entry) => isRecord(entry)) : [];
}

/** Texts of a list, the first so many. */
export function textsAt(value: unknown, ...path: readonly string[]): readonly string[] {
  const found = at(value, ...path);
  return Array.isArray(found)
    ? found.slice(0, MOST_ENTRIES).filter((entry): entry is string => typeof entry === 'string')
    : [];
}

/** @returns milliseconds of a duration such as `30m`; the default where there is none that can be read or it is negative */
export function durationAt(value: unknown, path: readonly string[], fallbackMs: number): number {
  return durationOf(at(value, ...path)) ?? fallbackMs;
}

/** @returns milliseconds; undefined for what is no duration, or a negative one */
export function durationOf(value: unknown): number | undefined {
  // Longer ones are no durations, and cost time to read.
  const duration = typeof value === 'string' && value.length <= 64 ? parseDuration(value) : undefined;
  if (duration === undefined || duration.nanoseconds < 0n) return undefined;
  return Math.min(Number(duration.nanoseconds / NANOSECONDS_PER_MS), MOST_MS);
}

/** @returns milliseconds since the Unix epoch; undefined for what is no RFC 3339 time */
export function timeAt(value: unknown, ...path: readonly string[]): number | undefined {
  const found = at(value, ...path);
  if (typeof found !== 'string' || !isTime(found)) return undefined;
  const ms = Date.parse(found);
  return Number.isNaN(ms) ? undefined : ms;
}

/** Integers of a review may be doubles or bigints (design decision 2). */
export function countAt(value: unknown, path: readonly string[], fallback: number): number {
  const found = at(value, ...path);
  const isBoxed = typeof found === 'object' && found !== null && !Array.isArray(found) && !isRecord(found);
  const isNumber = typeof found === 'number' || typeof found === 'bigint' || isBoxed;
  const number = isNumber ? Number(found) : undefined;
  return number !== undefined && Number.isSafeInteger(number) && number >= 0 ? number : fallback;
}

export function personAt(value: unknown, ...path: readonly string[]): Person {
  const found = at(value, ...path);
  return {
    username: textAt(found, 'username'),
    uid: textAt(found, 'uid'),
    groups: textsAt(found, 'groups'),
  };
}
