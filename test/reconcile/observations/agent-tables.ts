import * as kinds from '../../../src/cluster/kinds.ts';
import type { KubeObject } from '../../../src/cluster/objects.ts';
import { observeDependencies } from '../../../src/reconcile/observe/dependencies.ts';
import { observeInterfaces } from '../../../src/reconcile/observe/interfaces.ts';
import { CONNECTION_MS, type Scene } from '../observe/survey.ts';
import {
  connection,
  listener,
  nodeLease,
  nodeView,
  pacto,
  service,
  slice,
  type SeenPod,
} from '../observe/survey-objects.ts';
import type { DecisionTable } from './decision.ts';

const ONE = slice('web', [{ ready: true, pod: 'n1/p1' }]);
const TWO = slice('web', [
  { ready: true, pod: 'n1/p1' },
  { ready: true, pod: 'n2/p2', address: '10.0.0.2' },
]);
const FRESH = [nodeLease('n1'), nodeLease('n2')];
const LISTENS = { listeners: [listener(8080)] };
const BROKEN = nodeView('n1', [], { state: 'Failed', reason: 'no BTF' });

function seen(objects: readonly KubeObject[], more: Scene = {}): Scene {
  return {
    agents: true,
    contract: { interfaces: [{ name: 'api', type: 'openapi', ref: 'api.yaml' }] },
    target: { interfaces: new Map([['api', 80]]) },
    objects: [service(), ...objects],
    ...more,
  };
}

function sawPod(more: Partial<SeenPod>): Scene {
  return seen([ONE, ...FRESH, nodeView('n1', [{ uid: 'p1', ...more }])]);
}

export const AGENTS_ON_INTERFACES: DecisionTable = {
  heading: 'Node agents on interfaces',
  dimension: observeInterfaces,
  kind: 'InterfaceObserved',
  streak: 'interface/api',
  scenes: {
    'one Pod listens on the target port': sawPod(LISTENS),
    'all Pods were seen, none listens': sawPod({}),
    'one listens on the loopback, another port or UDP alone': [
      listener(8080, { loopbackOnly: true }),
      listener(80),
      listener(8080, { protocol: 'UDP' }),
    ].map((one) => sawPod({ listeners: [one] })),
    'a Pod shares the network of its node, and no other listens': sawPod({
      hostNetwork: true,
      ...LISTENS,
    }),
    'a Pod is not in what its agent saw, and no other listens': seen([ONE, ...FRESH, nodeView('n1', [])]),
    'the agent of a Pod cannot see, and no other listens': seen([ONE, ...FRESH, BROKEN]),
    'the agent of a Pod is silent, and no other listens': [
      seen([ONE, ...FRESH]),
      seen([ONE, nodeLease('n1', -90_000), nodeView('n1', [{ uid: 'p1', ...LISTENS }])]),
    ],
    'an agent cannot see, or is silent, and another Pod listens': [
      seen([TWO, ...FRESH, BROKEN, nodeView('n2', [{ uid: 'p2', ...LISTENS }])]),
      seen([TWO, ...FRESH, nodeView('n2', [{ uid: 'p2', ...LISTENS }])]),
    ],
    'what agents saw, or their Leases, cannot be read': [kinds.NODE_RUNTIME_OBSERVATION, kinds.LEASE].map(
      (kind) => seen([ONE], { forbidden: [kind] }),
    ),
    'nothing is ready': seen([slice('web', [{ ready: false, pod: 'n1/p1' }]), ...FRESH, BROKEN]),
    'the port is not TCP, or there are no agents': [
      seen([ONE], { agents: false }),
      {
        ...seen([]),
        objects: [
          service({ ports: [{ port: 80, targetPort: 8080, protocol: 'UDP' }] }),
          slice('web', [{ ready: true, pod: 'n1/p1' }], { ports: [{ port: 8080, protocol: 'UDP' }] }),
        ],
      },
    ],
  },
};

const UP = slice('pay', [{ ready: true, address: '10.0.1.1' }]);
const DOWN = slice('pay', [{ ready: false, address: '10.0.1.1' }]);

function calling(provider: readonly KubeObject[], ...connections: readonly unknown[]): Scene {
  return {
    agents: true,
    contract: {
      dependencies: [{ name: 'pay', ref: 'oci://r.test/pay', required: true, compatibility: '^1.0.0' }],
    },
    objects: [
      // What is told of first counts.
      ...provider,
      service(),
      ONE,
      service({ name: 'pay', spec: { clusterIP: '10.96.0.9' } }),
      pacto('pay', { resolvedRef: 'r.test/pay:1.2.0' }),
      ...FRESH,
      nodeView('n1', [{ uid: 'p1', connections }]),
    ],
  };
}

function called(events: Parameters<typeof connection>[2]): unknown {
  return connection('10.96.0.9', 80, events);
}

export const AGENTS_ON_DEPENDENCIES: DecisionTable = {
  heading: 'Node agents on dependencies',
  dimension: observeDependencies,
  kind: 'DependencyReachable',
  streak: 'dependency/pay',
  scenes: {
    'a ready endpoint, the latest call succeeded': calling(
      [UP],
      called({ success: -1_000, failure: -2_000 }),
    ),
    'a ready endpoint, the latest call failed': calling([UP], called({ success: -2_000, failure: -1_000 })),
    'a ready endpoint, no call that counts': [
      calling([UP]),
      calling([UP], called({ failure: -CONNECTION_MS })),
    ],
    'a ready endpoint, the failure was at an endpoint that has left': calling(
      [UP],
      connection('10.0.1.99', 8080, { failure: -1_000 }),
    ),
    'a ready endpoint, and the agents are silent, cannot see or cannot be read': [
      calling([UP, nodeLease('n1', -90_000)], called({ failure: -1_000 })),
      calling([UP, BROKEN], called({ failure: -1_000 })),
      { ...calling([UP], called({ failure: -1_000 })), forbidden: [kinds.NODE_RUNTIME_OBSERVATION] },
    ],
    'no ready endpoint, the latest call succeeded': calling([DOWN], called({ success: -1_000 })),
    'no ready endpoint, the latest call failed, or none that counts': [
      calling([DOWN]),
      calling([DOWN], called({ failure: -1_000 })),
    ],
  },
};
