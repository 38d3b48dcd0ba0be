/** What an agent may do with its own objects, once its node is proved. */
import { POD } from '../../../src/cluster/kinds.ts';
import type { KubeObject, UserInfo } from '../../../src/cluster/objects.ts';
import {
  AGENT_NAMESPACE,
  aKubelet,
  aLease,
  aNode,
  anAgent,
  anAgentPod,
  anObservation,
  aUser,
  uidOf,
  type ReviewOptions,
} from '../../support/builders.ts';
import { casesOf, type Row } from './case.ts';

const agent = anAgent();
const own = aLease();
const foreign = aLease({ name: 'node-b' });
const update = (oldObject: KubeObject, object: KubeObject, user: UserInfo = agent): ReviewOptions => ({
  user,
  object,
  oldObject,
});
const noClaim = anAgent({ node: null });
const noUid = anAgent({ nodeUid: null });
const longName = `${'a'.repeat(63)}.${'b'.repeat(63)}.${'c'.repeat(63)}.${'d'.repeat(61)}`;
const ownerOf = (name: string, more: object = {}): object => ({
  apiVersion: 'v1',
  kind: 'Node',
  name,
  uid: uidOf('Node', name),
  ...more,
});
const owned = (...ownerReferences: readonly object[]): KubeObject => aLease({ ownerReferences });
const tampered = (lease: Parameters<typeof aLease>[0]): KubeObject => aLease(lease);
const daemonSetOwner = { apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'x', uid: 'u' };

const LOOKUP = { webhookOnly: 'CEL cannot look a Pod up', minor: 29 } as const;
const pod = anAgentPod();
const ROWS: readonly Row[] = [
  [
    'NI09 denies a generated name',
    ['NODE_NAME_MISMATCH'],
    { user: agent, object: aLease({ name: 'node-a-x7k2p', generateName: 'node-a-', holder: 'node-a' }) },
    { way: 'generate-name' },
  ],
  [
    'NI09 denies a name that is not generated yet',
    ['NODE_NAME_MISMATCH'],
    { user: agent, object: aLease({ generateName: 'node-a', holder: 'node-a' }), name: '' },
    { unitOnly: 'the mutating phase' },
  ],
  [
    'NI09 allows the own name beside generateName',
    [],
    { user: agent, object: aLease({ name: 'node-a', generateName: 'node-' }) },
  ],
  ['NI10 allows a PUT that creates the own Lease', [], { user: agent, object: own }, { way: 'put' }],
  [
    'NI10 denies a PUT that creates another node’s Lease',
    ['NODE_NAME_MISMATCH'],
    { user: agent, object: foreign },
    { way: 'put' },
  ],
  ['NI11 allows an apply that creates the own Lease', [], { user: agent, object: own }, { way: 'apply' }],
  [
    'NI11 denies an apply that creates another node’s Lease',
    ['NODE_NAME_MISMATCH'],
    { user: agent, object: foreign },
    { way: 'apply' },
  ],
  ['NI11 allows an apply that updates the own Lease', [], update(own, own), { way: 'apply' }],
  [
    'NI11 denies a patch of another node’s Lease',
    ['NODE_NAME_MISMATCH'],
    update(foreign, foreign),
    { way: 'patch' },
  ],
  ['NI12 allows deleting the own Lease', [], { user: agent, oldObject: own }],
  ['NI12 denies deleting another node’s Lease', ['NODE_NAME_MISMATCH'], { user: agent, oldObject: foreign }],
  [
    'NI13 allows the own Lease in a deleted collection',
    [],
    { user: agent, oldObject: own, name: '' },
    { way: 'delete-collection' },
  ],
  [
    'NI13 denies another node’s Lease in a deleted collection',
    ['NODE_NAME_MISMATCH'],
    { user: agent, oldObject: foreign, name: '' },
    { way: 'delete-collection' },
  ],
  [
    'NI14 allows the status of the own observation',
    [],
    { ...update(anObservation(), anObservation()), subResource: 'status' },
  ],
  [
    'NI14 denies the status of another node’s observation',
    ['NODE_NAME_MISMATCH'],
    {
      ...update(anObservation({ name: 'node-b' }), anObservation({ name: 'node-b' })),
      subResource: 'status',
    },
  ],
  [
    'NI15 denies a Lease of the right name among the kubelets’ Leases',
    ['NODE_NAMESPACE_FOREIGN'],
    { user: agent, object: aLease({ namespace: 'kube-node-lease' }) },
  ],
  [
    'NI15 denies deleting the kubelet’s Lease of the own node',
    ['NODE_NAMESPACE_FOREIGN'],
    { user: agent, oldObject: aLease({ namespace: 'kube-node-lease' }) },
  ],
  [
    'NI15 allows a namespace that is configured',
    [],
    { user: agent, object: aLease({ namespace: 'observability' }) },
    {
      settings: { namespaces: ['observability'] },
      webhookOnly: 'the native policy has its namespaces written in it',
    },
  ],
  ['NI16 allows an owner that is the own Node', [], { user: agent, object: owned(ownerOf('node-a')) }],
  [
    'NI16 allows the own Node as owner on update',
    [],
    update(own, owned(ownerOf('node-a', { blockOwnerDeletion: false }))),
  ],
  [
    'NI16 denies another Node as owner',
    ['NODE_OWNER_FOREIGN'],
    { user: agent, object: owned(ownerOf('node-b')) },
  ],
  [
    'NI16 denies the own Node with another uid as owner',
    ['NODE_OWNER_FOREIGN'],
    { user: agent, object: owned(ownerOf('node-a', { uid: uidOf('Node', 'older') })) },
  ],
  [
    'NI16 denies an owner that blocks deletion',
    ['NODE_OWNER_FOREIGN'],
    { user: agent, object: owned(ownerOf('node-a', { blockOwnerDeletion: true })) },
  ],
  [
    'NI16 denies an owner that is no Node',
    ['NODE_OWNER_FOREIGN'],
    { user: agent, object: owned(daemonSetOwner) },
  ],
  [
    'NI16 denies the own Node as owner where the token has no uid of it',
    ['NODE_OWNER_FOREIGN'],
    { user: noUid, object: owned(ownerOf('node-a')) },
  ],
  ['NI16 allows a foreign owner that stays', [], update(owned(daemonSetOwner), owned(daemonSetOwner))],
  ['NI16 denies removing a foreign owner', ['NODE_OWNER_FOREIGN'], update(owned(daemonSetOwner), own)],
  [
    'NI16 allows the live Node as owner where the Pod is the proof',
    [],
    { user: noClaim, object: owned(ownerOf('node-a')) },
    { ...LOOKUP, cluster: [pod, aNode()] },
  ],
  [
    'NI16 denies a Node of another uid as owner where the Pod is the proof',
    ['NODE_OWNER_FOREIGN'],
    { user: noClaim, object: owned(ownerOf('node-a', { uid: uidOf('Node', 'older') })) },
    { ...LOOKUP, cluster: [pod, aNode()] },
  ],
  [
    'NI17 denies a finalizer on create',
    ['NODE_FINALIZERS_CHANGED'],
    { user: agent, object: tampered({ finalizers: ['example.com/stuck'] }) },
  ],
  [
    'NI17 denies adding a finalizer',
    ['NODE_FINALIZERS_CHANGED'],
    update(own, tampered({ finalizers: ['example.com/stuck'] })),
  ],
  [
    'NI17 denies removing a finalizer',
    ['NODE_FINALIZERS_CHANGED'],
    update(tampered({ finalizers: ['example.com/kept'] }), own),
  ],
  [
    'NI17 allows a finalizer that stays',
    [],
    update(
      tampered({ finalizers: ['example.com/kept'] }),
      tampered({ finalizers: ['example.com/kept'], holder: null }),
    ),
  ],
  [
    'NI18 denies renaming to the own name',
    ['NODE_NAME_MISMATCH'],
    update(foreign, own),
    { unitOnly: 'the API server refuses first' },
  ],
  [
    'NI18 denies renaming from the own name',
    ['NODE_NAME_MISMATCH'],
    update(own, aLease({ name: 'node-b', holder: 'node-a' })),
    { unitOnly: 'the API server refuses first' },
  ],
  ['NI18 allows an update that keeps the name', [], update(own, own)],
  [
    'NI21 allows a kubelet its Lease',
    [],
    { user: aKubelet(), object: aLease({ namespace: 'kube-node-lease' }) },
    { webhookOnly: 'neither form is asked: the entries and match conditions leave kubelets out' },
  ],
  [
    'NI21 denies an agent the kubelet’s Lease',
    ['NODE_NAMESPACE_FOREIGN'],
    update(aLease({ namespace: 'kube-node-lease' }), aLease({ namespace: 'kube-node-lease' })),
  ],
  [
    'NI22 denies an eviction by an agent',
    ['NODE_REQUEST_UNCOVERED'],
    {
      user: agent,
      kind: POD,
      subResource: 'eviction',
      bodyKind: { group: 'policy', version: 'v1', kind: 'Eviction' },
      name: 'web',
      namespace: AGENT_NAMESPACE,
      operation: 'CREATE',
    },
    { unitOnly: 'no rule of the entries sends evictions' },
  ],
  [
    'NI22 allows an eviction by somebody else',
    [],
    { user: aUser(), kind: POD, subResource: 'eviction', name: 'web', operation: 'CREATE' },
    { unitOnly: 'no rule of the entries sends evictions' },
  ],
  ...[
    'system:serviceaccount:pacto-node-agent:Pacto-Node-Agent',
    'system:serviceaccount:pacto-node-agent:pacto-node-agent:',
    'system:serviceaccount::pacto-node-agent:pacto-node-agent',
    'system:serviceaccount:pacto-node-agent-2:pacto-node-agent',
  ].map((username): Row => [
    `NI23 allows ${username}, which is not the agent`,
    [],
    { user: { ...agent, username }, object: foreign },
  ]),
  ['NI23 denies the agent itself', ['NODE_NAME_MISMATCH'], { user: agent, object: foreign }],
  [
    'NI26 denies a name that is a prefix of the own node',
    ['NODE_NAME_MISMATCH'],
    { user: agent, object: aLease({ name: 'node' }) },
  ],
  [
    'NI26 denies a name that the own node is a prefix of',
    ['NODE_NAME_MISMATCH'],
    { user: agent, object: aLease({ name: 'node-a.example.com' }) },
  ],
  [
    'NI26 allows a node name of 253 characters',
    [],
    { user: anAgent({ node: longName }), object: aLease({ name: longName }) },
  ],
  [
    'NI27 denies a dry run like the real request',
    ['NODE_NAME_MISMATCH'],
    { user: agent, object: foreign, dryRun: true },
  ],
  ['NI27 allows a dry run like the real request', [], { user: agent, object: own, dryRun: true }],
  [
    'NI28 allows the own observation through another version',
    [],
    { user: agent, object: anObservation(), requestVersion: 'v1' },
  ],
  [
    'NI28 denies another node’s observation through another version',
    ['NODE_NAME_MISMATCH'],
    { user: agent, object: anObservation({ name: 'node-b' }), requestVersion: 'v1' },
  ],
  [
    '§3.3 denies a Lease that another node holds',
    ['NODE_HOLDER_MISMATCH'],
    update(own, aLease({ holder: 'node-b' })),
  ],
  ['§3.3 allows a Lease that nobody holds', [], update(own, aLease({ holder: null }))],
  [
    '§3.3 denies an observation that speaks of another node',
    ['NODE_HOLDER_MISMATCH'],
    { user: agent, object: anObservation({ node: 'node-b' }) },
  ],
  [
    '§3.3 denies an observation whose status speaks of another node',
    ['NODE_HOLDER_MISMATCH'],
    { ...update(anObservation(), anObservation({ statusNode: 'node-b' })), subResource: 'status' },
  ],
  [
    '§3.3 allows an observation whose status speaks of the own node',
    [],
    { ...update(anObservation(), anObservation({ statusNode: 'node-a' })), subResource: 'status' },
  ],
  ['§3.3 allows labels on create', [], { user: agent, object: aLease({ labels: { app: 'agent' } }) }],
  [
    '§3.3 denies changing labels',
    ['NODE_LABELS_CHANGED'],
    update(aLease({ labels: { app: 'agent' } }), aLease({ labels: { app: 'other' } })),
  ],
  [
    '§3.3 allows labels that stay',
    [],
    update(aLease({ labels: { app: 'agent' } }), aLease({ labels: { app: 'agent' } })),
  ],
  [
    '§3.3 allows annotations to change',
    [],
    update(own, aLease({ annotations: { 'example.com/note': 'x' } })),
  ],
];

export const subjectCases = casesOf('node-identity', ROWS);
