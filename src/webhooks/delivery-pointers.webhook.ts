import { POINTERS_ENTRY, POINTERS_PATH } from '../policies/delivery/entry-names.ts';
import { decidePointer, decidePointerPlainly } from '../policies/delivery/pointers.ts';
import type { FailurePolicy } from '../policies/verdict.ts';
import { decideAtGate, type GateParts, type GateRules } from './delivery-evidence.ts';
import type { Webhook, WebhookEntry } from './webhook.ts';

const RULES: GateRules = {
  decide: decidePointer,
  worlds: ({ world }) => (world?.isThere === true ? [world.world] : undefined),
};

/** A labelled pointer moves forward only as the gate of its Stage lets it (delivery.md §2.3). */
export function deliveryPointersWebhook(parts: GateParts, failurePolicy: FailurePolicy): Webhook {
  const entry: WebhookEntry = {
    name: POINTERS_ENTRY,
    failurePolicy,
    decidePlain: decidePointerPlainly,
    decide: (request, context) => decideAtGate(RULES, request, parts, context),
  };
  return { name: 'delivery-pointers', path: POINTERS_PATH, entry: () => entry };
}
