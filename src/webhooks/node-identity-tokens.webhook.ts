import { TOKENS_ENTRY, TOKENS_PATH } from '../policies/identity/entry-names.ts';
import type { IdentitySettings } from '../policies/identity/settings.ts';
import { decideAgentToken } from '../policies/identity/tokens.ts';
import type { FailurePolicy } from '../policies/verdict.ts';
import type { Webhook, WebhookEntry } from './webhook.ts';

/** Tokens of agent accounts only for Pods and by kubelets (node-identity.md NI07). */
export function agentTokensWebhook(settings: IdentitySettings, failurePolicy: FailurePolicy): Webhook {
  const entry: WebhookEntry = {
    name: TOKENS_ENTRY,
    failurePolicy,
    decide: (request) => decideAgentToken(request, settings),
  };
  return { name: 'node-identity-tokens', path: TOKENS_PATH, entry: () => entry };
}
