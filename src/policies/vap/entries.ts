/**
 * The webhook entries of policies, one for each that has a binding (design decisions 16 and 20), and what is taken from
 * their reach so that a gate that is down can neither stop a cluster nor its own cure (webhook-operations.md R1).
 */
import type { ClientTarget, WebhookConfiguration } from '../entry.ts';
import type { Binding, Policy } from './types.ts';

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
