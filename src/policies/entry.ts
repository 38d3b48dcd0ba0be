/**
 * Entries of a webhook configuration, for every area of rules: what one looks like, and how a draft of an area becomes
 * one. Which there are is for the area to say, in its `entries.ts`.
 */
import type { FailurePolicy } from './verdict.ts';

/** Where the API server finds the webhook; the path of each entry is put behind it. */
export type ClientTarget =
  /** For example `https://192.0.2.7:9443`, without path. */
  | { readonly url: string }
  | { readonly service: { readonly namespace: string; readonly name: string; readonly port: number } };

/** From the configuration: whether there is an entry, and what it does on failure. */
export interface EntrySwitch {
  readonly enabled: boolean;
  readonly failurePolicy: FailurePolicy;
}

export interface WebhookRule {
  readonly apiGroups: readonly string[];
  readonly apiVersions: readonly string[];
  readonly operations: readonly string[];
  readonly resources: readonly string[];
  readonly scope: 'Namespaced' | 'Cluster' | '*';
}

/** A label selector as the API has it; of entries that somebody else wrote the operator may be any text. */
export interface EntrySelector {
  readonly matchLabels?: Readonly<Record<string, string>>;
  readonly matchExpressions?: readonly {
    readonly key: string;
    readonly operator: string;
    /** Left out for `Exists` and `DoesNotExist`. */
    readonly values?: readonly string[];
  }[];
}

export interface ValidatingEntry {
  readonly name: string;
  readonly clientConfig: {
    readonly url?: string;
    readonly service?: {
      readonly namespace: string;
      readonly name: string;
      readonly path: string;
      readonly port: number;
    };
    /** PEM in base64. */
    readonly caBundle?: string;
  };
  readonly rules: readonly WebhookRule[];
  readonly failurePolicy: FailurePolicy;
  readonly matchPolicy: 'Equivalent' | 'Exact';
  readonly namespaceSelector: EntrySelector;
  readonly objectSelector: EntrySelector;
  readonly sideEffects: 'None';
  readonly timeoutSeconds: number;
  readonly admissionReviewVersions: readonly string[];
  readonly matchConditions?: readonly { readonly name: string; readonly expression: string }[];
}

/** A configuration as it is applied. */
export interface WebhookConfiguration {
  readonly apiVersion: 'admissionregistration.k8s.io/v1';
  readonly kind: 'ValidatingWebhookConfiguration';
  readonly metadata: {
    readonly name: string;
    readonly labels: Readonly<Record<string, string>>;
  };
  readonly webhooks: readonly ValidatingEntry[];
}

/** Every Namespace carries its name as this label (KEP-2161). */
export const NAMESPACE_NAME_LABEL = 'kubernetes.io/metadata.name';

/** The first minor with match conditions that are on by default (vap.md timing note). */
export const FIRST_MINOR_WITH_CONDITIONS = 28;

/** Of AdmissionReviews that the server reads. */
export const REVIEW_VERSIONS: readonly string[] = ['v1', 'v1beta1'];

/** What an area says about one of its entries; the rest is the same for all. */
export interface EntryDraft {
  readonly name: string;
  readonly path: string;
  readonly failurePolicy: FailurePolicy;
  /** The entry selects these, by name. */
  readonly namespaces: readonly string[];
  readonly rules: readonly WebhookRule[];
  /** Left out of the entry on API servers without match conditions. */
  readonly condition: { readonly name: string; readonly expression: string };
}

/** What is the same for all entries that are written together. */
export interface EntryInput {
  readonly target: ClientTarget;
  /** PEM. Left out where the API server trusts the certificate anyway. */
  readonly caBundle?: string;
  /** 1 to 30 (webhook-operations.md W04). */
  readonly timeoutSeconds: number;
  /** Whether the API server has match conditions. */
  readonly conditions: boolean;
}

/** The same input gives the same bytes: members keep their order. */
export function entryOf(draft: EntryDraft, input: EntryInput): ValidatingEntry {
  return {
    name: draft.name,
    clientConfig: clientConfigOf(input, draft.path),
    rules: draft.rules,
    failurePolicy: draft.failurePolicy,
    matchPolicy: 'Equivalent',
    namespaceSelector: {
      matchExpressions: [{ key: NAMESPACE_NAME_LABEL, operator: 'In', values: draft.namespaces }],
    },
    objectSelector: {},
    sideEffects: 'None',
    timeoutSeconds: input.timeoutSeconds,
    admissionReviewVersions: REVIEW_VERSIONS,
    ...(input.conditions && { matchConditions: [draft.condition] }),
  };
}

/** Where an entry is answered. */
export function clientConfigOf(
  { target, caBundle }: Pick<EntryInput, 'target' | 'caBundle'>,
  path: string,
): ValidatingEntry['clientConfig'] {
  return {
    ...addressOf(target, path),
    ...(caBundle !== undefined && { caBundle: base64(caBundle) }),
  };
}

function addressOf(target: ClientTarget, path: string): ValidatingEntry['clientConfig'] {
  if ('url' in target) return { url: `${target.url.replace(/\/+$/, '')}${path}` };
  const { namespace, name, port } = target.service;
  return { service: { namespace, name, path, port } };
}

/** Of a PEM text, which is ASCII. */
function base64(text: string): string {
  return btoa(text);
}
