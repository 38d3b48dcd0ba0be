/** A ceiling on what callers can make us ask of the API server: so many at once and so many a second. */
import type { Clock } from '../clock.ts';
import { GateError } from '../errors.ts';

/** TokenReviews answer in some milliseconds; ten at once are already more than the rate below needs. */
const MAX_CONCURRENT = 10;
/** What the API server's own clients ask by default at most: 20 a second, some more in a burst. */
const RATE_PER_SECOND = 20;
const BURST = 40;

/** Of one address: a caller has one token, and a few at most while it is rotated. */
const PEER_RATE_PER_SECOND = 5;
const PEER_BURST = 10;
/** Addresses remembered; the one that was not seen for the longest is forgotten first. */
const PEERS = 1_000;

/**
 * Each has a ceiling of its own: a stranger who sends one made-up token after the other must not keep the API server
 * from being recognised, neither where its token is due for another look (`known`) nor where it has a new one and
 * comes from an address that had a good one before (`returning`).
 */
export type Lane = 'known' | 'returning' | 'new';

export interface ReviewCapOptions {
  readonly clock: Clock;
  readonly maxConcurrent?: number;
  readonly ratePerSecond?: number;
  readonly burst?: number;
}

/** One for the whole process, shared by everything that reviews callers. */
export interface ReviewCap {
  /**
   * @param peer address of the caller, who gets a share of the lane only; left out: as much as there is.
   * @throws GateError GATE_OVERLOADED at once where the lane, or the share, is at its ceiling; else as `review`.
   */
  run<T>(lane: Lane, review: () => Promise<T>, peer?: string): Promise<T>;
}

export function createReviewCap(options: ReviewCapOptions): ReviewCap {
  const lanes: Record<Lane, Bucket> = {
    known: new Bucket(options),
    returning: new Bucket(options),
    new: new Bucket(options),
  };
  const peers = new PeerShares(options);
  return {
    async run(lane, review, peer) {
      const bucket = lanes[lane];
      if ((peer !== undefined && !peers.take(peer)) || !bucket.enter()) {
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

class PeerShares {
  readonly #options: ReviewCapOptions;
  readonly #buckets = new Map<string, Bucket>();

  constructor({ clock }: ReviewCapOptions) {
    this.#options = {
      clock,
      maxConcurrent: Infinity,
      ratePerSecond: PEER_RATE_PER_SECOND,
      burst: PEER_BURST,
    };
  }

  take(peer: string): boolean {
    const bucket = this.#buckets.get(peer) ?? new Bucket(this.#options);
    this.#buckets.delete(peer);
    this.#buckets.set(peer, bucket);
    const [oldest] = this.#buckets.keys();
    if (this.#buckets.size > PEERS && oldest !== undefined) this.#buckets.delete(oldest);
    return bucket.enter();
  }
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
