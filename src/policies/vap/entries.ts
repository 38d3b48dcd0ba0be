/**
 * The webhook entries of policies, one for each that has a binding (design decisions 16 and 20), and what is taken from
 * their reach so that a gate that is down can neither stop a cluster nor its own cure (webhook-operations.md R1).
 */
import {
  clientConfigOf,
  FIRST_MINOR_WITH_CONDITIONS,
  NAMESPACE_NAME_LABEL,
  REVIEW_VERSIONS,
  type ClientTarget,
  type EntrySelector,
  type ValidatingEntry,
  type WebhookConfiguration,
  type WebhookRule,
} from '../entry.ts';
import { OWN_GROUP, policyEntryName, policyPath, WRITERS_ENTRY, WRITERS_PATH } from './entry-name.ts';
import { withoutNamed, writtenOut } from './narrow.ts';
import {
  KUBELET_NAMESPACE,
  LEASE_GROUP,
  LEASES,
  NO_API_SERVER,
  reachesSome,
  WRITTEN_BY_API_SERVER,
  type Family,
} from './never-reached.ts';
import { takenFrom } from './reach.ts';
import type { Binding, LabelSelector, Policy } from './types.ts';
import { nameFaults } from './validate-metadata.ts';
import { matchErrors } from './validate-match.ts';

/** What an API server serves, as its discovery tells. */
export interface ServedResource {
  /** Empty for the core group. */
  readonly group: string;
  readonly version: string;
  /** With its subresource, where it is one: `pods/log`. */
  readonly resource: string;
  readonly namespaced: boolean;
}

export interface PolicyEntriesInput {
  readonly policies: readonly Policy[];
  readonly bindings: readonly Binding[];
  /** Of the API server; left out: 1.28 or later. */
  readonly kubeMinor?: number;
  /** Needed before 1.28, where wildcards are written out; elsewhere it makes what is told more exact. */
  readonly served?: readonly ServedResource[];
  /** The namespace that the gate runs in; undefined where it runs outside the cluster. */
  readonly ownNamespace?: string;
  /** `policies.excludedNamespaces`. */
  readonly excludedNamespaces: readonly string[];
  readonly target: ClientTarget;
  /** PEM. Left out where the API server trusts the certificate anyway. */
  readonly caBundle?: string;
  /** 1 to 30 (webhook-operations.md W04). */
  readonly timeoutSeconds: number;
  /** Whether there is an entry for those who write policies of our own group. */
  readonly writers: boolean;
}

/** What becomes of a policy. */
export interface PolicyReach {
  readonly policy: string;
  /** Name of its entry; undefined where it has none. */
  readonly entry: string | undefined;
  /** What it is about and is not enforced by the entry, a sentence each. */
  readonly notEnforced: readonly string[];
}

export interface PolicyEntries {
  readonly configuration: WebhookConfiguration;
  /** Of each policy, by name. */
  readonly reach: readonly PolicyReach[];
  /** What is to be known about all of it, one sentence each. */
  readonly notes: readonly string[];
}

/** Longest name of an entry: that of a DNS subdomain (RFC 1123). */
const MAX_NAME_LENGTH = 253;

/** Of the object that the installer and `generate webhooks` fill. */
export const POLICIES_CONFIGURATION = 'pacto-gate-policies';

/**
 * The same policies give the same bytes, in whatever order they and their bindings come. The match conditions of a
 * policy are not in its entry, nor are resourceNames and excludeResourceRules: the gate decides about them.
 */
export function policyEntries(input: PolicyEntriesInput): PolicyEntries {
  const bound = new Set(input.bindings.map(({ policyName }) => policyName));
  const webhooks: ValidatingEntry[] = input.writers ? [writersEntry(input)] : [];
  const reach: PolicyReach[] = [];
  let isWrittenOut = false;
  for (const policy of input.policies.toSorted(byName)) {
    if (!bound.has(policy.name)) {
      reach.push({ policy: policy.name, entry: undefined, notEnforced: [] });
      continue;
    }
    const draft = draftOf(policy, input);
    if ('entry' in draft) webhooks.push(draft.entry);
    isWrittenOut ||= 'entry' in draft && draft.isWrittenOut;
    reach.push({
      policy: policy.name,
      entry: 'entry' in draft ? draft.entry.name : undefined,
      notEnforced: draft.notEnforced,
    });
  }
  return {
    configuration: {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'ValidatingWebhookConfiguration',
      metadata: {
        name: POLICIES_CONFIGURATION,
        labels: { 'app.kubernetes.io/name': 'pacto-gate', 'app.kubernetes.io/component': 'policies' },
      },
      webhooks: webhooks.toSorted(byName),
    },
    reach,
    notes: [
      ...(isWrittenOut ? [WRITE_ANEW] : []),
      ...(webhooks.length > 0 && input.ownNamespace === undefined ? [WHERE_IS_IT] : []),
    ],
  };
}

const WRITE_ANEW =
  'wildcards are written out as what the API server serves now, for want of match conditions (Kubernetes 1.28): write the entries anew when it serves more';

const WHERE_IS_IT =
  'the namespace of the gate is not known, so no entry leaves it out: if the gate runs in this cluster, say where (installer.namespace or POD_NAMESPACE)';

type Draft =
  | {
      readonly entry: ValidatingEntry;
      readonly notEnforced: readonly string[];
      readonly isWrittenOut: boolean;
    }
  | { readonly notEnforced: readonly string[] };

function draftOf(policy: Policy, input: PolicyEntriesInput): Draft {
  const match = policy.matchConstraints;
  const fault = faultOf(policy);
  if (match === undefined || fault !== undefined) return none(fault ?? NO_CONSTRAINTS);
  const hasConditions = (input.kubeMinor ?? FIRST_MINOR_WITH_CONDITIONS) >= FIRST_MINOR_WITH_CONDITIONS;
  const narrow = hasConditions
    ? withoutNamed(match.resourceRules)
    : writtenOut(match.resourceRules, input.served);
  if (narrow === undefined) {
    return none(
      'its wildcards reach what an entry must not, the API server has no match conditions (Kubernetes 1.28) to let that pass, and what it serves is not known: give --discovery, or --from-cluster',
    );
  }
  const { rules, toLetPass, isWrittenOut } = narrow;
  const excluded = excludedNamespaces(input);
  const reachesNodeLeases = reachesSome(rules, NODE_LEASE) && !excluded.includes(KUBELET_NAMESPACE);
  const passes = hasConditions ? passesOf(rules, reachesNodeLeases) : [];
  const namespaces =
    reachesNodeLeases && !hasConditions ? [...excluded, KUBELET_NAMESPACE].toSorted() : excluded;
  const { served } = input;
  const notEnforced = [
    ...takenFrom({ match, namespaces, served }),
    ...passes.map(({ told }) => told),
    ...(isWrittenOut ? [SERVED_LATER] : []),
  ];
  if (rules.length === 0) {
    const nothing = 'nothing of what its rules name can be sent to a webhook';
    return { notEnforced: [...notEnforced, noEntry(nothing)] };
  }
  const conditions = [...kindConditions(toLetPass), ...passes.map(({ condition }) => condition)];
  return {
    entry: {
      name: policyEntryName(policy.name),
      clientConfig: clientConfigOf(input, policyPath(policy.name)),
      rules,
      failurePolicy: policy.failurePolicy === 'Ignore' ? 'Ignore' : 'Fail',
      matchPolicy: match.matchPolicy === 'Exact' ? 'Exact' : 'Equivalent',
      namespaceSelector: withoutNamespaces(match.namespaceSelector, namespaces),
      objectSelector: selectorOf(match.objectSelector),
      sideEffects: 'None',
      timeoutSeconds: input.timeoutSeconds,
      admissionReviewVersions: REVIEW_VERSIONS,
      ...(conditions.length > 0 && { matchConditions: conditions }),
    },
    notEnforced,
    isWrittenOut,
  };
}

const NO_CONSTRAINTS = 'it has no matchConstraints';

/** Why the API server would take no entry for the policy, and with it none of the others. */
function faultOf({ name, matchConstraints: match }: Policy): string | undefined {
  const [nameFault] = nameFaults(name);
  if (nameFault !== undefined) return `its name cannot be in a path: ${nameFault}`;
  const { length } = policyEntryName(name);
  if (length > MAX_NAME_LENGTH) {
    return `the name of its entry would have ${String(length)} characters and may have ${String(MAX_NAME_LENGTH)}: give the policy a shorter one, or one with three labels such as limits.example.com`;
  }
  if (match === undefined) return NO_CONSTRAINTS;
  if (match.resourceRules.length === 0) return 'it has no resourceRules';
  const [error] = matchErrors({ ...match, excludeResourceRules: [] }, 'spec.matchConstraints');
  return error === undefined ? undefined : `no API server would take it: ${error.field}: ${error.body}`;
}

function none(why: string): Draft {
  return { notEnforced: [noEntry(why)] };
}

function noEntry(why: string): string {
  return `has no entry, so that webhooks enforce nothing of it: ${why}`;
}

/** Sorted. */
function excludedNamespaces(input: PolicyEntriesInput): readonly string[] {
  const own = input.ownNamespace === undefined ? [] : [input.ownNamespace];
  return [...new Set([...input.excludedNamespaces, ...own])].toSorted();
}

const NODE_LEASE = [{ group: LEASE_GROUP, resource: LEASES }];

const SERVED_LATER =
  'requests about resources that the API server did not serve when the entry was written are not sent to the gate';

/** What an entry lets pass by a condition of its own, and how that is told. */
interface Pass {
  readonly told: string;
  readonly condition: { readonly name: string; readonly expression: string };
}

function passesOf(rules: readonly WebhookRule[], reachesNodeLeases: boolean): readonly Pass[] {
  return [
    ...(reachesNodeLeases ? [NODE_LEASES] : []),
    ...(reachesSome(rules, WRITTEN_BY_API_SERVER) ? [API_SERVER] : []),
  ];
}

const NODE_LEASES: Pass = {
  told: `requests about leases in ${KUBELET_NAMESPACE} are not sent to the gate: nodes whose Leases are not renewed count as dead`,
  condition: {
    name: 'no-node-leases',
    expression: `request.resource.group != '${LEASE_GROUP}' || request.resource.resource != '${LEASES}' || !has(request.namespace) || request.namespace != '${KUBELET_NAMESPACE}'`,
  },
};

const API_SERVER: Pass = {
  told: 'requests that the API server makes itself (system:apiserver) are not sent to the gate: one that starts ends if it cannot write its roles',
  condition: { name: 'no-api-server', expression: NO_API_SERVER },
};

/** Cannot fail: group and resource are always there, and are those of the request itself (vap.md C04). */
function kindConditions(
  families: readonly Family[],
): readonly { readonly name: string; readonly expression: string }[] {
  if (families.length === 0) return [];
  const resourcesByGroup = Map.groupBy(families, ({ group }) => group);
  const parts = [...resourcesByGroup].map(([group, of]) => {
    const isGroup = `request.resource.group == '${group}'`;
    const names = of.map(({ resource }) => `'${resource}'`);
    return group === OWN_GROUP
      ? `request.resource.group != '${group}'`
      : `!(${isGroup} && request.resource.resource in [${names.join(', ')}])`;
  });
  return [{ name: 'no-kinds-for-recovery', expression: parts.join(' && ') }];
}

function withoutNamespaces(selector: LabelSelector, namespaces: readonly string[]): EntrySelector {
  const { matchLabels, matchExpressions = [] } = selectorOf(selector);
  if (namespaces.length === 0) return selectorOf(selector);
  const without = { key: NAMESPACE_NAME_LABEL, operator: 'NotIn', values: namespaces };
  return {
    ...(matchLabels === undefined ? {} : { matchLabels }),
    matchExpressions: [...matchExpressions, without],
  };
}

/** Without what is empty, and labels by key: their order means nothing. */
function selectorOf({ matchLabels, matchExpressions }: LabelSelector): EntrySelector {
  const labels = Object.entries(matchLabels).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return {
    ...(labels.length > 0 && { matchLabels: Object.fromEntries(labels) }),
    ...(matchExpressions.length > 0 && {
      matchExpressions: matchExpressions.map(({ key, operator, values }) => ({
        key,
        operator,
        ...(values.length > 0 && { values }),
      })),
    }),
  };
}

/** Whoever writes a policy of our own group is checked (design decision 17); deleting one needs nobody (decision 20). */
function writersEntry(input: PolicyEntriesInput): ValidatingEntry {
  return {
    name: WRITERS_ENTRY,
    clientConfig: clientConfigOf(input, WRITERS_PATH),
    rules: [
      {
        apiGroups: [OWN_GROUP],
        apiVersions: ['*'],
        operations: ['CREATE', 'UPDATE'],
        resources: ['validatingadmissionpolicies', 'validatingadmissionpolicybindings'],
        scope: 'Cluster',
      },
    ],
    failurePolicy: 'Fail',
    matchPolicy: 'Equivalent',
    namespaceSelector: {},
    objectSelector: {},
    sideEffects: 'None',
    timeoutSeconds: input.timeoutSeconds,
    admissionReviewVersions: REVIEW_VERSIONS,
  };
}

function byName(a: { readonly name: string }, b: { readonly name: string }): number {
  return a.name < b.name ? -1 : a.name > b.name ? 1 : 0;
}
