/** Wakes when the heartbeat of a node agent ends or comes back, and never for one that just goes on (operator.md §13.2). */
import type { Clock, Timer } from '../clock.ts';

/** The latest that a timer is set for: wall clocks are set, and Node's own limit is 24 days. */
const LATEST_MS = 60_000;

interface Heartbeat {
  /** Wall clock. */
  endMs: number;
  /** Its end was told. */
  isOver: boolean;
}

export class Heartbeats {
  readonly #clock: Clock;
  readonly #onChange: (node: string) => void;
  readonly #beats = new Map<string, Heartbeat>();
  #timer: Timer | undefined;
  /** Wall clock: what the timer is set for. */
  #dueMs = Number.POSITIVE_INFINITY;
  #isStopped = false;

  constructor(clock: Clock, onChange: (node: string) => void) {
    this.#clock = clock;
    this.#onChange = onChange;
  }

  /** @param endMs of the newest heartbeat, wall clock; undefined where there is none. */
  beat(node: string, endMs: number | undefined): void {
    const before = this.#beats.get(node);
    const wasOver = before?.isOver ?? true;
    const isOver = endMs === undefined || endMs <= this.#clock.now();
    if (endMs === undefined) this.#beats.delete(node);
    else this.#beats.set(node, { endMs, isOver });
    if (endMs !== undefined && !isOver) this.#arm(endMs);
    if (isOver !== wasOver) this.#onChange(node);
  }

  stop(): void {
    this.#isStopped = true;
    this.#timer?.cancel();
    this.#timer = undefined;
    this.#beats.clear();
  }

  /** One timer, for the earliest end that has not been told. */
  #arm(endMs: number): void {
    if (this.#isStopped || endMs >= this.#dueMs) return;
    this.#timer?.cancel();
    this.#dueMs = endMs;
    const delayMs = Math.min(Math.max(0, endMs - this.#clock.now()), LATEST_MS);
    this.#timer = this.#clock.setTimer(delayMs, () => this.#ring());
  }

  #ring(): void {
    this.#dueMs = Number.POSITIVE_INFINITY;
    const nowMs = this.#clock.now();
    const ended: string[] = [];
    let nextMs = Number.POSITIVE_INFINITY;
    for (const [node, beat] of this.#beats) {
      if (beat.isOver) continue;
      if (beat.endMs <= nowMs) {
        beat.isOver = true;
        ended.push(node);
      } else nextMs = Math.min(nextMs, beat.endMs);
    }
    if (nextMs !== Number.POSITIVE_INFINITY) this.#arm(nextMs);
    for (const node of ended) this.#onChange(node);
  }
}
