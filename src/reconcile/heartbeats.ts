/** Wakes when the heartbeat of a node agent ends or comes back, and never for one that just goes on (operator.md §13.2). */
import type { Clock, Timer } from '../clock.ts';

/** The latest that a timer is set for: Node's own limit is 24 days. */
const LATEST_MS = 3_600_000;

export class Heartbeats {
  readonly #clock: Clock;
  readonly #onChange: (node: string) => void;
  readonly #endsMs = new Map<string, number>();
  /** Nodes whose end was told. */
  readonly #ended = new Set<string>();
  #timer: Timer | undefined;

  constructor(clock: Clock, onChange: (node: string) => void) {
    this.#clock = clock;
    this.#onChange = onChange;
  }

  /** @param endMs of the newest heartbeat, wall clock; undefined where there is none. */
  beat(node: string, endMs: number | undefined): void {
    if (endMs === undefined) this.#endsMs.delete(node);
    else this.#endsMs.set(node, endMs);
    const isOver = endMs === undefined || endMs <= this.#clock.now();
    if (isOver !== this.#ended.has(node)) this.#turn(node, isOver);
    this.#arm();
  }

  stop(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
    this.#endsMs.clear();
  }

  #turn(node: string, isOver: boolean): void {
    if (isOver) this.#ended.add(node);
    else this.#ended.delete(node);
    this.#onChange(node);
  }

  /** One timer, for the earliest end that has not been told. */
  #arm(): void {
    if (this.#timer !== undefined) return;
    let nextMs = Number.POSITIVE_INFINITY;
    for (const [node, endMs] of this.#endsMs) if (!this.#ended.has(node)) nextMs = Math.min(nextMs, endMs);
    if (nextMs === Number.POSITIVE_INFINITY) return;
    const delayMs = Math.min(Math.max(0, nextMs - this.#clock.now()), LATEST_MS);
    this.#timer = this.#clock.setTimer(delayMs, () => {
      this.#timer = undefined;
      const nowMs = this.#clock.now();
      for (const [node, endMs] of this.#endsMs) {
        if (endMs <= nowMs && !this.#ended.has(node)) this.#turn(node, true);
      }
      this.#arm();
    });
  }
}
