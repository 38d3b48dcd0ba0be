/** What a reconciler leaves behind is all that the next one needs: streaks, revisions, verdicts. */
import { describe, expect, it } from 'vitest';
import { ENDPOINT_SLICE, EVENT, LEASE, PACTO, PACTO_REVISION, SERVICE } from '../../src/cluster/kinds.ts';
import { createMemoryCluster, type AdmittedWrite, type MemoryCluster } from '../../src/cluster/memory.ts';
import type { KubeObject } from '../../src/cluster/objects.ts';
import { GateError } from '../../src/errors.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { aPacto, aService, aSlice, BOUND, configWith, run, withInterface } from './running.ts';

const KEY = { namespace: 'shop', name: 'cart' };
/** A Lease of another one that died is free after 15 s. */
const TAKE_OVER_MS = 20_000;

/** A process that dies at its write number `at`: that one and all later ones never reach the cluster. */
class Mortal {
  writes = 0;
  #deadAt: number;

  constructor(at: number) {
    this.#deadAt = at;
  }

  readonly admit = (write: AdmittedWrite): void => {
    if (write.kind.resource === LEASE.resource || isByHand(write)) return;
    this.writes += 1;
    if (this.writes >= this.#deadAt) throw new GateError('GATE_CLUSTER_UNREACHABLE', 'the process is gone');
  };

  revive(): void {
    this.#deadAt = Number.POSITIVE_INFINITY;
  }
}

/** What the test itself writes. */
function isByHand({ kind, operation, subresource }: AdmittedWrite): boolean {
  const isOurs = kind === PACTO_REVISION || kind === EVENT || (kind === PACTO && subresource === 'status');
  return !isOurs && operation !== 'DELETE';
}

async function start(mortal: Mortal): Promise<{ cluster: MemoryCluster; clock: FakeClock }> {
  const clock = new FakeClock(Date.parse('2026-12-01T10:00:00Z'));
  const cluster = createMemoryCluster({ clock, admit: mortal.admit });
  await cluster.create(SERVICE, aService('cart'));
  await cluster.create(ENDPOINT_SLICE, aSlice('cart', false));
  await cluster.create(
    PACTO,
    aPacto('cart', { contractRef: { inline: withInterface('cart') }, target: BOUND }),
  );
  return { cluster, clock };
}

async function turnReady(cluster: MemoryCluster, ready: boolean): Promise<void> {
  const { metadata, ...rest } = aSlice('cart', ready);
  const { namespace = '', name = '' } = metadata;
  const now = await cluster.get(ENDPOINT_SLICE, { namespace, name });
  await cluster.replace(ENDPOINT_SLICE, {
    ...rest,
    metadata: { ...metadata, ...now?.metadata },
  });
}

interface StatusShape {
  readonly contractStatus?: string;
  readonly observationWindows?: readonly { readonly firstObservedNegativeAt: string }[];
}

async function statusOf(cluster: MemoryCluster): Promise<StatusShape> {
  const pacto = await cluster.get(PACTO, KEY);
  return pacto?.['status'] ?? {};
}

/** Without versions, and without times but those of the streaks. */
async function state(cluster: MemoryCluster): Promise<unknown> {
  const strip = ({ metadata, ...rest }: KubeObject): unknown =>
    JSON.parse(
      JSON.stringify({ name: metadata.name, labels: metadata.labels, ...rest }, (key, value: unknown) =>
        ['lastReconciledAt', 'observedAt', 'lastTransitionTime', 'createdAt'].includes(key)
          ? undefined
          : value,
      ),
    );
  const pacto = await cluster.get(PACTO, KEY);
  const revisions = (await cluster.list(PACTO_REVISION)).items;
  return [pacto && strip(pacto), revisions.map(strip)];
}

describe('a reconciler that dies', () => {
  it('at any of its writes leaves the same end state as one that lives, its streak included', async () => {
    const config = await configWith();
    const living = new Mortal(Number.POSITIVE_INFINITY);
    const { cluster, clock } = await start(living);
    const alive = run(cluster, clock, config);
    await alive.settle();
    await alive.turn(TAKE_OVER_MS);
    const wanted = await state(cluster);
    const writes = living.writes;
    await alive.stop();
    expect(writes).toBe(5);

    for (let at = 1; at <= writes; at++) {
      const mortal = new Mortal(at);
      const world = await start(mortal);
      const first = run(world.cluster, world.clock, config);
      await first.settle();
      // It is gone without a word: its Lease stays.
      void first.stop();
      const before = await statusOf(world.cluster);
      mortal.revive();
      const second = run(world.cluster, world.clock, config);
      await second.settle();
      await second.turn(TAKE_OVER_MS);
      const now = await statusOf(world.cluster);
      // A streak that was written goes on from where it began.
      const [streak] = before.observationWindows ?? [];
      expect(now.observationWindows).toEqual([streak ?? now.observationWindows?.[0]]);
      const reached = JSON.stringify(await state(world.cluster)).replaceAll(
        /"firstObservedNegativeAt":"[^"]*"/g,
        '',
      );
      expect(reached).toBe(JSON.stringify(wanted).replaceAll(/"firstObservedNegativeAt":"[^"]*"/g, ''));
      const events = (await world.cluster.list(EVENT)).items.map(({ reason }) => reason);
      expect(events, `killed at write ${String(at)}`).toContain('RevisionCreated');
      await second.stop();
    }
  });

  it('in the middle of a streak costs nothing of it: the absence counts when it has lasted', async () => {
    const config = await configWith();
    const { cluster, clock } = await start(new Mortal(Number.POSITIVE_INFINITY));
    const first = run(cluster, clock, config);
    await first.settle();
    expect((await statusOf(cluster)).contractStatus).toBe('Unknown');
    await first.turn(60_000);
    await first.stop();
    // Scaled to zero for most of the window.
    await clock.advance(55_000);
    const second = run(cluster, clock, config);
    await second.settle();
    expect((await statusOf(cluster)).contractStatus).toBe('Unknown');
    await second.turn(6_000);
    expect((await statusOf(cluster)).contractStatus).toBe('NonCompliant');
    await second.stop();
  });
});

describe('of two reconcilers', () => {
  it('one writes, and the other takes over when the first gives its Lease up', async () => {
    const config = await configWith();
    const { cluster, clock } = await start(new Mortal(Number.POSITIVE_INFINITY));
    const first = run(cluster, clock, config);
    await first.settle();
    const second = run(cluster, clock, config);
    await second.settle();
    const writes = cluster.calls('replaceStatus', PACTO);
    await turnReady(cluster, true);
    await first.settle();
    await second.settle();
    expect((await statusOf(cluster)).contractStatus).toBe('Compliant');
    expect(cluster.calls('replaceStatus', PACTO)).toBe(writes + 1);
    expect(await second.scrape()).not.toContain('pacto_contract_status{');
    expect(await first.scrape()).toContain('pacto_contract_status{');

    await first.stop();
    await second.turn(3_000);
    await turnReady(cluster, false);
    await second.settle();
    expect((await statusOf(cluster)).contractStatus).toBe('Unknown');
    await second.stop();
  });

  it('the one that does not lead has the other look, by an annotation', async () => {
    const config = await configWith();
    const { cluster, clock } = await start(new Mortal(Number.POSITIVE_INFINITY));
    const first = run(cluster, clock, config);
    await first.settle();
    const second = run(cluster, clock, config);
    await second.settle();
    expect(await second.part.events.object({ kind: 'Deployment', namespace: 'shop', name: 'cart' })).toBe(1);
    await second.settle();
    await first.settle();
    const pacto = await cluster.get(PACTO, KEY);
    expect(pacto?.metadata.annotations).toHaveProperty(['gate.pacto.trianalab.io/requested-at']);
    expect(first.lines.findLast(({ message }) => message === 'woken')?.fields.kind).toBe('Pacto');
    await Promise.all([first.stop(), second.stop()]);
  });
});

describe('a quiet Pacto', () => {
  it('is written once for each of its intervals, and not for its own writes', async () => {
    const config = await configWith();
    const { cluster, clock } = await start(new Mortal(Number.POSITIVE_INFINITY));
    await turnReady(cluster, true);
    const running = run(cluster, clock, config);
    await running.settle();
    expect(cluster.calls('replaceStatus', PACTO)).toBe(1);
    await running.turn(290_000);
    expect(cluster.calls('replaceStatus', PACTO)).toBe(1);
    await running.turn(60_000);
    expect(cluster.calls('replaceStatus', PACTO)).toBe(2);
    await running.turn(3_600_000);
    expect(cluster.calls('replaceStatus', PACTO)).toBeLessThanOrEqual(2 + 12);
    await running.stop();
  });

  it('that is deleted takes its series with it', async () => {
    const { cluster, clock } = await start(new Mortal(Number.POSITIVE_INFINITY));
    const running = run(cluster, clock, await configWith());
    await running.settle();
    expect(await running.scrape()).toContain('name="cart"');
    await cluster.delete(PACTO, KEY);
    await running.settle();
    expect(await running.scrape()).not.toContain('name="cart"');
    await running.stop();
  });
});
