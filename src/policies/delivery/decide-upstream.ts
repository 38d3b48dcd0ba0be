/** Table 1 of delivery.md §3.7: what the stages before this one prove about the candidate. */
import { answerOf, passed, verdictText, type Cell, type Outcome } from './decide-outcome.ts';
import type {
  DecisionInput,
  ReasonCode,
  UpstreamEvidence,
  VerdictClass,
  VerdictEvidence,
} from './decision.ts';

/** `Absent`: wrong digest or missing. */
type Column = 'Fresh' | 'Soaking' | 'Stale' | 'Absent';

const ALLOWED: Cell = { answer: 'Allow', reasonCode: 'ALLOWED' };
const SOAKING: Cell = { answer: 'Wait', reasonCode: 'SOAKING' };
const STABILIZING: Cell = { answer: 'Wait', reasonCode: 'STABILIZING' };
const STALE: Cell = { answer: 'Wait', reasonCode: 'STALE', untilDeadline: true };
const STALE_NONCOMPLIANT: Cell = { answer: 'Wait', reasonCode: 'STALE_NONCOMPLIANT', untilDeadline: true };
const UNPROVEN: Cell = { answer: 'Wait', reasonCode: 'UNPROVEN', untilDeadline: true };
const NO_EVIDENCE: Cell = { answer: 'Deny', reasonCode: 'NO_EVIDENCE' };
const NONCOMPLIANT: Cell = { answer: 'Deny', reasonCode: 'NONCOMPLIANT' };
const NOT_EVALUATED: Cell = { answer: 'Deny', reasonCode: 'NOT_EVALUATED' };

/** The row `Unsupported` is as `onUnknown` says where it is fresh. */
const TABLE_1: Readonly<Record<VerdictClass, Readonly<Record<Column, Cell>>>> = {
  Compliant: { Fresh: ALLOWED, Soaking: SOAKING, Stale: STALE, Absent: NO_EVIDENCE },
  Stabilizing: { Fresh: STABILIZING, Soaking: STABILIZING, Stale: STALE, Absent: NO_EVIDENCE },
  Unsupported: { Fresh: UNPROVEN, Soaking: UNPROVEN, Stale: STALE, Absent: NO_EVIDENCE },
  Unknown: { Fresh: UNPROVEN, Soaking: UNPROVEN, Stale: STALE, Absent: NO_EVIDENCE },
  NonCompliant: {
    Fresh: NONCOMPLIANT,
    Soaking: NONCOMPLIANT,
    Stale: STALE_NONCOMPLIANT,
    Absent: NO_EVIDENCE,
  },
  NotEvaluated: {
    Fresh: NOT_EVALUATED,
    Soaking: NOT_EVALUATED,
    Stale: NOT_EVALUATED,
    Absent: NOT_EVALUATED,
  },
};

const ON_UNKNOWN: Readonly<Record<DecisionInput['onUnknown'], Cell>> = {
  Wait: UNPROVEN,
  Deny: { answer: 'Deny', reasonCode: 'UNPROVEN' },
  Allow: { answer: 'Allow', reasonCode: 'UNPROVEN' },
};

export interface UpstreamOutcome extends Outcome {
  /** Whether a verdict that is Compliant is among what allowed it. */
  readonly isProven: boolean;
}

/** The worst of all upstreams, or the best of any; of equal ones the first in the order of the Stage. */
export function upstreamOutcome(input: DecisionInput): UpstreamOutcome {
  const { strategy, from } = input.upstreams;
  const outcomes = from.map((upstream) => outcomeOf(input, upstream));
  const [first] = outcomes;
  if (first === undefined) {
    return { ...passed('T1 None', 'ALLOWED', 'no stage comes before this one'), isProven: false };
  }
  const isBetter = strategy === 'Any';
  const chosen = outcomes.reduce((best, one) =>
    isBetter ? (rankOf(one) < rankOf(best) ? one : best) : rankOf(one) > rankOf(best) ? one : best,
  );
  return {
    ...chosen,
    isProven: chosen.answer === 'Allow' && outcomes.some(({ isProven }) => isProven),
    timersMs: outcomes.flatMap(({ timersMs }) => timersMs),
  };
}

const RANKS = { Allow: 0, Wait: 2, Deny: 3 } as const;

/** What is allowed without a proof is worse than what is proved. */
function rankOf({ answer, isProven }: UpstreamOutcome): number {
  return answer === 'Allow' && !isProven ? 1 : RANKS[answer];
}

function outcomeOf(input: DecisionInput, upstream: UpstreamEvidence): UpstreamOutcome {
  const { evidence, name } = upstream;
  const column = columnOf(input, upstream);
  const cell = cellOf(input, upstream, column);
  const answer = answerOf(cell, input);
  const soakEndMs =
    evidence.compliantSinceMs === undefined ? undefined : evidence.compliantSinceMs + upstream.soakMs;
  const isProven = answer === 'Allow' && evidence.class === 'Compliant';
  return {
    answer,
    reasonCode: cell.reasonCode,
    message: messageOf(cell.reasonCode, name, evidence),
    timersMs: [
      evidence.expiresAtMs,
      column === 'Soaking' && evidence.class === 'Compliant' ? soakEndMs : undefined,
      evidence.stabilizing?.untilMs,
      cell.untilDeadline === true ? input.deadlineMs : undefined,
    ],
    warnings:
      answer === 'Allow' && !isProven ? [`${name} cannot prove its verdict, and onUnknown is Allow`] : [],
    cells: [`T1 ${evidence.class}/${column}`],
    isProven,
  };
}

function columnOf({ nowMs }: DecisionInput, { evidence, soakMs }: UpstreamEvidence): Column {
  if (evidence.currency === 'Stale') return 'Stale';
  if (evidence.currency !== 'Fresh') return 'Absent';
  if (soakMs <= 0) return 'Fresh';
  const { compliantSinceMs } = evidence;
  return compliantSinceMs !== undefined && nowMs - compliantSinceMs >= soakMs ? 'Fresh' : 'Soaking';
}

function cellOf(input: DecisionInput, { evidence, isMoving }: UpstreamEvidence, column: Column): Cell {
  const cell = TABLE_1[evidence.class][column];
  if (cell === NO_EVIDENCE && isMoving) return { answer: 'Wait', reasonCode: 'NO_EVIDENCE' };
  const isOpen = evidence.class === 'Unsupported' && (column === 'Fresh' || column === 'Soaking');
  return isOpen ? ON_UNKNOWN[input.onUnknown] : cell;
}

function messageOf(code: ReasonCode, name: string, evidence: VerdictEvidence): string {
  switch (code) {
    case 'SOAKING':
      return `${name} is Compliant, but not yet for as long as the Stage asks`;
    case 'STABILIZING':
      return `${name} misses something that has not been away for long enough to count`;
    case 'STALE':
      return `the verdict of ${name} is too old to count`;
    case 'STALE_NONCOMPLIANT':
      return `${name} was NonCompliant, and its verdict is too old to count either way`;
    case 'UNPROVEN':
      return `the verdict of ${name} proves nothing: ${verdictText(evidence)}`;
    case 'NO_EVIDENCE':
      return `${name} has no verdict about this digest`;
    case 'NONCOMPLIANT':
      return `${name} is ${verdictText(evidence)}`;
    case 'NOT_EVALUATED':
      return `the contract of ${name} is not evaluated (${verdictText(evidence)})`;
    default:
      return `${name} is Compliant with this digest`;
  }
}
