/** Inputs of a decision for tests: a Stage in mode Enforce, of which all is well, unless the test says otherwise. */
import type {
  Approvals,
  Decision,
  DecisionInput,
  UpstreamEvidence,
  VerdictEvidence,
} from '../../../src/policies/delivery/decision.ts';

export const NOW_MS = Date.parse('2026-01-02T03:04:05Z');
export const MINUTE_MS = 60_000;
export const CANDIDATE = `sha256:${'c'.repeat(64)}`;
export const CURRENT = `sha256:${'a'.repeat(64)}`;

export function someEvidence(over: Partial<VerdictEvidence> = {}): VerdictEvidence {
  const verdict = over.class ?? 'Compliant';
  return {
    class: verdict,
    status: verdict,
    currency: 'Fresh',
    findings: [],
    contractVersion: '2.3.0',
    observedAtMs: NOW_MS - MINUTE_MS,
    resourceVersion: '7',
    compliantSinceMs: verdict === 'Compliant' ? NOW_MS - 60 * MINUTE_MS : undefined,
    stabilizing:
      verdict === 'Stabilizing' ? { sinceMs: NOW_MS - MINUTE_MS, untilMs: NOW_MS + MINUTE_MS } : undefined,
    expiresAtMs: NOW_MS + 14 * MINUTE_MS,
    ...over,
  };
}

export function anUpstream(
  evidence: Partial<VerdictEvidence> = {},
  over: Partial<UpstreamEvidence> = {},
): UpstreamEvidence {
  return {
    name: 'payments/payments-staging',
    evidence: someEvidence(evidence),
    soakMs: 0,
    isMoving: false,
    ...over,
  };
}

export function someApprovals(over: Partial<Approvals> = {}): Approvals {
  return {
    required: 0,
    have: 0,
    missing: [],
    isRejected: false,
    hasExpired: false,
    isSelfApproved: false,
    isOutdated: false,
    onVerdictChange: 'Invalidate',
    expiresAtMs: undefined,
    ...over,
  };
}

export function anInput(over: Partial<DecisionInput> = {}): DecisionInput {
  return {
    nowMs: NOW_MS,
    change: 'Move',
    isPinned: true,
    identityChanged: false,
    digest: CANDIDATE,
    mode: 'Enforce',
    target: 'AllowCures',
    onUnknown: 'Wait',
    isPolicyInvalid: false,
    hasBreakGlass: false,
    breakGlassUntilMs: undefined,
    frozen: undefined,
    closesAtMs: undefined,
    isHeld: false,
    busyWith: undefined,
    upstreams: { strategy: 'All', from: [anUpstream()] },
    own: someEvidence(),
    ownDigest: CURRENT,
    movedAtMs: NOW_MS - 120 * MINUTE_MS,
    ratchet: 'unknown',
    readiness: 'NotRequired',
    approvals: someApprovals(),
    deadlineMs: undefined,
    ...over,
  };
}

/** `Deny NONCOMPLIANT`. */
export function said({ decision, reasonCode }: Decision): string {
  return `${decision} ${reasonCode}`;
}

/** All combinations of one value of each list. */
export function product<Lists extends readonly (readonly unknown[])[]>(
  ...lists: Lists
): { [Index in keyof Lists]: Lists[Index][number] }[] {
  return lists.reduce<unknown[][]>(
    (rows, list) => rows.flatMap((row) => list.map((value) => [...row, value])),
    [[]],
  ) as { [Index in keyof Lists]: Lists[Index][number] }[];
}
