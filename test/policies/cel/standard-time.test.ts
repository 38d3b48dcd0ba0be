import { describe, expect, it } from 'vitest';

import { parseTimestamp } from '../../../src/policies/cel/go-time.ts';
import { standardTime } from '../../../src/policies/cel/libraries/standard-time.ts';
import { TimeZones } from '../../../src/policies/cel/libraries/time-zones.ts';
import { Duration } from '../../../src/policies/cel/values.ts';
import { callOverload, shown } from './support/overload.ts';

const library = standardTime();

function part(id: string, text: string, zone?: string): unknown {
  const timestamp = parseTimestamp(text);
  if (timestamp === undefined) throw new Error(`${text} is no timestamp`);
  return shown(callOverload(library, `timestamp_to_${id}`, timestamp, ...(zone === undefined ? [] : [zone])));
}

describe('parts of a timestamp', () => {
  it.each([
    ['year', 2024],
    ['month', 1],
    ['day_of_year', 59],
    ['day_of_month', 28],
    ['day_of_month_1_based', 29],
    ['day_of_week', 4],
    ['hours', 23],
    ['minutes', 59],
    ['seconds', 58],
    ['milliseconds', 987],
  ])('gives the %s in UTC, whatever zone it was written in', (id, value) => {
    expect(part(id, '2024-02-29T23:59:58.987Z')).toBe(value);
    expect(part(id, '2024-03-01T01:59:58.987+02:00')).toBe(value);
  });

  it.each([
    ['America/New_York', 18],
    ['Asia/Kolkata', 5],
    ['', 23],
    ['Local', 23],
    ['+02:00', 1],
    ['-08:30', 15],
    ['02:00', 1],
    ['99:99', 4],
    ['EST', 18],
    ['utc', 'error: unknown time zone utc'],
    ['PST', 'error: unknown time zone PST'],
    ['+0200', 'error: unknown time zone +0200'],
    ['america/New_York', 'error: unknown time zone america/New_York'],
    ['../etc/passwd', 'error: time: invalid location name'],
    ['Asia', 'error: is a directory'],
    [':', 'error: strconv.Atoi: parsing "": invalid syntax'],
    ['1:x', 'error: strconv.Atoi: parsing "x": invalid syntax'],
    ['9223372036854775808:0', 'error: strconv.Atoi: parsing "9223372036854775808": value out of range'],
  ])('gives the hour in %j', (zone, value) => {
    expect(part('hours_with_tz', '2024-02-29T23:59:58.987Z', zone)).toBe(value);
  });

  it('follows the clock of the zone over a change', () => {
    expect(part('hours_with_tz', '2024-03-10T06:59:59Z', 'America/New_York')).toBe(1);
    expect(part('hours_with_tz', '2024-03-10T07:00:00Z', 'America/New_York')).toBe(3);
  });

  it('knows years before the common era from their era', () => {
    expect(part('year_with_tz', '0001-01-01T00:00:00Z', 'America/New_York')).toBe(0);
  });
});

describe('parts of a duration', () => {
  const duration = new Duration(-5_445_678_000_000n);
  it.each([
    ['hours', -1],
    ['minutes', -90],
    ['seconds', -5445],
    ['milliseconds', -5_445_678],
  ])('gives all of it in %s', (id, value) => {
    expect(callOverload(library, `duration_to_${id}`, duration)).toBe(value);
  });
});

describe('time zones', () => {
  it('knows every zone of the platform by its own name', () => {
    const zones = new TimeZones();
    const unknown = Intl.supportedValuesOf('timeZone').filter(
      (name) => typeof zones.offsetSeconds(name, 0) !== 'number',
    );
    expect(unknown).toStrictEqual([]);
  });
});
