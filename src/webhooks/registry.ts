/** The one list of webhooks: a new one is a file of its own and a line here. */
import { nodeIdentityWebhook, type NodeIdentityParts } from './node-identity.webhook.ts';
import type { Webhook } from './webhook.ts';

export interface WebhookParts {
  readonly identity: NodeIdentityParts;
}

export function createWebhooks(parts: WebhookParts): readonly Webhook[] {
  return [nodeIdentityWebhook(parts.identity)];
}
