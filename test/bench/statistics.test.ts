import { describe, expect, test } from 'vitest';

import { median, percentile, spread, summarize } from './statistics.ts';

describe('percentile', () => {
  const hundred = Array.from({ length: 100 }, (_, index) => index + 1);

  test.each([
    [0, 1],
    [0.5, 50],
    [0.95, 95],
    [0.99, 99],
    [0.991, 100],
    [1, 100],
  ])('takes at %d of 1 to 100 the measured value %d', (fraction, expected) => {
    expect(percentile(hundred, fraction)).toBe(expected);
  });

  test('takes the only value at every fraction', () => {
    expect([0, 0.5, 0.99, 1].map((fraction) => percentile([7], fraction))).toEqual([7, 7, 7, 7]);
  });

  test('refuses no values and a fraction in percent', () => {
    expect(() => percentile([], 0.5)).toThrow('there are no values');
    expect(() => percentile(hundred, 99)).toThrow('99 is not in 0 to 1');
    expect(() => percentile(hundred, Number.NaN)).toThrow(RangeError);
  });
});

describe('summarize', () => {
  test('sorts by size and not by text, and leaves its input alone', () => {
    const latencies = [10, 9, 100, 1];
    expect(summarize(latencies)).toEqual({ count: 4, p50Ms: 9, p95Ms: 100, p99Ms: 100, maxMs: 100 });
    expect(latencies).toEqual([10, 9, 100, 1]);
  });

  test('says that nothing was measured', () => {
    expect(summarize([])).toEqual({ count: 0, p50Ms: 0, p95Ms: 0, p99Ms: 0, maxMs: 0 });
  });
});

describe('median and spread', () => {
  test('take the middle of an odd number and the mean of the two middles of an even one', () => {
    expect(median([30, 4, 5])).toBe(5);
    expect(median([1, 2, 10, 4])).toBe(3);
    expect(spread([3, 1, 2])).toEqual({ median: 2, min: 1, max: 3 });
  });

  test('refuse no values', () => {
    expect(() => median([])).toThrow('there are no values');
    expect(() => spread([])).toThrow('there are no values');
  });
});
