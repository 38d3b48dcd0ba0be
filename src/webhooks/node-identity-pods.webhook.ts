import { PODS_ENTRY, PODS_PATH } from '../policies/identity/entry-names.ts';
import { decideAgentPod } from '../policies/identity/pods.ts';
import type { IdentitySettings } from '../policies/identity/settings.ts';
import type { FailurePolicy } from '../policies/verdict.ts';
import { decideWithEvidence } from './evidence.ts';
import type { Webhook, WebhookEntry } from './webhook.ts';

/** Pods with an agent account only from the agent's DaemonSet (node-identity.md NI08). */
export function agentPodsWebhook(settings: IdentitySettings, failurePolicy: FailurePolicy): Webhook {
  const entry: WebhookEntry = {
    name: PODS_ENTRY,
    failurePolicy,
    decide: (request, context) =>
      decideWithEvidence((evidence) => decideAgentPod(request, settings, evidence), {}, context),
  };
  return { name: 'node-identity-pods', path: PODS_PATH, entry: () => entry };
}
