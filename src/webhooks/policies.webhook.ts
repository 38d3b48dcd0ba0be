import { setImmediate as nextTurn } from 'node:timers/promises';
import type { FailurePolicy } from '../policies/verdict.ts';
import { POLICIES_PATH, policyEntryName } from '../policies/vap/entry-name.ts';
import type { PolicySet } from '../policies/vap/policy-set.ts';
import type { Policy } from '../policies/vap/types.ts';
import { decide, settle } from '../policies/vap/vap.ts';
import { neededWarnings } from '../policies/vap/warnings.ts';
import { lookUp, type LookUpParts } from './policy-needs.ts';
import type { Webhook, WebhookEntry } from './webhook.ts';

export interface PolicyWebhookParts extends LookUpParts {
  readonly policies: readonly Policy[];
  /** Of the policies. */
  readonly set: PolicySet;
}

/** ValidatingAdmissionPolicies, an entry each, answered as the API server would (vap.md). */
export function policiesWebhook(parts: PolicyWebhookParts): Webhook {
  const entries = new Map(parts.policies.map((policy) => [policy.name, entryFor(policy, parts)]));
  return {
    name: 'policies',
    path: POLICIES_PATH,
    entry: ({ policy = '' }) => entries.get(policy),
  };
}

function entryFor({ name, failurePolicy }: Policy, parts: PolicyWebhookParts): WebhookEntry {
  return {
    name: policyEntryName(name),
    failurePolicy: failurePolicyOf(failurePolicy),
    isVerbatim: true,
    async decide(request, context) {
      const { verdict } = await settle(
        decide(parts.set, request, { policy: name, interrupted: () => context.signal.aborted }),
        (need) => lookUp(need, name, parts, context),
        async () => {
          await nextTurn();
          context.signal.throwIfAborted();
        },
      );
      return { ...verdict, warnings: neededWarnings(verdict.warnings) };
    },
  };
}

/** What is none of the two is stored without validation only, and fails closed. */
function failurePolicyOf(text: string): FailurePolicy {
  return text === 'Ignore' ? 'Ignore' : 'Fail';
}
