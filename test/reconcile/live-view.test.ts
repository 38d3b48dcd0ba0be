import { describe, expect, it } from 'vitest';
import * as kinds from '../../src/cluster/kinds.ts';
import type { Kind } from '../../src/cluster/kinds.ts';
import { createMemoryCluster, type MemoryCluster } from '../../src/cluster/memory.ts';
import type { KubeObject } from '../../src/cluster/objects.ts';
import { createLiveView, type LiveViewOptions } from '../../src/reconcile/live-view.ts';
import type { View } from '../../src/reconcile/view.ts';
import { AGENT_NAMESPACE } from '../support/builders.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { aPacto, aReadyWorld, aSlice, keyOf, named, NODE_AGENT, Refusing, type Read } from './sight-world.ts';

const API = keyOf('shop/api');
const NOT_ABORTED = new AbortController().signal;

const ingress = (name: string, service: string): KubeObject =>
  named(kinds.INGRESS, name, {
    spec: {
      rules: [{ http: { paths: [{ backend: { service: { name: service, port: { number: 80 } } } }] } }],
    },
  });
const route = (name: string, backend: object): KubeObject =>
  named(kinds.HTTP_ROUTE, name, { spec: { rules: [{ backendRefs: [backend] }] } });
const revision = (name: string, pacto: string): KubeObject =>
  named(
    kinds.PACTO_REVISION,
    name,
    { spec: { version: '1.0.0' } },
    {
      labels: { 'pacto.trianalab.io/pacto': pacto },
      ownerReferences: [{ kind: 'Pacto', name: pacto, controller: true }],
    },
  );

const OBJECTS: readonly (readonly [Kind, KubeObject])[] = [
  [
    kinds.SERVICE,
    named(kinds.SERVICE, 'shop/api', { spec: { ports: [{ port: 80 }], sessionAffinity: 'None' } }),
  ],
  [kinds.ENDPOINT_SLICE, aSlice('shop/api', 'b')],
  [kinds.ENDPOINT_SLICE, aSlice('shop/api', 'a', false)],
  [kinds.ENDPOINT_SLICE, aSlice('shop/cart', 'c')],
  [kinds.DEPLOYMENT, named(kinds.DEPLOYMENT, 'shop/api', { spec: { replicas: 3, template: { spec: {} } } })],
  [kinds.INGRESS, ingress('shop/front', 'api')],
  [kinds.INGRESS, ingress('shop/back', 'cart')],
  [kinds.INGRESS, ingress('data/front', 'api')],
  [kinds.HTTP_ROUTE, route('data/front', { name: 'api', namespace: 'shop' })],
  [kinds.HTTP_ROUTE, route('shop/other', { name: 'cart' })],
  [
    kinds.SERVICE_MONITOR,
    named(kinds.SERVICE_MONITOR, 'shop/all', { spec: { endpoints: [{ port: 'http' }] } }),
  ],
  [kinds.POD_MONITOR, named(kinds.POD_MONITOR, 'shop/all', { spec: {} })],
  [kinds.CONFIG_MAP, named(kinds.CONFIG_MAP, 'shop/settings', { data: { a: '1' } })],
  [kinds.SECRET, named(kinds.SECRET, 'shop/key', { type: 'Opaque', data: { a: 'MQ==' } })],
  [kinds.PACTO, aPacto('shop/api', { resolvedRef: 'registry.test/api:1.0.0' })],
  [kinds.PACTO, aPacto('data/db', { resolvedRef: 'registry.test/db:1.0.0' })],
  [kinds.PACTO_REVISION, revision('shop/api-1-0-0-abcdef1', 'api')],
  [kinds.PACTO_REVISION, revision('shop/cart-1-0-0-abcdef1', 'cart')],
  [
    kinds.NODE_RUNTIME_OBSERVATION,
    named(kinds.NODE_RUNTIME_OBSERVATION, `${AGENT_NAMESPACE}/node-a`, {
      status: { state: 'Ready', pods: [] },
    }),
  ],
  [
    kinds.LEASE,
    named(kinds.LEASE, `${AGENT_NAMESPACE}/node-a`, {
      spec: { holderIdentity: 'node-a', leaseDurationSeconds: 90, renewTime: '2026-01-01T00:00:00.000000Z' },
    }),
  ],
];

const READS: Readonly<Record<string, Read>> = {
  service: (view) => view.service(API),
  'service that is not there': (view) => view.service(keyOf('shop/none')),
  endpointSlices: (view) => view.endpointSlices(API),
  'endpointSlices of none': (view) => view.endpointSlices(keyOf('shop/none')),
  workload: (view) => view.workload(kinds.DEPLOYMENT, API),
  ingressesTo: (view) => view.ingressesTo(API),
  routesTo: (view) => view.routesTo(API),
  serviceMonitors: (view) => view.serviceMonitors('shop'),
  podMonitors: (view) => view.podMonitors('shop'),
  configMap: (view) => view.configMap(keyOf('shop/settings')),
  secretMetadata: (view) => view.secretMetadata(keyOf('shop/key')),
  pullSecret: (view) => view.pullSecret(keyOf('shop/key')),
  nodeObservation: (view) => view.nodeObservation('node-a'),
  nodeLease: (view) => view.nodeLease('node-a'),
  revisions: (view) => view.revisions(API),
};

function aView(
  cluster: LiveViewOptions['cluster'],
  options: Partial<Pick<LiveViewOptions, 'namespaces' | 'nodeAgent' | 'signal'>> = {},
): View {
  return createLiveView({ cluster, namespaces: [], nodeAgent: NODE_AGENT, signal: NOT_ABORTED, ...options });
}

function aCluster(objects = OBJECTS): MemoryCluster {
  const memory = createMemoryCluster({ clock: new FakeClock() });
  for (const [kind, object] of objects) memory.load(kind, object);
  return memory;
}

describe('a look by reads of the moment', () => {
  it.each(Object.entries(READS))('sees what the watches see: %s', async (_what, read) => {
    for (const namespaces of [[], ['shop'], ['data', 'shop'], ['elsewhere']]) {
      const world = await aReadyWorld(OBJECTS, { namespaces });
      const live = await read(aView(world.memory, { namespaces }));
      expect(live).toEqual(await read(world.sight.glance()));
    }
  });

  it('sees of siblings what is read of them', async () => {
    const found = await aView(aCluster()).siblings('registry.test/db');
    expect(found).toMatchObject([
      {
        metadata: { namespace: 'data', name: 'db' },
        spec: { target: { serviceName: 'db' } },
        status: { contract: { resolvedRef: 'registry.test/db:1.0.0', version: '1.0.0' } },
      },
    ]);
    expect(await aView(aCluster(), { namespaces: ['shop'] }).siblings('registry.test/db')).toEqual([]);
  });

  it('asks for nothing twice but for credentials, and lists Pactos once for all dependencies', async () => {
    const memory = aCluster();
    const view = aView(memory);
    for (let time = 0; time < 3; time++)
      await Promise.all([
        ...Object.values(READS).map((read) => read(view)),
        view.siblings('registry.test/api'),
      ]);
    await view.siblings('registry.test/db');
    expect(memory.calls('list', kinds.PACTO)).toBe(1);
    expect(memory.calls('get', kinds.SERVICE)).toBe(2);
    expect(memory.calls('get', kinds.CONFIG_MAP)).toBe(1);
    // Once its metadata, and three times its contents.
    expect(memory.calls('get', kinds.SECRET)).toBe(4);
  });

  it('asks again for what failed', async () => {
    const memory = aCluster();
    const view = aView(memory);
    const back = memory.refuseCalls();
    await expect(view.service(API)).rejects.toMatchObject({ code: 'GATE_CLUSTER_UNREACHABLE' });
    back();
    expect(await view.service(API)).toBeDefined();
  });

  it.each([
    ['', 'a service without a name'],
    ['a/b', 'a slash'],
    ['api,app=x', 'a further selector'],
    [`a${'b'.repeat(300)}`, 'a name that is too long'],
  ])('asks for no object that cannot be: %j', async (name) => {
    const memory = aCluster();
    const view = aView(memory);
    const at = { namespace: 'shop', name };
    expect(await view.service(at)).toBeUndefined();
    expect(await view.endpointSlices(at)).toEqual([]);
    expect(await view.pullSecret(at)).toBeUndefined();
    expect(memory.calls('get') + memory.calls('list')).toBe(0);
  });

  it('finds none of a kind that is not served where a cluster may do without it', async () => {
    const cluster = new Refusing(aCluster());
    for (const kind of [
      kinds.HTTP_ROUTE,
      kinds.SERVICE_MONITOR,
      kinds.NODE_RUNTIME_OBSERVATION,
      kinds.SERVICE,
    ])
      cluster.refuse(kind, 'GATE_CLUSTER_UNSUPPORTED');
    const view = aView(cluster);
    expect(await view.routesTo(API)).toEqual([]);
    expect(await view.serviceMonitors('shop')).toEqual([]);
    expect(await view.nodeObservation('node-a')).toBeUndefined();
    await expect(view.service(API)).rejects.toMatchObject({ code: 'GATE_CLUSTER_UNSUPPORTED' });
  });

  it('says that it may not read a kind', async () => {
    const cluster = new Refusing(aCluster());
    cluster.refuse(kinds.INGRESS, 'GATE_CLUSTER_FORBIDDEN');
    await expect(aView(cluster).ingressesTo(API)).rejects.toMatchObject({ code: 'GATE_CLUSTER_FORBIDDEN' });
  });

  it('sees nothing of node agents where there are none', async () => {
    const memory = aCluster();
    expect(await aView(memory, { nodeAgent: undefined }).nodeLease('node-a')).toBeUndefined();
    expect(memory.calls('get')).toBe(0);
  });

  it('ends with its signal', async () => {
    const controller = new AbortController();
    controller.abort(new Error('enough'));
    await expect(aView(aCluster(), { signal: controller.signal }).service(API)).rejects.toThrow('enough');
  });
});

describe('how much a look reads', () => {
  const slices = (count: number): readonly (readonly [Kind, KubeObject])[] =>
    Array.from({ length: count }, (_, index) => [
      kinds.ENDPOINT_SLICE,
      aSlice('shop/api', `slice-${String(index)}`),
    ]);

  it('is all of 500 slices, over several pages', async () => {
    expect(await aView(aCluster(slices(500))).endpointSlices(API)).toHaveLength(500);
  });

  it('is nothing of 501: a part would be no answer', async () => {
    await expect(aView(aCluster(slices(501))).endpointSlices(API)).rejects.toMatchObject({
      code: 'GATE_TOO_MANY_OBJECTS',
    });
  });

  it('is bounded over all namespaces together', async () => {
    const routes = (namespace: string): readonly (readonly [Kind, KubeObject])[] =>
      Array.from({ length: 2_501 }, (_, index) => [
        kinds.HTTP_ROUTE,
        route(`${namespace}/route-${String(index)}`, { name: 'x' }),
      ]);
    const memory = aCluster([...routes('data'), ...routes('shop')]);
    expect(await aView(memory, { namespaces: ['shop'] }).routesTo(API)).toEqual([]);
    await expect(aView(memory, { namespaces: ['data', 'shop'] }).routesTo(API)).rejects.toMatchObject({
      code: 'GATE_TOO_MANY_OBJECTS',
    });
  });
});
