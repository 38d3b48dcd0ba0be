import { STAMPS_ENTRY, STAMPS_PATH } from '../policies/delivery/entry-names.ts';
import { stampsFor } from '../policies/delivery/stamps.ts';
import { decideByApiRules, type ApiParts } from './delivery-api-evidence.ts';
import type { Webhook, WebhookEntry } from './webhook.ts';

/** Who asked, who approved and what they saw is written by us, whatever the client says: the one mutating entry. */
export function deliveryStampsWebhook(parts: ApiParts): Webhook {
  const entry: WebhookEntry = {
    name: STAMPS_ENTRY,
    failurePolicy: 'Fail',
    decide: (request, context) => decideByApiRules(stampsFor, request, parts, context),
  };
  return { name: 'delivery-stamps', path: STAMPS_PATH, entry: () => entry };
}
