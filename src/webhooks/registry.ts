/** The one list of webhooks: a new one is a file of its own and a line here. */
import { identitySettings, type IdentityInput } from '../policies/identity/settings.ts';
import type { FailurePolicy } from '../policies/verdict.ts';
import { agentPodsWebhook } from './node-identity-pods.webhook.ts';
import { agentTokensWebhook } from './node-identity-tokens.webhook.ts';
import { nodeIdentityWebhook, type KnownServerVersion } from './node-identity.webhook.ts';
import type { Webhook } from './webhook.ts';

interface Switch {
  readonly enabled: boolean;
  /** Of the generated entry. */
  readonly failurePolicy: FailurePolicy;
}

export interface WebhookParts {
  /** `identity` of the configuration. */
  readonly identity: IdentityInput & Switch & { readonly tokens: Switch; readonly pods: Switch };
  readonly serverVersion: KnownServerVersion;
  /** That of policies.webhook.ts, which is loaded only where there are policies: a server must start fast. */
  readonly policies?: Webhook;
  /** That of policy-writers.webhook.ts; only where custom resources are a source of policies, and loaded as late. */
  readonly policyWriters?: Webhook;
  /** Those of delivery.ts, loaded as late; none where the delivery gate is switched off. */
  readonly delivery?: readonly Webhook[];
}

/**
 * What is switched off is not in the list. The server answers its path as unknown, so switch a rule off only after its
 * entry is gone.
 */
export function createWebhooks({
  identity,
  serverVersion,
  policies,
  policyWriters,
  delivery = [],
}: WebhookParts): readonly Webhook[] {
  const settings = identitySettings(identity);
  const { tokens, pods } = identity;
  return [
    ...(identity.enabled ? [nodeIdentityWebhook(settings, identity.failurePolicy, serverVersion)] : []),
    ...(identity.enabled && tokens.enabled ? [agentTokensWebhook(settings, tokens.failurePolicy)] : []),
    ...(identity.enabled && pods.enabled ? [agentPodsWebhook(settings, pods.failurePolicy)] : []),
    ...(policies === undefined ? [] : [policies]),
    ...(policyWriters === undefined ? [] : [policyWriters]),
    ...delivery,
  ];
}
