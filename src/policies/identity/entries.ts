/**
 * The webhook entries of node identity, from its settings. They select the agents' namespaces only, and where the API
 * server has match conditions (1.28, vap.md timing note) the agents only: an entry with failure policy Fail that
 * reached kubelets' token requests or other components' Leases could stop a cluster (design decision 20, NI21).
 */
import {
  entryOf,
  FIRST_MINOR_WITH_CONDITIONS,
  type ClientTarget,
  type EntryDraft,
  type EntrySwitch,
  type ValidatingEntry,
  type WebhookConfiguration,
  type WebhookRule,
} from '../entry.ts';
import type { FailurePolicy } from '../verdict.ts';
import {
  NODE_IDENTITY_ENTRY,
  NODE_IDENTITY_PATH,
  NODE_LEASE_ENTRY,
  PODS_ENTRY,
  PODS_PATH,
  TOKENS_ENTRY,
  TOKENS_PATH,
} from './entry-names.ts';
import { usernameOf, type AgentAccount, type IdentitySettings } from './settings.ts';

export interface IdentityEntriesInput {
  readonly settings: IdentitySettings;
  readonly identity: EntrySwitch;
  readonly tokens: EntrySwitch;
  readonly pods: EntrySwitch;
  /** Of the API server; left out: 1.28 or later. */
  readonly kubeMinor?: number;
  /** The namespace that the gate runs in; undefined where it runs outside the cluster. */
  readonly ownNamespace?: string;
  readonly target: ClientTarget;
  /** PEM. Left out where the API server trusts the certificate anyway. */
  readonly caBundle?: string;
  /** 1 to 30 (webhook-operations.md W04). */
  readonly timeoutSeconds: number;
}

export interface IdentityEntries {
  readonly configuration: WebhookConfiguration;
  /** What is left out on this API server, and why; one sentence each. */
  readonly notes: readonly string[];
}

/** Of the object that the installer and `generate webhooks` fill. */
export const IDENTITY_CONFIGURATION = 'pacto-gate-node-identity';

/** Namespaces that the cluster itself lives in (webhook-operations.md R1). */
const CLUSTER_NAMESPACES = ['kube-system', 'kube-public', 'kube-node-lease'];

const KUBELET_NAMESPACE = 'kube-node-lease';

const WRITES = ['CREATE', 'UPDATE', 'DELETE'] as const;

const LEASES: WebhookRule = {
  apiGroups: ['coordination.k8s.io'],
  apiVersions: ['v1'],
  operations: WRITES,
  resources: ['leases'],
  scope: 'Namespaced',
};

// The subresource is named: the main resource alone would let status bypass the check (NI14).
const OBSERVATIONS: WebhookRule = {
  apiGroups: ['pacto.trianalab.io'],
  apiVersions: ['*'],
  operations: WRITES,
  resources: ['noderuntimeobservations', 'noderuntimeobservations/status'],
  scope: 'Namespaced',
};

const TOKENS: WebhookRule = {
  apiGroups: [''],
  apiVersions: ['v1'],
  operations: ['CREATE'],
  resources: ['serviceaccounts/token'],
  scope: 'Namespaced',
};

const PODS: readonly WebhookRule[] = [
  {
    apiGroups: [''],
    apiVersions: ['v1'],
    operations: ['CREATE', 'UPDATE'],
    resources: ['pods'],
    scope: 'Namespaced',
  },
  {
    apiGroups: [''],
    apiVersions: ['v1'],
    operations: ['UPDATE'],
    resources: ['pods/ephemeralcontainers'],
    scope: 'Namespaced',
  },
];

/**
 * The same input gives the same bytes: names are sorted, members keep their order.
 *
 * On API servers without match conditions, agents in a namespace of the cluster or of the gate itself get no entries
 * there: every Lease, token request or Pod of that namespace would be sent, the gate's own among them (R1). The notes
 * say so.
 */
export function identityEntries(input: IdentityEntriesInput): IdentityEntries {
  const conditions = (input.kubeMinor ?? FIRST_MINOR_WITH_CONDITIONS) >= FIRST_MINOR_WITH_CONDITIONS;
  const notes: string[] = [];
  const webhooks: ValidatingEntry[] = [];
  for (const draft of draftsOf(input)) {
    if (!conditions && draft.name === NODE_LEASE_ENTRY) {
      notes.push(
        `${draft.name} is left out: without match conditions (Kubernetes 1.28) it would be asked about every kubelet's Lease, so an agent's role must not cover ${KUBELET_NAMESPACE}`,
      );
      continue;
    }
    const shared = new Set([...CLUSTER_NAMESPACES, input.ownNamespace]);
    const left = conditions ? [] : draft.namespaces.filter((namespace) => shared.has(namespace));
    if (left.length > 0)
      notes.push(
        `${draft.name} leaves out ${left.join(', ')}: without match conditions (Kubernetes 1.28) it would be asked about everybody's requests there, so give the agents a namespace of their own`,
      );
    const namespaces = draft.namespaces.filter((namespace) => !left.includes(namespace));
    if (namespaces.length > 0) webhooks.push(entryOf({ ...draft, namespaces }, { ...input, conditions }));
  }
  return {
    configuration: {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'ValidatingWebhookConfiguration',
      metadata: {
        name: IDENTITY_CONFIGURATION,
        labels: { 'app.kubernetes.io/name': 'pacto-gate', 'app.kubernetes.io/component': 'node-identity' },
      },
      webhooks,
    },
    notes,
  };
}

function draftsOf({ settings, identity, tokens, pods }: IdentityEntriesInput): EntryDraft[] {
  const { agents } = settings;
  if (!identity.enabled || agents.length === 0) return [];
  const own = sorted(agents.map((agent) => agent.namespace));
  const written = sorted([...own, ...(settings.namespaces ?? [])]);
  const isAgent = {
    name: 'is-agent',
    expression: `has(request.userInfo.username) && request.userInfo.username in ${listOf(agents.map(usernameOf))}`,
  };
  const { failurePolicy } = identity;
  const main = { path: NODE_IDENTITY_PATH, failurePolicy, condition: isAgent };
  return [
    {
      ...main,
      name: NODE_IDENTITY_ENTRY,
      namespaces: written.filter((namespace) => namespace !== KUBELET_NAMESPACE),
      rules: [LEASES, OBSERVATIONS],
    },
    { ...main, name: NODE_LEASE_ENTRY, namespaces: [KUBELET_NAMESPACE], rules: [LEASES] },
    ...(tokens.enabled ? [tokensDraft(agents, own, tokens.failurePolicy)] : []),
    ...(pods.enabled ? [podsDraft(agents, own, pods.failurePolicy)] : []),
  ];
}

function tokensDraft(
  agents: readonly AgentAccount[],
  namespaces: readonly string[],
  failurePolicy: FailurePolicy,
): EntryDraft {
  return {
    name: TOKENS_ENTRY,
    path: TOKENS_PATH,
    failurePolicy,
    namespaces,
    rules: [TOKENS],
    condition: {
      name: 'of-agent',
      expression: `has(request.namespace) && has(request.name) && (request.namespace + '/' + request.name) in ${accountsOf(agents)}`,
    },
  };
}

/** Optional selectors are younger than match conditions (vap.md §2.10), hence `has`: an error would refuse the Pod. */
function podsDraft(
  agents: readonly AgentAccount[],
  namespaces: readonly string[],
  failurePolicy: FailurePolicy,
): EntryDraft {
  const list = accountsOf(agents);
  const uses = (field: string): string =>
    `(has(object.spec.${field}) && (request.namespace + '/' + object.spec.${field}) in ${list})`;
  return {
    name: PODS_ENTRY,
    path: PODS_PATH,
    failurePolicy,
    namespaces,
    rules: PODS,
    condition: {
      name: 'uses-agent-account',
      expression: `has(request.namespace) && has(object.spec) && (${uses('serviceAccountName')} || ${uses('serviceAccount')})`,
    },
  };
}

function sorted(names: readonly string[]): readonly string[] {
  return [...new Set(names)].toSorted();
}

function accountsOf(agents: readonly AgentAccount[]): string {
  return listOf(agents.map((agent) => `${agent.namespace}/${agent.serviceAccount}`));
}

/** A CEL list of strings. Names of accounts hold nothing that needs an escape; the escape is for safety alone. */
function listOf(values: readonly string[]): string {
  return `[${sorted(values)
    .map(
      (value) =>
        `'${value.replace(/[\\'\n\r]/g, (mark) => `\\x${mark.charCodeAt(0).toString(16).padStart(2, '0')}`)}'`,
    )
    .join(', ')}]`;
}
