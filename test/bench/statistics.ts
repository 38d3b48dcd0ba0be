/** The few numbers that stand for many: percentiles of one round, median and spread of several. */

export interface LatencySummary {
  /** How many were measured. All others are milliseconds; 0 where nothing was measured. */
  readonly count: number;
  readonly p50Ms: number;
  readonly p95Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
}

export interface Spread {
  readonly median: number;
  readonly min: number;
  readonly max: number;
}

/**
 * The value at `fraction` (0 to 1) of ascending values by the nearest-rank rule: always a value that was really
 * measured, never one between two.
 * @throws RangeError for no values or a fraction outside 0 to 1.
 */
export function percentile(ascending: ArrayLike<number>, fraction: number): number {
  if (!(fraction >= 0 && fraction <= 1)) throw new RangeError(`percentile: ${fraction} is not in 0 to 1`);
  const rank = Math.max(1, Math.ceil(fraction * ascending.length));
  const value = ascending[rank - 1];
  if (value === undefined) throw new RangeError('percentile: there are no values');
  return value;
}

/** Summarizes milliseconds in any order. */
export function summarize(latenciesMs: ArrayLike<number>): LatencySummary {
  if (latenciesMs.length === 0) return { count: 0, p50Ms: 0, p95Ms: 0, p99Ms: 0, maxMs: 0 };
  const ascending = Float64Array.from(latenciesMs).sort();
  return {
    count: ascending.length,
    p50Ms: percentile(ascending, 0.5),
    p95Ms: percentile(ascending, 0.95),
    p99Ms: percentile(ascending, 0.99),
    maxMs: percentile(ascending, 1),
  };
}

/** @throws RangeError for no values. */
export function median(values: readonly number[]): number {
  const ascending = values.toSorted((a, b) => a - b);
  const upper = ascending[Math.floor(ascending.length / 2)];
  const lower = ascending[Math.floor((ascending.length - 1) / 2)];
  if (upper === undefined || lower === undefined) throw new RangeError('median: there are no values');
  return (lower + upper) / 2;
}

/** @throws RangeError for no values. */
export function spread(values: readonly number[]): Spread {
  return { median: median(values), min: Math.min(...values), max: Math.max(...values) };
}
