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
  readonly matchPolicy: 'Equivalent';
  readonly namespaceSelector: {
    readonly matchExpressions: readonly {
      readonly key: string;
      readonly operator: 'In';
      readonly values: readonly string[];
    }[];
  };
  readonly objectSelector: Readonly<Record<string, never>>;
  readonly sideEffects: 'None';
  readonly timeoutSeconds: number;
  readonly admissionReviewVersions: readonly string[];
  readonly matchConditions?: readonly { readonly name: string; readonly expression: string }[];
}

/** The first minor with match conditions that are on by default (vap.md timing note). */
export const FIRST_MINOR_WITH_CONDITIONS = 28;

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
    clientConfig: {
      ...addressOf(input.target, draft.path),
      ...(input.caBundle !== undefined && { caBundle: base64(input.caBundle) }),
    },
    rules: draft.rules,
    failurePolicy: draft.failurePolicy,
    matchPolicy: 'Equivalent',
    namespaceSelector: {
      matchExpressions: [{ key: 'kubernetes.io/metadata.name', operator: 'In', values: draft.namespaces }],
    },
    objectSelector: {},
    sideEffects: 'None',
    timeoutSeconds: input.timeoutSeconds,
    admissionReviewVersions: ['v1', 'v1beta1'],
    ...(input.conditions && { matchConditions: [draft.condition] }),
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
