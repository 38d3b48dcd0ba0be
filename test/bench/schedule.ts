/** When each request of an open-loop load is due: the clock decides, never how fast the answers come. */

/** So many requests one stream may send at most: a mistake in a rate must not become an endless load. */
export const MAX_REQUESTS = 200_000;
/** So long a stream may last at most, seconds. */
export const MAX_SECONDS = 360;

/** `ratePerSecond` for `warmupSeconds + seconds`, or `burst` requests at one instant. */
export type Arrivals =
  | { readonly ratePerSecond: number; readonly seconds: number; readonly warmupSeconds?: number }
  | { readonly burst: number };

export interface Schedule {
  readonly count: number;
  /** The first `discarded` requests are sent and verified, but not measured. */
  readonly discarded: number;
  /** When the last request is due, milliseconds after the start. */
  readonly lastDueMs: number;
  /** When request `index` (0-based) is due, milliseconds after the start. */
  dueMs(index: number): number;
}

/** @throws RangeError for a rate, time or number that is not positive or beyond the bounds above. */
export function schedule(arrivals: Arrivals): Schedule {
  if ('burst' in arrivals) {
    const count = whole(arrivals.burst, 'burst', MAX_REQUESTS);
    return { count, discarded: 0, lastDueMs: 0, dueMs: () => 0 };
  }
  const { ratePerSecond, seconds, warmupSeconds = 0 } = arrivals;
  if (!(ratePerSecond > 0))
    throw new RangeError(`schedule: a rate of ${ratePerSecond} per second: need more than 0`);
  if (!(seconds > 0 && warmupSeconds >= 0 && seconds + warmupSeconds <= MAX_SECONDS)) {
    throw new RangeError(
      `schedule: ${warmupSeconds} + ${seconds} s: need more than 0 and at most ${MAX_SECONDS}`,
    );
  }
  const discarded = Math.round(ratePerSecond * warmupSeconds);
  const count = whole(discarded + Math.max(1, Math.round(ratePerSecond * seconds)), 'requests', MAX_REQUESTS);
  const gapMs = 1000 / ratePerSecond;
  // A product and not a sum of gaps: the ten-thousandth request is not late by ten thousand rounding errors.
  const dueMs = (index: number): number => index * gapMs;
  return { count, discarded, lastDueMs: dueMs(count - 1), dueMs };
}

function whole(count: number, what: string, most: number): number {
  if (!Number.isInteger(count) || count < 1 || count > most) {
    throw new RangeError(`schedule: ${what} ${count}: need a whole number from 1 to ${most}`);
  }
  return count;
}
