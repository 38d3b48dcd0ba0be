import { describe, expect, it } from 'vitest';
import type { ObservationWindow } from '../../src/reconcile/api/pacto.ts';
import { inSeconds, Windows } from '../../src/reconcile/stabilization.ts';

const T0 = Date.parse('2026-12-01T10:00:00Z');
const WINDOW_MS = 120_000;

function streak(subject: string, sinceMs: number): ObservationWindow {
  return { kind: 'interface', subject, firstObservedNegativeAt: inSeconds(sinceMs) };
}

const all = (): boolean => true;

describe('a streak of absences', () => {
  it('starts at the first look, which never confirms it, however short the window is', () => {
    for (const lengthMs of [WINDOW_MS, 0]) {
      const windows = new Windows([], T0 + 400, lengthMs);
      expect(windows.negative('interface', 'api')).toBe(false);
      expect(windows.left(all)).toEqual([streak('api', T0)]);
    }
  });

  it.each([
    ['one second before its end', WINDOW_MS - 1_000, false],
    ['at its end', WINDOW_MS, true],
    ['long after it', 10 * WINDOW_MS, true],
  ])('%s: confirmed %s later is %s', (_when, elapsedMs, confirmed) => {
    const windows = new Windows([streak('api', T0)], T0 + elapsedMs, WINDOW_MS);
    expect(windows.negative('interface', 'api')).toBe(confirmed);
    expect(windows.left(all)).toEqual([streak('api', T0)]);
  });

  it('ends with a look that finds the subject, and only for that subject', () => {
    const windows = new Windows([streak('api', T0), streak('admin', T0)], T0 + WINDOW_MS, WINDOW_MS);
    windows.positive('interface', 'api');
    expect(windows.left(all)).toEqual([streak('admin', T0)]);
    expect(windows.negative('interface', 'api')).toBe(false);
  });

  it('goes on through looks that can tell nothing', () => {
    expect(new Windows([streak('api', T0)], T0 + 60_000, WINDOW_MS).left(all)).toEqual([streak('api', T0)]);
  });

  it('is dropped for what the contract declares no more', () => {
    const windows = new Windows([streak('api', T0), streak('gone', T0)], T0, WINDOW_MS);
    expect(windows.left((kind, subject) => kind === 'interface' && subject === 'api')).toEqual([
      streak('api', T0),
    ]);
  });

  it('starts anew where it begins in the future, as after a clock that was wrong', () => {
    const windows = new Windows([streak('api', T0 + 3_600_000)], T0, WINDOW_MS);
    expect(windows.negative('interface', 'api')).toBe(false);
    expect(windows.left(all)).toEqual([streak('api', T0)]);
  });

  it('is not there where its start cannot be read', () => {
    const broken = { ...streak('api', T0), firstObservedNegativeAt: 'yesterday' };
    const windows = new Windows([broken], T0, WINDOW_MS);
    expect(windows.left(all)).toEqual([]);
    expect(windows.negative('interface', 'api')).toBe(false);
  });

  it('is kept apart by kind, and listed in one order', () => {
    const windows = new Windows([], T0, WINDOW_MS);
    windows.negative('interface', 'x');
    windows.negative('dependency', 'x');
    windows.negative('capability', 'health');
    expect(windows.left(all).map(({ kind, subject }) => `${kind}/${subject}`)).toEqual([
      'capability/health',
      'dependency/x',
      'interface/x',
    ]);
  });

  it.each([
    ['one under way', T0, T0 + WINDOW_MS],
    ['one that is confirmed', T0 - WINDOW_MS, undefined],
  ])('says when %s ends', (_what, startMs, endMs) => {
    const windows = new Windows([], T0, WINDOW_MS);
    expect(windows.endsMs(streak('api', startMs))).toBe(endMs);
  });
});
