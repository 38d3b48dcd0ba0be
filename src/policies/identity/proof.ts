/**
 * Which node an agent is on, and how we know: by the node claim of its token, else by the Pod that the token is bound
 * to (node-identity.md §3.1, §3.3 steps 1 and 2).
 */
import type { AdmissionRequest, UserInfo } from '../../cluster/objects.ts';
import type { FindingCode } from '../finding.ts';
import { quote } from '../quote.ts';
import type { Finding } from '../verdict.ts';
import { claimOf, claimPath, NODE_NAME_KEY, NODE_UID_KEY, POD_NAME_KEY, POD_UID_KEY } from './claims.ts';
import type { Evidence, Need } from './evidence.ts';
import { at } from './foreign.ts';
import type { AgentAccount, IdentitySettings } from './settings.ts';

export interface Proof {
  readonly proof: 'node-claim' | 'pod-lookup';
  readonly node: string;
  /** From the claim; a Pod look-up gives none. */
  readonly nodeUid?: string;
}

export interface Unproved {
  readonly findings: readonly [Finding, ...Finding[]];
}

/** The first minor whose API server issues the node claim by default (node-identity.md §3.1, feature table). */
const FIRST_MINOR_WITH_CLAIM = 30;

export function proveNode(
  request: AdmissionRequest,
  agent: AgentAccount,
  settings: IdentitySettings,
  evidence: Evidence,
): Proof | Unproved | Need {
  const claim = claimOf(request.userInfo, NODE_NAME_KEY);
  if (claim.state === 'malformed')
    return unproved(
      'NODE_CLAIM_MALFORMED',
      claimPath(NODE_NAME_KEY),
      `found ${claim.found}, needed exactly one non-empty node name; no other proof is taken instead, so find out who sets this key`,
    );
  if (claim.state === 'value') return provedByClaim(request.userInfo, claim.value, settings, evidence);
  const version = evidence.serverVersion;
  const old = version !== undefined && isOlder(version);
  if (settings.podLookup === 'always' || (settings.podLookup === 'auto' && old))
    return provedByPod(request.userInfo, agent, settings, evidence);
  if (settings.podLookup === 'auto' && version === undefined)
    return unsure(provedByPod(request.userInfo, agent, settings, evidence));
  return unproved('NODE_CLAIM_MISSING', claimPath(NODE_NAME_KEY), absenceOf(version));
}

/** On an unknown version: what no Pod could prove is denied on every one, and the rest is not ours to refuse. */
function unsure(byPod: Proof | Unproved | Need): Unproved | Need {
  return 'findings' in byPod ? byPod : { need: 'server-version' };
}

function isOlder(version: { readonly major: number; readonly minor: number }): boolean {
  return version.major < 1 || (version.major === 1 && version.minor < FIRST_MINOR_WITH_CLAIM);
}

function absenceOf(version: Evidence['serverVersion']): string {
  const missing = 'the token carries no node claim';
  if (version !== undefined && isOlder(version))
    return `${missing}, because this API server is older than 1.30; upgrade it, or set identity.podLookup to auto so that the Pod is looked up`;
  return `${missing}; use the token that the kubelet mounts into the agent's Pod, not one from a Secret, from kubectl create token or by impersonation; after an upgrade of the API server to 1.30 or later wait until the kubelet has refreshed the token, at most about an hour, or set identity.podLookup to always meanwhile`;
}

/** The claim is copied from the Pod by the API server; strict settings ask for more (NI07, NI19, NI20). */
function provedByClaim(
  user: UserInfo,
  node: string,
  settings: IdentitySettings,
  evidence: Evidence,
): Proof | Unproved | Need {
  const findings: Finding[] = settings.requirePodClaims
    ? [POD_NAME_KEY, POD_UID_KEY].flatMap((key) => podClaimFindings(user, key))
    : [];
  const uid = claimOf(user, NODE_UID_KEY);
  const nodeUid = uid.state === 'value' ? uid.value : undefined;
  if (settings.requireNodeUid && nodeUid === undefined)
    findings.push(
      finding(
        'NODE_UID_MISSING',
        claimPath(NODE_UID_KEY),
        `found ${uid.state === 'malformed' ? uid.found : 'nothing'}, needed the uid of Node ${quote(node)}; recreate the Pod once the Node exists, or turn identity.requireNodeUid off`,
      ),
    );
  const [first, ...rest] = findings;
  if (first !== undefined) return { findings: [first, ...rest] };
  if (settings.requireNodeUid) {
    if (evidence.node === undefined)
      return { need: 'node', name: node, settles: (copy) => copy.metadata.uid === nodeUid };
    const found = at(evidence.node.object, 'metadata', 'uid');
    if (found !== nodeUid)
      return unproved(
        'NODE_UID_MISMATCH',
        claimPath(NODE_UID_KEY),
        `the token was issued for another Node of the name ${quote(node)} (${evidence.node.object === undefined ? 'there is none now' : 'its uid differs'}); recreate the agent's Pod`,
      );
  }
  return nodeUid === undefined ? { proof: 'node-claim', node } : { proof: 'node-claim', node, nodeUid };
}

function podClaimFindings(user: UserInfo, key: string): Finding[] {
  const claim = claimOf(user, key);
  if (claim.state === 'value') return [];
  const found = claim.state === 'malformed' ? claim.found : 'nothing';
  return [
    finding(
      'NODE_POD_CLAIM_INVALID',
      claimPath(key),
      `found ${found}, needed exactly one non-empty value; use the token that the kubelet mounts into the agent's Pod, not one that is bound to a Node`,
    ),
  ];
}

/** The second proof, for API servers that issue no node claim: pod-name and pod-uid, then the Pod itself. */
function provedByPod(
  user: UserInfo,
  agent: AgentAccount,
  settings: IdentitySettings,
  evidence: Evidence,
): Proof | Unproved | Need {
  const podName = claimOf(user, POD_NAME_KEY);
  const podUid = claimOf(user, POD_UID_KEY);
  if (podName.state === 'absent' && podUid.state === 'absent')
    return unproved(
      'NODE_CLAIM_MISSING',
      claimPath(NODE_NAME_KEY),
      `the token carries neither a node claim nor the name and uid of a Pod to look up; use the token that the kubelet mounts into the agent's Pod, not one from a Secret, from kubectl create token or by impersonation`,
    );
  if (podName.state !== 'value' || podUid.state !== 'value') {
    const [first, ...rest] = [POD_NAME_KEY, POD_UID_KEY].flatMap((key) => podClaimFindings(user, key));
    if (first !== undefined) return { findings: [first, ...rest] };
  }
  if (settings.requireNodeUid)
    return unproved(
      'NODE_UID_MISSING',
      claimPath(NODE_UID_KEY),
      'a Pod look-up proves no uid of a node; turn identity.requireNodeUid off, or upgrade the API server to 1.30 or later',
    );
  const name = podName.state === 'value' ? podName.value : '';
  const uid = podUid.state === 'value' ? podUid.value : '';
  const proofBy = (pod: unknown): Proof | Unproved => provedByFoundPod(agent, { name, uid }, pod);
  if (evidence.pod !== undefined) return proofBy(evidence.pod.object);
  // A Pod keeps its node: what an old copy proves is true, and what it does not prove may have come since.
  const settles = (copy: unknown): boolean => 'proof' in proofBy(copy);
  return { need: 'pod', namespace: agent.namespace, name, settles };
}

function provedByFoundPod(
  agent: AgentAccount,
  claimed: { readonly name: string; readonly uid: string },
  pod: unknown,
): Proof | Unproved {
  const pathname = `${agent.namespace}/${claimed.name}`;
  if (pod === undefined)
    return unproved(
      'NODE_POD_UNKNOWN',
      claimPath(POD_NAME_KEY),
      `there is no Pod ${quote(pathname)}; a token outlives its Pod for a moment only, so let the agent's new Pod write`,
    );
  const differing = [
    at(pod, 'metadata', 'uid') === claimed.uid ? '' : 'uid',
    at(pod, 'metadata', 'name') === claimed.name ? '' : 'name',
    at(pod, 'metadata', 'namespace') === agent.namespace ? '' : 'namespace',
    at(pod, 'spec', 'serviceAccountName') === agent.serviceAccount ? '' : 'serviceAccountName',
  ].filter((field) => field !== '');
  if (differing.length > 0)
    return unproved(
      'NODE_POD_MISMATCH',
      claimPath(POD_UID_KEY),
      `Pod ${quote(pathname)} is not the one of this token (${differing.join(', ')} differs); let the agent's present Pod write`,
    );
  const node = at(pod, 'spec', 'nodeName');
  if (typeof node !== 'string' || node === '')
    return unproved(
      'NODE_POD_UNSCHEDULED',
      claimPath(POD_NAME_KEY),
      `Pod ${quote(pathname)} has no node yet; write once the Pod is scheduled`,
    );
  return { proof: 'pod-lookup', node };
}

function finding(code: FindingCode, where: string, message: string): Finding {
  return { code, where, message };
}

function unproved(code: FindingCode, where: string, message: string): Unproved {
  return { findings: [{ code, where, message }] };
}
