/**
 * How long a worker may work: by the processor time that it took, because on a busy machine, or in a container whose
 * processor is throttled, time passes without any work, and a schema that is merely waited for is no bad one.
 */
import type { Clock, Timer } from '../clock.ts';

/** What of a Worker is asked. */
export interface Asked {
  /** Microseconds since its thread began. */
  cpuUsage(): Promise<{ readonly user: number; readonly system: number }>;
}

/** Looks without an answer, or with one that it has hardly worked: then something else is wrong with it. */
const MOST_LOOKS = 40;
/** Between two looks at least. */
const LEAST_MS = 20;

export class ProcessorLimit {
  readonly #clock: Clock;
  #timer: Timer | undefined;
  /** Of the limit that counts now. */
  #turn = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /**
   * Begins anew: calls `expired` once the worker has taken `limitMs` of processor time since `usedMs`.
   *
   * @param usedMs what it had taken at its last report
   */
  start(
    { limitMs, usedMs }: { readonly limitMs: number; readonly usedMs: number },
    worker: Asked,
    expired: () => void,
  ): void {
    this.stop();
    const turn = this.#turn;
    let looks = 0;
    const look = async (): Promise<void> => {
      // What arrived while this thread was busy is heard first.
      await new Promise((resolve) => setImmediate(resolve));
      if (this.#turn !== turn) return;
      this.#timer = this.#clock.setTimer(limitMs, () => void look());
      if (++looks > MOST_LOOKS) return expired();
      const tookMs = await processorMs(worker);
      if (this.#turn !== turn || tookMs === undefined) return;
      const leftMs = limitMs - (tookMs - usedMs);
      if (leftMs <= 0) return expired();
      this.#timer?.cancel();
      this.#timer = this.#clock.setTimer(Math.max(leftMs, LEAST_MS), () => void look());
    };
    this.#timer = this.#clock.setTimer(limitMs, () => void look());
  }

  stop(): void {
    this.#turn++;
    this.#timer?.cancel();
    this.#timer = undefined;
  }
}

/** @returns undefined where it has ended: its end is told otherwise */
async function processorMs(worker: Asked): Promise<number | undefined> {
  try {
    return millisecondsOf(await worker.cpuUsage());
  } catch {
    return undefined;
  }
}

export function millisecondsOf({ user, system }: { readonly user: number; readonly system: number }): number {
  return (user + system) / 1_000;
}
