/**
 * How long one exchange is waited for. Only the time in which the server owes us something counts, not the time that the
 * consumer of a body takes; and a server that sends a byte now and then runs out of it as one that is silent does.
 */
import { linkSignals, type LinkedSignal } from '../abort.ts';
import type { Clock } from '../clock.ts';
import { silent, type Subject } from './failures.ts';
import type { RegistryLimits } from './options.ts';

export class Patience {
  readonly #clock: Clock;
  readonly #limits: RegistryLimits;
  readonly #subject: Subject;
  readonly #linked: LinkedSignal;
  /** Told of the abort without a listener each: a blob is waited for hundreds of times. */
  readonly #waiting = new Set<(reason: unknown) => void>();
  #waitedMs = 0;
  #bytes = 0;

  /** @param outer end the exchange as well, with their own reasons. */
  constructor(
    clock: Clock,
    limits: RegistryLimits,
    subject: Subject,
    outer: readonly (AbortSignal | undefined)[],
  ) {
    this.#clock = clock;
    this.#limits = limits;
    this.#subject = subject;
    this.#linked = linkSignals(outer);
    this.signal.addEventListener('abort', () => {
      for (const fail of this.#waiting) fail(this.signal.reason);
    });
  }

  /** Aborts when patience is at an end; for the request. */
  get signal(): AbortSignal {
    return this.#linked.signal;
  }

  /** A new request: what the one before cost is forgotten. */
  restart(): void {
    this.#waitedMs = 0;
    this.#bytes = 0;
  }

  /** These came, which earns the server more time. */
  received(bytes: number): void {
    this.#bytes += bytes;
  }

  /** @throws GateError GATE_REGISTRY_UNREACHABLE when it takes too long, or the reason of an outer signal. */
  async during<T>(wait: Promise<T>): Promise<T> {
    const startMs = this.#clock.monotonic();
    const timer = this.#clock.setTimer(this.#allowanceMs(), () => this.#linked.abort(this.#tooSlow()));
    try {
      return await this.orAborted(wait);
    } finally {
      timer.cancel();
      this.#waitedMs += this.#clock.monotonic() - startMs;
    }
  }

  /** As during, for what has its own limit of time. */
  orAborted<T>(wait: Promise<T>): Promise<T> {
    const { signal } = this;
    return new Promise((resolve, reject) => {
      const fail = (error: unknown): void => {
        this.#waiting.delete(fail);
        reject((signal.aborted ? signal.reason : error) as Error);
      };
      wait.then((value) => {
        this.#waiting.delete(fail);
        resolve(value);
      }, fail);
      if (signal.aborted) fail(signal.reason);
      else this.#waiting.add(fail);
    });
  }

  /** Ends what is under way; nobody waits any more. */
  release(): void {
    this.#linked.release();
    this.#linked.abort(new Error('no longer wanted'));
  }

  #allowanceMs(): number {
    const { idleMs, bytesPerSecond, bodyMs } = this.#limits;
    const earnedMs = Math.min(idleMs + (this.#bytes / bytesPerSecond) * 1000, bodyMs) - this.#waitedMs;
    return Math.max(0, Math.min(idleMs, earnedMs));
  }

  #tooSlow(): Error {
    const { idleMs } = this.#limits;
    return silent(
      this.#subject,
      this.#bytes === 0
        ? `no answer within ${idleMs} ms`
        : `after ${this.#bytes} bytes the answer became too slow`,
    );
  }
}
