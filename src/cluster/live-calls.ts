/** Calls to the API server that go out now: shared between requests, and capped for the whole process. */
import { abortable } from '../abort.ts';
import type { Clock } from '../clock.ts';
import { GateError } from '../errors.ts';
import type { LiveCallFacts } from '../metrics.ts';

export interface LiveCallLimits {
  /** Calls under way at once. */
  readonly concurrency: number;
  /** Calls that wait for one of those to end; more are refused. */
  readonly waiting: number;
  /** Calls a second, over time. */
  readonly perSecond: number;
  /** Calls that may come at once after a quiet time. */
  readonly burst: number;
}

/**
 * Reviews are written by whoever may call the API server, so that without a cap a tenant could make us a hammer on it.
 * The values leave room for 100 agents that all renew within a second while the caches are cold.
 */
export const LIVE_CALL_LIMITS: LiveCallLimits = { concurrency: 32, waiting: 256, perSecond: 100, burst: 300 };

export interface LiveCallsOptions {
  readonly call: LiveCallFacts['call'];
  /** What they are, for messages: `live reads`. */
  readonly noun: string;
  readonly clock: Clock;
  readonly limits: LiveCallLimits;
  readonly report?: ((facts: LiveCallFacts) => void) | undefined;
}

/** One call that several requests wait for. */
interface Flight<T> {
  readonly answer: Promise<T>;
  readonly controller: AbortController;
  readers: number;
}

export class LiveCalls<T> {
  readonly #options: LiveCallsOptions;
  readonly #flights = new Map<string, Flight<T>>();
  readonly #waiting: (() => void)[] = [];
  #running = 0;
  #tokens: number;
  #countedMs: number;

  constructor(options: LiveCallsOptions) {
    this.#options = options;
    this.#tokens = options.limits.burst;
    this.#countedMs = options.clock.monotonic();
  }

  /**
   * Joins the call of this key that is under way, or begins one. It goes on for the others when one of them gives up,
   * and ends when nobody waits any more.
   *
   * @param what it does, as it reads after "cannot".
   * @throws GateError GATE_OVERLOADED over the limits, and as `call`; the signal's reason when it aborts.
   */
  async join(
    key: string,
    what: string,
    call: (signal: AbortSignal) => Promise<T>,
    signal: AbortSignal | undefined,
  ): Promise<T> {
    signal?.throwIfAborted();
    const flight = this.#flights.get(key) ?? this.#begin(key, what, call);
    flight.readers++;
    try {
      return await abortable(flight.answer, signal);
    } finally {
      flight.readers--;
      if (flight.readers === 0) {
        flight.controller.abort(new Error('nobody waits for this answer any more'));
        if (this.#flights.get(key) === flight) this.#flights.delete(key);
      }
    }
  }

  #begin(key: string, what: string, call: (signal: AbortSignal) => Promise<T>): Flight<T> {
    const { limits, noun } = this.#options;
    if (!this.#takeToken() || (this.#running >= limits.concurrency && this.#isCrowded())) {
      this.#report('refused', 0);
      throw new GateError(
        'GATE_OVERLOADED',
        `cannot ${what}: too many ${noun} (at most ${limits.perSecond} a second and ${limits.concurrency} at once); retry`,
      );
    }
    const controller = new AbortController();
    const answer = this.#run(call, controller.signal);
    // Everybody may have given up by the time it fails.
    answer.catch(() => undefined);
    const flight = { answer, controller, readers: 0 };
    this.#flights.set(key, flight);
    const forget = (): void => {
      if (this.#flights.get(key) === flight) this.#flights.delete(key);
    };
    answer.then(forget, forget);
    return flight;
  }

  async #run(call: (signal: AbortSignal) => Promise<T>, signal: AbortSignal): Promise<T> {
    const { clock } = this.#options;
    const startMs = clock.monotonic();
    const end = (outcome: LiveCallFacts['outcome']): void =>
      this.#report(outcome, (clock.monotonic() - startMs) / 1_000);
    try {
      await this.#enter(signal);
      try {
        const answer = await call(signal);
        end('answered');
        return answer;
      } finally {
        this.#leave();
      }
    } catch (error) {
      end(signal.aborted ? 'abandoned' : 'failed');
      throw error;
    }
  }

  #report(outcome: LiveCallFacts['outcome'], durationSeconds: number): void {
    this.#options.report?.({ call: this.#options.call, outcome, durationSeconds });
  }

  /** Waits for a place among those that run. */
  async #enter(signal: AbortSignal): Promise<void> {
    if (this.#running < this.#options.limits.concurrency) this.#running++;
    else {
      let enter: () => void = () => undefined;
      const place = new Promise<void>((resolve) => (enter = resolve));
      this.#waiting.push(enter);
      try {
        await abortable(place, signal);
      } catch (error) {
        const at = this.#waiting.indexOf(enter);
        // Given up when its turn had come already.
        if (at === -1) this.#leave();
        else this.#waiting.splice(at, 1);
        throw error;
      }
    }
  }

  /** The place goes to the one who has waited longest, without being free in between. */
  #leave(): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#running--;
    else next();
  }

  #isCrowded(): boolean {
    return this.#waiting.length >= this.#options.limits.waiting;
  }

  /** Token bucket: `burst` at first, `perSecond` more each second. */
  #takeToken(): boolean {
    const { clock, limits } = this.#options;
    const nowMs = clock.monotonic();
    const gained = ((nowMs - this.#countedMs) / 1000) * limits.perSecond;
    this.#tokens = Math.min(limits.burst, this.#tokens + gained);
    this.#countedMs = nowMs;
    if (this.#tokens < 1) return false;
    this.#tokens -= 1;
    return true;
  }
}
