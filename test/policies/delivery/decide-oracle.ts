/**
 * The tables of delivery.md §3.7 once more, written from its text and not from the code: what each cell says, and how the
 * cells follow one another. Nothing here is imported from src but types.
 */
import type {
  Approvals,
  DecisionInput,
  UpstreamEvidence,
  VerdictEvidence,
} from '../../../src/policies/delivery/decision.ts';

/** `Allow ALLOWED`, `Wait STALE`, … */
export type Expected = string;

/** Columns: fresh with its soak, fresh without, stale, wrong digest or missing. `~`: Deny once the deadline is over. */
const TABLE_1: Readonly<Record<VerdictEvidence['class'], readonly [string, string, string, string]>> = {
  Compliant: ['Allow ALLOWED', 'Wait SOAKING', 'Wait~ STALE', 'Deny NO_EVIDENCE'],
  Stabilizing: ['Wait STABILIZING', 'Wait STABILIZING', 'Wait~ STALE', 'Deny NO_EVIDENCE'],
  Unsupported: ['onUnknown', 'onUnknown', 'Wait~ STALE', 'Deny NO_EVIDENCE'],
  Unknown: ['Wait~ UNPROVEN', 'Wait~ UNPROVEN', 'Wait~ STALE', 'Deny NO_EVIDENCE'],
  NonCompliant: ['Deny NONCOMPLIANT', 'Deny NONCOMPLIANT', 'Wait~ STALE_NONCOMPLIANT', 'Deny NO_EVIDENCE'],
  NotEvaluated: ['Deny NOT_EVALUATED', 'Deny NOT_EVALUATED', 'Deny NOT_EVALUATED', 'Deny NOT_EVALUATED'],
};

const ON_UNKNOWN = { Wait: 'Wait~ UNPROVEN', Deny: 'Deny UNPROVEN', Allow: 'Allow UNPROVEN' } as const;

/** AllowCures, Block, Ignore. */
const TABLE_2: Readonly<Record<string, readonly [string, string, string]>> = {
  'Compliant fresh': ['T3', 'T3', 'T3'],
  'Compliant stale': ['T3', 'Wait~ STALE', 'T3'],
  'Unknown S': ['Wait STABILIZING if young', 'Wait STABILIZING', 'T3'],
  'Unknown fresh': ['T3', 'Wait~ UNPROVEN', 'T3'],
  'Unknown stale': ['T3', 'Wait~ STALE', 'T3'],
  'NonCompliant fresh': ['cure or Deny TARGET_NONCOMPLIANT', 'Deny TARGET_NONCOMPLIANT', 'T3'],
  'NonCompliant stale': ['T3', 'Wait~ STALE_NONCOMPLIANT', 'T3'],
  Missing: ['T3', 'T3', 'T3'],
};

const TARGETS = { AllowCures: 0, Block: 1, Ignore: 2 } as const;

/** What the tables say, step 0 and mode aside. */
export function tablesSay(input: DecisionInput): Expected {
  const { ratchet, target } = input;
  if (ratchet === 'worse' && target !== 'Ignore') return 'Deny NONCOMPLIANT';
  if (ratchet === 'better' && target === 'AllowCures') return table3(input, 'Allow CURE');
  const first = table1(input);
  if (!first.startsWith('Allow')) return first;
  const second = table2(input, first);
  if (!second.startsWith('Allow')) return second;
  if (input.readiness === 'Unsatisfied') return 'Deny READINESS';
  return table3(input, second);
}

function table1(input: DecisionInput): Expected {
  const { strategy, from } = input.upstreams;
  const cells = from.map((upstream) => cell1(input, upstream));
  const order = ['Allow ALLOWED', 'Allow UNPROVEN', 'Wait', 'Deny'];
  for (const kind of strategy === 'All' ? order.toReversed() : order) {
    const found = cells.find((cell) => cell.startsWith(kind));
    if (found !== undefined) return found;
  }
  return 'Allow ALLOWED';
}

function cell1(input: DecisionInput, { evidence, soakMs, isMoving }: UpstreamEvidence): Expected {
  const since = evidence.compliantSinceMs;
  const isSoaked = soakMs === 0 || (since !== undefined && input.nowMs >= since + soakMs);
  const column = { Fresh: isSoaked ? 0 : 1, Stale: 2, WrongSubject: 3, Missing: 3 }[evidence.currency];
  const cell = TABLE_1[evidence.class][column]!;
  if (cell === 'Deny NO_EVIDENCE' && isMoving) return 'Wait NO_EVIDENCE';
  return atDeadline(input, cell === 'onUnknown' ? ON_UNKNOWN[input.onUnknown] : cell);
}

function table2(input: DecisionInput, first: Expected): Expected {
  const { own, target, ownDigest, digest, movedAtMs } = input;
  const cell = TABLE_2[row2(own)]![TARGETS[target]];
  if (cell === 'T3') return first;
  if (cell === 'Wait STABILIZING if young') {
    const isOfTheLastMove = own.stabilizing!.sinceMs > movedAtMs!;
    return isOfTheLastMove ? 'Wait STABILIZING' : first;
  }
  if (cell !== 'cure or Deny TARGET_NONCOMPLIANT') return atDeadline(input, cell);
  const isProven = input.upstreams.from.some((one) => cell1(input, one) === 'Allow ALLOWED');
  return isProven && digest !== ownDigest ? 'Allow CURE' : 'Deny TARGET_NONCOMPLIANT';
}

function row2(own: VerdictEvidence): string {
  if (own.currency === 'Missing') return 'Missing';
  if (own.class === 'Stabilizing') return 'Unknown S';
  const age = own.currency === 'Fresh' ? 'fresh' : 'stale';
  const said = own.class === 'Compliant' || own.class === 'NonCompliant' ? own.class : 'Unknown';
  return `${said} ${age}`;
}

function table3({ approvals }: DecisionInput, before: Expected): Expected {
  if (approvals.isRejected) return 'Deny REJECTED';
  if (approvals.required === 0) return before;
  if (approvals.have < approvals.required) {
    if (approvals.isSelfApproved) return 'Wait SELF_APPROVAL';
    return approvals.hasExpired ? 'Wait APPROVAL_EXPIRED' : 'Wait APPROVAL_REQUIRED';
  }
  return approvals.isOutdated && approvals.onVerdictChange === 'Invalidate' ? 'Wait APPROVAL_STALE' : before;
}

function atDeadline({ nowMs, deadlineMs }: DecisionInput, cell: string): Expected {
  if (!cell.startsWith('Wait~')) return cell;
  const answer = deadlineMs !== undefined && nowMs >= deadlineMs ? 'Deny' : 'Wait';
  return cell.replace('Wait~', answer);
}

/** The rows of Table 3. */
export const APPROVALS: Readonly<Record<string, Partial<Approvals>>> = {
  'none required': { required: 0, have: 0, missing: [] },
  missing: { required: 1, have: 0, missing: ['release-manager'] },
  met: { required: 1, have: 1, missing: [] },
  'met, verdict worse, Invalidate': { required: 1, have: 1, missing: [], isOutdated: true },
  'met, verdict worse, Keep': {
    required: 1,
    have: 1,
    missing: [],
    isOutdated: true,
    onVerdictChange: 'Keep',
  },
  expired: { required: 1, have: 0, missing: ['release-manager'], hasExpired: true },
  rejected: { required: 1, have: 1, missing: [], isRejected: true },
  'by the requester': { required: 1, have: 0, missing: ['release-manager'], isSelfApproved: true },
};
