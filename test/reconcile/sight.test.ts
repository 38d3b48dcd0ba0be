import { describe, expect, it } from 'vitest';
import * as kinds from '../../src/cluster/kinds.ts';
import type { Kind } from '../../src/cluster/kinds.ts';
import type { KubeObject } from '../../src/cluster/objects.ts';
import { REQUESTED_AT } from '../../src/reconcile/triggers/pactos.ts';
import { AGENT_NAMESPACE } from '../support/builders.ts';
import {
  aPacto,
  aReadyWorld,
  aSlice,
  CONNECTION_MS,
  keyOf,
  named,
  settled,
  type Read,
  type World,
} from './sight-world.ts';

const API = keyOf('shop/api');

const monitor = (name: string): KubeObject =>
  named(kinds.SERVICE_MONITOR, name, { spec: { selector: { matchLabels: { app: 'api' } } } });

const nodeLease = (name: string): KubeObject =>
  named(kinds.LEASE, `${AGENT_NAMESPACE}/${name}`, {
    spec: { holderIdentity: name, leaseDurationSeconds: 90, renewTime: '2026-01-01T00:00:00.000000Z' },
  });

it('wakes for a change that happens while a look reads', async () => {
  const world = await aReadyWorld();
  await world.look('shop/api', (view) => view.service(API));
  const view = world.sight.follow(API);
  expect(
    await world.wokenBy(() => world.memory.load(kinds.SERVICE, named(kinds.SERVICE, 'shop/api'))),
  ).toEqual(['shop/api']);
  view.end();
});

it('wakes those of the Service that a slice belonged to and of the one that it belongs to', async () => {
  const world = await aReadyWorld([[kinds.ENDPOINT_SLICE, aSlice('shop/api', 'moving')]]);
  for (const name of ['api', 'cart', 'other'])
    await world.look(`shop/${name}`, (view) => view.endpointSlices(keyOf(`shop/${name}`)));
  const moved = aSlice('shop/cart', 'moving');
  expect(await world.wokenBy(() => world.memory.load(kinds.ENDPOINT_SLICE, moved))).toEqual([
    'shop/api',
    'shop/cart',
  ]);
  expect(await world.sight.glance().endpointSlices(API)).toEqual([]);
  expect(await world.sight.glance().endpointSlices(keyOf('shop/cart'))).toHaveLength(1);
});

describe('a Pacto itself', () => {
  const write = async (
    { memory }: World,
    pacto: KubeObject,
    verb: 'replace' | 'replaceStatus' = 'replace',
  ): Promise<void> => {
    const { namespace = '', name = '' } = pacto.metadata;
    const { resourceVersion = '' } = (await memory.get(kinds.PACTO, { namespace, name }))?.metadata ?? {};
    await memory[verb](kinds.PACTO, { ...pacto, metadata: { ...pacto.metadata, resourceVersion } });
  };

  it('is woken when it is made, changed, asked for and deleted', async () => {
    const world = await aReadyWorld();
    expect(await world.wokenBy(() => world.memory.load(kinds.PACTO, aPacto('shop/api')))).toEqual([
      'shop/api',
    ]);
    const changed = aPacto('shop/api', { serviceName: 'web' });
    expect(await world.wokenBy(() => write(world, changed))).toEqual(['shop/api']);
    const asked = aPacto('shop/api', {
      serviceName: 'web',
      annotations: { [REQUESTED_AT]: '2026-01-01T00:00:00Z' },
    });
    expect(await world.wokenBy(() => write(world, asked))).toEqual(['shop/api']);
    expect(await world.wokenBy(() => world.memory.delete(kinds.PACTO, API))).toEqual(['shop/api']);
    expect([...world.sight.keys()]).toEqual([]);
  });

  it('is not woken by a write of its status, nor by another annotation (operator.md T1)', async () => {
    const world = await aReadyWorld([[kinds.PACTO, aPacto('shop/api')]]);
    const status = aPacto('shop/api', { resolvedRef: 'registry.test/api:1.0.0' });
    expect(await world.wokenBy(() => write(world, status, 'replaceStatus'))).toEqual([]);
    const annotated = aPacto('shop/api', { annotations: { 'team.test/note': 'x' } });
    expect(await world.wokenBy(() => write(world, annotated))).toEqual([]);
    expect(world.sight.get(API)?.metadata.annotations).toEqual({ 'team.test/note': 'x' });
  });

  it('wakes those who depend on it when its contract or its Service is another, and not for its verdict', async () => {
    const sibling = { resolvedRef: 'registry.test/db:1.0.0' };
    const world = await aReadyWorld([[kinds.PACTO, aPacto('data/db', sibling)]]);
    await world.look('shop/api', (view) => view.siblings('registry.test/db'));
    const judged = aPacto('data/db', sibling);
    const withVerdict = {
      ...judged,
      status: { ...(judged['status'] as object), contractStatus: 'NonCompliant', summary: { errorCount: 1 } },
    };
    expect(await world.wokenBy(() => write(world, withVerdict, 'replaceStatus'))).toEqual([]);
    const moved = aPacto('data/db', { ...sibling, serviceName: 'db2' });
    expect(await world.wokenBy(() => write(world, moved))).toEqual(['data/db', 'shop/api']);
  });

  it('is interested in nothing once it is gone', async () => {
    const world = await aReadyWorld([[kinds.PACTO, aPacto('shop/api')]]);
    await world.look('shop/api', (view) => view.service(API));
    world.memory.unload(kinds.PACTO, API);
    const service = named(kinds.SERVICE, 'shop/api');
    expect(await world.wokenBy(() => world.memory.load(kinds.SERVICE, service))).toEqual([]);
  });

  it('is woken when a revision of it goes, and not by the one that was made for it', async () => {
    const world = await aReadyWorld([[kinds.PACTO, aPacto('shop/api')]]);
    await world.look('shop/api', (view) => view.revisions(API));
    const revision = named(
      kinds.PACTO_REVISION,
      'shop/api-1-0-0-abcdef1',
      { spec: { version: '1.0.0' } },
      { labels: { 'pacto.trianalab.io/pacto': 'api' } },
    );
    expect(await world.wokenBy(() => world.memory.load(kinds.PACTO_REVISION, revision))).toEqual([]);
    expect(await world.sight.glance().revisions(API)).toHaveLength(1);
    const { name = '' } = revision.metadata;
    const gone = await world.wokenBy(() =>
      world.memory.unload(kinds.PACTO_REVISION, { namespace: 'shop', name }),
    );
    expect(gone).toEqual(['shop/api']);
  });
});

describe('a node agent (operator.md §13.2)', () => {
  const at = (ms: number): string => new Date(Date.UTC(2026, 0, 1) + ms).toISOString();
  const renewed = (ms: number): KubeObject =>
    named(kinds.LEASE, `${AGENT_NAMESPACE}/node-a`, {
      spec: { holderIdentity: 'node-a', leaseDurationSeconds: 90, renewTime: at(ms) },
    });
  const calling = (ms: number, connection: object, lastPublished = at(ms)): KubeObject =>
    named(kinds.NODE_RUNTIME_OBSERVATION, `${AGENT_NAMESPACE}/node-a`, {
      status: {
        state: 'Ready',
        nodeName: 'node-a',
        lastPublished,
        pods: [{ uid: 'u', connections: [{ destIP: '10.0.0.1', destPort: 80, ...connection }] }],
      },
    });
  const reader: Read = async (view) => [await view.nodeLease('node-a'), await view.nodeObservation('node-a')];

  it('wakes nobody while its heartbeat goes on, its readers when it ends, and again when it is back', async () => {
    const world = await aReadyWorld([[kinds.LEASE, renewed(0)]]);
    await world.look('shop/api', reader);
    await world.look('shop/stranger', (view) => view.nodeLease('node-b'));
    for (let beat = 1; beat <= 10; beat++) {
      await world.clock.advance(30_000);
      expect(await world.wokenBy(() => world.memory.load(kinds.LEASE, renewed(beat * 30_000)))).toEqual([]);
    }
    expect(await world.wokenBy(() => world.clock.advance(89_000))).toEqual([]);
    expect(await world.wokenBy(() => world.clock.advance(2_000))).toEqual(['shop/api']);
    expect(await world.wokenBy(() => world.memory.load(kinds.LEASE, renewed(400_000)))).toEqual(['shop/api']);
  });

  it('counts by what it published where it has no Lease, three intervals long', async () => {
    const world = await aReadyWorld([[kinds.NODE_RUNTIME_OBSERVATION, calling(0, {})]]);
    await world.look('shop/api', reader);
    expect(await world.wokenBy(() => world.clock.advance(89_000))).toEqual([]);
    expect(await world.wokenBy(() => world.clock.advance(2_000))).toEqual(['shop/api']);
  });

  it.each([
    {
      what: 'one that goes on',
      before: { lastSuccess: at(0) },
      after: { lastSuccess: at(30_000) },
      wakes: false,
    },
    {
      what: 'a failure behind a success',
      before: { lastSuccess: at(0) },
      after: { lastSuccess: at(0), lastFailure: at(30_000) },
      wakes: true,
    },
    {
      what: 'a failure behind one that is over',
      before: { lastFailure: at(-CONNECTION_MS) },
      after: { lastFailure: at(30_000) },
      wakes: true,
    },
    {
      what: 'a failure behind one that still counts',
      before: { lastFailure: at(-CONNECTION_MS + 60_000) },
      after: { lastFailure: at(30_000) },
      wakes: false,
    },
  ])(
    'wakes for what it saw of a connection where the opinion is another: $what',
    async ({ before, after, wakes }) => {
      const world = await aReadyWorld([[kinds.NODE_RUNTIME_OBSERVATION, calling(0, before)]]);
      await world.look('shop/api', reader);
      await world.clock.advance(30_000);
      const change = (): unknown => world.memory.load(kinds.NODE_RUNTIME_OBSERVATION, calling(30_000, after));
      expect(await world.wokenBy(change)).toEqual(wakes ? ['shop/api'] : []);
    },
  );

  it('wakes for a date alone those who asked for dates', async () => {
    const world = await aReadyWorld([[kinds.NODE_RUNTIME_OBSERVATION, calling(0, { lastSuccess: at(0) })]]);
    await world.look('shop/api', (view) => view.nodeObservation('node-a', 'dates'));
    await world.look('shop/cart', (view) => view.nodeObservation('node-a'));
    const later = calling(10_000, { lastSuccess: at(10_000) });
    expect(await world.wokenBy(() => world.memory.load(kinds.NODE_RUNTIME_OBSERVATION, later))).toEqual([
      'shop/api',
    ]);
  });
});

describe('what is looked at', () => {
  const SERVICES = ['a/api', 'b/api', 'c/api'].map((name): readonly [Kind, KubeObject] => [
    kinds.SERVICE,
    named(kinds.SERVICE, name),
  ]);

  it.each([
    { namespaces: [], seen: ['a', 'b', 'c'] },
    { namespaces: ['a'], seen: ['a'] },
    { namespaces: ['a', 'c', 'a'], seen: ['a', 'c'] },
  ])('is of the namespaces $namespaces', async ({ namespaces, seen }) => {
    const world = await aReadyWorld(SERVICES, { namespaces });
    const view = world.sight.glance();
    const found = await Promise.all(
      ['a', 'b', 'c'].map(
        async (namespace) => (await view.service({ namespace, name: 'api' }))?.metadata.namespace,
      ),
    );
    expect(found.filter((one) => one !== undefined)).toEqual(seen);
    expect(await view.configMap({ namespace: 'elsewhere', name: 'x' })).toBeUndefined();
  });

  it('is nothing of node agents where there are none, and nothing of monitors that nobody wants', async () => {
    const world = await aReadyWorld([[kinds.LEASE, nodeLease('node-a')]], {
      nodeAgent: undefined,
      monitors: false,
    });
    expect(await world.sight.glance().nodeLease('node-a')).toBeUndefined();
    const watched = world.sight.reflectors().map(({ kind }) => kind.kind);
    expect(watched).not.toContain('Lease');
    expect(watched).not.toContain('ServiceMonitor');
    expect(watched).not.toContain('DaemonSet');
  });

  it('comes in the order of names, whatever came first', async () => {
    const world = await aReadyWorld(
      ['z', 'a', 'm'].map((name) => [kinds.SERVICE_MONITOR, monitor(`shop/${name}`)]),
    );
    const found = await world.sight.glance().serviceMonitors('shop');
    expect(found.map(({ metadata }) => metadata.name)).toEqual(['a', 'm', 'z']);
  });
});

describe('contents', () => {
  it('of a ConfigMap are asked for each time, once for several looks at the same moment', async () => {
    const world = await aReadyWorld([
      [kinds.CONFIG_MAP, named(kinds.CONFIG_MAP, 'shop/settings', { data: { a: '1' } })],
    ]);
    const view = world.sight.glance();
    const name = keyOf('shop/settings');
    const found = await Promise.all([view.configMap(name), world.sight.glance().configMap(name)]);
    expect(found.map((one) => one?.['data'])).toEqual([{ a: '1' }, { a: '1' }]);
    expect(world.memory.calls('get', kinds.CONFIG_MAP)).toBe(1);
    await view.configMap(name);
    expect(world.memory.calls('get', kinds.CONFIG_MAP)).toBe(2);
  });

  it('of a ConfigMap that is not there are not asked for', async () => {
    const world = await aReadyWorld();
    expect(await world.sight.glance().configMap(keyOf('shop/none'))).toBeUndefined();
    expect(world.memory.calls('get')).toBe(0);
  });

  it('of a Secret are in no store, and asked for anew for each pull', async () => {
    const secret = named(kinds.SECRET, 'shop/key', { type: 'Opaque', data: { token: 'c2VjcmV0' } });
    const world = await aReadyWorld([[kinds.SECRET, secret]]);
    const view = world.sight.glance();
    expect((await view.secretMetadata(keyOf('shop/key')))?.metadata.name).toBe('key');
    const stored = world.sight.reflectors().map(({ store }) => Array.from(store.values()));
    expect(JSON.stringify(stored)).not.toContain('c2VjcmV0');
    await Promise.all([view.pullSecret(keyOf('shop/key')), view.pullSecret(keyOf('shop/key'))]);
    expect(world.memory.calls('get', kinds.SECRET)).toBe(2);
  });
});

it('leaves nothing running once stopped', async () => {
  const world = await aReadyWorld([[kinds.LEASE, nodeLease('node-a')]]);
  await world.sight.stop();
  await settled();
  expect([world.memory.watches, world.clock.waiting]).toEqual([0, 0]);
});
