/** Parts of timestamps and durations, in UTC or in a time zone. */
import { DURATION, INT, STRING, TIMESTAMP } from '../cel-type.ts';
import { nanosecondOfSecond, unitsOf, unixSeconds } from '../go-time.ts';
import type { FunctionDefinition, Library, Overload } from '../library.ts';
import { CelError, type Duration, type Timestamp, type Value, intOf } from '../values.ts';
import { define, member } from './declare.ts';
import { goQuote } from './go-text.ts';
import { TimeZones } from './time-zones.ts';

const MS_PER_DAY = 86_400_000;
const SECOND = 1_000_000_000n;
const MAX_INT = 2n ** 63n - 1n;

/** A part of a civil time; `local` is read with the UTC accessors of Date. */
type Part = (local: Date, timestamp: Timestamp) => number;

function dayOfYear(local: Date): number {
  const newYear = new Date(local);
  newYear.setUTCMonth(0, 1);
  return Math.round((local.getTime() - newYear.getTime()) / MS_PER_DAY);
}

function milliseconds(_local: Date, timestamp: Timestamp): number {
  return Number(nanosecondOfSecond(timestamp.nanoseconds) / 1_000_000n);
}

function secondsIn(timestamp: Timestamp): number {
  return Number(unixSeconds(timestamp));
}

function atOffset(timestamp: Timestamp, offsetSeconds: number): Date {
  return new Date((secondsIn(timestamp) + offsetSeconds) * 1000);
}

/** Offset in seconds, or Go's error. With a colon it is hours and minutes, otherwise the name of a zone. */
function offsetIn(zones: TimeZones, zone: string, timestamp: Timestamp): number | CelError {
  const colon = zone.indexOf(':');
  if (colon < 0) return zones.offsetSeconds(zone, secondsIn(timestamp));
  const hours = integerOf(zone.slice(0, colon));
  if (hours instanceof CelError) return hours;
  const minutes = integerOf(zone.slice(colon + 1));
  if (minutes instanceof CelError) return minutes;
  // Minutes take the direction of the sign, hours have theirs: cel-go does not look at ranges.
  const offset = BigInt.asIntN(64, hours * 60n + (zone.startsWith('-') ? -minutes : minutes));
  return Math.trunc(Number(BigInt.asIntN(64, offset * 60n * SECOND)) / Number(SECOND));
}

/** Go's `strconv.Atoi`. */
function integerOf(text: string): bigint | CelError {
  if (!/^[+-]?\d+$/.test(text)) return numberError(text, 'invalid syntax');
  const magnitude = BigInt(text.replace(/^[+-]/, ''));
  const value = text.startsWith('-') ? -magnitude : magnitude;
  return value > MAX_INT || value < -MAX_INT - 1n ? numberError(text, 'value out of range') : value;
}

/** The text of Go's `strconv.NumError` for `Atoi`. */
export function numberError(text: string, reason: string): CelError {
  return new CelError(`strconv.Atoi: parsing ${goQuote(text)}: ${reason}`);
}

function durationPart(id: string, unit: bigint): Overload {
  return member(id, [DURATION], INT, (duration: Duration) => {
    const count = unitsOf(duration, unit);
    return intOf(BigInt(Math.trunc(count)));
  });
}

/** @returns the library; what it has learnt of time zones is its own. */
export function standardTime(): Library {
  const zones = new TimeZones();
  const part = (
    name: string,
    id: string,
    zonedId: string,
    read: Part,
    more: readonly Overload[] = [],
  ): FunctionDefinition =>
    define(name, undefined, [
      member(`timestamp_to_${id}`, [TIMESTAMP], INT, (timestamp: Timestamp) =>
        read(atOffset(timestamp, 0), timestamp),
      ),
      member(
        `timestamp_to_${zonedId}`,
        [TIMESTAMP, STRING],
        INT,
        (timestamp: Timestamp, zone: string): Value => {
          const offset = offsetIn(zones, zone, timestamp);
          return offset instanceof CelError ? offset : read(atOffset(timestamp, offset), timestamp);
        },
      ),
      ...more,
    ]);
  return {
    name: 'standard time',
    since: 0,
    functions: [
      part('getFullYear', 'year', 'year_with_tz', (local) => local.getUTCFullYear()),
      part('getMonth', 'month', 'month_with_tz', (local) => local.getUTCMonth()),
      part('getDayOfYear', 'day_of_year', 'day_of_year_with_tz', dayOfYear),
      part('getDayOfMonth', 'day_of_month', 'day_of_month_with_tz', (local) => local.getUTCDate() - 1),
      part('getDate', 'day_of_month_1_based', 'day_of_month_1_based_with_tz', (local) => local.getUTCDate()),
      part('getDayOfWeek', 'day_of_week', 'day_of_week_with_tz', (local) => local.getUTCDay()),
      part('getHours', 'hours', 'hours_with_tz', (local) => local.getUTCHours(), [
        durationPart('duration_to_hours', 3600n * SECOND),
      ]),
      part('getMinutes', 'minutes', 'minutes_with_tz', (local) => local.getUTCMinutes(), [
        durationPart('duration_to_minutes', 60n * SECOND),
      ]),
      part('getSeconds', 'seconds', 'seconds_tz', (local) => local.getUTCSeconds(), [
        durationPart('duration_to_seconds', SECOND),
      ]),
      part('getMilliseconds', 'milliseconds', 'milliseconds_with_tz', milliseconds, [
        member('duration_to_milliseconds', [DURATION], INT, ({ nanoseconds }: Duration) =>
          intOf(nanoseconds / 1_000_000n),
        ),
      ]),
    ],
  };
}
