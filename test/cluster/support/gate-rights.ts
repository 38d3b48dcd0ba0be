/**
 * All that the webhook role may do, and no more: the chart's role has to be this one. A test reads the audit log and
 * fails on a request beyond it.
 */
import { AGENT_NAMESPACE } from '../../support/builders.ts';

export const GATE_NAMESPACE = 'pacto-system';
export const GATE_ACCOUNT = 'pacto-gate';
export const GATE_USERNAME = `system:serviceaccount:${GATE_NAMESPACE}:${GATE_ACCOUNT}`;

interface Rule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
}

/** Where the agents live: their Pods are watched (Pod look-up), their DaemonSet is read (NI08). */
export const NAMESPACE_RULES: readonly Rule[] = [
  { apiGroups: [''], resources: ['pods'], verbs: ['get', 'list', 'watch'] },
  { apiGroups: ['apps'], resources: ['daemonsets'], verbs: ['get'] },
];

export const CLUSTER_RULES: readonly Rule[] = [
  // Uids of Nodes: watched with identity.requireNodeUid, read for owners after a Pod look-up.
  { apiGroups: [''], resources: ['nodes'], verbs: ['get', 'list', 'watch'] },
  // Callers of the metrics, and of the admission listener with webhooks.auth bearer.
  { apiGroups: ['authentication.k8s.io'], resources: ['tokenreviews'], verbs: ['create'] },
  { apiGroups: ['authorization.k8s.io'], resources: ['subjectaccessreviews'], verbs: ['create'] },
];

const subjects = [{ kind: 'ServiceAccount', name: GATE_ACCOUNT, namespace: GATE_NAMESPACE }];
const rbac = 'rbac.authorization.k8s.io';

export const GATE_OBJECTS: readonly object[] = [
  { apiVersion: 'v1', kind: 'Namespace', metadata: { name: GATE_NAMESPACE } },
  { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: GATE_ACCOUNT, namespace: GATE_NAMESPACE } },
  {
    apiVersion: `${rbac}/v1`,
    kind: 'ClusterRole',
    metadata: { name: GATE_ACCOUNT },
    rules: CLUSTER_RULES,
  },
  {
    apiVersion: `${rbac}/v1`,
    kind: 'ClusterRoleBinding',
    metadata: { name: GATE_ACCOUNT },
    roleRef: { apiGroup: rbac, kind: 'ClusterRole', name: GATE_ACCOUNT },
    subjects,
  },
  {
    apiVersion: `${rbac}/v1`,
    kind: 'Role',
    metadata: { name: GATE_ACCOUNT, namespace: AGENT_NAMESPACE },
    rules: NAMESPACE_RULES,
  },
  {
    apiVersion: `${rbac}/v1`,
    kind: 'RoleBinding',
    metadata: { name: GATE_ACCOUNT, namespace: AGENT_NAMESPACE },
    roleRef: { apiGroup: rbac, kind: 'Role', name: GATE_ACCOUNT },
    subjects,
  },
];
