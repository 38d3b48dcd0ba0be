/** A ceiling on what callers can make us ask of the API server: so many at once and so many a second. */
import type { Clock } from '../clock.ts';
import { GateError } from '../errors.ts';

/** TokenReviews answer in some milliseconds; ten at once are already more than the rate below needs. */
const MAX_CONCURRENT = 10;
/** What the API server's own clients ask by default at most: 20 a second, some more in a burst. */
const RATE_PER_SECOND = 20;
const BURST = 40;

/**
 * Callers whose token was good before have a ceiling of their own: a stranger who sends one made-up token after the
 * other must not keep the API server, whose token is due for another look, from being recognised.
 */
export type Lane = 'known' | 'new';

export interface ReviewCapOptions {
  readonly clock: Clock;
  readonly maxConcurrent?: number;
  readonly ratePerSecond?: number;
  readonly burst?: number;
}

/** One for the whole process, shared by everything that reviews callers. */
export interface ReviewCap {
  /** @throws GateError GATE_OVERLOADED at once where the lane is at its ceiling; else as `review`. */
  run<T>(lane: Lane, review: () => Promise<T>): Promise<T>;
}

export function createReviewCap(options: ReviewCapOptions): ReviewCap {
  const lanes: Record<Lane, Bucket> = { known: new Bucket(options), new: new Bucket(options) };
  return {
    async run(lane, review) {
      const bucket = lanes[lane];
      if (!bucket.enter()) {
        throw new GateError(
          'GATE_OVERLOADED',
          'pacto-gate is overloaded: too many callers to review: send again in a second',
        );
      }
      try {
        return await review();
      } finally {
        bucket.leave();
      }
    },
  };
}

/** A token bucket with a ceiling on what runs at once. */
class Bucket {
  readonly #clock: Clock;
  readonly #maxConcurrent: number;
  readonly #perMs: number;
  readonly #burst: number;
  #tokens: number;
  #filledMs: number;
  #running = 0;

  constructor(options: ReviewCapOptions) {
    this.#clock = options.clock;
    this.#maxConcurrent = options.maxConcurrent ?? MAX_CONCURRENT;
    this.#perMs = (options.ratePerSecond ?? RATE_PER_SECOND) / 1000;
    this.#burst = options.burst ?? BURST;
    this.#tokens = this.#burst;
    this.#filledMs = options.clock.monotonic();
  }

  enter(): boolean {
    const nowMs = this.#clock.monotonic();
    this.#tokens = Math.min(this.#burst, this.#tokens + (nowMs - this.#filledMs) * this.#perMs);
    this.#filledMs = nowMs;
    if (this.#tokens < 1 || this.#running >= this.#maxConcurrent) return false;
    this.#tokens--;
    this.#running++;
    return true;
  }

  leave(): void {
    this.#running--;
  }
}
