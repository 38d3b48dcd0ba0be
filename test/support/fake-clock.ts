import type { Clock, Timer } from '../../src/clock.ts';

interface Pending {
  readonly dueMs: number;
  readonly run: () => void;
}

/** A clock that stands still until a test turns it. */
export class FakeClock implements Clock {
  #nowMs: number;
  #elapsedMs = 0;
  readonly #pending = new Set<Pending>();

  /** @param startMs milliseconds since the Unix epoch. */
  constructor(startMs = Date.UTC(2026, 0, 1)) {
    this.#nowMs = startMs;
  }

  now(): number {
    return this.#nowMs;
  }

  monotonic(): number {
    return this.#elapsedMs;
  }

  setTimer(delayMs: number, run: () => void): Timer {
    const pending: Pending = { dueMs: this.#elapsedMs + Math.max(0, delayMs), run };
    this.#pending.add(pending);
    return { cancel: () => void this.#pending.delete(pending) };
  }

  /** Timers that wait, for a test that must know that nothing was left behind. */
  get waiting(): number {
    return this.#pending.size;
  }

  /** Moves time on and runs what falls due, in order; promise callbacks run between two timers. */
  async advance(byMs: number): Promise<void> {
    const endMs = this.#elapsedMs + byMs;
    for (;;) {
      await flushMicrotasks();
      const next = [...this.#pending]
        .filter((p) => p.dueMs <= endMs)
        .toSorted((a, b) => a.dueMs - b.dueMs)[0];
      if (next === undefined) break;
      this.#pending.delete(next);
      this.#move(next.dueMs);
      next.run();
    }
    this.#move(endMs);
    await flushMicrotasks();
  }

  #move(toMs: number): void {
    this.#nowMs += toMs - this.#elapsedMs;
    this.#elapsedMs = toMs;
  }
}

async function flushMicrotasks(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await Promise.resolve();
}
