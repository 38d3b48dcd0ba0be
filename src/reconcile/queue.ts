/**
 * Keys that wait to be looked at: each once, however often it is asked for, and never twice at the same time. A key that is
 * asked for while it is looked at is looked at once more. Who was asked for waits before what has changed, and that before
 * what is merely due.
 */
import type { Clock, Timer } from '../clock.ts';

export type Priority = 'demand' | 'change' | 'timer';

const PRIORITIES: readonly Priority[] = ['demand', 'change', 'timer'];
/** Every so many turns the last come first: under a storm of changes the time of an absence must still run out. */
const LAST_FIRST = 8;
/** controller-runtime's own: doubled for each failure in a row. */
const BACKOFF_LEAST_MS = 50;
const BACKOFF_MOST_MS = 5 * 60_000;
/** Node's timers take 24 days; a longer delay is looked at again then. */
const LONGEST_TIMER_MS = 3_600_000;

export interface QueueFacts {
  readonly waiting: number;
  readonly running: number;
  readonly delayed: number;
  /** Since the start. */
  readonly done: number;
  readonly failed: number;
}

export interface QueueOptions {
  readonly clock: Clock;
  /** From 0 up to 1. */
  readonly random: () => number;
  readonly workers: number;
  /** What rejects is tried again after a back-off; `retryAfterMs` of it, where it has one, is waited for at least. */
  readonly work: (key: string, signal: AbortSignal) => Promise<void>;
  /** Told of each failure, with the time until the next try. */
  readonly onFailure: (key: string, error: unknown, retryMs: number) => void;
}

interface Entry {
  priority: Priority | undefined;
  isRunning: boolean;
  /** In a row. */
  failures: number;
  /** Monotonic: when it becomes due by itself. */
  dueMs: number | undefined;
}

export class Queue {
  readonly #options: QueueOptions;
  readonly #entries = new Map<string, Entry>();
  readonly #waiting = new Map<Priority, Set<string>>(PRIORITIES.map((priority) => [priority, new Set()]));
  readonly #stopping = new AbortController();
  readonly #work = new Set<Promise<void>>();
  #timer: Timer | undefined;
  #timerMs = Number.POSITIVE_INFINITY;
  #turns = 0;
  #done = 0;
  #failed = 0;

  constructor(options: QueueOptions) {
    this.#options = options;
  }

  add(key: string, priority: Priority): void {
    if (this.#stopping.signal.aborted) return;
    const entry = this.#entry(key);
    entry.dueMs = undefined;
    const before = entry.priority;
    if (before !== undefined && PRIORITIES.indexOf(before) <= PRIORITIES.indexOf(priority)) return;
    if (before !== undefined) this.#waiting.get(before)?.delete(key);
    entry.priority = priority;
    // While it is looked at it waits apart, until that has ended.
    if (!entry.isRunning) this.#waiting.get(priority)?.add(key);
    this.#fill();
  }

  /** Due after so many milliseconds unless something else comes first; the earlier of two counts. */
  addAfter(key: string, delayMs: number): void {
    if (this.#stopping.signal.aborted) return;
    const entry = this.#entry(key);
    if (entry.priority !== undefined) return;
    const dueMs = this.#options.clock.monotonic() + Math.max(0, delayMs);
    entry.dueMs = Math.min(entry.dueMs ?? dueMs, dueMs);
    this.#arm(entry.dueMs);
  }

  /** The key is gone: what waits of it is dropped. */
  forget(key: string): void {
    const entry = this.#entries.get(key);
    if (entry === undefined) return;
    if (entry.priority !== undefined) this.#waiting.get(entry.priority)?.delete(key);
    entry.priority = undefined;
    entry.dueMs = undefined;
    entry.failures = 0;
    if (!entry.isRunning) this.#entries.delete(key);
  }

  /** Drops everything that waits; what is looked at goes on. */
  clear(): void {
    for (const key of this.#entries.keys()) this.forget(key);
  }

  facts(): QueueFacts {
    let waiting = 0;
    let running = 0;
    let delayed = 0;
    for (const { priority, isRunning, dueMs } of this.#entries.values()) {
      if (priority !== undefined) waiting += 1;
      if (isRunning) running += 1;
      if (dueMs !== undefined) delayed += 1;
    }
    return { waiting, running, delayed, done: this.#done, failed: this.#failed };
  }

  /** Aborts what is looked at, and waits for its end. */
  async stop(): Promise<void> {
    this.#stopping.abort(new Error('the reconciler stops'));
    this.#timer?.cancel();
    this.#timer = undefined;
    await Promise.allSettled(this.#work);
    this.#entries.clear();
  }

  #entry(key: string): Entry {
    const known = this.#entries.get(key);
    if (known !== undefined) return known;
    const entry: Entry = { priority: undefined, isRunning: false, failures: 0, dueMs: undefined };
    this.#entries.set(key, entry);
    return entry;
  }

  #fill(): void {
    while (this.#work.size < this.#options.workers && !this.#stopping.signal.aborted) {
      const key = this.#take();
      if (key === undefined) return;
      const work = this.#run(key).finally(() => {
        this.#work.delete(work);
        this.#fill();
      });
      this.#work.add(work);
    }
  }

  #take(): string | undefined {
    this.#turns += 1;
    for (const priority of this.#turns % LAST_FIRST === 0 ? PRIORITIES.toReversed() : PRIORITIES) {
      const waiting = this.#waiting.get(priority);
      const [key] = waiting ?? [];
      if (key === undefined) continue;
      waiting?.delete(key);
      return key;
    }
    return undefined;
  }

  /** Never rejects. */
  async #run(key: string): Promise<void> {
    const entry = this.#entry(key);
    entry.priority = undefined;
    entry.isRunning = true;
    try {
      await this.#options.work(key, this.#stopping.signal);
      entry.failures = 0;
      this.#done += 1;
    } catch (error) {
      this.#retry(key, entry, error);
    } finally {
      entry.isRunning = false;
      // Typed as what was written last: it may have been asked for meanwhile.
      const asked = entry.priority as Priority | undefined;
      if (asked !== undefined) this.#waiting.get(asked)?.add(key);
      else if (entry.dueMs === undefined) this.#entries.delete(key);
    }
  }

  #retry(key: string, entry: Entry, error: unknown): void {
    if (this.#stopping.signal.aborted) return;
    this.#failed += 1;
    const fullMs = Math.min(BACKOFF_LEAST_MS * 2 ** Math.min(entry.failures, 20), BACKOFF_MOST_MS);
    entry.failures += 1;
    const retryMs = Math.max(fullMs * (0.5 + this.#options.random() / 2), retryAfterMsOf(error));
    this.#options.onFailure(key, error, retryMs);
    // A change of what was read would wake it sooner.
    this.addAfter(key, retryMs);
  }

  /** One timer for all: the earliest due. */
  #arm(dueMs: number): void {
    if (dueMs >= this.#timerMs) return;
    this.#timer?.cancel();
    this.#timerMs = dueMs;
    const delayMs = Math.min(Math.max(0, dueMs - this.#options.clock.monotonic()), LONGEST_TIMER_MS);
    this.#timer = this.#options.clock.setTimer(delayMs, () => this.#ring());
  }

  #ring(): void {
    this.#timer = undefined;
    this.#timerMs = Number.POSITIVE_INFINITY;
    const nowMs = this.#options.clock.monotonic();
    let nextMs = Number.POSITIVE_INFINITY;
    for (const [key, { dueMs }] of this.#entries) {
      if (dueMs === undefined) continue;
      if (dueMs <= nowMs) this.add(key, 'timer');
      else nextMs = Math.min(nextMs, dueMs);
    }
    if (nextMs !== Number.POSITIVE_INFINITY) this.#arm(nextMs);
  }
}

/** Of GATE_CLUSTER_THROTTLED (cluster/answers.ts). */
function retryAfterMsOf(error: unknown): number {
  const { fields } = (error ?? {}) as { fields?: { retryAfterSeconds?: unknown } };
  const seconds = fields?.retryAfterSeconds;
  return typeof seconds === 'number' ? Math.min(seconds * 1_000, BACKOFF_MOST_MS) : 0;
}
