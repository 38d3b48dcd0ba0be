/** The words of a decision of the gate (delivery.md §3.7). */
import type { GateMode, GateTarget, OnUnknown } from './stage.ts';

export type GateAnswer = 'Allow' | 'Wait' | 'Deny';

/** The closed list; each is explained in docs/delivery.md, which a test compares. */
export const REASON_CODES = [
  'SAME',
  'ROLLBACK',
  'DRIFT_CORRECTION',
  'SUSPEND',
  'DELETE',
  'GATE_OFF',
  'OVERRIDE',
  'ALLOWED',
  'CURE',
  'UNPROVEN',
  'NOT_PINNED',
  'POINTER_IDENTITY',
  'FROZEN',
  'HELD',
  'BUSY',
  'NO_STAGE',
  'NOT_ADMIN',
  'ROLE_REQUIRED',
  'FIXED',
  'MALFORMED',
  'POLICY_INVALID',
  'SOAKING',
  'STALE',
  'STALE_NONCOMPLIANT',
  'STABILIZING',
  'NO_EVIDENCE',
  'NONCOMPLIANT',
  'TARGET_NONCOMPLIANT',
  'NOT_EVALUATED',
  'READINESS',
  'APPROVAL_REQUIRED',
  'APPROVAL_STALE',
  'APPROVAL_EXPIRED',
  'REJECTED',
  'SELF_APPROVAL',
  'GATE_UNAVAILABLE',
] as const;
export type ReasonCode = (typeof REASON_CODES)[number];

/** How a verdict stands to the digest it is to speak for (delivery.md §3.6). */
export type Currency = 'Fresh' | 'Stale' | 'WrongSubject' | 'Missing';

/** What a verdict says, in the classes of Tables 1 and 2. A value that is not known reads as `NotEvaluated`. */
export type VerdictClass =
  /** Compliant, Warning and Reference (operator.md §15.1). */
  | 'Compliant'
  /** Unknown: an absence younger than the stabilization window. */
  | 'Stabilizing'
  /** Unknown: nothing but observations that are not supported. */
  | 'Unsupported'
  /** Unknown: anything else, a failed collection among it. */
  | 'Unknown'
  | 'NonCompliant'
  /** NotEvaluated, Invalid, or a status that nobody here knows. */
  | 'NotEvaluated';

export interface VerdictEvidence {
  readonly class: VerdictClass;
  /** As the Pacto has it; empty where there is none. */
  readonly status: string;
  readonly currency: Currency;
  /** Codes of findings, errors first, without doubles. */
  readonly findings: readonly string[];
  readonly contractVersion: string | undefined;
  readonly observedAtMs: number | undefined;
  readonly resourceVersion: string;
  /** For how long it has been Compliant; undefined where nobody knows. */
  readonly compliantSinceMs: number | undefined;
  /** When the youngest absence began, and when its window is full. */
  readonly stabilizing: { readonly sinceMs: number; readonly untilMs: number } | undefined;
  /** When it stops being fresh. */
  readonly expiresAtMs: number | undefined;
}

export interface UpstreamEvidence {
  /** `payments/payments-staging`, or the name of the trust entry. */
  readonly name: string;
  readonly evidence: VerdictEvidence;
  /** The verdict must have been Compliant for this long. */
  readonly soakMs: number;
  /** Whether the upstream is about to stand on the candidate. */
  readonly isMoving: boolean;
}

/** Where approvals stand for one candidate (Table 3). */
export interface Approvals {
  readonly required: number;
  readonly have: number;
  /** Roles that lack a vote. */
  readonly missing: readonly string[];
  readonly isRejected: boolean;
  /** A vote that would have counted ran out, was lost with its role, or was taken back. */
  readonly hasExpired: boolean;
  /** Met only with a vote of the requester. */
  readonly isSelfApproved: boolean;
  /** The verdict got worse since the oldest counted vote. */
  readonly isOutdated: boolean;
  readonly onVerdictChange: 'Invalidate' | 'Keep';
  /** When the first counted vote runs out. */
  readonly expiresAtMs: number | undefined;
}

/** All that a decision depends on; the same record gives the same answer (invariant 3). */
export interface DecisionInput {
  readonly nowMs: number;
  /** Step 0: what kind of change it is. */
  readonly change: 'Same' | 'Rollback' | 'Move';
  readonly isPinned: boolean;
  readonly identityChanged: boolean;
  readonly digest: string;
  readonly mode: GateMode;
  readonly target: GateTarget;
  readonly onUnknown: OnUnknown;
  /** Whether the identity policy of now cannot be read: nothing goes forward by it (delivery.md §3.4). */
  readonly isPolicyInvalid: boolean;
  readonly hasBreakGlass: boolean;
  /** When that runs out. */
  readonly breakGlassUntilMs: number | undefined;
  /** Undefined while moves are allowed; `untilMs` undefined: nobody knows. */
  readonly frozen: { readonly untilMs: number | undefined; readonly reason: string } | undefined;
  /** When a schedule next stops moves that are allowed now; undefined where none does. */
  readonly closesAtMs: number | undefined;
  readonly isHeld: boolean;
  /** Name of the Operation that is under way, where it is another. */
  readonly busyWith: string | undefined;
  readonly upstreams: { readonly strategy: 'All' | 'Any'; readonly from: readonly UpstreamEvidence[] };
  readonly own: VerdictEvidence;
  /** The digest that the own verdict is about. */
  readonly ownDigest: string | undefined;
  /** When the Stage last moved: an absence streak that began before is not of that move. */
  readonly movedAtMs: number | undefined;
  /** delivery.md §2.4 C, where both sides can be judged from the objects alone. */
  readonly ratchet: 'better' | 'equal' | 'worse' | 'unknown';
  readonly readiness: 'NotRequired' | 'Satisfied' | 'Unsatisfied';
  readonly approvals: Approvals;
  /** Of the Operation; undefined for a direct write, which waits for ever. */
  readonly deadlineMs: number | undefined;
}

export interface Decision {
  readonly decision: GateAnswer;
  readonly reasonCode: ReasonCode;
  /** One sentence for people, stable for the same input class: no time, no counter (delivery.md §2.7). */
  readonly message: string;
  /** When it may be another without any event; undefined: an object must change first. */
  readonly nextChangeMs: number | undefined;
  readonly warnings: readonly string[];
  /** What mode Warn turned into Allow. */
  readonly wouldBe:
    | { readonly decision: 'Wait' | 'Deny'; readonly reasonCode: ReasonCode; readonly message: string }
    | undefined;
  /**
   * Which cell of which table decided: `T1 NonCompliant/Fresh`, for `gate explain`. `S0` is step 0, `C` the ratchet, `T1` has
   * verdict and evidence of the upstream that decides, `T2` verdict, age and `gate.target`, `R` readiness, `T3` the quorum.
   */
  readonly cell: string;
  /** All cells that it went through, in their order; the last is `cell`. */
  readonly cells: readonly string[];
}
