/** The webhooks of delivery, which share what they read and what they remember. */
import type { Clock } from '../clock.ts';
import type { ReviewAccess } from '../cluster/access-reviews.ts';
import type { DeliverySettings } from '../policies/delivery/evidence.ts';
import type { FailurePolicy } from '../policies/verdict.ts';
import { deliveryApiWebhook } from './delivery-api.webhook.ts';
import { deliveryPointersWebhook } from './delivery-pointers.webhook.ts';
import { DeliveryReads } from './delivery-reads.ts';
import { deliveryStampsWebhook } from './delivery-stamps.webhook.ts';
import { deliveryWorkloadsWebhook } from './delivery-workloads.webhook.ts';
import { StickyAllows } from './sticky-allows.ts';
import type { Webhook } from './webhook.ts';

export interface DeliveryWebhookParts {
  readonly settings: DeliverySettings;
  /** Of the identity policy. */
  readonly namespace: string;
  /** Of the pointers entry. */
  readonly failurePolicy: FailurePolicy;
  readonly workloads: { readonly enabled: boolean; readonly failurePolicy: FailurePolicy };
  /** How long an Allow of the gate is remembered; 0: not at all. */
  readonly stickyMs: number;
  /** How long an absence must last before it is a violation. */
  readonly stabilizationMs: number;
  /** Left out where nobody can be asked, as of files. */
  readonly reviewAccess?: ReviewAccess | undefined;
  readonly clock: Clock;
}

/** All of them but what is switched off. */
export function deliveryWebhooks({
  settings,
  namespace,
  failurePolicy,
  workloads,
  stickyMs,
  stabilizationMs,
  reviewAccess,
  clock,
}: DeliveryWebhookParts): readonly Webhook[] {
  const reads = new DeliveryReads({ clock, namespace, stabilizationMs, sha256: settings.sha256 });
  const gate = { settings, reads, sticky: new StickyAllows(clock, stickyMs) };
  const api = { reads, stabilizationMs, clock, reviewAccess };
  return [
    deliveryPointersWebhook(gate, failurePolicy),
    ...(workloads.enabled ? [deliveryWorkloadsWebhook(gate, workloads.failurePolicy)] : []),
    deliveryApiWebhook(api),
    deliveryStampsWebhook(api),
  ];
}
