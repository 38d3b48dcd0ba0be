/** Who may ask for a token of an agent account (node-identity.md NI07). */
import { SERVICE_ACCOUNT } from '../../../src/cluster/kinds.ts';
import type { UserInfo } from '../../../src/cluster/objects.ts';
import {
  AGENT_ACCOUNT,
  AGENT_NAMESPACE,
  aKubelet,
  aServiceAccountUser,
  aTokenRequest,
  aUser,
  uidOf,
  type ReviewOptions,
  type TokenRequestOptions,
} from '../../support/builders.ts';
import { casesOf, type Row } from './case.ts';

const forPod = { kind: 'Pod', name: 'agent-node-a', uid: uidOf('Pod', 'agent-node-a', AGENT_NAMESPACE) };

const tokenOf = (
  user: UserInfo,
  boundTo?: TokenRequestOptions['boundTo'],
  where: Partial<ReviewOptions> = {},
): ReviewOptions => ({
  user,
  kind: SERVICE_ACCOUNT,
  subResource: 'token',
  bodyKind: { group: 'authentication.k8s.io', version: 'v1', kind: 'TokenRequest' },
  name: AGENT_ACCOUNT,
  namespace: AGENT_NAMESPACE,
  object: aTokenRequest(boundTo === undefined ? {} : { boundTo }),
  ...where,
});

const ROWS: readonly Row[] = [
  ['NI07 allows a kubelet a token for a Pod', [], tokenOf(aKubelet(), forPod)],
  [
    'NI07 denies a token that is bound to nothing',
    ['AGENT_TOKEN_UNBOUND', 'AGENT_TOKEN_REQUESTER'],
    tokenOf(aUser()),
  ],
  [
    'NI07 denies a token that is bound to a Node',
    ['AGENT_TOKEN_UNBOUND', 'AGENT_TOKEN_REQUESTER'],
    tokenOf(aUser(), { kind: 'Node', name: 'node-b' }),
  ],
  [
    'NI07 denies a token that is bound to a Secret',
    ['AGENT_TOKEN_UNBOUND'],
    tokenOf(aKubelet(), { kind: 'Secret', name: 'x' }),
    { unitOnly: 'the node authorizer refuses a kubelet first' },
  ],
  [
    'NI07 denies a person a token for a Pod',
    ['AGENT_TOKEN_REQUESTER'],
    tokenOf(aUser({ username: 'admin', groups: ['system:masters'] }), forPod),
  ],
  [
    'NI07 denies another account a token for a Pod',
    ['AGENT_TOKEN_REQUESTER'],
    tokenOf(aServiceAccountUser({ name: 'builder' }), forPod),
  ],
  [
    'NI07 denies a kubelet’s name without the group of kubelets',
    ['AGENT_TOKEN_REQUESTER'],
    tokenOf({ username: 'system:node:node-a', groups: ['system:authenticated'] }, forPod),
  ],
  [
    'NI07 denies the group of kubelets without a kubelet’s name',
    ['AGENT_TOKEN_REQUESTER'],
    tokenOf({ username: 'alice', groups: ['system:nodes'] }, forPod),
  ],
  [
    'NI07 denies a kubelet without a node in its name',
    ['AGENT_TOKEN_REQUESTER'],
    tokenOf({ username: 'system:node:', groups: ['system:nodes'] }, forPod),
  ],
  ['NI07 allows anybody a token of another account', [], tokenOf(aUser(), undefined, { name: 'default' })],
  [
    'NI07 allows anybody a token of the same name in another namespace',
    [],
    tokenOf(aUser(), undefined, { namespace: 'default' }),
  ],
];

export const tokenCases = casesOf('tokens', ROWS);
