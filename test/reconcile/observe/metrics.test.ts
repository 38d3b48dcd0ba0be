import { describe, expect, it } from 'vitest';
import * as kinds from '../../../src/cluster/kinds.ts';
import type { KubeObject } from '../../../src/cluster/objects.ts';
import { observeMetrics } from '../../../src/reconcile/observe/metrics.ts';
import type { HttpAnswer, ProbeTarget } from '../../../src/reconcile/observe/prober.ts';
import { anObject } from '../../support/builders.ts';
import { gist, look, NAMESPACE, type Scene } from './survey.ts';
import { service } from './survey-objects.ts';

const BINDING = { type: 'http', interface: 'api', path: '/m' };
const UNSEEN = ['Unsupported'];

interface Asked {
  readonly targets: string[];
  readonly prober: NonNullable<Scene['prober']>;
}

/** Answers with metrics unless told otherwise, and notes where it was asked. */
function asking(answer: Partial<HttpAnswer> = {}): Asked {
  const targets: string[] = [];
  const get = ({ service: name, namespace, port }: ProbeTarget, path: string): Promise<HttpAnswer> => {
    targets.push(`${name}.${namespace}:${String(port)}${path}`);
    return Promise.resolve({
      answered: true,
      status: 200,
      contentType: 'text/plain',
      body: Buffer.from('up 1\n'),
      ...answer,
    } as HttpAnswer);
  };
  return { targets, prober: { get } };
}

function scene(objects: readonly KubeObject[], more: Scene = {}): Scene {
  return {
    contract: { capabilities: [{ type: 'metrics', binding: BINDING }] },
    objects,
    settings: { metrics: true },
    ...more,
    target: { interfaces: new Map([['api', 80]]), ...more.target },
  };
}

const PORTS = [
  { port: 80, name: 'web', targetPort: 8080 },
  { port: 90, name: 'stats', targetPort: 'st' },
];

/** The Service has labels `app: web` and selects `app: web`. */
function labelled(ports: unknown = PORTS, annotations: Readonly<Record<string, string>> = {}): KubeObject {
  return anObject(
    kinds.SERVICE,
    { name: 'web', namespace: NAMESPACE, labels: { app: 'web' }, annotations },
    { spec: { selector: { app: 'web' }, ports } },
  );
}

function serviceMonitor(
  endpoints: unknown,
  selector: unknown = { matchLabels: { app: 'web' } },
  more = {},
): KubeObject {
  return anObject(
    kinds.SERVICE_MONITOR,
    { name: 'm', namespace: NAMESPACE },
    { spec: { selector, endpoints, ...more } },
  );
}

function podMonitor(
  podMetricsEndpoints: unknown,
  selector: unknown = { matchLabels: { app: 'web' } },
): KubeObject {
  return anObject(
    kinds.POD_MONITOR,
    { name: 'p', namespace: NAMESPACE },
    { spec: { selector, podMetricsEndpoints } },
  );
}

const workload = anObject(
  kinds.DEPLOYMENT,
  { name: 'web', namespace: NAMESPACE },
  {
    spec: {
      template: {
        spec: {
          containers: [
            {
              ports: [
                { name: 'http', containerPort: 8080 },
                { name: 'st', containerPort: 9090 },
              ],
            },
          ],
        },
      },
    },
  },
);

async function found(given: Scene): Promise<{ asked: readonly string[]; method: string | undefined }> {
  const { targets, prober } = asking();
  const { observations } = await look(observeMetrics, { ...given, prober });
  const [one] = observations;
  return {
    asked: targets,
    method: one?.outcome === 'Observed' ? one.provenance.collector : one?.outcome,
  };
}

describe('where metrics are (operator.md §5.7)', () => {
  const AT_PATH = [`web.${NAMESPACE}:80/m`];
  it.each<[string, readonly KubeObject[], string, readonly string[]]>([
    ['the path of the contract', [labelled()], 'probe', AT_PATH],
    [
      'a monitor of the Service, port by name',
      [labelled(), serviceMonitor([{ port: 'stats', path: '/s' }])],
      'servicemonitor',
      [`web.${NAMESPACE}:90/s`],
    ],
    [
      'a monitor of the Service, port by number',
      [labelled(), serviceMonitor([{ port: 90 }])],
      'servicemonitor',
      [`web.${NAMESPACE}:90/metrics`],
    ],
    [
      'a monitor of the Service, port in digits',
      [labelled(), serviceMonitor([{ port: '80' }])],
      'servicemonitor',
      [`web.${NAMESPACE}:80/metrics`],
    ],
    [
      'a monitor of the Service, by target port',
      [labelled(), serviceMonitor([{ targetPort: 'st' }])],
      'servicemonitor',
      [`web.${NAMESPACE}:90/metrics`],
    ],
    [
      'the first endpoint of a monitor whose port is there',
      [labelled(), serviceMonitor([{ port: 'none' }, {}, null, { port: 'stats' }])],
      'servicemonitor',
      [`web.${NAMESPACE}:90/metrics`],
    ],
    [
      'a monitor that selects everything',
      [labelled(), serviceMonitor([{ port: 'stats' }], {})],
      'servicemonitor',
      [`web.${NAMESPACE}:90/metrics`],
    ],
    [
      'a monitor that selects by expression',
      [
        labelled(),
        serviceMonitor([{ port: 'stats' }], {
          matchExpressions: [{ key: 'app', operator: 'In', values: ['web'] }],
        }),
      ],
      'servicemonitor',
      [`web.${NAMESPACE}:90/metrics`],
    ],
    [
      'not a monitor of another label',
      [labelled(), serviceMonitor([{ port: 'stats' }], { matchLabels: { app: 'x' } })],
      'probe',
      AT_PATH,
    ],
    [
      'not a monitor that excludes it',
      [
        labelled(),
        serviceMonitor([{ port: 'stats' }], {
          matchLabels: { app: 'web' },
          matchExpressions: [{ key: 'app', operator: 'NotIn', values: ['web'] }],
        }),
      ],
      'probe',
      AT_PATH,
    ],
    [
      'not a monitor of an operator that nobody knows',
      [
        labelled(),
        serviceMonitor([{ port: 'stats' }], { matchExpressions: [{ key: 'app', operator: 'Like' }] }),
      ],
      'probe',
      AT_PATH,
    ],
    [
      'not a monitor of other namespaces',
      [labelled(), serviceMonitor([{ port: 'stats' }], {}, { namespaceSelector: { matchNames: ['other'] } })],
      'probe',
      AT_PATH,
    ],
    ['not a monitor of nonsense', [labelled(), serviceMonitor('x', 7)], 'probe', AT_PATH],
    [
      'a monitor of its Pods, by the name of a container port',
      [labelled(), workload, podMonitor([{ port: 'http', path: '/p' }])],
      'podmonitor',
      [`web.${NAMESPACE}:80/p`],
    ],
    [
      'a monitor of its Pods, by the number of a container port that the Service names',
      [labelled(), workload, podMonitor([{ portNumber: 9090 }])],
      'podmonitor',
      [`web.${NAMESPACE}:90/metrics`],
    ],
    [
      'a monitor of its Pods, without a workload, by target port',
      [labelled(), podMonitor([{ targetPort: 8080 }])],
      'podmonitor',
      [`web.${NAMESPACE}:80/metrics`],
    ],
    [
      'not a monitor of a port that no Service port leads to',
      [labelled(), workload, podMonitor([{ port: 'x' }])],
      'probe',
      AT_PATH,
    ],
    [
      'an annotation',
      [
        labelled(PORTS, {
          'prometheus.io/scrape': 'true',
          'prometheus.io/port': '90',
          'prometheus.io/path': '/a',
        }),
      ],
      'annotation',
      [`web.${NAMESPACE}:90/a`],
    ],
    [
      'an annotation with the port of the Pod',
      [labelled(PORTS, { 'prometheus.io/scrape': 'true', 'prometheus.io/port': '8080' })],
      'annotation',
      [`web.${NAMESPACE}:80/metrics`],
    ],
    [
      'an annotation with a port of nobody',
      [labelled(PORTS, { 'prometheus.io/scrape': 'true', 'prometheus.io/port': '1234' })],
      'annotation',
      [`web.${NAMESPACE}:1234/metrics`],
    ],
    ...['0', '-1', '65536', 'web', '8e1', ''].map(
      (port): [string, readonly KubeObject[], string, readonly string[]] => [
        `not an annotation with port ${JSON.stringify(port)}`,
        [labelled(PORTS, { 'prometheus.io/scrape': 'true', 'prometheus.io/port': port })],
        'probe',
        AT_PATH,
      ],
    ),
    [
      'not an annotation that says no',
      [labelled(PORTS, { 'prometheus.io/scrape': 'false', 'prometheus.io/port': '90' })],
      'probe',
      AT_PATH,
    ],
    ...['metrics', 'http-metrics'].map((name): [string, readonly KubeObject[], string, readonly string[]] => [
      `a port of the name ${name}`,
      [labelled([...PORTS, { port: 91, name }])],
      'named-port',
      [`web.${NAMESPACE}:91/m`],
    ]),
    [
      'the first way that finds something',
      [
        labelled([...PORTS, { port: 91, name: 'metrics' }], {
          'prometheus.io/scrape': 'true',
          'prometheus.io/port': '80',
        }),
        podMonitor([{ targetPort: 8080 }]),
        serviceMonitor([{ port: 'stats' }]),
      ],
      'servicemonitor',
      [`web.${NAMESPACE}:90/metrics`],
    ],
  ])('%s', async (_what, objects, method, asked) => {
    expect(await found(scene(objects))).toEqual({ method: `k8s-observer/metrics:${method}`, asked });
  });

  it('passes over monitors that cannot be listed', async () => {
    const given = scene([labelled(), serviceMonitor([{ port: 'stats' }]), podMonitor([{ port: 'st' }])], {
      forbidden: [kinds.SERVICE_MONITOR, kinds.POD_MONITOR],
    });
    expect((await found(given)).method).toBe('k8s-observer/metrics:probe');
  });

  it('is at /metrics of a port of that name, where the contract has no path', async () => {
    const bare = {
      contract: { capabilities: [{ type: 'metrics', binding: { type: 'http', interface: 'api' } }] },
    };
    const named = await found(scene([labelled([...PORTS, { port: 91, name: 'metrics' }])], bare));
    expect(named.asked).toEqual([`web.${NAMESPACE}:91/metrics`]);
    expect(await found(scene([labelled()], bare))).toEqual({ method: 'Unsupported', asked: [] });
  });
});

describe('metrics that are asked for', () => {
  it.each<[string, Partial<HttpAnswer>, unknown]>([
    ['metrics: present', {}, { present: true }],
    ['nobody answers: Failed', { answered: false, reason: 'refused' }, 'Failed'],
    ['another status: Insufficient', { status: 404 }, 'Insufficient'],
    ['a success of another kind: Insufficient', { status: 204 }, 'Insufficient'],
    ['JSON: Insufficient', { contentType: 'application/json' }, 'Insufficient'],
    ['a text that is none: Insufficient', { body: Buffer.from('hello there\n') }, 'Insufficient'],
    ['nothing: Insufficient', { body: new Uint8Array() }, 'Insufficient'],
    [
      'more than is read: present',
      { body: Buffer.from('up 1\n'.repeat(820)).subarray(0, 4_096) },
      { present: true },
    ],
  ])('%s', async (_what, answer, wanted) => {
    const { observations } = await look(observeMetrics, {
      ...scene([labelled()]),
      prober: asking(answer).prober,
    });
    expect(gist(observations)).toEqual([wanted]);
  });

  it.each<[string, Scene, readonly string[]]>([
    [
      'the setting is off: Unsupported',
      scene([labelled()], { settings: { metrics: false, probing: true } }),
      UNSEEN,
    ],
    ['no Service: Unsupported', scene([]), UNSEEN],
    [
      'a target without a Service: Unsupported',
      scene([labelled()], { target: { service: undefined } }),
      UNSEEN,
    ],
    ['unbound: Unsupported', scene([labelled()], { target: { interfaces: new Map() } }), UNSEEN],
    [
      'a name that leads out of the cluster: Unsupported',
      scene([service({ spec: { type: 'ExternalName' } })]),
      UNSEEN,
    ],
    ['the Service cannot be read: Failed', scene([labelled()], { forbidden: [kinds.SERVICE] }), ['Failed']],
    ['the contract has none: nothing', scene([labelled()], { contract: { capabilities: [] } }), []],
  ])('%s, and nobody is asked', async (_what, given, wanted) => {
    const { targets, prober } = asking();
    expect(gist((await look(observeMetrics, { ...given, prober })).observations)).toEqual(wanted);
    expect(targets).toEqual([]);
  });

  it('ends where the look is given up, whatever cannot be listed', async () => {
    const signal = AbortSignal.abort(new Error('given up'));
    await expect(look(observeMetrics, scene([labelled()], { signal }))).rejects.toThrow('given up');
  });
});
