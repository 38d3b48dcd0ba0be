/**
 * A Lease held for one piece of work, by a process that lives no longer than that: the same Lease as leader.ts holds, so that
 * the two never write at the same time. Who waits for a Lease to run out has its own clock to go by; who comes and goes has
 * nothing but the time that the holder wrote, and adds for the difference of two clocks.
 */
import type { Clock } from '../clock.ts';
import type { Cluster } from './cluster.ts';
import { GateError } from '../errors.ts';
import { apiVersionOf, LEASE } from './kinds.ts';
import type { KubeObject } from './objects.ts';

/** leaderelection of client-go: LeaseDuration and RenewDeadline. */
const LEASE_MS = 15_000;
const DEADLINE_MS = 10_000;
/** What two clocks of one cluster differ at most: beyond, nothing in it works. */
const SKEW_MS = 60_000;

export interface LeaseOnceOptions {
  readonly cluster: Pick<Cluster, 'get' | 'create' | 'replace'>;
  readonly clock: Clock;
  readonly namespace: string;
  /** Of the Lease. */
  readonly name: string;
  readonly fieldManager: string;
  /** Unique among all that may hold it. */
  readonly identity: string;
}

export interface HeldLease {
  /** Whether a write may begin now: until the renew deadline after the Lease was asked for. */
  leads(): boolean;
  /** Aborted then. */
  readonly signal: AbortSignal;
}

/**
 * @param work writes only while the Lease is held.
 * @returns undefined where somebody else holds it: nothing was done.
 * @throws GateError as Cluster.get, create and replace, and what the work throws.
 */
export async function withLease<T>(
  options: LeaseOnceOptions,
  work: (held: HeldLease) => Promise<T>,
): Promise<T | undefined> {
  const { clock } = options;
  const askedMs = clock.monotonic();
  const lease = await acquire(options);
  if (lease === undefined) return undefined;
  const ending = new AbortController();
  const end = (): void =>
    ending.abort(
      new GateError('GATE_NOT_LEADING', 'the Lease was held for long enough: nothing more is written'),
    );
  const timer = clock.setTimer(Math.max(0, askedMs + DEADLINE_MS - clock.monotonic()), end);
  try {
    return await work({
      leads: () => clock.monotonic() < askedMs + DEADLINE_MS,
      signal: ending.signal,
    });
  } finally {
    timer.cancel();
    await release(options, lease);
  }
}

async function acquire({ cluster, clock, ...options }: LeaseOnceOptions): Promise<KubeObject | undefined> {
  const { namespace, name, fieldManager, identity } = options;
  const current = await cluster.get(LEASE, { namespace, name });
  if (current !== undefined && !isFree(current, identity, clock.now())) return undefined;
  const held = leaseOf(current, { namespace, name, holder: identity, nowMs: clock.now() });
  try {
    return current === undefined
      ? await cluster.create(LEASE, held, { fieldManager })
      : await cluster.replace(LEASE, held, { fieldManager });
  } catch (error) {
    // Somebody else was quicker.
    if (error instanceof GateError && /^GATE_CLUSTER_(?:EXISTS|CONFLICT)$/.test(error.code)) return undefined;
    throw error;
  }
}

/** Best effort: what is not released runs out. */
async function release({ cluster, clock, ...options }: LeaseOnceOptions, lease: KubeObject): Promise<void> {
  const { namespace, name, fieldManager } = options;
  const free = leaseOf(lease, { namespace, name, holder: '', nowMs: clock.now() });
  await cluster.replace(LEASE, free, { fieldManager }).catch(() => undefined);
}

function isFree({ spec }: KubeObject, identity: string, nowMs: number): boolean {
  const { holderIdentity, renewTime, leaseDurationSeconds } = (spec ?? {}) as Record<string, unknown>;
  if (holderIdentity === undefined || holderIdentity === '' || holderIdentity === identity) return true;
  const renewedMs = typeof renewTime === 'string' ? Date.parse(renewTime) : Number.NaN;
  const durationMs = typeof leaseDurationSeconds === 'number' ? leaseDurationSeconds * 1_000 : LEASE_MS;
  return !Number.isNaN(renewedMs) && nowMs > renewedMs + durationMs + SKEW_MS;
}

function leaseOf(
  current: KubeObject | undefined,
  given: {
    readonly namespace: string;
    readonly name: string;
    readonly holder: string;
    readonly nowMs: number;
  },
): KubeObject {
  const { namespace, name, holder, nowMs } = given;
  // MicroTime.
  const now = new Date(nowMs).toISOString().replace('Z', '000Z');
  const before = (current?.['spec'] ?? {}) as Record<string, unknown>;
  const isTurn = holder !== '' && before['holderIdentity'] !== holder;
  const turns = typeof before['leaseTransitions'] === 'number' ? before['leaseTransitions'] : 0;
  return {
    apiVersion: apiVersionOf(LEASE),
    kind: LEASE.kind,
    metadata: current?.metadata ?? { namespace, name },
    spec: {
      holderIdentity: holder,
      leaseDurationSeconds: holder === '' ? 1 : LEASE_MS / 1_000,
      acquireTime: isTurn ? now : (before['acquireTime'] ?? now),
      renewTime: now,
      leaseTransitions: isTurn && current !== undefined ? turns + 1 : turns,
    },
  };
}
