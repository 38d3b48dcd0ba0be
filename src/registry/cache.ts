/** Caches in memory with bounds: of weight (bundles, by digest) and of time (tag lists, results). The clock is handed in. */
import { abortable } from '../abort.ts';
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

interface ExpiringOptions<T> {
  readonly clock: Clock;
  readonly ttlMs: number;
  readonly maxEntries: number;
  /** Of all answers together, in the unit of `weightOf`; undefined: they are small. */
  readonly bound?: { readonly maxWeight: number; readonly weightOf: (value: T) => number };
}

interface Expiring<T> {
  readonly answer: Promise<T>;
  readonly expiresAtMs: number;
  /** 0 until it is there. */
  weight: number;
}

/** Keeps answers for a while, and asks once for all who ask at the same time. */
export class ExpiringCache<T> {
  readonly #clock: Clock;
  readonly #ttlMs: number;
  readonly #maxEntries: number;
  /** Oldest first, as each has the same time to live. */
  readonly #entries = new Map<string, Expiring<T>>();
  readonly #bound: ExpiringOptions<T>['bound'];
  #weight = 0;

  constructor(options: ExpiringOptions<T>) {
    this.#clock = options.clock;
    this.#ttlMs = options.ttlMs;
    this.#maxEntries = options.maxEntries;
    this.#bound = options.bound;
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
    if (kept !== undefined && kept.expiresAtMs > now) return abortable(kept.answer, options.signal);
    const answer = this.#asked(key, ask, options.keepsError);
    this.#keep(key, { answer, expiresAtMs: now + this.#ttlMs, weight: 0 }, now);
    return abortable(answer, options.signal);
  }

  #asked(
    key: string,
    ask: () => Promise<T>,
    keepsError: ((error: unknown) => boolean) | undefined,
  ): Promise<T> {
    const answer = ask();
    // Also the end of a failure that nobody waits for any more.
    const forget = (error: unknown): void => {
      if (keepsError?.(error) !== true && this.#entries.get(key)?.answer === answer) this.#delete(key);
    };
    answer.then((value) => this.#weigh(key, answer, value)).catch(forget);
    return answer;
  }

  /** What is heavier than the bound is not kept, and takes nothing's place. */
  #weigh(key: string, answer: Promise<T>, value: T): void {
    const entry = this.#entries.get(key);
    if (this.#bound === undefined || entry?.answer !== answer) return;
    const { maxWeight, weightOf } = this.#bound;
    const weight = weightOf(value);
    if (weight > maxWeight) {
      this.#delete(key);
      return;
    }
    entry.weight = weight;
    this.#weight += weight;
    for (const [other, { weight: freed }] of this.#entries) {
      if (this.#weight <= maxWeight) break;
      // What is still asked for weighs nothing, and others wait for it.
      if (other !== key && freed > 0) this.#delete(other);
    }
  }

  #delete(key: string): void {
    this.#weight -= this.#entries.get(key)?.weight ?? 0;
    this.#entries.delete(key);
  }

  /** What is still asked for goes on for those who wait; who asks from now on asks anew. */
  forget(isMeant: (key: string) => boolean): void {
    for (const key of this.#entries.keys()) if (isMeant(key)) this.#delete(key);
  }

  get size(): number {
    return this.#entries.size;
  }

  #keep(key: string, entry: Expiring<T>, now: number): void {
    this.#delete(key);
    for (const [other, { expiresAtMs }] of this.#entries) {
      if (expiresAtMs > now && this.#entries.size < this.#maxEntries) break;
      this.#delete(other);
    }
    this.#entries.set(key, entry);
  }
}
