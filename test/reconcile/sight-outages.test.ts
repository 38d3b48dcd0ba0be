import { describe, expect, it } from 'vitest';
import * as kinds from '../../src/cluster/kinds.ts';
import type { KubeObject } from '../../src/cluster/objects.ts';
import { AGENT_NAMESPACE } from '../support/builders.ts';
import { GateError } from '../../src/errors.ts';
import { aPacto, aReadyWorld, aSlice, aWorld, keyOf, named, settled, type World } from './sight-world.ts';

const API = keyOf('shop/api');
const CART = keyOf('shop/cart');

/** A little more than the longest wait between two tries (watch.ts). */
const RETRY_MS = 11_000;
/** A copy that heard nothing for longer is silent (design decision 12). */
const SILENT_MS = 151_000;

async function codeOf(read: Promise<unknown>): Promise<string> {
  return await read.then(
    () => 'answered',
    (error: unknown) => (error instanceof GateError ? error.code : 'another error'),
  );
}

/** Two Pactos that read the slices of their own Service. */
async function twoReaders(): Promise<World> {
  const world = await aReadyWorld([
    [kinds.ENDPOINT_SLICE, aSlice('shop/api', 'api-1')],
    [kinds.ENDPOINT_SLICE, aSlice('shop/cart', 'cart-1')],
  ]);
  await world.look('shop/api', (view) => view.endpointSlices(API));
  await world.look('shop/cart', (view) => view.endpointSlices(CART));
  return world;
}

const load = ({ memory }: World, slice: KubeObject): KubeObject => memory.load(kinds.ENDPOINT_SLICE, slice);

describe('a change during an outage wakes exactly those whom it concerns, afterwards', () => {
  it.each([
    { what: 'connections that broke', breaks: (world: World) => world.memory.breakWatches() },
    { what: 'connections that ended in peace', breaks: (world: World) => world.memory.endWatches() },
    {
      what: 'a history that was forgotten (410)',
      breaks: (world: World): void => {
        world.memory.breakWatches();
        world.memory.advanceVersion(10);
      },
      forgets: true,
    },
    {
      what: 'too many requests (429)',
      breaks: (world: World) => world.memory.breakWatches(),
      error: new GateError('GATE_CLUSTER_THROTTLED', 'busy', { fields: { retryAfterSeconds: 2 } }),
    },
  ])('$what', async ({ breaks, error, forgets = false }) => {
    const world = await twoReaders();
    const back = world.memory.refuseCalls(error);
    const during = await world.wokenBy(async () => {
      breaks(world);
      await settled();
      load(world, aSlice('shop/api', 'api-1', false));
      load(world, aSlice('shop/other', 'other-1'));
      if (forgets) world.memory.compactHistory();
      await world.clock.advance(RETRY_MS);
    });
    expect(during).toEqual([]);
    back();
    expect(await world.wokenBy(() => world.clock.advance(RETRY_MS))).toEqual(['shop/api']);
    expect(await world.wokenBy(() => load(world, aSlice('shop/cart', 'cart-1', false)))).toEqual([
      'shop/cart',
    ]);
  });

  it('finds what appeared and what went by a new list', async () => {
    const world = await twoReaders();
    await world.look('shop/waiting', (view) => view.endpointSlices(keyOf('shop/waiting')));
    const back = world.memory.refuseCalls();
    world.memory.breakWatches();
    await settled();
    world.memory.unload(kinds.ENDPOINT_SLICE, keyOf('shop/cart-1'));
    load(world, aSlice('shop/waiting', 'waiting-1'));
    world.memory.compactHistory();
    back();
    expect(await world.wokenBy(() => world.clock.advance(RETRY_MS))).toEqual(['shop/cart', 'shop/waiting']);
    const view = world.sight.glance();
    expect(await view.endpointSlices(CART)).toEqual([]);
    expect(await view.endpointSlices(keyOf('shop/waiting'))).toHaveLength(1);
  });

  it('takes a Pacto that was made anew under its name for another one', async () => {
    const world = await aReadyWorld([[kinds.PACTO, aPacto('shop/api')]]);
    const back = world.memory.refuseCalls();
    world.memory.breakWatches();
    await settled();
    world.memory.unload(kinds.PACTO, API);
    const again = aPacto('shop/api');
    world.memory.load(kinds.PACTO, { ...again, metadata: { ...again.metadata, uid: 'another' } });
    world.memory.compactHistory();
    back();
    expect(await world.wokenBy(() => world.clock.advance(RETRY_MS))).toEqual(['shop/api']);
  });
});

describe('a copy that is silent', () => {
  it('answers for 150 s, then says so, and wakes who was turned away when it speaks again', async () => {
    const world = await twoReaders();
    const back = world.memory.refuseCalls();
    world.memory.breakWatches();
    await world.clock.advance(140_000);
    expect(await world.sight.glance().endpointSlices(API)).toHaveLength(1);
    await world.clock.advance(SILENT_MS - 140_000);
    const turnedAway = world.look('shop/api', (view) => view.service(API));
    await expect(turnedAway).rejects.toThrow(
      /services cannot be read: our copy has been silent for too long/,
    );
    await expect(turnedAway).rejects.toMatchObject({ code: 'GATE_UNSYNCED' });
    back();
    expect(await world.wokenBy(() => world.clock.advance(RETRY_MS))).toEqual(['shop/api']);
    expect(await world.sight.glance().service(API)).toBeUndefined();
  });

  it('wakes nobody when nobody asked meanwhile', async () => {
    const world = await twoReaders();
    const back = world.memory.refuseCalls();
    world.memory.breakWatches();
    await world.clock.advance(SILENT_MS);
    back();
    expect(await world.wokenBy(() => world.clock.advance(RETRY_MS))).toEqual([]);
  });

  it('is not made up for by asking for each object, but for contents', async () => {
    const settings = keyOf('shop/settings');
    const world = await aReadyWorld([[kinds.CONFIG_MAP, named(kinds.CONFIG_MAP, 'shop/settings')]]);
    const back = world.memory.refuseCalls(undefined, ['list', 'watch']);
    world.memory.breakWatches();
    await world.clock.advance(SILENT_MS);
    expect(await codeOf(world.sight.glance().service(API))).toBe('GATE_UNSYNCED');
    expect((await world.sight.glance().configMap(settings))?.metadata.name).toBe('settings');
    expect((await world.sight.glance().secretMetadata(settings))?.metadata.name).toBeUndefined();
    back();
  });
});

describe('a kind that may not be read', () => {
  it('does not hold up the start, and reads as forbidden with its name', async () => {
    const world = aWorld();
    world.cluster.refuse(kinds.SERVICE, 'GATE_CLUSTER_FORBIDDEN');
    world.sight.start();
    await world.sight.ready;
    expect(world.sight.unsynced()).toBeUndefined();
    const read = world.sight.glance().service(API);
    await expect(read).rejects.toMatchObject({ code: 'GATE_CLUSTER_FORBIDDEN' });
    await expect(read).rejects.toThrow(/services/);
    expect(await world.sight.glance().endpointSlices(API)).toEqual([]);
  });

  it('is said once, however often it is tried', async () => {
    const world = aWorld();
    world.cluster.refuse(kinds.SERVICE, 'GATE_CLUSTER_FORBIDDEN');
    world.sight.start();
    await world.clock.advance(60_000);
    expect(world.reports.filter((report) => report === 'Service failed')).toHaveLength(1);
  });

  it('wakes its readers once when the right is given, and when it is taken away', async () => {
    const world = await twoReaders();
    const give = world.cluster.refuse(kinds.ENDPOINT_SLICE, 'GATE_CLUSTER_FORBIDDEN');
    await world.look('shop/other', (view) => view.service(API));
    const taken = await world.wokenBy(async () => {
      world.memory.breakWatches();
      await world.clock.advance(RETRY_MS);
    });
    expect(taken).toEqual(['shop/api', 'shop/cart']);
    expect(await codeOf(world.sight.glance().endpointSlices(API))).toBe('GATE_CLUSTER_FORBIDDEN');
    expect(await world.wokenBy(() => world.clock.advance(3 * RETRY_MS))).toEqual([]);
    give();
    // The watch goes on from where it was, and has nothing to say yet.
    const given = await world.wokenBy(() => world.clock.advance(RETRY_MS));
    expect(given).toEqual(['shop/api', 'shop/cart']);
    expect(await world.sight.glance().endpointSlices(API)).toHaveLength(1);
  });

  it('in one of several namespaces is none of the others’ business', async () => {
    const world = aWorld({ namespaces: ['shop', 'data'] });
    world.cluster.refuse(kinds.SERVICE, 'GATE_CLUSTER_FORBIDDEN', { namespace: 'data' });
    world.memory.load(kinds.SERVICE, named(kinds.SERVICE, 'shop/api'));
    world.sight.start();
    await world.sight.ready;
    expect(await world.sight.glance().service(API)).toBeDefined();
    expect(await codeOf(world.sight.glance().service(keyOf('data/db')))).toBe('GATE_CLUSTER_FORBIDDEN');
  });

  it('is asked for by name where it is a ConfigMap or a Secret, as upstream’s own role allows', async () => {
    const world = aWorld();
    for (const kind of [kinds.CONFIG_MAP, kinds.SECRET])
      world.memory.load(kind, named(kind, 'shop/it', { data: { a: 'MQ==' } }));
    for (const kind of [kinds.CONFIG_MAP, kinds.SECRET])
      world.cluster.refuse(kind, 'GATE_CLUSTER_FORBIDDEN', { only: ['list', 'watch'] });
    world.sight.start();
    await world.sight.ready;
    const view = world.sight.glance();
    expect((await view.configMap(keyOf('shop/it')))?.['data']).toEqual({ a: 'MQ==' });
    expect(await view.configMap(keyOf('shop/none'))).toBeUndefined();
    const secret = await view.secretMetadata(keyOf('shop/it'));
    expect([secret?.metadata.name, secret?.['data']]).toEqual(['it', undefined]);
    expect((await view.pullSecret(keyOf('shop/it')))?.['data']).toEqual({ a: 'MQ==' });
  });
});

describe('a kind that is not served', () => {
  const route = named(kinds.HTTP_ROUTE, 'shop/front', {
    spec: { rules: [{ backendRefs: [{ name: 'api' }] }] },
  });

  it('reads as none where a cluster may do without it, and as a failure where none does', async () => {
    const world = aWorld();
    for (const kind of [kinds.HTTP_ROUTE, kinds.SERVICE_MONITOR, kinds.POD_MONITOR, kinds.SERVICE])
      world.cluster.refuse(kind, 'GATE_CLUSTER_UNSUPPORTED');
    world.cluster.refuse(kinds.NODE_RUNTIME_OBSERVATION, 'GATE_CLUSTER_UNSUPPORTED');
    world.sight.start();
    await world.sight.ready;
    const view = world.sight.glance();
    expect(await view.routesTo(API)).toEqual([]);
    expect(await view.serviceMonitors('shop')).toEqual([]);
    expect(await view.podMonitors('shop')).toEqual([]);
    expect(await view.nodeObservation('node-a')).toBeUndefined();
    expect(await codeOf(view.service(API))).toBe('GATE_CLUSTER_UNSUPPORTED');
  });

  it('is watched as soon as it is served, and wakes those who found none of it', async () => {
    const world = aWorld();
    const serve = world.cluster.refuse(kinds.HTTP_ROUTE, 'GATE_CLUSTER_UNSUPPORTED');
    world.sight.start();
    await world.sight.ready;
    await world.look('shop/api', (view) => view.routesTo(API));
    await world.look('shop/cart', (view) => view.service(CART));
    serve();
    world.memory.load(kinds.HTTP_ROUTE, route);
    expect(await world.wokenBy(() => world.clock.advance(RETRY_MS))).toEqual(['shop/api']);
    expect(await world.sight.glance().routesTo(API)).toHaveLength(1);
  });

  it('reads as none again when it goes, whatever our copy holds', async () => {
    const world = await aReadyWorld([[kinds.HTTP_ROUTE, route]]);
    await world.look('shop/api', (view) => view.routesTo(API));
    world.cluster.refuse(kinds.HTTP_ROUTE, 'GATE_CLUSTER_UNSUPPORTED');
    const woken = await world.wokenBy(async () => {
      world.memory.breakWatches();
      await world.clock.advance(RETRY_MS);
    });
    expect(woken).toEqual(['shop/api']);
    expect(await world.sight.glance().routesTo(API)).toEqual([]);
  });
});

describe('the start', () => {
  it('says what is not read yet, until it is', async () => {
    const world = aWorld();
    const release = world.memory.holdCalls(['list']);
    world.sight.start();
    await settled();
    expect(world.sight.unsynced()).toBe('pactos are not read yet');
    expect(await codeOf(world.look('shop/api', (view) => view.service(API)))).toBe('GATE_UNSYNCED');
    expect(await world.wokenBy(release)).toEqual(['shop/api']);
    await world.sight.ready;
    expect(world.sight.unsynced()).toBeUndefined();
  });

  it('waits for an API server that is away, and is not unready when it goes later', async () => {
    const world = aWorld();
    const back = world.memory.refuseCalls();
    world.sight.start();
    await world.clock.advance(60_000);
    expect(world.sight.unsynced()).toBeDefined();
    back();
    await world.clock.advance(RETRY_MS);
    await world.sight.ready;
    world.memory.refuseCalls();
    world.memory.breakWatches();
    await world.clock.advance(SILENT_MS);
    expect(world.sight.unsynced()).toBeUndefined();
  });

  it('knows the heartbeats of nodes from its first list on', async () => {
    const lease = named(kinds.LEASE, `${AGENT_NAMESPACE}/node-a`, {
      spec: { holderIdentity: 'node-a', leaseDurationSeconds: 90, renewTime: '2026-01-01T00:00:00.000000Z' },
    });
    const world = await aReadyWorld([[kinds.LEASE, lease]]);
    await world.look('shop/api', (view) => view.nodeLease('node-a'));
    expect(await world.wokenBy(() => world.clock.advance(91_000))).toEqual(['shop/api']);
  });
});
