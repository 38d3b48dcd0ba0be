/**
 * The closed list of denial codes, each explained in docs/errors.md (a test compares both ways).
 * Errors of our own, which are not verdicts, have their codes in src/errors.ts.
 */
export const FINDING_CODES = {
  NODE_REQUEST_UNCOVERED: 'an agent account asked for something that node identity does not cover',
  NODE_REVIEW_UNREADABLE: 'an agent wrote an object that is too large or nested too deeply to be read',
  NODE_OBJECT_MALFORMED: 'an object that an agent writes has a field of a wrong type',
  NODE_GROUP_MISSING: 'a user with an agent’s name lacks the group that the API server gives to its account',
  NODE_CLAIM_MISSING: 'the token of an agent carries no node name, and no other proof is allowed or possible',
  NODE_CLAIM_MALFORMED: 'the node name of a token is not exactly one non-empty value',
  NODE_POD_CLAIM_INVALID: 'the Pod name or uid of a token is missing or not exactly one non-empty value',
  NODE_POD_UNKNOWN: 'the Pod that a token is bound to does not exist',
  NODE_POD_MISMATCH: 'the Pod that a token names is not the Pod it was bound to',
  NODE_POD_UNSCHEDULED: 'the Pod that a token is bound to has no node yet',
  NODE_UID_MISSING: 'the uid of the node is demanded and the token carries none',
  NODE_UID_MISMATCH: 'the uid of the node in a token is not that of the Node of today',
  NODE_NAMESPACE_FOREIGN: 'an agent wrote outside the namespaces for its Leases and observations',
  NODE_NAME_MISMATCH: 'an agent wrote the object of another node',
  NODE_HOLDER_MISMATCH: 'an object names another node than the agent’s own inside its spec',
  NODE_LABELS_CHANGED: 'an agent changed the labels of an existing object',
  NODE_FINALIZERS_CHANGED: 'an agent set or changed finalizers',
  NODE_OWNER_FOREIGN: 'an agent changed an ownerReference that is not to its own Node',
  AGENT_OBJECT_MALFORMED: 'a Pod or token request in an agent’s namespace has a field of a wrong type',
  AGENT_TOKEN_UNBOUND: 'a token of an agent account was asked for that is not bound to a Pod',
  AGENT_TOKEN_REQUESTER: 'a token of an agent account was asked for by somebody who is no kubelet',
  AGENT_POD_CREATOR: 'a Pod with an agent account was created by somebody else than the DaemonSet controller',
  AGENT_POD_OWNER: 'a Pod with an agent account does not belong to the agent’s DaemonSet',
  AGENT_POD_MIRROR: 'a mirror Pod uses an agent account',
  AGENT_POD_NODE_NAME: 'a Pod with an agent account chose its node itself',
  AGENT_POD_CHANGED: 'the containers of a Pod with an agent account were changed',
  POLICY_DENIED: 'a validation of a policy is false',
  POLICY_EXPRESSION_FAILED: 'an expression of a policy has no result, and its failurePolicy is Fail',
  POLICY_NOT_APPLICABLE: 'a policy or binding cannot be applied as it is, and its failurePolicy is Fail',
  POLICY_NAMESPACE_GONE: 'a policy needs the namespace of the request, which does not exist',
  POLICY_WRITE_INVALID: 'a policy or binding was written that the API server would refuse as invalid',
  POLICY_PARAM_KIND: 'a policy was written with a paramKind that policies.paramKinds does not list',
  POLICY_WRITER_RIGHTS: 'a policy or binding was written by somebody who may not read its parameters',
} as const satisfies Record<string, string>;

export type FindingCode = keyof typeof FINDING_CODES;
