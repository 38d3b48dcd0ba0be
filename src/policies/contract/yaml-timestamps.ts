/** The dates and times that yaml.v3 knows; contract.md §2.3 h keeps their text in the generic view. */

const TIMESTAMP =
  /^(?<year>\d{4})-(?<month>\d{1,2})-(?<day>\d{1,2})(?:(?<mark>[Tt ])(?<hour>\d{1,2}):(?<minute>\d{1,2}):(?<second>\d{1,2})(?:[.,](?<fraction>\d+))?(?<zone>Z|[-+]\d\d:\d\d)?)?$/;
const NANOSECOND_DIGITS = 9;
const HOURS = 24;
const MINUTES = 60;
const DAYS = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31] as const;
const FEBRUARY = 2;

export function isTimestamp(text: string): boolean {
  return canonicalTimestamp(text) !== undefined;
}

/** As RFC 3339 with the offset that it was given with, the way Go writes a time into JSON; undefined if it is none. */
export function canonicalTimestamp(text: string): string | undefined {
  const groups = TIMESTAMP.exec(text)?.groups;
  if (groups === undefined) return undefined;
  const { year = '', month = '', day = '', mark, zone } = groups;
  const { hour = '0', minute = '0', second = '0', fraction = '' } = groups;
  // A time after a blank has no zone, one after a `T` must have one.
  if (mark !== undefined && (mark === ' ') !== (zone === undefined)) return undefined;
  if (!isDay(Number(year), Number(month), Number(day))) return undefined;
  if (Number(hour) >= HOURS || Number(minute) >= MINUTES || Number(second) >= MINUTES) return undefined;
  const offset = canonicalOffset(zone ?? 'Z');
  if (offset === undefined) return undefined;
  const digits = fraction.slice(0, NANOSECOND_DIGITS).replace(/0+$/, '');
  const time = [hour, minute, second].map(two).join(':');
  return `${year}-${two(month)}-${two(day)}T${time}${digits === '' ? '' : `.${digits}`}${offset}`;
}

function canonicalOffset(zone: string): string | undefined {
  if (zone === 'Z' || zone.endsWith('00:00')) return 'Z';
  return Number(zone.slice(1, 3)) <= HOURS && Number(zone.slice(4)) <= MINUTES ? zone : undefined;
}

function isDay(year: number, month: number, day: number): boolean {
  const days = DAYS[month - 1];
  if (days === undefined || day < 1) return false;
  const leap = month === FEBRUARY && year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
  return day <= days + (leap ? 1 : 0);
}

function two(digits: string): string {
  return digits.padStart(2, '0');
}
