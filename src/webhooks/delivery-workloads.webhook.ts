import { WORKLOADS_ENTRY, WORKLOADS_PATH } from '../policies/delivery/entry-names.ts';
import { decideWorkload, decideWorkloadPlainly } from '../policies/delivery/workloads.ts';
import type { FailurePolicy } from '../policies/verdict.ts';
import { decideAtGate, type GateParts, type GateRules } from './delivery-evidence.ts';
import type { Webhook, WebhookEntry } from './webhook.ts';

const RULES: GateRules = { decide: decideWorkload, worlds: ({ workloadWorlds }) => workloadWorlds };

/** A workload gets another Pod template only as the gates of its Stages let it, where they are of that scope. */
export function deliveryWorkloadsWebhook(parts: GateParts, failurePolicy: FailurePolicy): Webhook {
  const entry: WebhookEntry = {
    name: WORKLOADS_ENTRY,
    failurePolicy,
    decidePlain: decideWorkloadPlainly,
    decide: (request, context) => decideAtGate(RULES, request, parts, context),
  };
  return { name: 'delivery-workloads', path: WORKLOADS_PATH, entry: () => entry };
}
