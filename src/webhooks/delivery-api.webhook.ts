import { decideApi, decideApiPlainly } from '../policies/delivery/api.ts';
import { API_ENTRY, API_PATH } from '../policies/delivery/entry-names.ts';
import { decideByApiRules, type ApiParts } from './delivery-api-evidence.ts';
import type { Webhook, WebhookEntry } from './webhook.ts';

/** Stages, Operations and Approvals are written by who may, and what must not change does not (delivery.md §3.1 to §3.3). */
export function deliveryApiWebhook(parts: ApiParts): Webhook {
  const entry: WebhookEntry = {
    name: API_ENTRY,
    failurePolicy: 'Fail',
    decidePlain: decideApiPlainly,
    decide: (request, context) => decideByApiRules(decideApi, request, parts, context),
  };
  return { name: 'delivery-api', path: API_PATH, entry: () => entry };
}
