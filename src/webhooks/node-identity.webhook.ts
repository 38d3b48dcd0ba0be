import { decideNodeIdentity } from '../policies/identity/decide.ts';
import type { Evidence } from '../policies/identity/evidence.ts';
import { NODE_IDENTITY_ENTRY, NODE_IDENTITY_PATH } from '../policies/identity/entry-names.ts';
import type { IdentitySettings } from '../policies/identity/settings.ts';
import type { FailurePolicy } from '../policies/verdict.ts';
import { decideWithEvidence } from './evidence.ts';
import type { Webhook, WebhookEntry } from './webhook.ts';

export interface NodeIdentityParts {
  readonly settings: IdentitySettings;
  /** Of the webhook entries, as they were generated. */
  readonly failurePolicy: FailurePolicy;
  /** Version of the API server, as far as it is known by now. */
  serverVersion(): Evidence['serverVersion'];
}

/** A node agent writes its own node's Lease and observation only (node-identity.md §3.3). */
export function nodeIdentityWebhook(parts: NodeIdentityParts): Webhook {
  const entry: WebhookEntry = {
    name: NODE_IDENTITY_ENTRY,
    failurePolicy: parts.failurePolicy,
    decide: (request, context) =>
      decideWithEvidence(
        (evidence) => decideNodeIdentity(request, parts.settings, evidence),
        { serverVersion: parts.serverVersion() },
        context,
      ),
  };
  return { name: 'node-identity', path: NODE_IDENTITY_PATH, entry: () => entry };
}
