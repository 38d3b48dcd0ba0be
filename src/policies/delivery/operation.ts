/** `Operation` and `Approval` as the gate reads them (delivery.md §3.2, §3.3). */

export const OPERATION_TYPES = ['Promote', 'Rollback', 'Resume', 'Revert'] as const;
export type OperationType = (typeof OPERATION_TYPES)[number];

/** Those after which nothing changes any more. */
export const TERMINAL_PHASES = [
  'Succeeded',
  'Failed',
  'Rejected',
  'Superseded',
  'Expired',
  'Cancelled',
  'RolledBack',
] as const;

/** Who did something, as the API server vouched for them. */
export interface Person {
  readonly username: string;
  readonly uid: string;
  readonly groups: readonly string[];
}

export interface Operation {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly createdAtMs: number | undefined;
  readonly stage: string;
  readonly type: OperationType;
  readonly digest: string;
  readonly expectedCurrent: string;
  readonly requestedBy: Person;
  readonly deadlineMs: number;
  readonly cancel: boolean;
  /** `Pending` where the status says none. */
  readonly phase: string;
  readonly isTerminal: boolean;
  readonly moves: readonly {
    readonly pointer: string;
    readonly from: string;
    readonly to: string;
    readonly state: string;
  }[];
}

export type ApprovalDecision = 'Approve' | 'Reject' | 'BreakGlass';

export interface Approval {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly createdAtMs: number | undefined;
  readonly operation: { readonly name: string; readonly uid: string };
  readonly digest: string;
  readonly decision: ApprovalDecision;
  readonly role: string;
  readonly reason: string;
  readonly ticket: string;
  readonly expiresAtMs: number | undefined;
  readonly approvedBy: Person;
  readonly seen: {
    readonly verdict: string;
    readonly verdictResourceVersion: string;
    readonly gateDecision: string;
    readonly policySha256: string;
  };
}
