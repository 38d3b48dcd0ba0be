import { describe, expect, it } from 'vitest';

import type { StageWindow } from '../../../src/policies/delivery/stage.ts';
import { MAX_WINDOWS, windowFault, windowOf } from '../../../src/policies/delivery/windows.ts';

const HOUR_MS = 3_600_000;
const THAWED = { untilMs: undefined, reason: '', allowCures: false };

function aWindow(kind: StageWindow['kind'], schedule: string, timeZone = '', hours = 1): StageWindow {
  return { kind, schedule, timeZone, durationMs: hours * HOUR_MS };
}

/** `closed until …`, `open until …`, in UTC and minutes. */
function at(time: string, ...windows: readonly StageWindow[]): string {
  const { frozen, closesAtMs } = windowOf({ freeze: THAWED, windows }, Date.parse(time));
  const edge = frozen === undefined ? closesAtMs : frozen.untilMs;
  const text = edge === undefined ? 'nobody knows' : new Date(edge).toISOString().slice(0, 16);
  return `${frozen === undefined ? 'open' : 'closed'} until ${text}`;
}

const NIGHT = aWindow('Deny', '0 22 * * *', 'Europe/Berlin', 8);
const OFFICE = aWindow('Allow', '0 9 * * mon-fri', 'Europe/Berlin', 8);
const LUNCH = aWindow('Deny', '0 12 * * *', 'Europe/Berlin', 1);

describe('windows', () => {
  it.each<[expected: string, of: string, time: string, windows: readonly StageWindow[]]>([
    ['open until 2026-01-05T21:00', 'before a Deny window', '2026-01-05T20:59:59Z', [NIGHT]],
    ['closed until 2026-01-06T05:00', 'at the start of a Deny window', '2026-01-05T21:00:00Z', [NIGHT]],
    [
      'closed until 2026-01-06T05:00',
      'at the end of a Deny window but a second',
      '2026-01-06T04:59:59Z',
      [NIGHT],
    ],
    ['open until 2026-01-06T21:00', 'at the end of a Deny window', '2026-01-06T05:00:00Z', [NIGHT]],
    ['closed until 2026-01-05T08:00', 'before an Allow window', '2026-01-05T07:59:59Z', [OFFICE]],
    ['open until 2026-01-05T16:00', 'in an Allow window', '2026-01-05T08:00:00Z', [OFFICE]],
    ['closed until 2026-01-12T08:00', 'over the weekend', '2026-01-09T16:00:00Z', [OFFICE]],
    [
      'open until 2026-01-05T11:00',
      'in an Allow window before a Deny window',
      '2026-01-05T08:00:00Z',
      [OFFICE, LUNCH],
    ],
    ['closed until 2026-01-05T12:00', 'where Deny is inside Allow', '2026-01-05T11:30:00Z', [LUNCH, OFFICE]],
    [
      'closed until 2026-01-06T08:00',
      'where the end of Deny is outside Allow',
      '2026-01-06T04:30:00Z',
      [NIGHT, OFFICE],
    ],
    ['open until nobody knows', 'where nothing is said', '2026-01-05T08:00:00Z', []],
    [
      'closed until 2026-01-05T10:00',
      'where one Deny window begins as another ends',
      '2026-01-05T08:30:00Z',
      [aWindow('Deny', '0 8 * * *'), aWindow('Deny', '0 9 * * *')],
    ],
  ])('are %s %s', (expected, _of, time, windows) => {
    expect(at(time, ...windows)).toBe(expected);
  });

  it('are closed for as long as overlapping starts are looked at, where they never end', () => {
    const always = aWindow('Deny', '* * * * *');
    expect(at('2026-01-05T08:00:30Z', always)).toMatch(/^closed until 2026-01-05T08:0/);
  });
});

describe('where clocks change', () => {
  const night = (zone: string, schedule: string) => aWindow('Deny', schedule, zone, 1);

  it.each<[expected: string, of: string, time: string, window: StageWindow]>([
    // 2026-03-29 02:00 is 03:00 in Berlin, which is 01:00 in UTC.
    [
      'open until 2026-03-29T01:00',
      'before a start that is left out',
      '2026-03-29T00:59:00Z',
      night('Europe/Berlin', '30 2 * * *'),
    ],
    [
      'closed until 2026-03-29T02:00',
      'after a start that is left out',
      '2026-03-29T01:00:00Z',
      night('Europe/Berlin', '30 2 * * *'),
    ],
    // 2026-10-25 03:00 is 02:00 again: half past two is at 00:30 and at 01:30 in UTC.
    [
      'closed until 2026-10-25T01:30',
      'the first time of a start that is there twice',
      '2026-10-25T00:30:00Z',
      night('Europe/Berlin', '30 2 * * *'),
    ],
    [
      'open until 2026-10-26T01:30',
      'the second time of a start that is there twice',
      '2026-10-25T01:30:00Z',
      night('Europe/Berlin', '30 2 * * *'),
    ],
    // 2026-03-08 in New York: noon was at 17:00 in UTC and is at 16:00.
    [
      'open until 2026-03-08T16:00',
      'on the day that is short',
      '2026-03-08T08:00:00Z',
      night('America/New_York', '0 12 * * *'),
    ],
    [
      'open until 2026-03-07T17:00',
      'on the day before',
      '2026-03-07T08:00:00Z',
      night('America/New_York', '0 12 * * *'),
    ],
    // 2026-11-01 in New York: noon is at 17:00 again.
    [
      'open until 2026-11-01T17:00',
      'on the day that is long',
      '2026-11-01T12:00:00Z',
      night('America/New_York', '0 12 * * *'),
    ],
    // Half an hour is left out at 2026-10-04 02:00, which is 15:30 in UTC.
    [
      'closed until 2026-10-03T16:30',
      'where half an hour is left out',
      '2026-10-03T15:30:00Z',
      night('Australia/Lord_Howe', '15 2 * * *'),
    ],
    ['open until 2026-06-01T12:00', 'where they never do', '2026-06-01T08:00:00Z', night('', '0 12 * * *')],
    [
      'open until 2026-06-01T06:30',
      'where the offset has minutes',
      '2026-06-01T06:00:00Z',
      night('Asia/Kolkata', '0 12 * * *'),
    ],
  ])('a window is %s %s', (expected, _of, time, window) => {
    expect(at(time, window)).toBe(expected);
  });

  it('a window lasts as long as it says, whatever the clock shows', () => {
    const wholeNight = aWindow('Deny', '0 22 * * *', 'Europe/Berlin', 8);
    expect(at('2026-03-28T22:00:00Z', wholeNight)).toBe('closed until 2026-03-29T05:00');
    expect(at('2026-10-24T22:00:00Z', wholeNight)).toBe('closed until 2026-10-25T04:00');
  });
});

const SENSELESS: readonly (readonly [what: string, window: StageWindow])[] = [
  ['no schedule', aWindow('Deny', '')],
  ['a schedule of four fields', aWindow('Deny', '0 9 * *')],
  ['a schedule with seconds', aWindow('Deny', '0 0 9 * * *')],
  ['a schedule of two blanks', aWindow('Deny', '0  9 * * *')],
  ['a name', aWindow('Deny', '@daily')],
  ['an hour that is none', aWindow('Deny', '0 24 * * *')],
  ['a step of nothing', aWindow('Deny', '*/0 * * * *')],
  ['a range that runs back', aWindow('Deny', '0 9 * * 5-1')],
  ['a weekday that is none', aWindow('Deny', '0 9 * * abc')],
  ['the last day of the month', aWindow('Deny', '0 9 L * *')],
  ['a weekday by its number in the month', aWindow('Deny', '0 9 * * 1#2')],
  ['days of month and week together', aWindow('Deny', '0 9 13 * +5')],
  ['a day that never comes', aWindow('Deny', '0 0 30 2 *')],
  ['a long schedule', aWindow('Deny', `0${',0'.repeat(100)} 9 * * *`)],
  ['a time zone that nobody knows', aWindow('Deny', '0 9 * * *', 'Mars/Olympus')],
  ['a duration of nothing', aWindow('Deny', '0 9 * * *', '', 0)],
  ['a duration that is no number', aWindow('Deny', '0 9 * * *', '', Number.NaN)],
  ['a duration of 32 days', aWindow('Deny', '0 9 * * *', '', 32 * 24)],
];

describe.each(SENSELESS)('%s', (_what, window) => {
  it('is a fault', () => {
    expect(windowFault(window)).toBeTypeOf('string');
  });

  it('closes the gate where it denies, and opens nothing where it allows', () => {
    expect(at('2026-01-05T08:30:00Z', window)).toBe('closed until nobody knows');
    expect(at('2026-01-05T08:30:00Z', { ...window, kind: 'Allow' })).toBe('closed until nobody knows');
  });
});

it.each(['0 9 * * *', '*/15 8-17 1,15 jan-mar MON', '0 0 29 2 *', '5-59/10 * * * 7', '0 0 * * sun,sat'])(
  'the schedule %s is fine',
  (schedule) => {
    expect(windowFault(aWindow('Allow', schedule, 'Europe/Berlin'))).toBeUndefined();
  },
);

it('closes the gate with more windows than it reads', () => {
  const windows = Array.from({ length: MAX_WINDOWS + 1 }, () => aWindow('Allow', '* * * * *'));
  expect(at('2026-01-05T08:30:00Z', ...windows)).toBe('closed until nobody knows');
  expect(at('2026-01-05T08:30:00Z', ...windows.slice(1))).toMatch(/^open/);
});

describe('a freeze', () => {
  const nowMs = Date.parse('2026-01-05T08:30:00Z');

  it('closes until it is over, with its reason', () => {
    const freeze = { untilMs: nowMs + 1, reason: 'audit', allowCures: false };
    expect(windowOf({ freeze, windows: [OFFICE] }, nowMs)).toEqual({
      frozen: { untilMs: nowMs + 1, reason: 'audit' },
      closesAtMs: undefined,
    });
  });

  it('closes nothing once it is over', () => {
    const freeze = { untilMs: nowMs, reason: 'audit', allowCures: false };
    expect(windowOf({ freeze, windows: [] }, nowMs).frozen).toBeUndefined();
  });
});
