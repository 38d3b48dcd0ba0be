/** Node agents on a real control plane: their namespace, account, rights, Nodes, Pods and the observation kind. */
import type { UserInfo } from '../../../src/cluster/objects.ts';
import { AGENT_ACCOUNT, AGENT_NAMESPACE } from '../../support/builders.ts';
import type { ApiClient } from './api-client.ts';
import type { ControlPlane } from './control-plane.ts';
import { pollUntil } from './polling.ts';

export const AGENT_USERNAME = `system:serviceaccount:${AGENT_NAMESPACE}:${AGENT_ACCOUNT}`;
export const LEASES = `/apis/coordination.k8s.io/v1/namespaces/${AGENT_NAMESPACE}/leases`;
export const OBSERVATIONS = `/apis/pacto.trianalab.io/v1alpha1/namespaces/${AGENT_NAMESPACE}/noderuntimeobservations`;
export const PODS = `/api/v1/namespaces/${AGENT_NAMESPACE}/pods`;

const CRD_NAME = 'noderuntimeobservations.pacto.trianalab.io';

/** Two versions that differ in name alone, so that a request by one is matched by rules on the other (NI28). */
const OBSERVATION_CRD = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: CRD_NAME },
  spec: {
    group: 'pacto.trianalab.io',
    scope: 'Namespaced',
    names: {
      plural: 'noderuntimeobservations',
      singular: 'noderuntimeobservation',
      kind: 'NodeRuntimeObservation',
      listKind: 'NodeRuntimeObservationList',
    },
    conversion: { strategy: 'None' },
    versions: ['v1alpha1', 'v1'].map((name) => ({
      name,
      served: true,
      storage: name === 'v1alpha1',
      subresources: { status: {} },
      schema: {
        openAPIV3Schema: {
          type: 'object',
          properties: {
            spec: { type: 'object', properties: { nodeName: { type: 'string' } } },
            status: {
              type: 'object',
              properties: { nodeName: { type: 'string' }, state: { type: 'string' } },
            },
          },
        },
      },
    })),
  },
} as const;

const account = { kind: 'ServiceAccount', name: AGENT_ACCOUNT, namespace: AGENT_NAMESPACE };
const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'node-agents' };
/** Gives the agents their rights in a namespace. */
export const agentBinding = (namespace: string): object => ({
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind: 'RoleBinding',
  metadata: { name: 'node-agents', namespace },
  roleRef,
  subjects: [account],
});

/**
 * More rights than an agent needs, the kubelets' Leases among them: a request must come as far as admission, or the
 * test would show RBAC at work.
 */
const AGENT_OBJECTS = [
  { apiVersion: 'v1', kind: 'Namespace', metadata: { name: AGENT_NAMESPACE } },
  { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: AGENT_ACCOUNT, namespace: AGENT_NAMESPACE } },
  {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRole',
    metadata: { name: 'node-agents' },
    rules: [
      { apiGroups: ['coordination.k8s.io'], resources: ['leases'], verbs: ['*'] },
      {
        apiGroups: ['pacto.trianalab.io'],
        resources: ['noderuntimeobservations', 'noderuntimeobservations/status'],
        verbs: ['*'],
      },
    ],
  },
  agentBinding(AGENT_NAMESPACE),
  agentBinding('kube-node-lease'),
  OBSERVATION_CRD,
  {
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    metadata: { name: AGENT_ACCOUNT, namespace: AGENT_NAMESPACE },
    spec: {
      selector: { matchLabels: { app: AGENT_ACCOUNT } },
      template: {
        metadata: { labels: { app: AGENT_ACCOUNT } },
        spec: {
          serviceAccountName: AGENT_ACCOUNT,
          containers: [{ name: 'agent', image: 'registry.invalid/agent:1' }],
          // A Node without a kubelet stays tainted as not ready.
          tolerations: [{ operator: 'Exists' }],
        },
      },
    },
  },
] as const;

export function nodeObject(name: string): object {
  return { apiVersion: 'v1', kind: 'Node', metadata: { name } };
}

export function leaseObject(name: string, holder = name, namespace = AGENT_NAMESPACE): object {
  return {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: { name, namespace },
    spec: { holderIdentity: holder, leaseDurationSeconds: 40 },
  };
}

export function observationObject(name: string, version = 'v1alpha1'): object {
  return {
    apiVersion: `pacto.trianalab.io/${version}`,
    kind: 'NodeRuntimeObservation',
    metadata: { name, namespace: AGENT_NAMESPACE },
    spec: { nodeName: name },
  };
}

/** A Pod under the agents' account; with `daemonSetUid` owned by their DaemonSet. */
export function agentPodObject(
  name: string,
  { node, daemonSetUid }: { readonly node?: string; readonly daemonSetUid?: string } = {},
): object {
  const owner = {
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    name: AGENT_ACCOUNT,
    uid: daemonSetUid,
    controller: true,
    blockOwnerDeletion: true,
  };
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name,
      namespace: AGENT_NAMESPACE,
      labels: { app: AGENT_ACCOUNT },
      ...(daemonSetUid !== undefined && { ownerReferences: [owner] }),
    },
    spec: {
      ...(node !== undefined && { nodeName: node }),
      serviceAccountName: AGENT_ACCOUNT,
      containers: [{ name: 'agent', image: 'registry.invalid/agent:1' }],
    },
  };
}

/** As the DaemonSet controller: the only one who may create agent Pods once the entries are there (NI08). */
export const DAEMON_SET_CONTROLLER: UserInfo = {
  username: 'system:serviceaccount:kube-system:daemon-set-controller',
};

export function kubelet(node: string): UserInfo {
  return { username: `system:node:${node}`, groups: ['system:nodes'] };
}

/**
 * Makes everything that agents need on these nodes: with Pods `agent-<node>`, scheduled and owned by the DaemonSet.
 * To be called before webhook entries exist, which refuse Pods that come with a node.
 *
 * @returns uid of the DaemonSet.
 */
export async function installAgents(
  plane: ControlPlane,
  api: ApiClient,
  nodes: readonly string[],
): Promise<string> {
  await plane.apply(AGENT_OBJECTS);
  await Promise.all(
    nodes.map((node) => api.demand({ method: 'POST', path: '/api/v1/nodes', body: nodeObject(node) })),
  );
  const daemonSet = await api.demand({
    method: 'GET',
    path: `/apis/apps/v1/namespaces/${AGENT_NAMESPACE}/daemonsets/${AGENT_ACCOUNT}`,
  });
  const daemonSetUid = daemonSet.metadata?.uid ?? '';
  await Promise.all(
    nodes.map((node) =>
      api.demand({
        method: 'POST',
        path: PODS,
        body: agentPodObject(`agent-${node}`, { node, daemonSetUid }),
      }),
    ),
  );
  await pollUntil('the observation kind', 30_000, async () => {
    const { status } = await api.request({ method: 'GET', path: OBSERVATIONS });
    return status === 200 ? true : undefined;
  });
  return daemonSetUid;
}

/** A token as the kubelet of `node` asks for one, for its agent's Pod. */
export async function kubeletToken(api: ApiClient, node: string, pod = `agent-${node}`): Promise<string> {
  const { metadata } = await api.demand({ method: 'GET', path: `${PODS}/${pod}` });
  const answer = await api.demand({
    method: 'POST',
    path: `/api/v1/namespaces/${AGENT_NAMESPACE}/serviceaccounts/${AGENT_ACCOUNT}/token`,
    as: kubelet(node),
    body: {
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'TokenRequest',
      spec: {
        audiences: [],
        boundObjectRef: { apiVersion: 'v1', kind: 'Pod', name: pod, uid: metadata?.uid },
      },
    },
  });
  return (answer['status'] as { token: string }).token;
}
