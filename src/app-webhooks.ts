/** From the configuration to the list of webhooks: the one place that hands over what they need (WebhookParts). */
import type { Config } from './config.ts';
import { createWebhooks, type WebhookParts } from './webhooks/registry.ts';
import type { Webhook } from './webhooks/webhook.ts';

export function webhooksOf(
  { identity }: Pick<Config, 'identity'>,
  serverVersion: WebhookParts['serverVersion'],
): readonly Webhook[] {
  return createWebhooks({ identity, serverVersion });
}
