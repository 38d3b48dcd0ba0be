import { describe, expect, it } from 'vitest';
import type { Clock } from '../../src/clock.ts';
import type { Cluster } from '../../src/cluster/cluster.ts';
import { CONFIG_MAP, LEASE } from '../../src/cluster/kinds.ts';
import { createMemoryCluster, type MemoryCluster } from '../../src/cluster/memory.ts';
import { startLeader, writesOfLeader, type Leader } from '../../src/cluster/leader.ts';
import { aConfigMap } from '../support/builders.ts';
import { FakeClock } from '../support/fake-clock.ts';

const NAMESPACE = 'pacto-system';
const NAME = { namespace: NAMESPACE, name: 'pacto-gate-installer' };

interface Candidate {
  readonly leader: Leader;
  readonly changes: boolean[];
  readonly errors: unknown[];
}

function candidate(
  clock: Clock,
  cluster: Pick<Cluster, 'get' | 'create' | 'replace'>,
  identity: string,
): Candidate {
  const changes: boolean[] = [];
  const errors: unknown[] = [];
  const leader = startLeader({
    cluster,
    clock,
    namespace: NAMESPACE,
    name: NAME.name,
    fieldManager: 'pacto-gate',
    role: 'installer',
    identity,
    random: () => 0,
    onChange: (leads) => changes.push(leads),
    onError: (error) => errors.push(error),
  });
  return { leader, changes, errors };
}

async function stop(clock: FakeClock, ...leaders: Candidate[]): Promise<void> {
  const stopped = leaders.map(({ leader }) => leader.stop());
  await clock.advance(0);
  await Promise.all(stopped);
}

async function leaseOf(cluster: MemoryCluster): Promise<Record<string, unknown>> {
  return ((await cluster.get(LEASE, NAME))?.['spec'] ?? {}) as Record<string, unknown>;
}

/** A connection on which nothing comes back. */
function never(signal: AbortSignal | undefined): Promise<undefined> {
  return new Promise((_resolve, reject) => {
    signal?.addEventListener('abort', () => reject(signal.reason as Error));
  });
}

describe('leader', () => {
  it('knows whether anybody holds the Lease, who leads and who waits alike', async () => {
    const clock = new FakeClock();
    const cluster = createMemoryCluster({ clock });
    const first = candidate(clock, cluster, 'a');
    await clock.advance(0);
    const second = candidate(clock, cluster, 'b');
    expect(second.leader.isHeld()).toBe(false);
    await clock.advance(2_000);
    expect([first.leader.isHeld(), second.leader.isHeld(), second.leader.leads()]).toEqual([
      true,
      true,
      false,
    ]);
    await stop(clock, second, first);
    expect(first.leader.isHeld()).toBe(false);
  });

  it('leads alone, renews, and gives the Lease up when it stops', async () => {
    const clock = new FakeClock();
    const cluster = createMemoryCluster({ clock });
    const one = candidate(clock, cluster, 'one');
    await clock.advance(0);
    expect(one.leader.leads()).toBe(true);
    expect(await leaseOf(cluster)).toMatchObject({ holderIdentity: 'one', leaseDurationSeconds: 15 });
    const first = (await leaseOf(cluster))['renewTime'];
    const term = one.leader.term();
    await clock.advance(60_000);
    expect(one.leader.leads()).toBe(true);
    expect((await leaseOf(cluster))['renewTime']).not.toBe(first);
    expect(one.leader.term()).toBe(term);
    await stop(clock, one);
    expect(one.leader.leads()).toBe(false);
    expect(term?.aborted).toBe(true);
    expect((await leaseOf(cluster))['holderIdentity']).toBe('');
    expect(one.changes).toEqual([true, false]);
  });

  it('follows when the one that leads has gone, and not before', async () => {
    const clock = new FakeClock();
    const cluster = createMemoryCluster({ clock });
    const one = candidate(clock, cluster, 'one');
    await clock.advance(0);
    const two = candidate(clock, cluster, 'two');
    await clock.advance(60_000);
    expect(two.leader.leads()).toBe(false);
    await stop(clock, one);
    await clock.advance(2_000);
    expect(two.leader.leads()).toBe(true);
    expect((await leaseOf(cluster))['leaseTransitions']).toBe(2);
    await stop(clock, two);
  });

  it('writes no later than ten seconds after its last renewal, and another one leads no earlier than fifteen', async () => {
    const clock = new FakeClock();
    const cluster = createMemoryCluster({ clock });
    const one = candidate(clock, cluster, 'one');
    await clock.advance(0);
    // Its connection is lost, that of the other one is not.
    const cut = { down: false };
    const lost: Pick<Cluster, 'get' | 'create' | 'replace'> = {
      get: (...given) => (cut.down ? never(given[2]?.signal) : cluster.get(...given)),
      create: (...given) => cluster.create(...given),
      replace: (...given) => cluster.replace(...given),
    };
    await stop(clock, one);
    const cutOff = candidate(clock, lost, 'cut off');
    await clock.advance(0);
    expect(cutOff.leader.leads()).toBe(true);
    const renewedMs = clock.monotonic();
    cut.down = true;
    const two = candidate(clock, cluster, 'two');
    const both: number[] = [];
    let endedMs = 0;
    let followedMs = 0;
    while (followedMs === 0) {
      await clock.advance(100);
      const nowMs = clock.monotonic();
      if (cutOff.leader.leads() && two.leader.leads()) both.push(nowMs);
      if (endedMs === 0 && !cutOff.leader.leads()) endedMs = nowMs;
      if (two.leader.leads()) followedMs = nowMs;
    }
    expect(both).toEqual([]);
    expect(endedMs - renewedMs).toBeLessThanOrEqual(10_000);
    expect(followedMs - renewedMs).toBeGreaterThanOrEqual(15_000);
    expect(followedMs - renewedMs).toBeLessThan(20_000);
    const stopping = cutOff.leader.stop();
    await clock.advance(20_000);
    await stopping;
    await stop(clock, two);
  });

  it('begins another term where it stood still for longer than it may lead', async () => {
    const clock = new FakeClock();
    const cluster = createMemoryCluster({ clock });
    // Its timers come late: what it is told meanwhile finds it not leading.
    const stood = { forMs: 0 };
    const slow: Clock = {
      now: () => clock.now() + stood.forMs,
      monotonic: () => clock.monotonic() + stood.forMs,
      setTimer: (delayMs, run) => clock.setTimer(delayMs, run),
    };
    const one = candidate(slow, cluster, 'one');
    await clock.advance(0);
    const term = one.leader.term();
    stood.forMs = 12_000;
    expect(one.leader.leads()).toBe(false);
    await clock.advance(2_000);
    expect(one.leader.leads()).toBe(true);
    expect(one.changes).toEqual([true, false, true]);
    expect(term?.aborted).toBe(true);
    expect(one.leader.term()?.aborted).toBe(false);
    await stop(clock, one);
  });

  it('loses the Lease to whoever wrote it meanwhile', async () => {
    const clock = new FakeClock();
    const cluster = createMemoryCluster({ clock });
    const one = candidate(clock, cluster, 'one');
    await clock.advance(0);
    const lease = await cluster.get(LEASE, NAME);
    const spec = { ...(lease?.['spec'] as object), holderIdentity: 'another' };
    if (lease !== undefined) await cluster.replace(LEASE, { ...lease, spec });
    await clock.advance(3_000);
    expect(one.leader.leads()).toBe(false);
    expect(one.changes).toEqual([true, false]);
    await stop(clock, one);
  });

  it('lets no write begin while nobody knows who leads', async () => {
    const clock = new FakeClock();
    const cluster = createMemoryCluster({ clock });
    let leads = true;
    const writes = writesOfLeader(cluster, () => leads);
    const map = aConfigMap({ name: 'one' });
    const { uid: _uid, creationTimestamp: _created, ...metadata } = map.metadata;
    const made = await writes.create(CONFIG_MAP, { ...map, metadata });
    leads = false;
    const refused = { code: 'GATE_NOT_LEADING' };
    await expect(writes.create(CONFIG_MAP, map)).rejects.toMatchObject(refused);
    await expect(writes.replace(CONFIG_MAP, made)).rejects.toMatchObject(refused);
    await expect(writes.replaceStatus(CONFIG_MAP, made)).rejects.toMatchObject(refused);
    await expect(writes.apply(CONFIG_MAP, made, { fieldManager: 'x' })).rejects.toMatchObject(refused);
    await expect(writes.delete(CONFIG_MAP, { namespace: 'default', name: 'one' })).rejects.toMatchObject(
      refused,
    );
  });
});
