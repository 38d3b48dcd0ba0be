/** Which Pods may use an agent account (node-identity.md NI08). */
import type { KubeObject, UserInfo } from '../../../src/cluster/objects.ts';
import {
  AGENT_ACCOUNT,
  AGENT_NAMESPACE,
  aDaemonSet,
  aKubelet,
  aPod,
  aServiceAccountUser,
  aUser,
  ownerReferenceTo,
  uidOf,
  type PodOptions,
  type ReviewOptions,
} from '../../support/builders.ts';
import { casesOf, type Row } from './case.ts';

const controller = aServiceAccountUser({ namespace: 'kube-system', name: 'daemon-set-controller' });
const replicaSets = aServiceAccountUser({ namespace: 'kube-system', name: 'replicaset-controller' });
const person = aUser({ username: 'admin', groups: ['system:masters'] });
const daemonSet = aDaemonSet();
const owner = ownerReferenceTo(daemonSet);

/** An agent Pod as the DaemonSet controller sends it: no node yet. */
const agentPod = (options: PodOptions = {}): KubeObject =>
  aPod({
    name: 'pacto-node-agent-x7k2p',
    namespace: AGENT_NAMESPACE,
    serviceAccount: AGENT_ACCOUNT,
    controller: daemonSet,
    ...options,
  });
const create = (user: UserInfo, object: KubeObject): ReviewOptions => ({ user, object });
const withSpec = (changes: object): KubeObject => {
  const pod = agentPod();
  return { ...pod, spec: { ...(pod['spec'] as object), ...changes } };
};
const debugged = withSpec({
  ephemeralContainers: [{ name: 'debugger', image: 'registry.example/debug:1', targetContainerName: 'main' }],
});
const live = { cluster: [daemonSet] };
const NO_LOOKUP = { webhookOnly: 'CEL cannot look a DaemonSet up' } as const;

const ROWS: readonly Row[] = [
  [
    'NI08 allows a Pod that the DaemonSet controller makes for the agent',
    [],
    create(controller, agentPod()),
    live,
  ],
  ['NI08 denies a person the same Pod', ['AGENT_POD_CREATOR'], create(person, agentPod()), live],
  [
    'NI08 denies another controller the same Pod',
    ['AGENT_POD_CREATOR'],
    create(replicaSets, agentPod()),
    live,
  ],
  [
    'NI08 denies a bare Pod with the agent account',
    ['AGENT_POD_CREATOR', 'AGENT_POD_OWNER'],
    create(person, aPod({ name: 'web', namespace: AGENT_NAMESPACE, serviceAccount: AGENT_ACCOUNT })),
    live,
  ],
  [
    'NI08 denies a Pod that chose its node',
    ['AGENT_POD_NODE_NAME'],
    create(controller, agentPod({ node: 'node-b' })),
    live,
  ],
  [
    'NI08 denies an owner with the name of the DaemonSet and another uid',
    ['AGENT_POD_OWNER'],
    create(controller, agentPod({ ownerReferences: [{ ...owner, uid: uidOf('DaemonSet', 'older') }] })),
    { ...live, ...NO_LOOKUP },
  ],
  [
    'NI08 denies an owner that is gone',
    ['AGENT_POD_OWNER'],
    create(controller, agentPod()),
    { cluster: [], ...NO_LOOKUP },
  ],
  [
    'NI08 denies another DaemonSet as owner',
    ['AGENT_POD_OWNER'],
    create(controller, agentPod({ controller: aDaemonSet({ name: 'other' }) })),
    { cluster: [daemonSet, aDaemonSet({ name: 'other' })] },
  ],
  [
    'NI08 denies an owner of another kind with the name of the DaemonSet',
    ['AGENT_POD_OWNER'],
    create(controller, agentPod({ ownerReferences: [{ ...owner, kind: 'ReplicaSet' }] })),
    live,
  ],
  [
    'NI08 denies an owner that is no controller',
    ['AGENT_POD_OWNER'],
    create(controller, agentPod({ ownerReferences: [{ ...owner, controller: false }] })),
    live,
  ],
  [
    'NI08 denies two controllers',
    ['AGENT_POD_OWNER'],
    create(controller, agentPod({ ownerReferences: [owner, { ...owner, uid: uidOf('DaemonSet', 'x') }] })),
    { ...live, unitOnly: 'the API server refuses two controllers first' },
  ],
  [
    'NI08 allows a DaemonSet that is configured',
    [],
    create(controller, agentPod({ controller: aDaemonSet({ name: 'other' }) })),
    {
      cluster: [aDaemonSet({ name: 'other' })],
      settings: {
        pods: {
          controllerUsernames: ['system:serviceaccount:kube-system:daemon-set-controller'],
          daemonSets: [`${AGENT_NAMESPACE}/other`],
        },
      },
      webhookOnly: 'the native policy has its DaemonSets written in it',
    },
  ],
  [
    'NI08 denies a kubelet’s mirror Pod',
    ['AGENT_POD_MIRROR', 'AGENT_POD_CREATOR', 'AGENT_POD_NODE_NAME', 'AGENT_POD_OWNER'],
    create(
      aKubelet(),
      aPod({
        name: 'static-node-a',
        namespace: AGENT_NAMESPACE,
        serviceAccount: AGENT_ACCOUNT,
        node: 'node-a',
        annotations: { 'kubernetes.io/config.mirror': 'x' },
      }),
    ),
    { unitOnly: 'NodeRestriction refuses a mirror Pod with an account first' },
  ],
  [
    'NI08 denies a mirror Pod whoever creates it',
    ['AGENT_POD_MIRROR', 'AGENT_POD_NODE_NAME'],
    create(controller, agentPod({ annotations: { 'kubernetes.io/config.mirror': 'x' }, node: 'node-a' })),
    live,
  ],
  [
    'NI08 denies the account under its older field name',
    ['AGENT_POD_CREATOR', 'AGENT_POD_OWNER'],
    create(person, {
      ...aPod({ namespace: AGENT_NAMESPACE }),
      spec: {
        serviceAccount: AGENT_ACCOUNT,
        containers: [{ name: 'main', image: 'registry.example/web:1' }],
      },
    }),
    live,
  ],
  [
    'NI08 allows a Pod with another account in the agents’ namespace',
    [],
    create(person, aPod({ namespace: AGENT_NAMESPACE, serviceAccount: 'other' })),
  ],
  [
    'NI08 allows a Pod with an account of the same name in another namespace',
    [],
    create(person, aPod({ namespace: 'default', serviceAccount: AGENT_ACCOUNT })),
  ],
  [
    'NI08 allows changing the labels of an agent Pod',
    [],
    { user: person, oldObject: agentPod(), object: agentPod({ labels: { 'example.com/seen': 'yes' } }) },
  ],
  [
    'NI08 denies changing the image of an agent Pod',
    ['AGENT_POD_CHANGED'],
    { user: person, oldObject: agentPod(), object: agentPod({ image: 'registry.example/evil:1' }) },
  ],
  [
    'NI08 denies a debug container in an agent Pod',
    ['AGENT_POD_CHANGED'],
    { user: person, oldObject: agentPod(), object: debugged, subResource: 'ephemeralcontainers' },
  ],
  [
    'NI08 allows a debug container in another Pod',
    [],
    {
      user: person,
      oldObject: aPod({ namespace: AGENT_NAMESPACE }),
      object: aPod({ namespace: AGENT_NAMESPACE }),
      subResource: 'ephemeralcontainers',
    },
  ],
];

export const podCases = casesOf('pods', ROWS);
