import { describe, expect, it } from 'vitest';
import * as kinds from '../../../src/cluster/kinds.ts';
import type { KubeObject } from '../../../src/cluster/objects.ts';
import { observeDependencies } from '../../../src/reconcile/observe/dependencies.ts';
import { observeInterfaces } from '../../../src/reconcile/observe/interfaces.ts';
import { CONNECTION_MS, gist, look, WINDOW_MS, type Scene } from './survey.ts';
import { connection, listener, nodeLease, nodeView, pacto, service, slice } from './survey-objects.ts';

const LISTENS = { listeners: [listener(8080)] };
const PRESENT = { type: 'openapi', present: true };

function interfaceScene(objects: readonly KubeObject[], more: Scene = {}): Scene {
  return {
    agents: true,
    contract: { interfaces: [{ name: 'api', type: 'openapi', ref: 'api.yaml' }] },
    target: { interfaces: new Map([['api', 80]]) },
    objects: [service(), ...objects],
    ...more,
  };
}

const one = slice('web', [{ ready: true, pod: 'n1/p1' }]);
const two = slice('web', [
  { ready: true, pod: 'n1/p1' },
  { ready: true, pod: 'n2/p2', address: '10.0.0.2' },
]);
const fresh = [nodeLease('n1'), nodeLease('n2')];

describe('an interface, by what node agents saw (operator.md §13.4)', () => {
  it.each<[string, readonly KubeObject[], unknown]>([
    ['a Pod listens: present', [one, ...fresh, nodeView('n1', [{ uid: 'p1', ...LISTENS }])], PRESENT],
    [
      'one of two listens: present',
      [two, ...fresh, nodeView('n1', [{ uid: 'p1' }]), nodeView('n2', [{ uid: 'p2', ...LISTENS }])],
      PRESENT,
    ],
    [
      'one listens, the other node is broken: present',
      [two, ...fresh, nodeView('n1', [{ uid: 'p1', ...LISTENS }]), nodeView('n2', [], { state: 'Failed' })],
      PRESENT,
    ],
    [
      'it shares the network of its node: Insufficient',
      [one, ...fresh, nodeView('n1', [{ uid: 'p1', hostNetwork: true, ...LISTENS }])],
      'Insufficient',
    ],
    [
      'another Pod listens beside one on the network of its node: present',
      [
        two,
        ...fresh,
        nodeView('n1', [{ uid: 'p1', hostNetwork: true }]),
        nodeView('n2', [{ uid: 'p2', ...LISTENS }]),
      ],
      PRESENT,
    ],
    ['the Pod is not in the view: Insufficient', [one, ...fresh, nodeView('n1', [])], 'Insufficient'],
    [
      'a Pod of another node than the slice says is not believed: Insufficient',
      [one, ...fresh, nodeView('n1', []), nodeView('n2', [{ uid: 'p1', ...LISTENS }])],
      'Insufficient',
    ],
    [
      'the endpoint names no Pod: Insufficient',
      [slice('web', [{ ready: true }]), ...fresh, nodeView('n1', [{ uid: 'p1' }])],
      'Insufficient',
    ],
    [
      'the agent cannot see: Failed',
      [one, ...fresh, nodeView('n1', [], { state: 'Failed', reason: 'no BTF' })],
      'Failed',
    ],
    ['there is no view: Stale', [one, ...fresh], 'Stale'],
    [
      'the heartbeat is over: Stale',
      [one, nodeLease('n1', -90_000), nodeView('n1', [{ uid: 'p1', ...LISTENS }])],
      'Stale',
    ],
    [
      'one heartbeat is over and nobody else listens: Stale',
      [two, nodeLease('n1', -90_000), nodeLease('n2'), nodeView('n1', []), nodeView('n2', [{ uid: 'p2' }])],
      'Stale',
    ],
    [
      'one cannot see and another is silent: Failed',
      [two, nodeLease('n1', -90_000), nodeLease('n2'), nodeView('n2', [], { state: 'Failed' })],
      'Failed',
    ],
    [
      'a view without a state: Stale',
      [one, ...fresh, nodeView('n1', [{ uid: 'p1', ...LISTENS }], { state: 'Fine' })],
      'Stale',
    ],
  ])('%s', async (_what, objects, expected) => {
    const { observations, streaks } = await look(observeInterfaces, interfaceScene(objects));
    expect(gist(observations)).toEqual([expected]);
    expect(streaks).toEqual({});
  });

  it.each<[string, readonly KubeObject[]]>([
    ['no Pod listens', [one, ...fresh, nodeView('n1', [{ uid: 'p1' }])]],
    [
      'none of two listens',
      [two, ...fresh, nodeView('n1', [{ uid: 'p1' }]), nodeView('n2', [{ uid: 'p2' }])],
    ],
    [
      'it listens on the loopback alone',
      [one, ...fresh, nodeView('n1', [{ uid: 'p1', listeners: [listener(8080, { loopbackOnly: true })] }])],
    ],
    [
      'it listens on another port',
      [one, ...fresh, nodeView('n1', [{ uid: 'p1', listeners: [listener(80)] }])],
    ],
    [
      'it listens over UDP',
      [one, ...fresh, nodeView('n1', [{ uid: 'p1', listeners: [listener(8080, { protocol: 'UDP' })] }])],
    ],
  ])('%s: absent once it has lasted', async (_what, objects) => {
    const first = await look(observeInterfaces, interfaceScene(objects));
    expect(gist(first.observations)).toEqual(['Insufficient']);
    expect(first.streaks).toEqual({ 'interface/api': 0 });
    const over = await look(
      observeInterfaces,
      interfaceScene(objects, { streaks: { 'interface/api': WINDOW_MS } }),
    );
    expect(gist(over.observations)).toEqual([{ type: 'openapi', present: false }]);
  });

  it.each<[string, Scene]>([
    ['there are no agents', interfaceScene([one, nodeView('n1', [{ uid: 'p1' }])], { agents: false })],
    [
      'the port is not TCP',
      {
        ...interfaceScene([]),
        objects: [
          service({ ports: [{ port: 80, targetPort: 8080, protocol: 'UDP' }] }),
          slice('web', [{ ready: true, pod: 'n1/p1' }], { ports: [{ port: 8080, protocol: 'UDP' }] }),
        ],
      },
    ],
  ])('Kubernetes alone decides where %s', async (_what, given) => {
    expect(gist((await look(observeInterfaces, given)).observations)).toEqual([PRESENT]);
  });

  it('asks nobody where nothing is ready', async () => {
    const objects = [slice('web', [{ ready: false, pod: 'n1/p1' }]), nodeView('n1', [], { state: 'Failed' })];
    const { observations, streaks } = await look(observeInterfaces, interfaceScene(objects));
    expect(gist(observations)).toEqual(['Insufficient']);
    expect(streaks).toEqual({ 'interface/api': 0 });
  });

  it.each<[string, readonly KubeObject[], string]>([
    [
      'views',
      [one],
      'what the node agent on n1 saw cannot be read: noderuntimeobservations may not be listed',
    ],
    [
      'why it cannot see',
      [one, ...fresh, nodeView('n1', [], { state: 'Failed', reason: 'no BTF' })],
      'no BTF',
    ],
  ])('says what fails: %s', async (what, objects, reason) => {
    const forbidden = what === 'views' ? [kinds.NODE_RUNTIME_OBSERVATION] : [];
    const { observations } = await look(observeInterfaces, interfaceScene(objects, { forbidden }));
    expect(observations[0]?.outcome).toBe('Failed');
    expect(observations[0]?.reason).toContain(reason);
  });

  it('leaves an uncertain listener of a port that the slice does not say', async () => {
    const open = slice('web', [{ ready: true, pod: 'n1/p1' }], { ports: [{ name: '' }] });
    const given = interfaceScene([open, ...fresh, nodeView('n1', [{ uid: 'p1', ...LISTENS }])]);
    expect(gist((await look(observeInterfaces, given)).observations)).toEqual(['Insufficient']);
  });

  it.each<[string, unknown]>([
    ['too long to be read to its end', Array.from({ length: 1_001 }, () => listener(80))],
    ['none', 'x'],
  ])('a list of listeners that is %s proves no absence', async (_what, listeners) => {
    const given = interfaceScene([one, ...fresh, nodeView('n1', [{ uid: 'p1', listeners }])]);
    const { observations, streaks } = await look(observeInterfaces, given);
    expect(gist(observations)).toEqual(['Insufficient']);
    expect(streaks).toEqual({});
  });
});

describe('the heartbeat of a node (operator.md §13.2)', () => {
  const view = (published: number): KubeObject => nodeView('n1', [{ uid: 'p1', ...LISTENS }], { published });
  it.each<[string, readonly KubeObject[], unknown, readonly number[]]>([
    ['counts as long as its Lease says', [nodeLease('n1', -89_000), view(-800_000)], PRESENT, [1_000]],
    ['ends with it', [nodeLease('n1', -90_000), view(-1_000)], 'Stale', []],
    ['is fresh by a clock that goes ahead', [nodeLease('n1', 60_000), view(0)], PRESENT, [150_000]],
    ['is that of the view without a Lease', [view(-89_000)], PRESENT, [1_000]],
    ['ends three intervals after the view without a Lease', [view(-90_000)], 'Stale', []],
  ])('%s', async (_what, objects, expected, ends) => {
    const { observations, dues, watchedDues } = await look(
      observeInterfaces,
      interfaceScene([one, ...objects]),
    );
    expect(gist(observations)).toEqual([expected]);
    expect(watchedDues).toEqual(ends);
    expect(dues).toEqual([]);
  });
});

describe('a dependency, by what node agents saw (operator.md §13.4)', () => {
  const REACHABLE = { reachable: true };
  const UNREACHABLE = { reachable: false };
  const provider = service({ name: 'pay', spec: { clusterIP: '10.96.0.9', clusterIPs: ['10.96.0.9'] } });
  const up = slice('pay', [{ ready: true, address: '10.0.1.1' }]);
  const down = slice('pay', [{ ready: false, address: '10.0.1.1' }]);
  const own = slice('web', [{ ready: true, pod: 'n1/p1' }]);

  function scene(objects: readonly KubeObject[], more: Scene = {}): Scene {
    return {
      agents: true,
      contract: {
        dependencies: [{ name: 'pay', ref: 'oci://r.test/pay', required: true, compatibility: '^1.0.0' }],
      },
      objects: [
        service(),
        provider,
        pacto('pay', { resolvedRef: 'r.test/pay:1.2.0' }),
        nodeLease('n1'),
        ...objects,
      ],
      ...more,
    };
  }

  function calls(...connections: readonly unknown[]): KubeObject {
    return nodeView('n1', [{ uid: 'p1', connections }]);
  }

  const toService = (events: Parameters<typeof connection>[2]): unknown =>
    connection('10.96.0.9', 80, events);

  it.each<[string, readonly KubeObject[]]>([
    ['the latest call succeeded', [up, own, calls(toService({ success: -1_000, failure: -2_000 }))]],
    ['no call is known', [up, own, calls()]],
    ['no view is known', [up, own]],
    ['the failure was to another Service', [up, own, calls(connection('10.96.0.1', 80, { failure: -1 }))]],
    [
      'the failure was to another port of it',
      [up, own, calls(connection('10.96.0.9', 8080, { failure: -1 }))],
    ],
    [
      'the failure was to another port of the endpoint',
      [up, own, calls(connection('10.0.1.1', 80, { failure: -1 }))],
    ],
    [
      'the failure was to an endpoint that has left',
      [up, own, calls(connection('10.0.1.99', 8080, { failure: -1 }))],
    ],
    ['the failure was long ago', [up, own, calls(toService({ failure: -CONNECTION_MS }))]],
    [
      'the failure was of a Pod on the network of its node',
      [
        up,
        own,
        nodeView('n1', [{ uid: 'p1', hostNetwork: true, connections: [toService({ failure: -1_000 })] }]),
      ],
    ],
    [
      'the failure was of a Pod of somebody else',
      [up, own, nodeView('n1', [{ uid: 'p9', connections: [toService({ failure: -1_000 })] }])],
    ],
    [
      'the agent cannot see',
      [
        up,
        own,
        nodeView('n1', [{ uid: 'p1', connections: [toService({ failure: -1_000 })] }], { state: 'Failed' }),
      ],
    ],
    [
      'another endpoint was reached later',
      [up, own, calls(toService({ failure: -2_000 }), connection('10.0.1.1', 8080, { success: -1_000 }))],
    ],
  ])('ready, and %s: reachable', async (_what, objects) => {
    const { observations, streaks } = await look(
      observeDependencies,
      scene(objects, { streaks: { 'dependency/pay': 5_000 } }),
    );
    expect(gist(observations)[0]).toEqual(REACHABLE);
    expect(streaks).toEqual({});
  });

  it.each<[string, readonly KubeObject[]]>([
    [
      'ready, and the latest call to the Service failed',
      [up, own, calls(toService({ success: -2_000, failure: -1_000 }))],
    ],
    [
      'ready, and the latest call to an endpoint failed',
      [up, own, calls(connection('10.0.1.1', 8080, { failure: -1_000 }))],
    ],
    [
      'ready, and the call to an endpoint failed by its address in IPv6',
      [up, own, calls(connection('::ffff:10.0.1.1', 8080, { failure: -1_000 }))],
    ],
    [
      'ready, and the call of a Pod that is not ready itself failed',
      [up, slice('web', [{ ready: false, pod: 'n1/p1' }]), calls(toService({ failure: -1_000 }))],
    ],
    ['nothing ready, and a failed call', [down, own, calls(toService({ failure: -1_000 }))]],
    ['nothing ready, and no call', [down, own, calls()]],
    ['nothing ready, and a success long ago', [down, own, calls(toService({ success: -CONNECTION_MS }))]],
  ])('%s: unreachable once it has lasted', async (_what, objects) => {
    const first = await look(observeDependencies, scene(objects));
    expect(gist(first.observations)[0]).toBe('Insufficient');
    expect(first.streaks).toEqual({ 'dependency/pay': 0 });
    const over = await look(
      observeDependencies,
      scene(objects, { streaks: { 'dependency/pay': WINDOW_MS } }),
    );
    expect(gist(over.observations)[0]).toEqual(UNREACHABLE);
  });

  it('nothing ready, and a recent success: neither', async () => {
    const objects = [down, own, calls(toService({ success: -1_000 }))];
    const { observations, streaks } = await look(
      observeDependencies,
      scene(objects, { streaks: { 'dependency/pay': WINDOW_MS } }),
    );
    expect(gist(observations)[0]).toBe('Insufficient');
    expect(streaks).toEqual({ 'dependency/pay': WINDOW_MS });
  });

  it.each<[string, Scene, unknown]>([
    ['nobody serves it', scene([up, own], { contract: contractOf('oci://r.test/other') }), 'Unsupported'],
    [
      'two serve it',
      scene([up, own, pacto('pay2', { resolvedRef: 'r.test/pay:1.2.0' }), calls(toService({ failure: -1 }))]),
      'Insufficient',
    ],
    [
      'slices cannot be read',
      scene([calls(toService({ success: -1 }))], { forbidden: [kinds.ENDPOINT_SLICE] }),
      'Failed',
    ],
  ])('changes nothing where %s', async (_what, given, expected) => {
    expect(gist((await look(observeDependencies, given)).observations)[0]).toBe(expected);
  });

  it.each<[string, Scene]>([
    [
      'no Service of our own is named',
      scene([up, calls(toService({ failure: -1 }))], { target: { service: undefined } }),
    ],
    ['there are no agents', scene([up, own, calls(toService({ failure: -1 }))], { agents: false })],
  ])('has no opinion where %s', async (_what, given) => {
    expect(gist((await look(observeDependencies, given)).observations)[0]).toEqual(REACHABLE);
  });

  it('says when the latest call stops to count', async () => {
    const objects = [up, own, calls(toService({ success: -60_000, failure: -100_000 }))];
    const { dues, watchedDues } = await look(observeDependencies, scene(objects));
    expect(dues).toEqual([CONNECTION_MS - 60_000]);
    // The end of the heartbeat, which the watch of the Lease tells.
    expect(watchedDues).toEqual([80_000]);
    const silent = await look(observeDependencies, scene([up, own, calls()]));
    expect(silent.dues).toEqual([]);
  });

  function contractOf(ref: string): NonNullable<Scene['contract']> {
    return { dependencies: [{ name: 'pay', ref, required: true, compatibility: '^1.0.0' }] };
  }
});
