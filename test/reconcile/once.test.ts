/** One key, one look, one answer: nothing watches, nothing runs on, and somebody who leads is not disturbed. */
import { describe, expect, it } from 'vitest';
import { openLooking } from '../../src/app/looking.ts';
import { onceParts } from '../../src/app/reconciler-live.ts';
import { ENDPOINT_SLICE, EVENT, LEASE, PACTO, PACTO_REVISION, SERVICE } from '../../src/cluster/kinds.ts';
import { createMemoryCluster, type MemoryCluster } from '../../src/cluster/memory.ts';
import type { OnceAnswer } from '../../src/reconcile/once.ts';
import { reconcileOnce } from '../../src/reconcile/once.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { aPacto, aService, aSlice, BOUND, configWith, run, withInterface } from './running.ts';

const KEY = { namespace: 'shop', name: 'cart' };
const NOW = '2026-12-01T10:00:00Z';

interface World {
  readonly clock: FakeClock;
  readonly cluster: MemoryCluster;
  readonly look: () => Promise<OnceAnswer | undefined>;
}

async function world(): Promise<World> {
  const clock = new FakeClock(Date.parse(NOW));
  const cluster = createMemoryCluster({ clock });
  await cluster.create(SERVICE, aService('cart'));
  await cluster.create(ENDPOINT_SLICE, aSlice('cart', false));
  await cluster.create(
    PACTO,
    aPacto('cart', { contractRef: { inline: withInterface('cart') }, target: BOUND }),
  );
  const config = await configWith({ state: 'live' });
  const nothing = (): void => undefined;
  const log = { debug: nothing, info: nothing, warn: nothing, error: nothing, child: () => log };
  const look = async (): Promise<OnceAnswer | undefined> => {
    // As a function that is started for one event.
    const looking = openLooking(config, { clock, log });
    try {
      const once = onceParts(config, { clock, log }, cluster, looking);
      return await reconcileOnce(KEY, once, new AbortController().signal);
    } finally {
      await looking.close();
    }
  };
  return { clock, cluster, look };
}

describe('one look', () => {
  it('writes what came of it, says when to come again, and leaves nothing behind', async () => {
    const { clock, cluster, look } = await world();
    const answer = await look();
    expect(answer?.outcome).toBe('written');
    expect(answer?.result.status.contractStatus).toBe('Unknown');
    expect(answer?.result.nextChangeMs).toBe(Date.parse('2026-12-01T10:02:00Z'));
    expect(clock.waiting).toBe(0);
    expect(cluster.watches).toBe(0);
    expect((await cluster.list(LEASE)).items[0]?.['spec']).toMatchObject({ holderIdentity: '' });
    expect((await cluster.list(PACTO_REVISION)).items).toHaveLength(1);
    expect((await cluster.list(EVENT)).items.map(({ reason }) => reason)).toContain('ValidationFailed');
  });

  it('goes on with the streak that the one before it wrote', async () => {
    const { clock, look } = await world();
    await look();
    await clock.advance(119_000);
    expect((await look())?.result.status.contractStatus).toBe('Unknown');
    await clock.advance(1_000);
    expect((await look())?.result.status.contractStatus).toBe('NonCompliant');
  });

  it('writes nothing where nothing changed', async () => {
    const { clock, cluster, look } = await world();
    await look();
    await clock.advance(10_000);
    const writes = cluster.calls('replaceStatus');
    expect((await look())?.outcome).toBe('unchanged');
    expect(cluster.calls('replaceStatus')).toBe(writes);
  });

  it('writes nothing while somebody else leads, and says so', async () => {
    const { clock, cluster, look } = await world();
    const leader = run(cluster, clock, await configWith());
    await leader.settle();
    await clock.advance(5_000);
    const writes = cluster.calls('replaceStatus');
    expect((await look())?.outcome).toBe('not-leading');
    expect(cluster.calls('replaceStatus')).toBe(writes);
    await leader.stop();
    expect((await look())?.outcome).toBe('unchanged');
  });

  it('takes the Lease of one that is long gone, and not before two clocks agree that it is', async () => {
    const { clock, cluster, look } = await world();
    await cluster.create(LEASE, {
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: { namespace: 'pacto-operator-system', name: 'a4917283.pacto.io' },
      spec: {
        holderIdentity: 'upstream',
        leaseDurationSeconds: 15,
        renewTime: '2026-12-01T10:00:00.000000Z',
        leaseTransitions: 3,
      },
    });
    expect((await look())?.outcome).toBe('not-leading');
    await clock.advance(74_000);
    expect((await look())?.outcome).toBe('not-leading');
    await clock.advance(2_000);
    expect((await look())?.outcome).toBe('written');
    expect((await cluster.list(LEASE)).items[0]?.['spec']).toMatchObject({ leaseTransitions: 4 });
  });

  it('of a Pacto that there is not is no answer', async () => {
    const { cluster, look } = await world();
    await cluster.delete(PACTO, KEY);
    expect(await look()).toBeUndefined();
    expect((await cluster.list(LEASE)).items).toEqual([]);
  });
});
