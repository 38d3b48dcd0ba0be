import * as kinds from '../../../src/cluster/kinds.ts';
import type { KubeObject } from '../../../src/cluster/objects.ts';
import type { WireProtocol } from '../../../src/policies/observation.ts';
import { observeExposure } from '../../../src/reconcile/observe/exposure.ts';
import { observeInterfaces } from '../../../src/reconcile/observe/interfaces.ts';
import { observeProtocols } from '../../../src/reconcile/observe/protocol.ts';
import { anObject } from '../../support/builders.ts';
import { NAMESPACE, type Scene } from '../observe/survey.ts';
import { service, slice } from '../observe/survey-objects.ts';
import type { DecisionTable } from './decision.ts';

const READY = slice('web', [{ ready: true }]);
const UNREADY = slice('web', [{ ready: false }]);
const ALIAS = service({ spec: { type: 'ExternalName', externalName: 'elsewhere.test' } });
const NAMED = service({ ports: [{ port: 80, name: 'api', targetPort: 8080 }] });
const UNBOUND: NonNullable<Scene['target']> = { interfaces: new Map() };
const SERVICELESS: NonNullable<Scene['target']> = { service: undefined };

interface Declared {
  readonly type?: string;
  readonly visibility?: string;
}

function bound(
  objects: readonly KubeObject[],
  { type = 'openapi', visibility, ...more }: Scene & Declared = {},
): Scene {
  const declared = { name: 'api', type, ref: 'api.yaml', ...(visibility !== undefined && { visibility }) };
  return {
    ...more,
    objects,
    contract: { interfaces: [declared] },
    target: { interfaces: new Map([['api', 80]]), ...more.target },
  };
}

function matching(objects: readonly KubeObject[], more: Scene = {}): Scene {
  return { ...bound(objects, { ...more, target: UNBOUND }), settings: { nameMatch: true } };
}

export const AVAILABILITY: DecisionTable = {
  heading: 'Availability',
  dimension: observeInterfaces,
  kind: 'InterfaceObserved',
  streak: 'interface/api',
  scenes: {
    'a ready endpoint on the port': bound([service(), READY]),
    'an endpoint whose `ready` is not set': bound([service(), slice('web', [{}])]),
    'no slice, or none ready': [bound([service()]), bound([service(), UNREADY])],
    'ready on other ports alone': bound([
      service(),
      slice('web', [{ ready: true }], { ports: [{ port: 9000, name: 'x' }] }),
    ]),
    'the Service has no such port': bound([service({ ports: [{ port: 81 }] }), READY]),
    'the Service selects nothing': bound([service({ spec: { selector: {} } }), READY]),
    'the Service is of type ExternalName': bound([ALIAS, READY]),
    'the Service does not exist': bound([READY]),
    'the target names a workload and no Service': bound([service(), READY], { target: SERVICELESS }),
    'Services or EndpointSlices cannot be read': [
      bound([service()], { forbidden: [kinds.ENDPOINT_SLICE] }),
      bound([READY], { forbidden: [kinds.SERVICE] }),
    ],
    'no binding': bound([NAMED, READY], { target: UNBOUND }),
    'no binding, names matched, a ready port of its name': matching([NAMED, READY]),
    'no binding, names matched, anything else': [
      matching([NAMED, UNREADY]),
      matching([service(), READY]),
      matching([READY]),
      matching([NAMED, READY], { forbidden: [kinds.ENDPOINT_SLICE] }),
    ],
  },
};

function speaking(spoken: readonly WireProtocol[], more: Scene & Declared = {}): Scene {
  return bound([service()], {
    settings: { probing: true },
    prober: { protocols: () => Promise.resolve(spoken) },
    ...more,
  });
}

export const PROTOCOL: DecisionTable = {
  heading: 'Protocol',
  dimension: observeProtocols,
  kind: 'InterfaceProtocolObserved',
  beside: true,
  scenes: {
    'probing is off': speaking(['grpc'], { settings: { probing: false } }),
    '`openapi`, the port speaks HTTP': speaking(['http']),
    '`openapi`, the port speaks gRPC alone': speaking(['grpc']),
    '`openapi`, the port greets in another protocol': speaking(['other']),
    '`grpc`, the port speaks gRPC': speaking(['grpc'], { type: 'grpc' }),
    '`grpc`, the port speaks HTTP alone': speaking(['http'], { type: 'grpc' }),
    '`openapi`, the port speaks both': speaking(['grpc', 'http']),
    '`grpc`, the port speaks both': speaking(['http', 'grpc'], { type: 'grpc' }),
    '`asyncapi`': speaking(['http'], { type: 'asyncapi' }),
    'TLS, silence, a refusal, bytes of no known protocol': speaking([]),
    'the port is not TCP': {
      ...speaking(['http']),
      objects: [service({ ports: [{ port: 80, protocol: 'UDP' }] })],
    },
    'no binding, no Service, no such port, ExternalName': [
      speaking(['grpc'], { target: UNBOUND }),
      speaking(['grpc'], { target: SERVICELESS }),
      { ...speaking(['grpc']), objects: [] },
      { ...speaking(['grpc']), objects: [service({ ports: [{ port: 81 }] })] },
      { ...speaking(['grpc']), objects: [ALIAS] },
    ],
    'the Service cannot be read': speaking(['grpc'], { forbidden: [kinds.SERVICE] }),
  },
};

const PUBLIC = [{ ip: '8.8.8.8' }];
const PRIVATE = [{ ip: '10.1.2.3' }];
const NAME = [{ hostname: 'lb.example.test' }];

function balancer(ingress: unknown): KubeObject {
  return service({ spec: { type: 'LoadBalancer' }, ingress });
}

function ingressTo(port: number, status: unknown): KubeObject {
  const backend = { service: { name: 'web', port: { number: port } } };
  return anObject(
    kinds.INGRESS,
    { name: 'in', namespace: NAMESPACE },
    { spec: { rules: [{ http: { paths: [{ backend }] } }] }, status: { loadBalancer: { ingress: status } } },
  );
}

const ROUTE = anObject(
  kinds.HTTP_ROUTE,
  { name: 'route', namespace: 'edge' },
  { spec: { rules: [{ backendRefs: [{ name: 'web' }] }] } },
);

const TWO_PORTS = service({
  ports: [
    { port: 80, name: 'http' },
    { port: 90, name: 'admin' },
  ],
});

export const EXPOSURE: DecisionTable = {
  heading: 'Exposure',
  dimension: observeExposure,
  kind: 'InterfaceExposureObserved',
  beside: true,
  scenes: {
    'a LoadBalancer with a public address': bound([balancer(PUBLIC)]),
    'the same, `visibility: internal`': bound([balancer(PUBLIC)], { visibility: 'internal' }),
    'the same, `visibility: public`': bound([balancer(PUBLIC)], { visibility: 'public' }),
    'a LoadBalancer with private addresses, or with none yet': [
      bound([balancer(PRIVATE)]),
      bound([balancer(undefined)]),
    ],
    'a LoadBalancer with a host name': bound([balancer(NAME)]),
    'an Ingress to the port, with a public address': bound([service(), ingressTo(80, PUBLIC)]),
    'an Ingress to the port, with private addresses, or with none yet': [
      bound([service(), ingressTo(80, PRIVATE)]),
      bound([service(), ingressTo(80, undefined)]),
    ],
    'an Ingress to the port, with a host name': bound([service(), ingressTo(80, NAME)]),
    'an Ingress to another port of the Service': bound([TWO_PORTS, ingressTo(90, PUBLIC)]),
    'a NodePort': bound([service({ spec: { type: 'NodePort' } })]),
    'an HTTPRoute to the Service': bound([service(), ROUTE]),
    'a NodePort or an HTTPRoute, beside a public address': [
      bound([balancer(PUBLIC), ROUTE]),
      bound([service({ spec: { type: 'NodePort' } }), ingressTo(80, PUBLIC)]),
    ],
    'nothing of these': bound([service()]),
    'nothing of these, `visibility: public`': bound([service()], { visibility: 'public' }),
    'the Service has no such port': bound([service({ ports: [{ port: 81 }] })]),
    'no binding, a public address leads to each port': bound([balancer(PUBLIC)], { target: UNBOUND }),
    'no binding, a public address leads to some ports': bound([TWO_PORTS, ingressTo(80, PUBLIC)], {
      target: UNBOUND,
    }),
    'no Service': [bound([]), bound([balancer(PUBLIC)], { target: SERVICELESS })],
    'Services, Ingresses or HTTPRoutes cannot be read, and no public address was seen': [
      kinds.SERVICE,
      kinds.INGRESS,
      kinds.HTTP_ROUTE,
    ].map((kind) => bound([service()], { forbidden: [kind] })),
    'Ingresses or HTTPRoutes cannot be read, beside a public address': [kinds.INGRESS, kinds.HTTP_ROUTE].map(
      (kind) => bound([balancer(PUBLIC)], { forbidden: [kind] }),
    ),
  },
};
