/** How Go reads and prints durations and timestamps. */
import { formatPlain } from './go-float.ts';
import { Duration, Timestamp } from './values.ts';

export const NANOSECONDS_PER_SECOND = 1_000_000_000n;
/** 0001-01-01T00:00:00Z, in seconds since the Unix epoch: the first timestamp that CEL has. */
export const MIN_UNIX_SECONDS = -62_135_596_800n;
/** 9999-12-31T23:59:59Z: the last second. */
export const MAX_UNIX_SECONDS = 253_402_300_799n;

const LIMIT = 2n ** 63n;

/** Nanoseconds of the units of Go's `time.ParseDuration`; micro has two spellings of its sign. */
const UNITS: ReadonlyMap<string, bigint> = new Map([
  ['ns', 1n],
  ['us', 1_000n],
  ['\u00b5s', 1_000n],
  ['\u03bcs', 1_000n],
  ['ms', 1_000_000n],
  ['s', NANOSECONDS_PER_SECOND],
  ['m', 60n * NANOSECONDS_PER_SECOND],
  ['h', 3600n * NANOSECONDS_PER_SECOND],
]);

/** Go's `time.ParseDuration`. @returns undefined where Go fails. */
export function parseDuration(text: string): Duration | undefined {
  const negative = text.startsWith('-');
  const rest = negative || text.startsWith('+') ? text.slice(1) : text;
  if (rest === '0') return new Duration(0n);
  const term = /(\d*)(\.\d*)?([^.\d]+)/y;
  let total = 0n;
  do {
    const matched = term.exec(rest);
    if (!matched) return undefined;
    const [, whole = '', fraction = '', unit = ''] = matched;
    const value = termNanoseconds(whole, fraction.slice(1), UNITS.get(unit));
    if (value === undefined) return undefined;
    // Go adds unsigned 64-bit numbers, and looks only afterwards.
    total = BigInt.asUintN(64, total + value);
    if (total > LIMIT) return undefined;
  } while (term.lastIndex < rest.length);
  if (negative) return new Duration(-total);
  return total < LIMIT ? new Duration(total) : undefined;
}

function termNanoseconds(whole: string, fraction: string, unit: bigint | undefined): bigint | undefined {
  if (unit === undefined || (whole === '' && fraction === '')) return undefined;
  const count = BigInt(whole);
  if (count > LIMIT / unit) return undefined;
  const part = leadingFraction(fraction);
  const value = count * unit + BigInt(Math.trunc(part.numerator * (Number(unit) / part.scale)));
  return value > LIMIT ? undefined : value;
}

/** Go keeps as many digits of a fraction as fit 63 bits. */
function leadingFraction(digits: string): { readonly numerator: number; readonly scale: number } {
  let numerator = 0n;
  let scale = 1;
  for (const digit of digits) {
    const next = numerator * 10n + BigInt(digit);
    if (numerator > (LIMIT - 1n) / 10n || next > LIMIT) break;
    numerator = next;
    scale *= 10;
  }
  return { numerator: Number(numerator), scale };
}

/** Seconds as Go's `Duration.Seconds()` has them: whole and rest are rounded to a double together. */
function secondsOf(duration: Duration): number {
  return unitsOf(duration, NANOSECONDS_PER_SECOND);
}

/** The same for any unit; the sum may round up to the next whole number, as in Go. */
export function unitsOf({ nanoseconds }: Duration, unit: bigint): number {
  return Number(nanoseconds / unit) + Number(nanoseconds % unit) / Number(unit);
}

/** `string(duration)`: seconds, with as many decimals as needed. */
export function formatDuration(duration: Duration): string {
  return `${formatPlain(secondsOf(duration))}s`;
}

/** Go's layout RFC3339 is laxer than the standard: one digit of the hour, a comma, offsets up to 24:60. */
const TIMESTAMP = /^(\d{4})-(\d\d)-(\d\d)T(\d{1,2}):(\d\d):(\d\d)(?:[.,](\d+))?(?:Z|([+-])(\d\d):(\d\d))$/;

/** Go's `time.Parse(time.RFC3339, text)`. @returns undefined where Go fails; the range of CEL is not looked at. */
export function parseTimestamp(text: string): Timestamp | undefined {
  const matched = TIMESTAMP.exec(text);
  if (!matched) return undefined;
  const field = (index: number) => Number(matched[index] ?? '0');
  const [year, month, day, hour, minute, second] = [1, 2, 3, 4, 5, 6].map(field);
  const offset = field(9) * 60 + field(10);
  if (!isDate(year ?? 0, month ?? 0, day ?? 0)) return undefined;
  if ((hour ?? 0) > 23 || (minute ?? 0) > 59 || (second ?? 0) > 59) return undefined;
  if (field(9) > 24 || field(10) > 60) return undefined;
  const date = new Date(0);
  date.setUTCFullYear(year ?? 0, (month ?? 0) - 1, day);
  date.setUTCHours(hour ?? 0, minute, second);
  const offsetMinutes = matched[8] === '-' ? -offset : offset;
  const seconds = BigInt(date.getTime() / 1000 - offsetMinutes * 60);
  const fraction = BigInt((matched[7] ?? '').slice(0, 9).padEnd(9, '0'));
  // -0 would be told from 0.
  return new Timestamp(seconds * NANOSECONDS_PER_SECOND + fraction, offsetMinutes === 0 ? 0 : offsetMinutes);
}

function isDate(year: number, month: number, day: number): boolean {
  if (month < 1 || month > 12 || day < 1) return false;
  const leap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
  const longMonth = month === 2 ? (leap ? 29 : 28) : [4, 6, 9, 11].includes(month) ? 30 : 31;
  return day <= longMonth;
}

/** Whole seconds since the Unix epoch, rounded down. */
export function unixSeconds({ nanoseconds }: Timestamp): bigint {
  return (nanoseconds - nanosecondOfSecond(nanoseconds)) / NANOSECONDS_PER_SECOND;
}

/** Nanoseconds since the last whole second. */
export function nanosecondOfSecond(nanoseconds: bigint): bigint {
  const rest = nanoseconds % NANOSECONDS_PER_SECOND;
  return rest < 0n ? rest + NANOSECONDS_PER_SECOND : rest;
}

/** Go's layout RFC3339Nano, in the zone that the timestamp came with. */
export function formatTimestamp(timestamp: Timestamp): string {
  const { offsetMinutes } = timestamp;
  const date = new Date((Number(unixSeconds(timestamp)) + offsetMinutes * 60) * 1000);
  const two = (value: number) => value.toString().padStart(2, '0');
  const day = `${date.getUTCFullYear().toString().padStart(4, '0')}-${two(date.getUTCMonth() + 1)}-${two(date.getUTCDate())}`;
  const time = `${two(date.getUTCHours())}:${two(date.getUTCMinutes())}:${two(date.getUTCSeconds())}`;
  const fraction = nanosecondOfSecond(timestamp.nanoseconds).toString().padStart(9, '0').replace(/0+$/, '');
  const magnitude = Math.abs(offsetMinutes);
  const zone =
    offsetMinutes === 0
      ? 'Z'
      : `${offsetMinutes < 0 ? '-' : '+'}${two(Math.trunc(magnitude / 60))}:${two(magnitude % 60)}`;
  return `${day}T${time}${fraction === '' ? '' : `.${fraction}`}${zone}`;
}
