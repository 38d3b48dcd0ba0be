import { decideNodeIdentity } from '../policies/identity/decide.ts';
import { NODE_IDENTITY_ENTRY, NODE_IDENTITY_PATH } from '../policies/identity/entry-names.ts';
import type { Evidence } from '../policies/identity/evidence.ts';
import type { IdentitySettings } from '../policies/identity/settings.ts';
import { decideUnreadNodeIdentity } from '../policies/identity/unread.ts';
import type { FailurePolicy } from '../policies/verdict.ts';
import { decideWithEvidence } from './evidence.ts';
import type { Webhook, WebhookEntry } from './webhook.ts';

/** Version of the API server as far as it is known by now; asked at each decision. */
export type KnownServerVersion = () => Evidence['serverVersion'];

/** A node agent writes its own node's Lease and observation only (node-identity.md §3.3). */
export function nodeIdentityWebhook(
  settings: IdentitySettings,
  failurePolicy: FailurePolicy,
  serverVersion: KnownServerVersion,
): Webhook {
  const entry: WebhookEntry = {
    name: NODE_IDENTITY_ENTRY,
    failurePolicy,
    decide: (request, context) =>
      decideWithEvidence(
        (evidence) => decideNodeIdentity(request, settings, evidence),
        { serverVersion: serverVersion() },
        context,
      ),
    decideUnread: (request, error) => decideUnreadNodeIdentity(request, settings, error.message),
  };
  return { name: 'node-identity', path: NODE_IDENTITY_PATH, entry: () => entry };
}
