import { describe, expect, test } from 'vitest';

import { MAX_REQUESTS, schedule } from './schedule.ts';

describe('schedule', () => {
  test('spaces requests evenly and counts the warm-up apart', () => {
    const plan = schedule({ ratePerSecond: 200, seconds: 2, warmupSeconds: 0.5 });
    expect(plan.count).toBe(500);
    expect(plan.discarded).toBe(100);
    expect([0, 1, 100, 499].map((index) => plan.dueMs(index))).toEqual([0, 5, 500, 2495]);
    expect(plan.lastDueMs).toBe(2495);
  });

  test('keeps a rate that does not divide a second, without adding up rounding errors', () => {
    const plan = schedule({ ratePerSecond: 3000, seconds: 60 });
    expect(plan.count).toBe(180_000);
    expect(plan.dueMs(90_000)).toBeCloseTo(30_000, 6);
  });

  test('sends one request where a rate is so low that none would be due', () => {
    expect(schedule({ ratePerSecond: 0.1, seconds: 1 }).count).toBe(1);
  });

  test('puts a burst into one instant and measures all of it', () => {
    const plan = schedule({ burst: 500 });
    expect(plan).toMatchObject({ count: 500, discarded: 0, lastDueMs: 0 });
    expect(plan.dueMs(499)).toBe(0);
  });

  test.each([
    [{ ratePerSecond: 0, seconds: 1 }, 'need more than 0'],
    [{ ratePerSecond: Number.NaN, seconds: 1 }, 'need more than 0'],
    [{ ratePerSecond: 10, seconds: 0 }, 'need more than 0 and at most 360'],
    [{ ratePerSecond: 10, seconds: 340, warmupSeconds: 30 }, 'at most 360'],
    [{ ratePerSecond: 10, seconds: 10, warmupSeconds: -1 }, 'at most 360'],
    [{ ratePerSecond: 10_000, seconds: 60 }, `1 to ${MAX_REQUESTS}`],
    [{ burst: 0 }, `1 to ${MAX_REQUESTS}`],
    [{ burst: 1.5 }, 'a whole number'],
  ])('refuses %o, which would never end or never begin', (arrivals, message) => {
    expect(() => schedule(arrivals)).toThrow(message);
  });
});
