/** Times of evidence as Go's decoder takes them: RFC 3339 with its leniencies (contract.md §14.2, recorded). */
import { utcDay } from './text-rules.ts';

/** What a time is that nobody gave (contract.md §14.1). */
export const ZERO_TIME = '0001-01-01T00:00:00Z';

const TIME =
  /^(?<date>\d{4}-\d\d-\d\d)T(?<hour>\d{1,2}):(?<minute>\d\d):(?<second>\d\d)(?:[.,](?<fraction>\d+))?(?:Z|(?<sign>[+-])(?<offsetHour>\d\d):(?<offsetMinute>\d\d))$/;

/** Digits of a fraction that count: nanoseconds. */
const FRACTION_DIGITS = 9;
/** What Go allows of an offset. */
const MAX_OFFSET_HOUR = 24;
const MAX_OFFSET_MINUTE = 60;
const MINUTE_MS = 60_000;

interface Time {
  /** Whole seconds, in its own offset; an offset of zero is `Z`. */
  readonly seconds: string;
  readonly isZero: boolean;
}

export function isTime(text: string): boolean {
  return readTime(text) !== undefined;
}

/** Of a text that is no time: false. */
export function isZeroTime(text: string): boolean {
  return readTime(text)?.isZero === true;
}

/** A time without its fraction, in its own offset (contract.md §4.1); a text that is no time stays as it is. */
export function inSeconds(text: string): string {
  return readTime(text)?.seconds ?? text;
}

function readTime(text: string): Time | undefined {
  const groups = TIME.exec(text)?.groups;
  if (groups === undefined) return undefined;
  const { date = '', fraction = '', sign = '+' } = groups;
  const number = (name: string): number => Number(groups[name] ?? 0);
  const [hour, minute, second] = [number('hour'), number('minute'), number('second')];
  const [offsetHour, offsetMinute] = [number('offsetHour'), number('offsetMinute')];
  const dayMs = utcDay(date);
  if (dayMs === undefined || hour > 23 || minute > 59 || second > 59) return undefined;
  if (offsetHour > MAX_OFFSET_HOUR || offsetMinute > MAX_OFFSET_MINUTE) return undefined;

  const offset = offsetHour * 60 + offsetMinute;
  const zone = offset === 0 ? 'Z' : `${sign}${padded(Math.trunc(offset / 60))}:${padded(offset % 60)}`;
  const minutes = hour * 60 + minute - (sign === '-' ? -offset : offset);
  return {
    seconds: `${date}T${padded(hour)}:${padded(minute)}:${padded(second)}${zone}`,
    isZero:
      dayMs + minutes * MINUTE_MS === utcDay('0001-01-01') &&
      second === 0 &&
      /^0*$/.test(fraction.slice(0, FRACTION_DIGITS)),
  };
}

function padded(number: number): string {
  return String(number).padStart(2, '0');
}
