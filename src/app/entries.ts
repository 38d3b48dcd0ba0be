/** From the configuration to the webhook entries: the one way, for whoever writes, compares or simulates them. */
import { namespacesOfGate } from './target.ts';
import type { Config } from '../config.ts';
import { deliveryEntries, type DeliveryEntries } from '../policies/delivery/entries.ts';
import type { ClientTarget } from '../policies/entry.ts';
import { identityEntries, type IdentityEntries } from '../policies/identity/entries.ts';
import { identitySettings } from '../policies/identity/settings.ts';
import { policyEntries, type PolicyEntries, type ServedResource } from '../policies/vap/entries.ts';
import type { SourcedPolicies } from '../policies/vap/sources.ts';

export interface EntriesInput {
  readonly target: ClientTarget;
  /** 1 to 30. */
  readonly timeoutSeconds: number;
  /** PEM. */
  readonly caBundle?: string;
  /** Of the API server; left out: 1.28 or later. */
  readonly kubeMinor?: number;
  readonly served?: readonly ServedResource[];
  /** Left out: none. */
  readonly policies?: Pick<SourcedPolicies, 'policies' | 'bindings'>;
}

export interface Entries {
  readonly identity: IdentityEntries;
  readonly policies: PolicyEntries;
  readonly delivery: DeliveryEntries;
}

/** The entries that a configuration asks for. */
export function entriesOf(
  config: Pick<Config, 'identity' | 'policies' | 'delivery' | 'installer' | 'environment'>,
  { served, policies: found, ...of }: EntriesInput,
): Entries {
  const { identity, policies, delivery, installer, environment } = config;
  const ofService = 'service' in of.target ? of.target.service.namespace : undefined;
  const beside = ofService ?? environment.podNamespace;
  const own = installer.namespace ?? environment.podNamespace ?? ofService;
  return {
    identity: identityEntries({
      settings: identitySettings(identity),
      identity,
      tokens: identity.tokens,
      pods: identity.pods,
      ...of,
      ...(beside === undefined ? {} : { ownNamespace: beside }),
    }),
    delivery: deliveryEntries({ delivery, ...of, ...(beside === undefined ? {} : { ownNamespace: beside }) }),
    policies: policyEntries({
      policies: (found?.policies ?? []).map(({ policy }) => policy),
      bindings: (found?.bindings ?? []).map(({ binding }) => binding),
      ...(served === undefined ? {} : { served }),
      excludedNamespaces: [...policies.excludedNamespaces, ...namespacesOfGate(config, of.target)],
      ...(own === undefined ? {} : { ownNamespace: own }),
      writers: policies.sources.includes('customResources'),
      ...of,
    }),
  };
}
