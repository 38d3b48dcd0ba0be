/** Table 3 of delivery.md §3.7: approvals, of what the tables before it allow. */
import { briefly, type Outcome } from './decide-outcome.ts';
import type { Approvals, DecisionInput, ReasonCode } from './decision.ts';

interface Row {
  readonly name: string;
  readonly applies: (approvals: Approvals) => boolean;
  readonly answer: 'Wait' | 'Deny';
  readonly reasonCode: ReasonCode;
  readonly message: (approvals: Approvals) => string;
}

/** In this order; where none applies, the quorum is met. */
const TABLE_3: readonly Row[] = [
  {
    name: 'Rejected',
    applies: ({ isRejected }) => isRejected,
    answer: 'Deny',
    reasonCode: 'REJECTED',
    message: () => 'an approver rejected it',
  },
  {
    name: 'SelfApproved',
    applies: (approvals) => !isMet(approvals) && approvals.isSelfApproved,
    answer: 'Wait',
    reasonCode: 'SELF_APPROVAL',
    message: () => 'it is approved by who asked for it: another person must approve',
  },
  {
    name: 'Expired',
    applies: (approvals) => !isMet(approvals) && approvals.hasExpired,
    answer: 'Wait',
    reasonCode: 'APPROVAL_EXPIRED',
    message: () => 'an approval ran out, or its author no longer has the role: approve again',
  },
  {
    name: 'Missing',
    applies: (approvals) => !isMet(approvals),
    answer: 'Wait',
    reasonCode: 'APPROVAL_REQUIRED',
    message: ({ missing }) => `approvals are missing: ${briefly(missing.join(', '))}`,
  },
  {
    name: 'Outdated/Invalidate',
    applies: (approvals) => isOutdated(approvals) && approvals.onVerdictChange === 'Invalidate',
    answer: 'Wait',
    reasonCode: 'APPROVAL_STALE',
    message: () => 'the verdict got worse since it was approved: approve again',
  },
];

/** @param before what the tables before allowed, which goes on in the outcome. */
export function approvalsOutcome({ approvals }: DecisionInput, before: Outcome): Outcome {
  const timersMs = [...before.timersMs, approvals.expiresAtMs];
  const inCell = (name: string): readonly string[] => [...before.cells, `T3 ${name}`];
  const row = TABLE_3.find(({ applies }) => applies(approvals));
  if (row !== undefined) {
    const { answer, reasonCode } = row;
    return {
      ...before,
      answer,
      reasonCode,
      message: row.message(approvals),
      timersMs,
      cells: inCell(row.name),
    };
  }
  if (isOutdated(approvals)) {
    const warnings = [
      ...before.warnings,
      'the verdict got worse since it was approved, and the approvals are kept',
    ];
    return { ...before, timersMs, warnings, cells: inCell('Outdated/Keep') };
  }
  return { ...before, timersMs, cells: inCell(approvals.required === 0 ? 'None' : 'Met') };
}

function isMet({ required, have, missing }: Approvals): boolean {
  return missing.length === 0 && have >= required;
}

function isOutdated(approvals: Approvals): boolean {
  return approvals.required > 0 && approvals.isOutdated;
}
