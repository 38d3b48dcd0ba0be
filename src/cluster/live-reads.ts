/** Single reads that go to the API server now: shared between requests, and capped for the whole process. */
import type { Clock } from '../clock.ts';
import { GateError, quote } from '../errors.ts';
import { abortable } from './abort.ts';
import type { CallOptions, Cluster, ObjectName } from './cluster.ts';
import type { Kind } from './kinds.ts';
import type { KubeObject } from './objects.ts';
import { storeKey } from './store.ts';

export interface LiveReadLimits {
  /** Reads under way at once. */
  readonly concurrency: number;
  /** Reads that wait for one of those to end; more are refused. */
  readonly waiting: number;
  /** Reads a second, over time. */
  readonly perSecond: number;
  /** Reads that may come at once after a quiet time. */
  readonly burst: number;
}

/**
 * Reviews are written by whoever may call the API server, so that without a cap a tenant could make us a hammer on it.
 * The values leave room for 100 agents that all renew within a second while the caches are cold.
 */
export const LIVE_READ_LIMITS: LiveReadLimits = { concurrency: 32, waiting: 256, perSecond: 100, burst: 300 };

/** One read that several requests wait for. */
interface Flight {
  readonly answer: Promise<KubeObject | undefined>;
  readonly controller: AbortController;
  readers: number;
}

export class LiveReads {
  readonly #cluster: Pick<Cluster, 'get'>;
  readonly #clock: Clock;
  readonly #limits: LiveReadLimits;
  readonly #flights = new Map<string, Flight>();
  readonly #waiting: (() => void)[] = [];
  #running = 0;
  #tokens: number;
  #countedMs: number;

  constructor(cluster: Pick<Cluster, 'get'>, clock: Clock, limits: LiveReadLimits) {
    this.#cluster = cluster;
    this.#clock = clock;
    this.#limits = limits;
    this.#tokens = limits.burst;
    this.#countedMs = clock.monotonic();
  }

  /**
   * Joins a read of the same object that is under way, or begins one. It goes on for the others when one of them gives
   * up, and ends when nobody waits any more.
   *
   * @throws GateError GATE_OVERLOADED over the limits, and as Cluster.get; the signal's reason when it aborts.
   */
  async get(
    kind: Kind,
    name: ObjectName,
    metadataOnly: boolean,
    { signal }: CallOptions,
  ): Promise<KubeObject | undefined> {
    signal?.throwIfAborted();
    const key = `${kind.group}/${kind.version}/${kind.resource} ${storeKey(name)} ${metadataOnly ? 'metadata' : ''}`;
    const flight = this.#flights.get(key) ?? this.#begin(key, kind, name, metadataOnly);
    flight.readers++;
    try {
      return await abortable(flight.answer, signal);
    } finally {
      flight.readers--;
      if (flight.readers === 0) {
        flight.controller.abort(new Error('nobody waits for this read any more'));
        if (this.#flights.get(key) === flight) this.#flights.delete(key);
      }
    }
  }

  #begin(key: string, kind: Kind, name: ObjectName, metadataOnly: boolean): Flight {
    if (!this.#takeToken() || (this.#running >= this.#limits.concurrency && this.#isCrowded()))
      throw new GateError(
        'GATE_OVERLOADED',
        `cannot read ${kind.resource} ${quote(storeKey(name))}: too many live reads (at most ${this.#limits.perSecond} a second and ${this.#limits.concurrency} at once); retry`,
      );
    const controller = new AbortController();
    const answer = this.#read(kind, name, metadataOnly, controller.signal);
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

  async #read(
    kind: Kind,
    name: ObjectName,
    metadataOnly: boolean,
    signal: AbortSignal,
  ): Promise<KubeObject | undefined> {
    await this.#enter(signal);
    try {
      return await this.#cluster.get(kind, name, { signal, ...(metadataOnly && { metadataOnly: true }) });
    } finally {
      this.#leave();
    }
  }

  /** Waits for a place among those that run. */
  async #enter(signal: AbortSignal): Promise<void> {
    if (this.#running < this.#limits.concurrency) this.#running++;
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
    return this.#waiting.length >= this.#limits.waiting;
  }

  /** Token bucket: `burst` at first, `perSecond` more each second. */
  #takeToken(): boolean {
    const nowMs = this.#clock.monotonic();
    const gained = ((nowMs - this.#countedMs) / 1000) * this.#limits.perSecond;
    this.#tokens = Math.min(this.#limits.burst, this.#tokens + gained);
    this.#countedMs = nowMs;
    if (this.#tokens < 1) return false;
    this.#tokens -= 1;
    return true;
  }
}
