/** Caches in memory with bounds: of weight (bundles, by digest) and of time (tag lists, results). The clock is handed in. */
import type { Clock } from '../clock.ts';

/** operator.md §3.3. */
export const TAG_LIST_TTL_MS = 5 * 60 * 1000;
export const RESULT_TTL_MS = 30 * 1000;

/** Keeps what was used last, as long as all of it together weighs no more than the bound. */
export class WeightedCache<T> {
  readonly #maxWeight: number;
  /** Least recently used first. */
  readonly #entries = new Map<string, { readonly value: T; readonly weight: number }>();
  #weight = 0;

  /** @param maxWeight in the unit of the weights, such as bytes; 0 keeps nothing. */
  constructor(maxWeight: number) {
    this.#maxWeight = maxWeight;
  }

  get(key: string): T | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    return entry.value;
  }

  /** What is heavier than the bound is not kept, and takes nothing's place. */
  set(key: string, value: T, weight: number): void {
    this.delete(key);
    if (weight > this.#maxWeight) return;
    this.#entries.set(key, { value, weight });
    this.#weight += weight;
    for (const oldest of this.#entries.keys()) {
      if (this.#weight <= this.#maxWeight) break;
      this.delete(oldest);
    }
  }

  delete(key: string): void {
    this.#weight -= this.#entries.get(key)?.weight ?? 0;
    this.#entries.delete(key);
  }

  get weight(): number {
    return this.#weight;
  }
}

/** Keeps answers for a while, and asks once for all who ask at the same time. */
export class ExpiringCache<T> {
  readonly #clock: Clock;
  readonly #ttlMs: number;
  readonly #maxEntries: number;
  /** Oldest first, as each has the same time to live. */
  readonly #entries = new Map<string, { readonly answer: Promise<T>; readonly expiresAtMs: number }>();

  constructor(options: { readonly clock: Clock; readonly ttlMs: number; readonly maxEntries: number }) {
    this.#clock = options.clock;
    this.#ttlMs = options.ttlMs;
    this.#maxEntries = options.maxEntries;
  }

  /**
   * @param ask runs where nothing is kept, for all who wait: it knows no one's signal.
   * @param options.signal gives up waiting, and what was asked goes on for the others.
   * @param options.keepsError says of what was thrown whether it is kept too; nothing is if left out.
   */
  async get(
    key: string,
    ask: () => Promise<T>,
    options: {
      readonly signal?: AbortSignal | undefined;
      readonly keepsError?: (error: unknown) => boolean;
    } = {},
  ): Promise<T> {
    const now = this.#clock.monotonic();
    const kept = this.#entries.get(key);
    if (kept !== undefined && kept.expiresAtMs > now) return waited(kept.answer, options.signal);
    const answer = this.#asked(key, ask, options.keepsError);
    this.#keep(key, { answer, expiresAtMs: now + this.#ttlMs }, now);
    return waited(answer, options.signal);
  }

  #asked(
    key: string,
    ask: () => Promise<T>,
    keepsError: ((error: unknown) => boolean) | undefined,
  ): Promise<T> {
    const answer = ask();
    // Also the end of a failure that nobody waits for any more.
    const forget = (error: unknown): void => {
      if (keepsError?.(error) !== true && this.#entries.get(key)?.answer === answer)
        this.#entries.delete(key);
    };
    answer.catch(forget);
    return answer;
  }

  get size(): number {
    return this.#entries.size;
  }

  #keep(key: string, entry: { answer: Promise<T>; expiresAtMs: number }, now: number): void {
    this.#entries.delete(key);
    for (const [other, { expiresAtMs }] of this.#entries) {
      if (expiresAtMs > now && this.#entries.size < this.#maxEntries) break;
      this.#entries.delete(other);
    }
    this.#entries.set(key, entry);
  }
}

async function waited<T>(answer: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return answer;
  signal.throwIfAborted();
  let stop: (() => void) | undefined;
  const aborted = new Promise<never>((_resolve, reject) => {
    stop = () => reject(signal.reason as Error);
    signal.addEventListener('abort', stop, { once: true });
  });
  try {
    return await Promise.race([answer, aborted]);
  } finally {
    if (stop !== undefined) signal.removeEventListener('abort', stop);
  }
}
