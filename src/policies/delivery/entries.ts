/**
 * The webhook entries of the delivery gate (delivery.md §2.6). They select by label, so that nothing but what is gated is
 * ever asked about: nothing in steady state, a move twice (flux-facts.md FF-35).
 */
import {
  clientConfigOf,
  FIRST_MINOR_WITH_CONDITIONS,
  NAMESPACE_NAME_LABEL,
  REVIEW_VERSIONS,
  type ClientTarget,
  type EntrySwitch,
  type ValidatingEntry,
  type WebhookConfiguration,
  type WebhookRule,
} from '../entry.ts';
import type { FailurePolicy } from '../verdict.ts';
import {
  API_ENTRY,
  API_PATH,
  POINTERS_ENTRY,
  POINTERS_PATH,
  STAMPS_ENTRY,
  STAMPS_PATH,
  WORKLOADS_ENTRY,
  WORKLOADS_PATH,
} from './entry-names.ts';
import { DELIVERY_ANNOTATION_PREFIX, DELIVERY_GROUP, STAGE_LABEL, WORKLOADS_LABEL } from './names.ts';

export interface DeliveryEntriesInput {
  readonly delivery: EntrySwitch & { readonly namespace: string; readonly workloads: EntrySwitch };
  /** Of the API server; left out: 1.28 or later. */
  readonly kubeMinor?: number;
  /** The namespace that the gate runs in; undefined where it runs outside the cluster. */
  readonly ownNamespace?: string;
  readonly target: ClientTarget;
  /** PEM. Left out where the API server trusts the certificate anyway. */
  readonly caBundle?: string;
  /** 1 to 30; pointers and workloads have three at most (delivery.md §2.6). */
  readonly timeoutSeconds: number;
}

/** The one mutating entry, in a configuration of its own kind. */
export interface MutatingEntry extends ValidatingEntry {
  readonly reinvocationPolicy: 'IfNeeded' | 'Never';
}

export interface MutatingConfiguration {
  readonly apiVersion: 'admissionregistration.k8s.io/v1';
  readonly kind: 'MutatingWebhookConfiguration';
  readonly metadata: WebhookConfiguration['metadata'];
  readonly webhooks: readonly MutatingEntry[];
}

export interface DeliveryEntries {
  readonly configuration: WebhookConfiguration;
  readonly stamps: MutatingConfiguration;
}

/** Of both objects: their kinds tell them apart. */
export const DELIVERY_CONFIGURATION = 'pacto-gate-delivery';

/** How long the API server waits at most for a gate that stands in the way of every reconcile (flux-facts.md FF-43). */
const MOST_SECONDS = 3;

/** delivery.md §2.6: where Flux, the cluster and delivery itself live, workloads are nobody's release. */
const EXCLUDED = ['flux-system', 'kube-node-lease', 'kube-public', 'kube-system', 'pacto-operator-system'];

const POINTERS: readonly WebhookRule[] = [
  written(['source.toolkit.fluxcd.io'], ['gitrepositories', 'ocirepositories']),
  written(['kustomize.toolkit.fluxcd.io'], ['kustomizations']),
  written(['helm.toolkit.fluxcd.io'], ['helmreleases']),
  written([''], ['configmaps']),
];
const WORKLOADS: readonly WebhookRule[] = [written(['apps'], ['daemonsets', 'deployments', 'statefulsets'])];
const KINDS = ['approvals', 'operations', 'stages'];

function written(apiGroups: readonly string[], resources: readonly string[]): WebhookRule {
  return { apiGroups, apiVersions: ['*'], operations: ['CREATE', 'UPDATE'], resources, scope: 'Namespaced' };
}

/**
 * FF-35, with the annotations of delivery compared too and binary data of ConfigMaps: whatever else is written of a pointer is
 * not asked about.
 */
const CHANGED = [
  "request.operation != 'UPDATE'",
  ...['spec', 'data', 'binaryData'].map(differs),
  `(has(object.metadata.labels) && '${STAGE_LABEL}' in object.metadata.labels ? object.metadata.labels['${STAGE_LABEL}'] : '') != (has(oldObject.metadata.labels) && '${STAGE_LABEL}' in oldObject.metadata.labels ? oldObject.metadata.labels['${STAGE_LABEL}'] : '')`,
  annotationsDiffer('object', 'oldObject'),
  annotationsDiffer('oldObject', 'object'),
].join(' || ');

function differs(member: string): string {
  return `has(object.${member}) != has(oldObject.${member}) || (has(object.${member}) && object.${member} != oldObject.${member})`;
}

/** Whether one has an annotation that counts and the other has not, or has it otherwise. */
function annotationsDiffer(one: string, other: string): string {
  const counts = `(key.startsWith('${DELIVERY_ANNOTATION_PREFIX}') || key == 'kustomize.toolkit.fluxcd.io/force')`;
  const same = `has(${other}.metadata.annotations) && key in ${other}.metadata.annotations && ${other}.metadata.annotations[key] == ${one}.metadata.annotations[key]`;
  return `(has(${one}.metadata.annotations) && ${one}.metadata.annotations.exists(key, ${counts} && !(${same})))`;
}

/** The same input gives the same bytes. */
export function deliveryEntries(input: DeliveryEntriesInput): DeliveryEntries {
  const { delivery } = input;
  const metadata = {
    name: DELIVERY_CONFIGURATION,
    labels: { 'app.kubernetes.io/name': 'pacto-gate', 'app.kubernetes.io/component': 'delivery' },
  };
  const isOn = delivery.enabled;
  return {
    configuration: {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'ValidatingWebhookConfiguration',
      metadata,
      webhooks: isOn
        ? [
            apiEntry(input),
            pointersEntry(input),
            ...(delivery.workloads.enabled ? [workloadsEntry(input)] : []),
          ]
        : [],
    },
    stamps: {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'MutatingWebhookConfiguration',
      metadata,
      webhooks: isOn ? [stampsEntry(input)] : [],
    },
  };
}

interface Draft {
  readonly name: string;
  readonly path: string;
  readonly failurePolicy: FailurePolicy;
  readonly rules: readonly WebhookRule[];
  readonly timeoutSeconds: number;
}

function entryFrom(draft: Draft, input: DeliveryEntriesInput): ValidatingEntry {
  const { name, path, failurePolicy, rules, timeoutSeconds } = draft;
  return {
    name,
    clientConfig: clientConfigOf(input, path),
    rules,
    failurePolicy,
    matchPolicy: 'Equivalent',
    namespaceSelector: {},
    objectSelector: {},
    sideEffects: 'None',
    timeoutSeconds,
    admissionReviewVersions: REVIEW_VERSIONS,
  };
}

function apiEntry(input: DeliveryEntriesInput): ValidatingEntry {
  const rule = { ...written([DELIVERY_GROUP], KINDS), operations: ['CREATE', 'UPDATE', 'DELETE'] };
  const { timeoutSeconds } = input;
  return entryFrom(
    { name: API_ENTRY, path: API_PATH, failurePolicy: 'Fail', rules: [rule], timeoutSeconds },
    input,
  );
}

function stampsEntry(input: DeliveryEntriesInput): MutatingEntry {
  const rule = { ...written([DELIVERY_GROUP], ['approvals', 'operations']), operations: ['CREATE'] };
  const { timeoutSeconds } = input;
  const draft: Draft = {
    name: STAMPS_ENTRY,
    path: STAMPS_PATH,
    failurePolicy: 'Fail',
    rules: [rule],
    timeoutSeconds,
  };
  // Another webhook behind it may write what it stamps.
  return { ...entryFrom(draft, input), reinvocationPolicy: 'IfNeeded' };
}

function pointersEntry(input: DeliveryEntriesInput): ValidatingEntry {
  const draft: Draft = {
    name: POINTERS_ENTRY,
    path: POINTERS_PATH,
    failurePolicy: input.delivery.failurePolicy,
    rules: POINTERS,
    timeoutSeconds: Math.min(input.timeoutSeconds, MOST_SECONDS),
  };
  const hasConditions = (input.kubeMinor ?? FIRST_MINOR_WITH_CONDITIONS) >= FIRST_MINOR_WITH_CONDITIONS;
  return {
    ...entryFrom(draft, input),
    objectSelector: { matchExpressions: [{ key: STAGE_LABEL, operator: 'Exists' }] },
    ...(hasConditions && { matchConditions: [{ name: 'changes-the-release', expression: CHANGED }] }),
  };
}

function workloadsEntry(input: DeliveryEntriesInput): ValidatingEntry {
  const { delivery, ownNamespace, timeoutSeconds } = input;
  const own = ownNamespace === undefined ? [] : [ownNamespace];
  const excluded = [...new Set([...EXCLUDED, delivery.namespace, ...own])].toSorted();
  const draft: Draft = {
    name: WORKLOADS_ENTRY,
    path: WORKLOADS_PATH,
    failurePolicy: delivery.workloads.failurePolicy,
    rules: WORKLOADS,
    timeoutSeconds: Math.min(timeoutSeconds, MOST_SECONDS),
  };
  return {
    ...entryFrom(draft, input),
    namespaceSelector: {
      matchExpressions: [
        { key: WORKLOADS_LABEL, operator: 'Exists' },
        { key: NAMESPACE_NAME_LABEL, operator: 'NotIn', values: excluded },
      ],
    },
  };
}
