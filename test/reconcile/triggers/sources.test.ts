import { describe, expect, it } from 'vitest';
import * as kinds from '../../../src/cluster/kinds.ts';
import type { Kind } from '../../../src/cluster/kinds.ts';
import type { KubeObject } from '../../../src/cluster/objects.ts';
import { WORKLOAD_KINDS } from '../../../src/reconcile/target.ts';
import { AGENT_NAMESPACE } from '../../support/builders.ts';
import { aPacto, aReadyWorld, aSlice, keyOf, named, type Read } from '../sight-world.ts';

const API = keyOf('shop/api');

interface Source {
  readonly what: string;
  readonly kind: Kind;
  readonly read: Read;
  readonly object: KubeObject;
  /** The same, changed in what is read of it. */
  readonly changed: KubeObject;
  /** Another one of the kind, that was not asked for. */
  readonly other: KubeObject;
}

const ingress = (name: string, ...services: readonly string[]): KubeObject =>
  named(kinds.INGRESS, name, {
    spec: {
      rules: services.map((service) => ({
        http: { paths: [{ path: '/', backend: { service: { name: service, port: { number: 80 } } } }] },
      })),
    },
  });

const route = (name: string, ...backends: readonly Readonly<Record<string, unknown>>[]): KubeObject =>
  named(kinds.HTTP_ROUTE, name, { spec: { rules: [{ backendRefs: backends }] } });

const monitor = (kind: Kind, name: string, app: string): KubeObject =>
  named(kind, name, { spec: { selector: { matchLabels: { app } }, endpoints: [{ port: 'http' }] } });

const template = (image: string): object => ({ spec: { containers: [{ name: 'main', image }] } });

const workload = (kind: Kind, name: string, image: string): KubeObject =>
  named(kind, name, {
    spec:
      kind === kinds.CRON_JOB
        ? { jobTemplate: { spec: { template: template(image) } } }
        : { template: template(image) },
  });

const observed = (name: string, port: number): KubeObject =>
  named(kinds.NODE_RUNTIME_OBSERVATION, `${AGENT_NAMESPACE}/${name}`, {
    status: { state: 'Ready', nodeName: name, pods: [{ uid: 'u', listeners: [{ port, protocol: 'TCP' }] }] },
  });

const nodeLease = (name: string, leaseDurationSeconds: number): KubeObject =>
  named(kinds.LEASE, `${AGENT_NAMESPACE}/${name}`, {
    spec: { holderIdentity: name, leaseDurationSeconds, renewTime: '2026-01-01T00:00:00.000000Z' },
  });

const SOURCES: readonly Source[] = [
  {
    what: 'a Service',
    kind: kinds.SERVICE,
    read: (view) => view.service(API),
    object: named(kinds.SERVICE, 'shop/api', { spec: { ports: [{ port: 80 }] } }),
    changed: named(kinds.SERVICE, 'shop/api', { spec: { ports: [{ port: 81 }] } }),
    other: named(kinds.SERVICE, 'other/api', { spec: { ports: [{ port: 80 }] } }),
  },
  {
    what: 'the EndpointSlices of a Service',
    kind: kinds.ENDPOINT_SLICE,
    read: (view) => view.endpointSlices(API),
    object: aSlice('shop/api', 'api-1'),
    changed: aSlice('shop/api', 'api-1', false),
    other: aSlice('shop/cart', 'api-2'),
  },
  ...WORKLOAD_KINDS.map((kind) => ({
    what: `a ${kind.kind}`,
    kind,
    read: ((view) => view.workload(kind, API)) satisfies Read,
    object: workload(kind, 'shop/api', 'registry.test/api:1'),
    changed: workload(kind, 'shop/api', 'registry.test/api:2'),
    other: workload(kind, 'shop/cart', 'registry.test/cart:1'),
  })),
  {
    what: 'Ingresses to a Service',
    kind: kinds.INGRESS,
    read: (view) => view.ingressesTo(API),
    object: ingress('shop/front', 'cart', 'api'),
    changed: ingress('shop/front', 'cart'),
    other: ingress('other/front', 'api'),
  },
  {
    what: 'HTTPRoutes to a Service',
    kind: kinds.HTTP_ROUTE,
    read: (view) => view.routesTo(API),
    object: route('other/front', { name: 'api', namespace: 'shop' }),
    changed: route('other/front', { name: 'api' }),
    other: route('shop/front', { name: 'api', kind: 'Bucket', group: 'storage.test' }),
  },
  ...([kinds.SERVICE_MONITOR, kinds.POD_MONITOR] as const).map((kind) => ({
    what: `${kind.kind}s of a namespace`,
    kind,
    read: ((view) =>
      kind === kinds.POD_MONITOR ? view.podMonitors('shop') : view.serviceMonitors('shop')) satisfies Read,
    object: monitor(kind, 'shop/all', 'api'),
    changed: monitor(kind, 'shop/all', 'cart'),
    other: monitor(kind, 'other/all', 'api'),
  })),
  {
    what: 'a ConfigMap',
    kind: kinds.CONFIG_MAP,
    read: (view) => view.configMap(keyOf('shop/settings')),
    object: named(kinds.CONFIG_MAP, 'shop/settings', { data: { a: '1' } }),
    changed: named(kinds.CONFIG_MAP, 'shop/settings', { data: { a: '2' } }),
    other: named(kinds.CONFIG_MAP, 'shop/others', { data: { a: '1' } }),
  },
  ...(['secretMetadata', 'pullSecret'] as const).map((method) => ({
    what: `a Secret, by ${method}`,
    kind: kinds.SECRET,
    read: ((view) => view[method](keyOf('shop/key'))) satisfies Read,
    object: named(kinds.SECRET, 'shop/key', { data: { a: 'MQ==' } }),
    changed: named(kinds.SECRET, 'shop/key', { data: { a: 'Mg==' } }),
    other: named(kinds.SECRET, 'other/key', { data: { a: 'MQ==' } }),
  })),
  {
    what: 'Pactos of a repository',
    kind: kinds.PACTO,
    read: (view) => view.siblings('registry.test/db'),
    object: aPacto('data/db', { resolvedRef: 'registry.test/db:1.0.0' }),
    changed: aPacto('data/db', { resolvedRef: 'registry.test/db:1.1.0', version: '1.1.0' }),
    other: aPacto('data/queue', { resolvedRef: 'registry.test/queue:1.0.0' }),
  },
  {
    what: 'what a node agent saw',
    kind: kinds.NODE_RUNTIME_OBSERVATION,
    read: (view) => view.nodeObservation('node-a'),
    object: observed('node-a', 8080),
    changed: observed('node-a', 9090),
    other: observed('node-b', 8080),
  },
  {
    what: 'the Lease of a node agent',
    kind: kinds.LEASE,
    read: (view) => view.nodeLease('node-a'),
    object: nodeLease('node-a', 90),
    changed: nodeLease('node-a', 30),
    other: nodeLease('node-b', 90),
  },
];

/** A Pacto that appears or goes wakes itself as well. */
const onlyReader = (woken: readonly string[]): readonly string[] =>
  woken.filter((name) => name.startsWith('shop/'));

describe.each(SOURCES)('$what', ({ kind, read, object, changed, other }) => {
  const name = { ...keyOf(`${object.metadata.namespace}/${object.metadata.name}`) };

  it('wakes who found none when it appears, and nobody for another one', async () => {
    const world = await aReadyWorld([[kinds.PACTO, aPacto('shop/api')]]);
    await world.look('shop/reader', read);
    await world.look('shop/stranger', (view) => view.service(keyOf('shop/elsewhere')));
    expect(onlyReader(await world.wokenBy(() => world.memory.load(kind, other)))).toEqual([]);
    expect(onlyReader(await world.wokenBy(() => world.memory.load(kind, object)))).toEqual(['shop/reader']);
  });

  it('wakes its reader when it changes, and nobody else', async () => {
    const world = await aReadyWorld([
      [kind, object],
      [kind, other],
    ]);
    await world.look('shop/reader', read);
    await world.look('shop/stranger', (view) => view.service(keyOf('shop/elsewhere')));
    expect(onlyReader(await world.wokenBy(() => world.memory.load(kind, changed)))).toEqual(['shop/reader']);
  });

  it('wakes its reader when it goes', async () => {
    const world = await aReadyWorld([
      [kind, object],
      [kind, other],
    ]);
    await world.look('shop/reader', read);
    expect(onlyReader(await world.wokenBy(() => world.memory.unload(kind, name)))).toEqual(['shop/reader']);
  });

  it('wakes nobody who read it in an earlier look alone, and nobody who only glanced', async () => {
    const world = await aReadyWorld([[kind, object]]);
    await world.look('shop/reader', read);
    await world.look('shop/reader', () => Promise.resolve());
    await read(world.sight.glance());
    expect(onlyReader(await world.wokenBy(() => world.memory.load(kind, changed)))).toEqual([]);
  });
});

const touched = (object: KubeObject): KubeObject => ({
  ...object,
  metadata: { ...object.metadata, finalizers: ['test.test/kept'] },
});

/** Contents of the first two are in no watch, and to annotate its Service is how people have a Pacto looked at anew. */
const WHOLE: ReadonlySet<Kind> = new Set([kinds.CONFIG_MAP, kinds.SECRET, kinds.SERVICE]);

it.each(SOURCES.filter(({ kind }) => !WHOLE.has(kind)))(
  'wakes nobody for $what that changes in nothing but what no look reads',
  async ({ kind, read, object }) => {
    const world = await aReadyWorld([[kind, object]]);
    await world.look('shop/reader', read);
    expect(await world.wokenBy(() => world.memory.load(kind, touched(object)))).toEqual([]);
  },
);

it.each(SOURCES.filter(({ kind }) => WHOLE.has(kind)))(
  'wakes its reader for any write of $what',
  async ({ kind, read, object }) => {
    const world = await aReadyWorld([[kind, object]]);
    await world.look('shop/reader', read);
    expect(await world.wokenBy(() => world.memory.load(kind, touched(object)))).toEqual(['shop/reader']);
  },
);
