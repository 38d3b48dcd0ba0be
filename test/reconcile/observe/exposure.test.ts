import { describe, expect, it } from 'vitest';
import * as kinds from '../../../src/cluster/kinds.ts';
import type { KubeObject } from '../../../src/cluster/objects.ts';
import { observeExposure } from '../../../src/reconcile/observe/exposure.ts';
import { anObject } from '../../support/builders.ts';
import { gist, look, NAMESPACE, type Scene } from './survey.ts';
import { service } from './survey-objects.ts';

const EXTERNAL = { exposure: 'external' };
const INTERNAL = { exposure: 'internal' };
const PUBLIC = [{ ip: '8.8.8.8' }];
const PRIVATE = [{ ip: '10.1.2.3' }];
const NAMED = [{ hostname: 'lb.example.test' }];
const TWO_PORTS = [
  { port: 80, name: 'http' },
  { port: 90, name: 'admin' },
];

function balancer(ingress: unknown, ports: unknown = TWO_PORTS): KubeObject {
  return service({ ports, spec: { type: 'LoadBalancer' }, ingress });
}

const plain = service({ ports: TWO_PORTS });

/** @param backends the port of each backend. */
function ingress(
  status: unknown,
  backends: readonly unknown[],
  { to = 'web', namespace = NAMESPACE, name = 'in' } = {},
): KubeObject {
  const paths = backends.map((port) => ({ backend: { service: { name: to, port } } }));
  return anObject(
    kinds.INGRESS,
    { name, namespace },
    { spec: { rules: [{ http: { paths } }] }, status: { loadBalancer: { ingress: status } } },
  );
}

function route(to: string): KubeObject {
  return anObject(
    kinds.HTTP_ROUTE,
    { name: 'route', namespace: 'edge' },
    { spec: { rules: [{ backendRefs: [{ name: to }] }] } },
  );
}

const byNumber = [{ number: 80 }];

async function exposure(scene: Scene, bound: string | number | undefined = 80): Promise<readonly unknown[]> {
  const { observations, streaks } = await look(observeExposure, {
    ...scene,
    contract: { interfaces: [{ name: 'api', type: 'openapi', ref: 'api.yaml' }] },
    target: { interfaces: new Map(bound === undefined ? [] : [['api', bound]]), ...scene.target },
  });
  expect(streaks).toEqual({});
  return gist(observations);
}

describe('the exposure of a bound interface (operator.md §5.3)', () => {
  it.each<[string, readonly KubeObject[], unknown]>([
    ['a LoadBalancer with a public address: external', [balancer(PUBLIC)], EXTERNAL],
    ['one of several addresses is public: external', [balancer([...PRIVATE, ...PUBLIC])], EXTERNAL],
    ['a LoadBalancer with a private address: internal', [balancer(PRIVATE)], INTERNAL],
    ['a LoadBalancer without an address: internal', [balancer(undefined)], INTERNAL],
    ['a LoadBalancer with a name: unknown', [balancer(NAMED)], 'Insufficient'],
    ['an address in place of a name', [balancer([{ hostname: '8.8.8.8' }])], EXTERNAL],
    [
      'an address that a Service of another type once had: internal',
      [service({ ports: TWO_PORTS, ingress: PUBLIC })],
      INTERNAL,
    ],
    ['an Ingress with a public address: external', [plain, ingress(PUBLIC, byNumber)], EXTERNAL],
    ['an Ingress by the name of the port: external', [plain, ingress(PUBLIC, [{ name: 'http' }])], EXTERNAL],
    ['an Ingress with a private address: internal', [plain, ingress(PRIVATE, byNumber)], INTERNAL],
    ['an Ingress without an address: internal', [plain, ingress(undefined, byNumber)], INTERNAL],
    ['an Ingress with a name: unknown', [plain, ingress(NAMED, byNumber)], 'Insufficient'],
    ['an Ingress to another port: internal', [plain, ingress(PUBLIC, [{ number: 90 }])], INTERNAL],
    [
      'an Ingress to another Service: internal',
      [plain, ingress(PUBLIC, byNumber, { to: 'other' })],
      INTERNAL,
    ],
    [
      'an Ingress of another namespace: internal',
      [plain, ingress(PUBLIC, byNumber, { namespace: 'other' })],
      INTERNAL,
    ],
    [
      'two Ingresses, one of them public: external',
      [plain, ingress(NAMED, byNumber), ingress(PUBLIC, byNumber, { name: 'in2' })],
      EXTERNAL,
    ],
    ['a NodePort: unknown', [service({ ports: TWO_PORTS, spec: { type: 'NodePort' } })], 'Insufficient'],
    [
      'a NodePort behind a public Ingress: external',
      [service({ ports: TWO_PORTS, spec: { type: 'NodePort' } }), ingress(PUBLIC, byNumber)],
      EXTERNAL,
    ],
    ['an HTTPRoute: unknown', [plain, route('web')], 'Insufficient'],
    ['an HTTPRoute to another Service: internal', [plain, route('other')], INTERNAL],
    ['nothing that publishes it: internal', [plain], INTERNAL],
    ['no such port: unknown', [balancer(PUBLIC, [{ port: 81 }])], 'Insufficient'],
    ['a status that is none: internal', [{ ...balancer(PUBLIC), status: 'x' }], INTERNAL],
    ['addresses that are none: internal', [balancer([null, 'x', { ip: 7, hostname: [] }])], INTERNAL],
  ])('%s', async (_what, objects, expected) => {
    expect(await exposure({ objects })).toEqual([expected]);
  });

  it.each<[string, Scene]>([
    ['the target has none', { objects: [plain], target: { service: undefined } }],
    ['it is not there', { objects: [] }],
  ])('is not spoken of without a Service: %s', async (_what, scene) => {
    expect(await exposure(scene)).toEqual([]);
  });

  it.each<[string, Scene, unknown]>([
    ['the Service cannot be read', { objects: [plain], forbidden: [kinds.SERVICE] }, 'Failed'],
    ['Ingresses cannot be read', { objects: [plain], forbidden: [kinds.INGRESS] }, 'Failed'],
    ['HTTPRoutes cannot be read', { objects: [plain], forbidden: [kinds.HTTP_ROUTE] }, 'Failed'],
    [
      'the Service proves it, whatever cannot be read',
      { objects: [balancer(PUBLIC)], forbidden: [kinds.INGRESS, kinds.HTTP_ROUTE] },
      EXTERNAL,
    ],
    [
      'an Ingress proves it, whatever cannot be read',
      { objects: [plain, ingress(PUBLIC, byNumber)], forbidden: [kinds.HTTP_ROUTE] },
      EXTERNAL,
    ],
  ])('%s', async (_what, scene, expected) => {
    expect(await exposure(scene)).toEqual([expected]);
  });
});

describe('the exposure of an interface without a binding', () => {
  it.each<[string, readonly KubeObject[], unknown]>([
    ['every port of the Service is published: external', [balancer(PUBLIC)], EXTERNAL],
    [
      'an Ingress to every port: external',
      [plain, ingress(PUBLIC, [{ number: 80 }, { name: 'admin' }])],
      EXTERNAL,
    ],
    ['an Ingress to one of two ports: unknown', [plain, ingress(PUBLIC, byNumber)], 'Insufficient'],
    ['an Ingress to the only port: external', [service(), ingress(PUBLIC, byNumber)], EXTERNAL],
    ['no port is published: internal', [plain], INTERNAL],
    ['there are no ports: unknown', [balancer(PUBLIC, [])], 'Insufficient'],
  ])('%s', async (_what, objects, expected) => {
    const given: Scene = { objects, target: { interfaces: new Map() } };
    expect(await exposure(given)).toEqual([expected]);
  });
});
