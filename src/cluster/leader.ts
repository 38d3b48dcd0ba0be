/**
 * Who of several processes writes: whoever holds a Lease, with client-go's times. Times are this process's own,
 * monotonic: what another one's clock says is not looked at. Nothing is begun to be written later than the renew
 * deadline after the last renewal was asked for, which is well before anybody else may hold the Lease.
 */
import { sleep, type Clock } from '../clock.ts';
import { GateError } from '../errors.ts';
import type { Cluster, CallOptions } from './cluster.ts';
import { apiVersionOf, LEASE } from './kinds.ts';
import type { KubeObject } from './objects.ts';

/** leaderelection of client-go: LeaseDuration, RenewDeadline, RetryPeriod. */
const LEASE_MS = 15_000;
const RENEW_DEADLINE_MS = 10_000;
const RETRY_MS = 2_000;
/** Of the waiting time, so that several that wait do not ask at once (JitterFactor 1.2). */
const JITTER = 0.2;

export interface LeaderOptions {
  readonly cluster: Pick<Cluster, 'get' | 'create' | 'replace'>;
  readonly clock: Clock;
  readonly namespace: string;
  /** Of the Lease. */
  readonly name: string;
  readonly fieldManager: string;
  /** What the process is, for messages: `installer`. */
  readonly role: string;
  /** Unique among all of that role: a host name and something random. */
  readonly identity: string;
  /** From 0 up to 1. */
  readonly random: () => number;
  readonly onChange: (leads: boolean) => void;
  /** Told of each failed attempt. */
  readonly onError: (error: unknown) => void;
}

export interface Leader {
  /** Whether a write may begin now. */
  leads(): boolean;
  /** Whether anybody does, as far as is known: we, or who renewed the Lease within its time. */
  isHeld(): boolean;
  /** Aborted when this term ends; undefined while somebody else leads. */
  term(): AbortSignal | undefined;
  /** Gives the Lease up, if held, so that the next one need not wait. */
  stop(): Promise<void>;
}

export function startLeader(options: LeaderOptions): Leader {
  return new LeaseLeader(options);
}

interface Observed {
  readonly holder: string;
  readonly resourceVersion: string;
  /** When it was first seen like that. */
  readonly atMs: number;
  readonly durationMs: number;
}

class LeaseLeader implements Leader {
  readonly #options: LeaderOptions;
  readonly #stopping = new AbortController();
  readonly #running: Promise<void>;
  #observed: Observed | undefined;
  /** Monotonic: when the last renewal that succeeded was asked for. */
  #renewedMs = Number.NEGATIVE_INFINITY;
  #term: AbortController | undefined;

  constructor(options: LeaderOptions) {
    this.#options = options;
    this.#running = this.#run();
  }

  leads(): boolean {
    return this.#term !== undefined && this.#options.clock.monotonic() < this.#renewedMs + RENEW_DEADLINE_MS;
  }

  isHeld(): boolean {
    const observed = this.#observed;
    if (this.leads()) return true;
    if (observed === undefined || observed.holder === '' || observed.holder === this.#options.identity)
      return false;
    return this.#options.clock.monotonic() < observed.atMs + observed.durationMs;
  }

  term(): AbortSignal | undefined {
    return this.leads() ? this.#term?.signal : undefined;
  }

  async stop(): Promise<void> {
    const why = `the ${this.#options.role} stops`;
    this.#stopping.abort(new Error(why));
    await this.#running;
    const held = this.#term !== undefined;
    this.#end(why);
    if (held) await this.#release();
  }

  async #run(): Promise<void> {
    const { clock, random } = this.#options;
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      // A process that stood still may renew once more: what it was told meanwhile it did not heed, so that term is over.
      this.#endLate();
      await this.#attempt(signal);
      this.#endLate();
      const waitMs = this.#term === undefined ? RETRY_MS * (1 + random() * JITTER) : RETRY_MS;
      await sleep(clock, waitMs, signal).catch(() => undefined);
    }
  }

  #endLate(): void {
    if (this.#term !== undefined && !this.leads()) this.#end('the Lease was not renewed in time');
  }

  /** Never rejects. */
  async #attempt(signal: AbortSignal): Promise<void> {
    const { clock, onError } = this.#options;
    const askedMs = clock.monotonic();
    // A renewal that is answered later than the deadline comes too late.
    const limit = new AbortController();
    const timer = clock.setTimer(this.#limitMs(askedMs), () => {
      limit.abort(new Error('no answer before the renew deadline'));
    });
    try {
      const held = await this.#hold({ signal: AbortSignal.any([signal, limit.signal]) });
      if (held) this.#begin(askedMs);
      else this.#end(`another ${this.#options.role} holds the Lease`);
    } catch (error) {
      // Who lost by a resourceVersion sees the new holder at the next attempt.
      if (!signal.aborted) onError(error);
    } finally {
      timer.cancel();
    }
  }

  #limitMs(askedMs: number): number {
    const left = this.#renewedMs + RENEW_DEADLINE_MS - askedMs;
    return this.#term === undefined ? RENEW_DEADLINE_MS : Math.max(0, Math.min(left, RENEW_DEADLINE_MS));
  }

  /** @returns whether the Lease is ours now. */
  async #hold(call: CallOptions): Promise<boolean> {
    const { cluster, namespace, name, fieldManager, identity, clock } = this.#options;
    const current = await cluster.get(LEASE, { namespace, name }, call);
    if (current === undefined) {
      await cluster.create(LEASE, this.#lease(undefined), { ...call, fieldManager });
      return true;
    }
    this.#observe(current, clock.monotonic());
    const observed = this.#observed;
    const isFree =
      observed === undefined ||
      observed.holder === '' ||
      observed.holder === identity ||
      clock.monotonic() >= observed.atMs + observed.durationMs;
    if (!isFree) return false;
    await cluster.replace(LEASE, this.#lease(current), { ...call, fieldManager });
    return true;
  }

  #observe({ metadata, spec }: KubeObject, nowMs: number): void {
    const { resourceVersion = '' } = metadata;
    if (this.#observed?.resourceVersion === resourceVersion) return;
    const { holderIdentity, leaseDurationSeconds } = (spec ?? {}) as Record<string, unknown>;
    this.#observed = {
      holder: typeof holderIdentity === 'string' ? holderIdentity : '',
      resourceVersion,
      atMs: nowMs,
      durationMs: typeof leaseDurationSeconds === 'number' ? leaseDurationSeconds * 1_000 : LEASE_MS,
    };
  }

  #lease(current: KubeObject | undefined, holder = this.#options.identity): KubeObject {
    const { clock, namespace, name } = this.#options;
    // MicroTime.
    const now = new Date(clock.now()).toISOString().replace('Z', '000Z');
    const before = (current?.['spec'] ?? {}) as Record<string, unknown>;
    const isSame = before['holderIdentity'] === holder;
    const transitions = typeof before['leaseTransitions'] === 'number' ? before['leaseTransitions'] : 0;
    return {
      apiVersion: apiVersionOf(LEASE),
      kind: LEASE.kind,
      metadata: current?.metadata ?? { namespace, name },
      spec: {
        holderIdentity: holder,
        leaseDurationSeconds: holder === '' ? 1 : LEASE_MS / 1_000,
        acquireTime: isSame ? before['acquireTime'] : now,
        renewTime: now,
        leaseTransitions: isSame || current === undefined ? transitions : transitions + 1,
      },
    };
  }

  async #release(): Promise<void> {
    const { cluster, namespace, name, identity, clock, onError } = this.#options;
    const limit = new AbortController();
    const timer = clock.setTimer(RETRY_MS, () => limit.abort(new Error('no answer while stopping')));
    const call = { signal: limit.signal };
    try {
      const current = await cluster.get(LEASE, { namespace, name }, call);
      const holder = ((current?.['spec'] ?? {}) as Record<string, unknown>)['holderIdentity'];
      if (current !== undefined && holder === identity)
        await cluster.replace(LEASE, this.#lease(current, ''), call);
    } catch (error) {
      onError(error);
    } finally {
      timer.cancel();
    }
  }

  #begin(askedMs: number): void {
    this.#renewedMs = askedMs;
    if (this.#term !== undefined) return;
    this.#term = new AbortController();
    this.#options.onChange(true);
  }

  #end(why: string): void {
    if (this.#term === undefined) return;
    this.#term.abort(new GateError('GATE_NOT_LEADING', `${why}: this ${this.#options.role} writes no more`));
    this.#term = undefined;
    this.#options.onChange(false);
  }
}

/** The same cluster, whose writes begin only while we lead (design decision 15). */
export function writesOfLeader<
  C extends Pick<Cluster, 'create' | 'replace' | 'replaceStatus' | 'delete' | 'apply'>,
>(cluster: C, leads: () => boolean): Pick<C, 'create' | 'replace' | 'replaceStatus' | 'delete' | 'apply'> {
  const check = (): void => {
    if (!leads()) throw new GateError('GATE_NOT_LEADING', 'another process may lead: nothing is written');
  };
  return {
    async create(...given) {
      check();
      return cluster.create(...given);
    },
    async replace(...given) {
      check();
      return cluster.replace(...given);
    },
    async replaceStatus(...given) {
      check();
      return cluster.replaceStatus(...given);
    },
    async delete(...given) {
      check();
      return cluster.delete(...given);
    },
    async apply(...given) {
      check();
      return cluster.apply(...given);
    },
  };
}
