/** From the configuration to the list of webhooks: the one place that hands over what they need (WebhookParts). */
import type { EnforcedPolicies, PolicyParts } from './policies.ts';
import { wantsPolicies } from './policy-settings.ts';
import type { Clock } from '../clock.ts';
import type { ReviewAccess } from '../cluster/access-reviews.ts';
import type { Config } from '../config.ts';
import { createWebhooks, type WebhookParts } from '../webhooks/registry.ts';
import type { Webhook } from '../webhooks/webhook.ts';

interface Parts extends Pick<WebhookParts, 'serverVersion'> {
  /** Of `openPolicies`. */
  readonly policies?: Pick<EnforcedPolicies, 'webhook' | 'writers'> | undefined;
  /** Of `openDelivery`. */
  readonly delivery?: readonly Webhook[];
}

export function webhooksOf(
  { identity }: Pick<Config, 'identity'>,
  { serverVersion, policies, delivery = [] }: Parts,
): readonly Webhook[] {
  return createWebhooks({
    identity,
    serverVersion,
    ...(policies === undefined ? {} : { policies: policies.webhook }),
    ...(policies?.writers === undefined ? {} : { policyWriters: policies.writers }),
    delivery,
  });
}

/** The policies that the configuration names: what reads and evaluates them is loaded only if there may be any. */
export async function openPolicies(
  config: Pick<Config, 'policies' | 'state' | 'environment'>,
  parts: PolicyParts,
): Promise<EnforcedPolicies | undefined> {
  if (!wantsPolicies(config)) return undefined;
  const { loadPolicies } = await import('./policies.ts');
  return loadPolicies(config, parts);
}

/** The webhooks of the delivery gate: loaded only where it is switched on. */
export async function openDelivery(
  config: Pick<Config, 'delivery' | 'reconciler'>,
  parts: { readonly clock: Clock; readonly reviewAccess: ReviewAccess | undefined },
): Promise<readonly Webhook[]> {
  if (!config.delivery.enabled) return [];
  const { webhooksOfDelivery } = await import('./delivery.ts');
  return webhooksOfDelivery(config, parts);
}
