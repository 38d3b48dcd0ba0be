/** What the installer is to bring about: made anew for each round from the policies and the configuration. */
import type { ClientTarget, ValidatingEntry, WebhookConfiguration } from '../policies/entry.ts';
import type { PolicyReach } from '../policies/vap/entries.ts';
import type { SourcedPolicies } from '../policies/vap/sources.ts';

export interface Desired {
  readonly policies: SourcedPolicies;
  /** Entries of the policies, and of whoever writes policies. */
  readonly policyEntries: WebhookConfiguration;
  /** Entries that no policy makes: node identity. */
  readonly otherEntries: readonly WebhookConfiguration[];
  readonly reach: readonly PolicyReach[];
  /** Sources of which nobody knows what they hold just now: nothing is removed while there are any. */
  readonly incomplete: readonly string[];
  /** Namespaces of the gate and of ConfigMaps with policies, which no native policy of ours reaches. */
  readonly keptNamespaces: readonly string[];
  /** Where entries point, for the canary's. */
  readonly target: ClientTarget;
  /** PEM. */
  readonly caBundle?: string;
}

export type Enforcement = 'auto' | 'native' | 'webhooks';

/** Entries of policies by the name of the policy. */
export function entriesByPolicy({ policyEntries, reach }: Desired): ReadonlyMap<string, ValidatingEntry> {
  const entries = new Map(policyEntries.webhooks.map((entry) => [entry.name, entry]));
  return new Map(
    reach.flatMap(({ policy, entry }): [string, ValidatingEntry][] => {
      const found = entry === undefined ? undefined : entries.get(entry);
      return found === undefined ? [] : [[policy, found]];
    }),
  );
}
