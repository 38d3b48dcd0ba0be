import { describe, expect, it } from 'vitest';
import * as kinds from '../../../src/cluster/kinds.ts';
import type { KubeObject } from '../../../src/cluster/objects.ts';
import { observeHealth } from '../../../src/reconcile/observe/health.ts';
import type { HttpAnswer, ProbeTarget } from '../../../src/reconcile/observe/prober.ts';
import { anObject } from '../../support/builders.ts';
import { gist, look, NAMESPACE, WINDOW_MS, type Scene } from './survey.ts';
import { service, slice } from './survey-objects.ts';

const PRESENT = { present: true };
const STREAK = 'capability/health';
const BINDING = { type: 'http', interface: 'api', path: '/healthz' };
const ASKED = { httpGet: { path: '/r', port: 8080 } };
const OLD = { [STREAK]: WINDOW_MS };

function scene(objects: readonly KubeObject[], more: Scene = {}): Scene {
  return {
    contract: { capabilities: [{ type: 'health', binding: BINDING }] },
    objects,
    ...more,
    target: { interfaces: new Map<string, string | number>([['api', 80]]), ...more.target },
  };
}

function deployment(containers: unknown): KubeObject {
  return anObject(
    kinds.DEPLOYMENT,
    { name: 'web', namespace: NAMESPACE },
    { spec: { template: { spec: { containers } } } },
  );
}

function container(readinessProbe: unknown, ports: unknown = [{ containerPort: 8080 }]): unknown {
  return { name: 'main', ports, readinessProbe };
}

const probed = deployment([container(ASKED)]);
const ready = slice('web', [{ ready: true }]);
const unready = slice('web', [{ ready: false }]);

function answering(status: number, asked: unknown[] = []): Scene {
  return {
    settings: { probing: true },
    prober: {
      get: (target: ProbeTarget, path: string): Promise<HttpAnswer> => {
        asked.push([target, path]);
        return Promise.resolve({ answered: true, status, contentType: '', body: new Uint8Array() });
      },
    },
  };
}

describe('health that cannot be looked for (operator.md §5.5)', () => {
  const bound = [service(), probed, ready];
  const elsewhere = (binding: unknown): Scene =>
    scene(bound, {
      contract: { capabilities: [{ type: 'health', ...(binding as { binding: typeof BINDING }) }] },
    });
  it.each<[string, Scene, unknown]>([
    ['no binding: Unsupported', elsewhere({}), 'Unsupported'],
    ['bound over gRPC: Unsupported', elsewhere({ binding: { ...BINDING, type: 'grpc' } }), 'Unsupported'],
    [
      'no binding of its interface: Unsupported',
      scene(bound, { target: { interfaces: new Map() } }),
      'Unsupported',
    ],
    [
      'a port of that name does not help: Unsupported',
      scene([service({ ports: [{ port: 80, name: 'api', targetPort: 8080 }] }), probed, ready], {
        target: { interfaces: new Map() },
        settings: { nameMatch: true },
      }),
      'Unsupported',
    ],
    ['no Service: Unsupported', scene([probed, ready]), 'Unsupported'],
    [
      'a target without a Service: Unsupported',
      scene([service(), probed, ready], { target: { service: undefined } }),
      'Unsupported',
    ],
    ['no such port: Unsupported', scene([service({ ports: [{ port: 81 }] }), probed, ready]), 'Unsupported'],
    [
      'a name is no number: Unsupported',
      scene([service({ ports: [{ port: 80, name: 'http' }] }), probed, ready], {
        target: { interfaces: new Map([['api', '80']]) },
      }),
      'Unsupported',
    ],
    ['the Service cannot be read: Failed', scene(bound, { forbidden: [kinds.SERVICE] }), 'Failed'],
  ])('%s', async (_what, given, wanted) => {
    expect(gist((await look(observeHealth, given)).observations)).toEqual([wanted]);
  });

  it('is not looked for where the contract has none', async () => {
    expect(
      (await look(observeHealth, scene(bound, { contract: { capabilities: [] } }))).observations,
    ).toEqual([]);
  });
});

describe('health that is asked for', () => {
  const objects = [service()];
  it.each([
    [200, PRESENT],
    [204, PRESENT],
    [299, PRESENT],
    [301, PRESENT],
    [304, PRESENT],
    [399, PRESENT],
    [400, 'Insufficient'],
    [401, 'Insufficient'],
    [403, 'Insufficient'],
    [405, 'Insufficient'],
    [410, 'Insufficient'],
    [429, 'Insufficient'],
    [500, 'Insufficient'],
    [503, 'Insufficient'],
  ])('an answer %i: %j', async (status, wanted) => {
    const { observations, streaks } = await look(
      observeHealth,
      scene(objects, { ...answering(status), streaks: { [STREAK]: 10_000 } }),
    );
    expect(gist(observations)).toEqual([wanted]);
    // Only what is there ends a streak, and only a 404 begins or confirms one.
    expect(streaks).toEqual(wanted === PRESENT ? {} : { [STREAK]: 10_000 });
  });

  it.each<[string, Readonly<Record<string, number>>, unknown, number]>([
    ['at first: Insufficient', {}, 'Insufficient', 0],
    ['within the window: Insufficient', { [STREAK]: WINDOW_MS - 1_000 }, 'Insufficient', WINDOW_MS - 1_000],
    ['at its end: absent', OLD, { present: false }, WINDOW_MS],
  ])('a 404 %s', async (_when, streaks, wanted, left) => {
    const seen = await look(observeHealth, scene(objects, { ...answering(404), streaks }));
    expect(gist(seen.observations)).toEqual([wanted]);
    expect(seen.streaks).toEqual({ [STREAK]: left });
  });

  it('asks the Service itself for the path of the contract', async () => {
    const asked: unknown[] = [];
    await look(observeHealth, scene(objects, answering(200, asked)));
    expect(asked).toEqual([[{ service: 'web', namespace: NAMESPACE, port: 80 }, '/healthz']]);
  });

  it('is not asked for without probing, nor of a name that leads out of the cluster', async () => {
    const asked: unknown[] = [];
    const { settings: _settings, ...prober } = answering(200, asked);
    await look(observeHealth, scene(objects, prober));
    const alias = service({ spec: { type: 'ExternalName', externalName: 'elsewhere.test' } });
    const { observations } = await look(observeHealth, scene([alias], answering(200, asked)));
    expect(asked).toEqual([]);
    expect(gist(observations)).toEqual(['Insufficient']);
  });

  it('is judged by the readiness of its Pods where nobody answers', async () => {
    const given = scene([service(), probed, ready], { settings: { probing: true }, streaks: OLD });
    const { observations, streaks } = await look(observeHealth, given);
    expect(gist(observations)).toEqual([PRESENT]);
    expect(streaks).toEqual({});
  });
});

describe('health by what Kubernetes asks', () => {
  const named = [{ name: 'http', containerPort: 8080 }];
  it.each<[string, Scene, unknown]>([
    ['a readiness probe over HTTP and a ready endpoint: present', scene([service(), probed, ready]), PRESENT],
    [
      'a target port by name: present',
      scene([
        service({ ports: [{ port: 80, targetPort: 'http' }] }),
        deployment([container(ASKED, named)]),
        ready,
      ]),
      PRESENT,
    ],
    [
      'a sidecar that has the port and the probe: present',
      scene([service(), deployment([{ name: 'main' }, container(ASKED)]), ready]),
      PRESENT,
    ],
    [
      'a target port that no container names: Insufficient',
      scene([
        service({ ports: [{ port: 80, targetPort: 'web' }] }),
        deployment([container(ASKED, named)]),
        ready,
      ]),
      'Insufficient',
    ],
    [
      'a ready sidecar, and no probe on the port itself: Insufficient',
      scene([
        service(),
        deployment([container(undefined), container(ASKED, [{ containerPort: 9000 }])]),
        ready,
      ]),
      'Insufficient',
    ],
    [
      'no container declares the port: Insufficient',
      scene([service(), deployment([container(ASKED, [])]), ready]),
      'Insufficient',
    ],
    ['no probe: Insufficient', scene([service(), deployment([container(undefined)]), ready]), 'Insufficient'],
    [
      'a probe of another kind: Insufficient',
      scene([service(), deployment([container({ tcpSocket: { port: 8080 } })]), ready]),
      'Insufficient',
    ],
    [
      'a liveness probe alone: Insufficient',
      scene([
        service(),
        deployment([{ name: 'main', ports: [{ containerPort: 8080 }], livenessProbe: ASKED }]),
        ready,
      ]),
      'Insufficient',
    ],
    ['no workload: Insufficient', scene([service(), ready]), 'Insufficient'],
    [
      'a workload that cannot be read: Insufficient',
      scene([service(), probed, ready], { forbidden: [kinds.DEPLOYMENT] }),
      'Insufficient',
    ],
    ['no ready endpoint: Failed', scene([service(), probed, unready]), 'Failed'],
    ['no slice: Failed', scene([service(), probed]), 'Failed'],
    [
      'slices that cannot be read: Failed',
      scene([service(), probed, ready], { forbidden: [kinds.ENDPOINT_SLICE] }),
      'Failed',
    ],
    [
      'ready on another port: Failed',
      scene([
        service(),
        probed,
        slice('web', [{ ready: true }], { ports: [{ name: 'admin', port: 9000, protocol: 'TCP' }] }),
      ]),
      'Failed',
    ],
    ['a template of nonsense: Insufficient', scene([service(), deployment('x'), ready]), 'Insufficient'],
    [
      'containers of nonsense: Insufficient',
      scene([service(), deployment([null, 7, { ports: {} }]), ready]),
      'Insufficient',
    ],
  ])('%s', async (_what, given, wanted) => {
    const { observations } = await look(observeHealth, given);
    expect(gist(observations)).toEqual([wanted]);
  });

  it('never contradicts: a streak goes on, and only health ends it', async () => {
    const failed = await look(observeHealth, scene([service(), probed, unready], { streaks: OLD }));
    expect(gist(failed.observations)).toEqual(['Failed']);
    expect(failed.streaks).toEqual(OLD);
    const present = await look(observeHealth, scene([service(), probed, ready], { streaks: OLD }));
    expect(present.streaks).toEqual({});
  });
});
