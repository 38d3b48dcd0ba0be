import { describe, expect, it } from 'vitest';
import { Due } from '../../src/reconcile/due.ts';

const NOW_MS = 1_000_000;
const INTERVAL_MS = 300_000;

function due(...calls: readonly (readonly [atMs: number | undefined, by?: 'watched'])[]): {
  readonly look: number;
  readonly change: number | undefined;
} {
  const one = new Due(NOW_MS, INTERVAL_MS);
  for (const [atMs, by] of calls) one.at(atMs === undefined ? undefined : NOW_MS + atMs, by);
  return {
    look: one.nextLookMs - NOW_MS,
    change: one.nextChangeMs === undefined ? undefined : one.nextChangeMs - NOW_MS,
  };
}

describe('the next look is due', () => {
  it.each([
    ['after the interval where nothing else is due', [], INTERVAL_MS, undefined],
    ['when the earliest of all is due', [[20_000], [10_000], [30_000]], 10_000, 10_000],
    ['after the interval where the rest is due later', [[400_000]], INTERVAL_MS, 400_000],
    ['not for what is over', [[0], [-1], [undefined]], INTERVAL_MS, undefined],
    ['not for what a watch tells', [[10_000, 'watched']], INTERVAL_MS, 10_000],
    ['for what nobody tells, later than what a watch tells', [[10_000, 'watched'], [20_000]], 20_000, 10_000],
  ] as const)('%s', (_name, calls, look, change) => {
    expect(due(...calls)).toEqual({ look, change });
  });
});
