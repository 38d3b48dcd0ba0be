import * as kinds from '../../../src/cluster/kinds.ts';
import type { KubeObject } from '../../../src/cluster/objects.ts';
import { observeHealth } from '../../../src/reconcile/observe/health.ts';
import { observeMetrics } from '../../../src/reconcile/observe/metrics.ts';
import type { HttpAnswer } from '../../../src/reconcile/observe/prober.ts';
import { anObject } from '../../support/builders.ts';
import { NAMESPACE, type Scene } from '../observe/survey.ts';
import { service, slice } from '../observe/survey-objects.ts';
import type { DecisionTable } from './decision.ts';

const READY = slice('web', [{ ready: true }]);
const UNREADY = slice('web', [{ ready: false }]);
const ASKED = { httpGet: { path: '/r', port: 8080 } };
const HTTP = { type: 'http', interface: 'api', path: '/at' };
const UNBOUND: NonNullable<Scene['target']> = { interfaces: new Map() };

interface Promised extends Scene {
  readonly binding?: typeof HTTP | undefined;
}

function capability(type: string, objects: readonly KubeObject[], given: Promised = {}): Scene {
  const { binding = HTTP, ...more } = given;
  return {
    ...more,
    objects,
    contract: {
      capabilities: [{ type, ...(!('binding' in given && given.binding === undefined) && { binding }) }],
    },
    target: { interfaces: new Map([['api', 80]]), ...more.target },
  };
}

function deployment(container: object): KubeObject {
  const containers = [{ ports: [{ containerPort: 8080 }], ...container }];
  return anObject(
    kinds.DEPLOYMENT,
    { name: 'web', namespace: NAMESPACE },
    { spec: { template: { spec: { containers } } } },
  );
}

const PROBED = deployment({ readinessProbe: ASKED });

function health(objects: readonly KubeObject[], more: Promised = {}): Scene {
  return capability('health', objects, more);
}

export const HEALTH: DecisionTable = {
  heading: 'Health',
  dimension: observeHealth,
  kind: 'CapabilityObserved',
  streak: 'capability/health',
  scenes: {
    'no binding in the contract': health([service(), PROBED, READY], { binding: undefined }),
    'bound over anything but `http`': health([service(), PROBED, READY], {
      binding: { ...HTTP, type: 'grpc' },
    }),
    'its interface is not bound': health([service(), PROBED, READY], { target: UNBOUND }),
    'the target has no Service, or it does not exist': [
      health([PROBED, READY]),
      health([service(), PROBED, READY], { target: { service: undefined } }),
    ],
    'the Service has no such port': health([service({ ports: [{ port: 81 }] }), PROBED, READY]),
    'the Service cannot be read': health([service(), PROBED, READY], { forbidden: [kinds.SERVICE] }),
  },
};

function answering(status: number): Scene {
  return health([service()], {
    settings: { probing: true },
    prober: {
      get: () =>
        Promise.resolve({ answered: true, status, contentType: '', body: new Uint8Array() } as HttpAnswer),
    },
  });
}

export const ACTIVE_HEALTH: DecisionTable = {
  ...HEALTH,
  heading: 'Health that is asked for',
  scenes: {
    '200 to 399': [200, 204, 301, 399].map(answering),
    '404': answering(404),
    'any other status': [199, 400, 401, 403, 405, 429, 500, 503].map(answering),
  },
};

export const PASSIVE_HEALTH: DecisionTable = {
  ...HEALTH,
  heading: 'Health by what Kubernetes asks',
  scenes: {
    'a readiness probe over HTTP, and a ready endpoint': health([service(), PROBED, READY]),
    'a readiness probe over HTTP, and no ready endpoint': health([service(), PROBED, UNREADY]),
    'EndpointSlices cannot be read': health([service(), PROBED, READY], {
      forbidden: [kinds.ENDPOINT_SLICE],
    }),
    'a readiness probe of another kind, only a liveness probe, or none': [
      { readinessProbe: { tcpSocket: { port: 8080 } } },
      { livenessProbe: ASKED },
      {},
    ].map((container) => health([service(), deployment(container), READY])),
    'a readiness probe on another container alone': health([
      service(),
      deployment({ ports: [{ containerPort: 9000 }], readinessProbe: ASKED }),
      READY,
    ]),
    'no workload, or it cannot be read': [
      health([service(), READY]),
      health([service(), PROBED, READY], { forbidden: [kinds.DEPLOYMENT] }),
    ],
  },
};

function metrics(answer: Partial<HttpAnswer>, more: Promised = {}): Scene {
  return capability('metrics', [service()], {
    settings: { metrics: true },
    prober: {
      get: () =>
        Promise.resolve({
          answered: true,
          status: 200,
          contentType: 'text/plain',
          body: Buffer.from('up 1\n'),
          ...answer,
        } as HttpAnswer),
    },
    ...more,
  });
}

export const METRICS: DecisionTable = {
  heading: 'Metrics',
  dimension: observeMetrics,
  kind: 'CapabilityObserved',
  scenes: {
    'metrics are not looked for': metrics({}, { settings: { metrics: false } }),
    'no binding, or not over `http`, or its interface is not bound': [
      metrics({}, { binding: undefined }),
      metrics({}, { binding: { ...HTTP, type: 'grpc' } }),
      metrics({}, { target: UNBOUND }),
    ],
    'no Service, or it has no such port': [
      metrics({}, { target: { service: undefined } }),
      { ...metrics({}), objects: [] },
      { ...metrics({}), objects: [service({ ports: [{ port: 81 }] })] },
    ],
    'the Service is of type ExternalName': {
      ...metrics({}),
      objects: [service({ spec: { type: 'ExternalName' } })],
    },
    'nothing says where they are, and the contract has no path': metrics(
      {},
      { binding: { type: 'http', interface: 'api' } as typeof HTTP },
    ),
    '200, and metrics in the text format or that of OpenMetrics': [
      metrics({}),
      metrics({ contentType: 'application/openmetrics-text; version=1.0.0' }),
    ],
    '200, and anything else': [
      metrics({ contentType: 'application/json' }),
      metrics({ body: Buffer.from('hello there\n') }),
      metrics({ body: new Uint8Array() }),
    ],
    'any other status': [204, 302, 404, 500].map((status) => metrics({ status })),
    'nobody answers': metrics({ answered: false, reason: 'refused' }),
    'the Service cannot be read': metrics({}, { forbidden: [kinds.SERVICE] }),
  },
};

function serviceWith(
  ports: readonly object[],
  annotations: Readonly<Record<string, string>> = {},
): KubeObject {
  return anObject(
    kinds.SERVICE,
    { name: 'web', namespace: NAMESPACE, labels: { app: 'web' }, annotations },
    { spec: { selector: { app: 'web' }, ports: [{ port: 80, name: 'http', targetPort: 'web' }, ...ports] } },
  );
}

function monitor(kind: kinds.Kind, spec: object): KubeObject {
  const selector = { matchLabels: { app: 'web' } };
  return anObject(kind, { name: 'm', namespace: NAMESPACE }, { spec: { selector, ...spec } });
}

const STATS = { port: 90, name: 'stats', targetPort: 9090 };
const POD_PORT = deployment({ ports: [{ name: 'scrape', containerPort: 9090 }] });

function place(...objects: readonly KubeObject[]): Scene {
  return { ...metrics({}), objects };
}

/** In the order in which they are tried. */
export const METRICS_PLACES: Readonly<Record<string, Scene>> = {
  'a ServiceMonitor that selects the Service': place(
    serviceWith([STATS]),
    monitor(kinds.SERVICE_MONITOR, { endpoints: [{ port: 'stats', path: '/own' }] }),
  ),
  'a PodMonitor that selects what the Service selects': place(
    serviceWith([STATS]),
    POD_PORT,
    monitor(kinds.POD_MONITOR, { podMetricsEndpoints: [{ port: 'scrape', path: '/own' }] }),
  ),
  'annotations `prometheus.io/scrape: "true"`, `/port` and `/path` of the Service': place(
    serviceWith([STATS], {
      'prometheus.io/scrape': 'true',
      'prometheus.io/port': '90',
      'prometheus.io/path': '/own',
    }),
  ),
  'a Service port named `metrics` or `http-metrics`': place(serviceWith([{ ...STATS, name: 'metrics' }])),
  'the binding of the contract': place(serviceWith([])),
};
