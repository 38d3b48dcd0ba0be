import { setImmediate as nextTurn } from 'node:timers/promises';
import type { GateError } from '../errors.ts';
import type { FailurePolicy } from '../policies/verdict.ts';
import { POLICIES_PATH, policyEntryName } from '../policies/vap/entry-name.ts';
import type { PolicySet } from '../policies/vap/policy-set.ts';
import type { Policy } from '../policies/vap/types.ts';
import { decide, settle } from '../policies/vap/vap.ts';
import { neededWarnings } from '../policies/vap/warnings.ts';
import { lookUp, type LookUpParts } from './policy-needs.ts';
import type { Webhook, WebhookEntry } from './webhook.ts';

/** The policies of one moment; a change makes another. */
export interface PolicySnapshot {
  readonly policies: readonly Policy[];
  /** Of these policies. */
  readonly set: PolicySet;
}

export interface PolicyWebhookParts extends LookUpParts {
  /**
   * What is in force: asked once for each request, which is decided by it from beginning to end. Undefined until all
   * of it is known for the first time.
   */
  current(): PolicySnapshot | undefined;
  /** Why what is in force cannot be told just now; every policy is answered by its failure policy then. */
  doubt?(): GateError | undefined;
  /** As Webhook.prepare. */
  prepare?(): Promise<void> | undefined;
}

/** ValidatingAdmissionPolicies, an entry each, answered as the API server would (vap.md). */
export function policiesWebhook(parts: PolicyWebhookParts): Webhook {
  const known = new WeakMap<PolicySnapshot, ReadonlyMap<string, WebhookEntry>>();
  const entriesOf = (snapshot: PolicySnapshot): ReadonlyMap<string, WebhookEntry> => {
    const before = known.get(snapshot);
    if (before !== undefined) return before;
    const entries = new Map(
      snapshot.policies.map((policy) => [policy.name, entryFor(policy, snapshot, parts)]),
    );
    known.set(snapshot, entries);
    return entries;
  };
  return {
    name: 'policies',
    path: POLICIES_PATH,
    prepare: () => parts.prepare?.(),
    entry({ policy = '' }) {
      const snapshot = parts.current();
      return snapshot === undefined ? undefined : entriesOf(snapshot).get(policy);
    },
  };
}

function entryFor(
  { name, failurePolicy }: Policy,
  { set }: PolicySnapshot,
  parts: PolicyWebhookParts,
): WebhookEntry {
  return {
    name: policyEntryName(name),
    failurePolicy: failurePolicyOf(failurePolicy),
    isVerbatim: true,
    async decide(request, context) {
      const doubt = parts.doubt?.();
      if (doubt !== undefined) throw doubt;
      const { verdict } = await settle(
        decide(set, request, { policy: name, interrupted: () => context.signal.aborted }),
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
