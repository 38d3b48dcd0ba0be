import { describe, expect, it } from 'vitest';
import * as kinds from '../../../src/cluster/kinds.ts';
import type { Kind } from '../../../src/cluster/kinds.ts';
import type { KubeObject } from '../../../src/cluster/objects.ts';
import { readNodeObservation } from '../../../src/reconcile/api/node-runtime-observation.ts';
import { allEndpoints, readyEndpoints, servicePorts } from '../../../src/reconcile/observe/endpoints.ts';
import { ingressBackends } from '../../../src/reconcile/observe/ingress-backends.ts';
import { runtimeOf } from '../../../src/reconcile/observe/observed-runtime.ts';
import { podTemplateOf } from '../../../src/reconcile/observe/pod-template.ts';
import { WORKLOAD_KINDS } from '../../../src/reconcile/target.ts';
import { triggersFor } from '../../../src/reconcile/triggers/all.ts';
import { keptOf, type Trigger } from '../../../src/reconcile/triggers/trigger.ts';
import { named } from '../sight-world.ts';

const TRIGGERS = triggersFor({ monitors: true, nodeAgent: { connectionMs: 300_000 } });

function triggerOf(kind: Kind): Trigger {
  const trigger = TRIGGERS.find((one) => one.kind === kind);
  if (trigger === undefined) throw new Error(`no trigger of ${kind.kind}`);
  return trigger;
}

const kept = (kind: Kind, object: KubeObject): KubeObject => keptOf(triggerOf(kind), object);

const POD_SPEC = {
  terminationGracePeriodSeconds: 60,
  containers: [
    {
      name: 'main',
      image: 'registry.test/api:1',
      env: [{ name: 'PASSWORD', value: 'hunter2' }],
      args: ['--token=hunter2'],
      ports: [{ name: 'http', containerPort: 8080, protocol: 'TCP' }],
      readinessProbe: {
        httpGet: { path: '/', port: 'http', httpHeaders: [{ name: 'Authorization', value: 'hunter2' }] },
        initialDelaySeconds: 5,
      },
    },
    { name: 'side', image: 'registry.test/side:1', livenessProbe: { exec: { command: ['hunter2'] } } },
    { name: 'odd', readinessProbe: null, livenessProbe: { initialDelaySeconds: 7 } },
  ],
  volumes: [
    { name: 'data', persistentVolumeClaim: { claimName: 'data' } },
    { name: 'tmp', emptyDir: {} },
    { name: 'bare' },
    { name: 'odd', secret: null, hostPath: { path: '/' } },
  ],
};

const template = { metadata: { annotations: { note: 'hunter2' } }, spec: POD_SPEC };

const workload = (kind: Kind): KubeObject =>
  named(kind, 'shop/api', {
    spec: {
      ...(kind === kinds.CRON_JOB ? { jobTemplate: { spec: { template } } } : { template }),
      replicas: 3,
      strategy: { type: 'Recreate' },
      podManagementPolicy: 'Parallel',
      volumeClaimTemplates: [{ metadata: { name: 'data' }, spec: {} }],
    },
    status: { readyReplicas: 2 },
  });

describe.each(WORKLOAD_KINDS)('what is kept of a $kind', (kind) => {
  const object = workload(kind);

  it('reads the same as the whole, and holds nothing that may be a secret', () => {
    expect(podTemplateOf(kind, kept(kind, object)).volumes).toEqual(podTemplateOf(kind, object).volumes);
    expect(podTemplateOf(kind, kept(kind, object)).containers.map(({ ports }) => ports)).toEqual(
      podTemplateOf(kind, object).containers.map(({ ports }) => ports),
    );
    expect(runtimeOf(kind, kept(kind, object))).toEqual(runtimeOf(kind, object));
    expect(JSON.stringify(kept(kind, object))).not.toContain('hunter2');
  });

  it('is the same however many of it run', () => {
    const scaled = { ...object, spec: { ...(object['spec'] as object), replicas: 9 }, status: {} };
    const { essence } = triggerOf(kind) as { essence: (object: KubeObject, nowMs: number) => unknown };
    expect(essence(kept(kind, scaled), 0)).toEqual(essence(kept(kind, object), 0));
  });
});

it('keeps of a Service its ports, its addresses and where it is scraped, and no other annotation', () => {
  const service = named(
    kinds.SERVICE,
    'shop/api',
    {
      spec: {
        type: 'LoadBalancer',
        selector: { app: 'api' },
        clusterIP: '10.1.0.1',
        clusterIPs: ['10.1.0.1'],
        ports: [{ name: 'http', port: 80, targetPort: 'http', protocol: 'TCP', nodePort: 30_000 }],
        sessionAffinity: 'None',
      },
      status: { loadBalancer: { ingress: [{ ip: '198.51.100.1', ipMode: 'VIP' }] }, conditions: [{}] },
    },
    { labels: { app: 'api' }, annotations: { 'prometheus.io/scrape': 'true', secret: 'hunter2' } },
  );
  expect(kept(kinds.SERVICE, service)).toMatchObject({
    metadata: { labels: { app: 'api' }, annotations: { 'prometheus.io/scrape': 'true' } },
    spec: { type: 'LoadBalancer', selector: { app: 'api' }, clusterIP: '10.1.0.1', clusterIPs: ['10.1.0.1'] },
    status: { loadBalancer: { ingress: [{ ip: '198.51.100.1' }] } },
  });
  expect(servicePorts(kept(kinds.SERVICE, service))).toEqual(servicePorts(service));
  expect(JSON.stringify(kept(kinds.SERVICE, service))).not.toMatch(/hunter2|nodePort|sessionAffinity/);
});

it('keeps of an EndpointSlice whom it names and who is ready', () => {
  const slice = named(
    kinds.ENDPOINT_SLICE,
    'shop/api-1',
    {
      ports: [{ name: 'http', port: 8080, protocol: 'TCP', appProtocol: 'http' }],
      endpoints: [
        {
          addresses: ['10.0.0.1'],
          conditions: { ready: true, serving: true, terminating: false },
          nodeName: 'node-a',
          zone: 'a',
          targetRef: { kind: 'Pod', name: 'api-0', namespace: 'shop', uid: 'u' },
        },
        { addresses: ['10.0.0.2'], conditions: { ready: false } },
      ],
    },
    { labels: { 'kubernetes.io/service-name': 'api', app: 'x' } },
  );
  const lean = kept(kinds.ENDPOINT_SLICE, slice);
  expect(readyEndpoints([lean], undefined)).toEqual(readyEndpoints([slice], undefined));
  expect(allEndpoints([lean])).toEqual(allEndpoints([slice]));
  expect(lean.metadata.labels).toEqual({ 'kubernetes.io/service-name': 'api' });
  expect(JSON.stringify(lean)).not.toMatch(/zone|serving|appProtocol/);
});

it('keeps of an Ingress where it leads and where it is published', () => {
  const backend = (name: string, number: number): object => ({
    backend: { service: { name, port: { number } } },
  });
  const ingress = named(kinds.INGRESS, 'shop/front', {
    spec: {
      defaultBackend: { service: { name: 'api', port: { name: 'http' } } },
      tls: [{ secretName: 'tls' }],
      rules: [
        { host: 'api.test', http: { paths: [backend('api', 80), backend('cart', 81), backend('api', 80)] } },
      ],
    },
    status: { loadBalancer: { ingress: [{ hostname: 'lb.test', ports: [{ port: 80 }] }] } },
  });
  const lean = kept(kinds.INGRESS, ingress);
  const distinct = (object: KubeObject): readonly string[] =>
    [...new Set(ingressBackends(object).map((one) => JSON.stringify(one)))].toSorted();
  expect(distinct(lean)).toEqual(distinct(ingress));
  expect(lean['status']).toEqual({ loadBalancer: { ingress: [{ hostname: 'lb.test' }] } });
  expect(triggerOf(kinds.INGRESS).relations(lean)).toEqual(['Ingress of shop/api', 'Ingress of shop/cart']);
});

describe('what is kept of what a node agent saw', () => {
  const observed = (pod: object): KubeObject =>
    named(kinds.NODE_RUNTIME_OBSERVATION, 'agents/node-a', {
      status: {
        state: 'Ready',
        nodeName: 'node-a',
        pods: [{ uid: 'u', namespace: 'shop', name: 'p', ...pod }],
      },
    });
  const listeners = (count: number): object => ({
    listeners: Array.from({ length: count }, (_, port) => ({ port: port + 1, protocol: 'TCP', inode: 7 })),
  });

  it.each([
    { what: 'a whole list', pod: listeners(1_000) },
    { what: 'a list that is too long to be read', pod: listeners(1_001) },
    { what: 'what is no list', pod: { listeners: 'all', connections: 7 } },
    { what: 'nothing', pod: {} },
    {
      what: 'connections',
      pod: { connections: [{ destIP: '10.0.0.1', destPort: 80, lastSuccess: '2026-01-01T00:00:00Z' }] },
    },
  ])('reads the same as the whole: $what', ({ pod }) => {
    const object = observed(pod);
    const lean = kept(kinds.NODE_RUNTIME_OBSERVATION, object);
    expect(readNodeObservation(lean)).toEqual(readNodeObservation(object));
    expect(JSON.stringify(lean)).not.toContain('inode');
  });
});

describe('nonsense', () => {
  const NONSENSE: readonly unknown[] = [
    undefined,
    null,
    7,
    'text',
    true,
    [],
    [null, 7, 'x', [[]]],
    { a: null },
  ];

  it.each(TRIGGERS.map((trigger) => ({ trigger, name: trigger.kind.kind })))(
    'in a $name reads as not there, and never throws',
    ({ trigger }) => {
      const { kind } = trigger;
      for (const value of NONSENSE) {
        const metadata = { labels: value, annotations: value, ownerReferences: value };
        const wrapped = [
          value,
          { rules: value, ports: value, template: value, jobTemplate: value, target: value },
        ];
        for (const spec of wrapped) {
          const object = {
            ...named(kind, 'shop/api', { spec, status: spec, ports: value, endpoints: value }),
            metadata: { name: 'api', namespace: 'shop', ...metadata },
          } as unknown as KubeObject;
          const lean = keptOf(trigger, object);
          expect(Array.isArray(trigger.relations(lean))).toBe(true);
          expect(() => trigger.essence(lean, 0)).not.toThrow();
        }
      }
    },
  );
});
