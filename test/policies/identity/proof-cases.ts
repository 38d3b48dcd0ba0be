/** Which node an agent is on: the claim, the strict settings, and the look-up of the Pod. */
import {
  AGENT_NAMESPACE,
  aLease,
  aNode,
  anAgent,
  anAgentPod,
  anObservation,
  aServiceAccountUser,
  uidOf,
  type ReviewOptions,
} from '../../support/builders.ts';
import { casesOf, type Row } from './case.ts';

const NODE_NAME = 'authentication.kubernetes.io/node-name';
const agent = anAgent();
const own = aLease();
const foreign = aLease({ name: 'node-b' });
const claim = (...values: string[]): ReviewOptions => ({
  user: agent,
  extra: { ...agent.extra, [NODE_NAME]: values },
  object: own,
});
const noClaim = anAgent({ node: null });
const nodeBound = anAgent({ pod: null });
const noUid = anAgent({ nodeUid: null });
const LOOKUP = { webhookOnly: 'CEL cannot look a Pod up', minor: 29 } as const;
const pod = anAgentPod();
const NO_EMPTY_EXTRA = { unitOnly: 'an API server leaves an empty list of values out' } as const;

const ROWS: readonly Row[] = [
  [
    'NI01 denies a user without any extra',
    ['NODE_CLAIM_MISSING'],
    { user: aServiceAccountUser(), object: own },
  ],
  [
    'NI01 denies a token that is bound to nothing',
    ['NODE_CLAIM_MISSING'],
    { user: anAgent({ node: null, pod: null }), object: own },
  ],
  ['NI01 allows the own Lease by the node claim', [], { user: agent, object: own }],
  ['NI01 allows the own observation by the node claim', [], { user: agent, object: anObservation() }],
  ['NI02 denies an empty list of node names', ['NODE_CLAIM_MALFORMED'], claim(), NO_EMPTY_EXTRA],
  ['NI02 allows a list of one node name', [], claim('node-a')],
  ['NI03 denies an empty node name', ['NODE_CLAIM_MALFORMED'], claim('')],
  ['NI03 allows a node name that is not empty', [], claim('node-a')],
  [
    'NI04 denies two node names, the first of which matches',
    ['NODE_CLAIM_MALFORMED'],
    claim('node-a', 'node-b'),
  ],
  [
    'NI04 denies two node names, the second of which matches',
    ['NODE_CLAIM_MALFORMED'],
    claim('node-b', 'node-a'),
  ],
  ['NI04 allows one node name that matches', [], claim('node-a')],
  ['NI05 denies two equal node names', ['NODE_CLAIM_MALFORMED'], claim('node-a', 'node-a')],
  ['NI05 allows the same node name once', [], claim('node-a')],
  [
    'NI06 allows an impersonated user with the claim, whom no review can tell from the token',
    [],
    { user: aServiceAccountUser({ extra: { [NODE_NAME]: ['node-a'] } }), object: own },
  ],
  [
    'NI06 denies an impersonated user another node’s Lease',
    ['NODE_NAME_MISMATCH'],
    { user: aServiceAccountUser({ extra: { [NODE_NAME]: ['node-a'] } }), object: foreign },
  ],
  ['NI07 allows a token that is bound to the Node by default', [], { user: nodeBound, object: own }],
  [
    'NI07 denies a token that is bound to the Node where Pod claims are required',
    ['NODE_POD_CLAIM_INVALID'],
    { user: nodeBound, object: own },
    { settings: { requirePodClaims: true } },
  ],
  [
    'NI07 allows a token that is bound to the Pod where Pod claims are required',
    [],
    { user: agent, object: own },
    { settings: { requirePodClaims: true } },
  ],
  [
    'NI19 allows the claim of a Node that was deleted and created anew by default',
    [],
    { user: anAgent({ nodeUid: uidOf('Node', 'older') }), object: own },
  ],
  [
    'NI19 denies the claim of a Node that was created anew where the uid is required',
    ['NODE_UID_MISMATCH'],
    { user: anAgent({ nodeUid: uidOf('Node', 'older') }), object: own },
    { settings: { requireNodeUid: true }, cluster: [aNode()], webhookOnly: 'CEL cannot look a Node up' },
  ],
  [
    'NI19 denies the claim of a Node that is gone where the uid is required',
    ['NODE_UID_MISMATCH'],
    { user: agent, object: own },
    { settings: { requireNodeUid: true }, webhookOnly: 'CEL cannot look a Node up' },
  ],
  [
    'NI19 allows the uid of the live Node where the uid is required',
    [],
    { user: agent, object: own },
    { settings: { requireNodeUid: true }, cluster: [aNode()], webhookOnly: 'CEL cannot look a Node up' },
  ],
  ['NI20 allows a claim without the uid of the node', [], { user: noUid, object: own }],
  [
    'NI20 denies a claim without the uid of the node where it is required',
    ['NODE_UID_MISSING'],
    { user: noUid, object: own },
    { settings: { requireNodeUid: true } },
  ],
  [
    'NI24 denies the agent’s name without the group of its namespace',
    ['NODE_GROUP_MISSING'],
    { user: { ...agent, groups: ['system:authenticated'] }, object: own },
  ],
  [
    'NI24 denies the agent’s name with the group of all accounts only',
    ['NODE_GROUP_MISSING'],
    { user: { ...agent, groups: ['system:serviceaccounts', 'system:authenticated'] }, object: own },
  ],
  [
    'NI24 allows the agent’s name with the group of its namespace',
    [],
    { user: { ...agent, groups: [`system:serviceaccounts:${AGENT_NAMESPACE}`] }, object: own },
  ],
  [
    'NI25 denies a token from before the upgrade of the API server',
    ['NODE_CLAIM_MISSING'],
    { user: noClaim, object: own },
    { cluster: [pod] },
  ],
  [
    'NI25 allows a token from before the upgrade where Pods are always looked up',
    [],
    { user: noClaim, object: own },
    { cluster: [pod], settings: { podLookup: 'always' }, webhookOnly: 'CEL cannot look a Pod up' },
  ],
  [
    'NI29 denies a node name under another spelling of the key',
    ['NODE_CLAIM_MISSING'],
    {
      user: aServiceAccountUser({ extra: { 'authentication.kubernetes.io/Node-Name': ['node-a'] } }),
      object: own,
    },
    { unitOnly: 'keys of impersonation headers arrive in lower case' },
  ],
  [
    'NI29 denies a node name under another key',
    ['NODE_CLAIM_MISSING'],
    { user: aServiceAccountUser({ extra: { 'example.com/node-name': ['node-a'] } }), object: own },
  ],
  ['NI29 allows a node name under the literal key', [], claim('node-a')],
  ['NI30 denies a missing claim as a verdict', ['NODE_CLAIM_MISSING'], { user: noClaim, object: own }],
  ['NI30 allows a claim that is there', [], { user: agent, object: own }],
  [
    '§3.1 allows the own Lease by the Pod before 1.30',
    [],
    { user: noClaim, object: own },
    { ...LOOKUP, cluster: [pod] },
  ],
  [
    '§3.1 denies another node’s Lease by the Pod before 1.30',
    ['NODE_NAME_MISMATCH'],
    { user: noClaim, object: foreign },
    { ...LOOKUP, cluster: [pod] },
  ],
  [
    '§3.1 denies a Pod that is gone before 1.30',
    ['NODE_POD_UNKNOWN'],
    { user: noClaim, object: own },
    LOOKUP,
  ],
  [
    '§3.1 denies a malformed claim before 1.30 although the Pod would prove the node',
    ['NODE_CLAIM_MALFORMED'],
    { user: noClaim, extra: { ...noClaim.extra, [NODE_NAME]: ['', 'node-a'] }, object: own },
    { ...LOOKUP, cluster: [pod] },
  ],
];

export const proofCases = casesOf('node-identity', ROWS);
