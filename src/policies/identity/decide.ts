import type { AdmissionRequest } from '../../cluster/objects.ts';
import { quote } from '../quote.ts';
import { allow, deny, type Finding, type Verdict } from '../verdict.ts';
import type { Evidence, Need } from './evidence.ts';
import { at } from './foreign.ts';
import { proveNode, type Proof } from './proof.ts';
import { agentOf, hasGroup, namespacesOf, type AgentAccount, type IdentitySettings } from './settings.ts';
import {
  changedOwners,
  commonFindings,
  crowdedFindings,
  nodeFindings,
  ownerFindings,
  subjectKindOf,
} from './subject.ts';

/** A name of an object has at most 253 characters; a longer claim is cut in the audit annotation. */
const NAME_LENGTH = 253;

/**
 * Whether an agent writes its own node's Lease or observation (node-identity.md §3.3). Users that are no agent are
 * allowed. Look-ups are asked for only when nothing else refuses the request already.
 *
 * @returns a verdict with the proof in its audit annotations (`proof`, `node`), or the object it needs to see.
 */
export function decideNodeIdentity(
  request: AdmissionRequest,
  settings: IdentitySettings,
  evidence: Evidence,
): Verdict | Need {
  const agent = agentOf(request.userInfo, settings.agents);
  if (agent === undefined) return allow();
  const kind = subjectKindOf(request);
  if (kind === undefined) return deny([uncovered(request)], { auditAnnotations: { proof: 'none' } });
  const crowded = refusal(crowdedFindings(request), undefined);
  if (crowded !== undefined) return crowded;
  const common = [
    ...groupFindings(request, agent),
    ...commonFindings(request, kind, namespacesOf(agent, settings)),
  ];
  const proof = proveNode(request, agent, settings, evidence);
  if ('need' in proof) return refusal(common, undefined) ?? proof;
  if ('findings' in proof)
    return deny([...proof.findings, ...common], { auditAnnotations: { proof: 'none' } });
  const findings = [...common, ...nodeFindings(request, kind, proof.node)];
  const owners = changedOwners(request);
  const uid = owners.length === 0 ? undefined : nodeUidOf(proof, evidence);
  if (typeof uid === 'object') return refusal(findings, proof) ?? uid;
  findings.push(...ownerFindings(owners, proof.node, uid));
  return refusal(findings, proof) ?? allow({ auditAnnotations: annotationsOf(proof) });
}

/**
 * The uid that an ownerReference to the own Node must carry: that of the claim, and only where the proof is a Pod,
 * whose token has no such claim, that of the Node of today.
 */
function nodeUidOf(proof: Proof, evidence: Evidence): string | undefined | Need {
  if (proof.proof === 'node-claim') return proof.nodeUid;
  if (evidence.node === undefined) return { need: 'node', name: proof.node };
  const uid = at(evidence.node.object, 'metadata', 'uid');
  return typeof uid === 'string' ? uid : undefined;
}

/**
 * The API server puts every ServiceAccount into a group of its namespace. A certificate, an identity provider or a
 * front proxy can choose the username alone, so a name without the group is not the account (NI24).
 */
function groupFindings(request: AdmissionRequest, agent: AgentAccount): Finding[] {
  const group = `system:serviceaccounts:${agent.namespace}`;
  if (hasGroup(request.userInfo, group)) return [];
  return [
    {
      code: 'NODE_GROUP_MISSING',
      where: 'userInfo.groups',
      message: `a user with the agent's name is not in group ${quote(group)}, so this is no ServiceAccount token; find the certificate, identity provider or proxy that hands out this name`,
    },
  ];
}

function uncovered(request: AdmissionRequest): Finding {
  const resource = at(request, 'resource', 'resource');
  const subresource = at(request, 'subResource');
  const what = [resource, subresource].filter((part) => typeof part === 'string' && part !== '').join('/');
  return {
    code: 'NODE_REQUEST_UNCOVERED',
    where: 'request',
    message: `an agent may create, update and delete its own Lease and NodeRuntimeObservation, not ${request.operation.toLowerCase()} ${quote(what)}; remove the right from its role`,
  };
}

function refusal(findings: readonly Finding[], proof: Proof | undefined): Verdict | undefined {
  const [first, ...rest] = findings;
  if (first === undefined) return undefined;
  const auditAnnotations = proof === undefined ? { proof: 'none' } : annotationsOf(proof);
  return deny([first, ...rest], { auditAnnotations });
}

function annotationsOf(proof: Proof): Record<string, string> {
  return { proof: proof.proof, node: proof.node.slice(0, NAME_LENGTH) };
}
