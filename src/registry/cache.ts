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
   * @param ask runs where nothing is kept. What it throws is kept only where `keepsErrors` says so: a retry must reach
   *   the registry, and a result that is an error must not be asked for at each turn.
   */
  async get(key: string, ask: () => Promise<T>, keepsErrors = false): Promise<T> {
    const now = this.#clock.monotonic();
    const kept = this.#entries.get(key);
    if (kept !== undefined && kept.expiresAtMs > now) return kept.answer;
    const answer = ask();
    this.#keep(key, { answer, expiresAtMs: now + this.#ttlMs }, now);
    try {
      return await answer;
    } catch (error) {
      if (!keepsErrors && this.#entries.get(key)?.answer === answer) this.#entries.delete(key);
      throw error;
    }
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
