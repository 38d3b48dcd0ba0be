/** Table 2 of delivery.md §3.7: what the Stage's own verdict means for a forward move, and the ratchet of §2.4 C. */
import { answerOf, denied, passed, verdictText, type Cell, type Outcome } from './decide-outcome.ts';
import type { UpstreamOutcome } from './decide-upstream.ts';
import type { DecisionInput, ReasonCode, VerdictEvidence } from './decision.ts';

type Row =
  | 'Compliant/Fresh'
  | 'Compliant/Stale'
  | 'Stabilizing'
  | 'Unknown/Fresh'
  | 'Unknown/Stale'
  | 'NonCompliant/Fresh'
  | 'NonCompliant/Stale'
  | 'Missing';

/** `Settle`: waits for the last move only. `Cure`: passes what is better than what is there. */
type OwnCell = Cell | 'Settle' | 'Cure';

const PASS: Cell = { answer: 'Allow', reasonCode: 'ALLOWED' };
const STALE: Cell = { answer: 'Wait', reasonCode: 'STALE', untilDeadline: true };
const STALE_NONCOMPLIANT: Cell = { answer: 'Wait', reasonCode: 'STALE_NONCOMPLIANT', untilDeadline: true };
const UNPROVEN: Cell = { answer: 'Wait', reasonCode: 'UNPROVEN', untilDeadline: true };
const STABILIZING: Cell = { answer: 'Wait', reasonCode: 'STABILIZING' };
const TARGET_NONCOMPLIANT: Cell = { answer: 'Deny', reasonCode: 'TARGET_NONCOMPLIANT' };

const TABLE_2: Readonly<Record<Row, Readonly<Record<DecisionInput['target'], OwnCell>>>> = {
  'Compliant/Fresh': { AllowCures: PASS, Block: PASS, Ignore: PASS },
  'Compliant/Stale': { AllowCures: PASS, Block: STALE, Ignore: PASS },
  Stabilizing: { AllowCures: 'Settle', Block: STABILIZING, Ignore: PASS },
  'Unknown/Fresh': { AllowCures: PASS, Block: UNPROVEN, Ignore: PASS },
  'Unknown/Stale': { AllowCures: PASS, Block: STALE, Ignore: PASS },
  'NonCompliant/Fresh': { AllowCures: 'Cure', Block: TARGET_NONCOMPLIANT, Ignore: PASS },
  'NonCompliant/Stale': { AllowCures: PASS, Block: STALE_NONCOMPLIANT, Ignore: PASS },
  Missing: { AllowCures: PASS, Block: PASS, Ignore: PASS },
};

/**
 * What the objects alone say (delivery.md §2.4 C), whatever any verdict is: a change that only takes violations away is a
 * cure where cures count, one that adds some is denied wherever the Stage itself counts. Equal sets decide nothing.
 */
export function ratchetOutcome({ ratchet, target }: DecisionInput): Outcome | undefined {
  if (ratchet === 'better' && target === 'AllowCures') {
    return passed('C Better', 'CURE', 'the change takes violations away and adds none');
  }
  if (ratchet === 'worse' && target !== 'Ignore') {
    return denied(
      'C Worse',
      'NONCOMPLIANT',
      'the change adds a violation that can be seen in the object itself',
    );
  }
  return undefined;
}

/** @param upstream what Table 1 allowed, which goes on in the outcome. */
export function ownOutcome(input: DecisionInput, upstream: UpstreamOutcome): Outcome {
  const { own, target } = input;
  const row = rowOf(own);
  const cell = inCase(TABLE_2[row][target], input, upstream);
  const cells = [...upstream.cells, `T2 ${row}/${target}`];
  const answer = answerOf(cell, input);
  const timersMs = [
    ...upstream.timersMs,
    own.expiresAtMs,
    own.stabilizing?.untilMs,
    cell.untilDeadline === true ? input.deadlineMs : undefined,
  ];
  const warnings = [...upstream.warnings, ...warningsOf(row, target)];
  if (answer !== 'Allow') {
    const message = messageOf(cell.reasonCode, own);
    return { answer, reasonCode: cell.reasonCode, message, timersMs, warnings, cells };
  }
  if (cell.reasonCode !== 'CURE') return { ...upstream, timersMs, warnings, cells };
  const message = 'the digest that is here is NonCompliant, and this one is proved elsewhere';
  return { answer, reasonCode: 'CURE', message, timersMs, warnings, cells };
}

function rowOf({ class: verdict, currency }: VerdictEvidence): Row {
  if (currency === 'Missing') return 'Missing';
  if (verdict === 'Stabilizing') return 'Stabilizing';
  const age = currency === 'Fresh' ? 'Fresh' : 'Stale';
  if (verdict === 'Compliant' || verdict === 'NonCompliant') return `${verdict}/${age}`;
  return `Unknown/${age}`;
}

function inCase(cell: OwnCell, input: DecisionInput, upstream: UpstreamOutcome): Cell {
  if (cell === 'Settle') return isSettling(input) ? STABILIZING : PASS;
  if (cell !== 'Cure') return cell;
  // An offender that nobody knows may be the candidate.
  const isAnother = input.ownDigest !== undefined && input.ownDigest !== input.digest;
  return isAnother && upstream.isProven ? { answer: 'Allow', reasonCode: 'CURE' } : TARGET_NONCOMPLIANT;
}

/**
 * Whether what is missing was there before the last move, as far as anybody knows; times have whole seconds, and of the same
 * one nobody does.
 */
function isSettling({ own, movedAtMs }: DecisionInput): boolean {
  const sinceMs = own.stabilizing?.sinceMs;
  return sinceMs === undefined || movedAtMs === undefined || sinceMs >= movedAtMs;
}

function warningsOf(row: Row, target: DecisionInput['target']): readonly string[] {
  return row === 'Compliant/Stale' && target === 'AllowCures'
    ? ['the verdict of the Stage itself is too old to count, or is about another digest']
    : [];
}

function messageOf(code: ReasonCode, own: VerdictEvidence): string {
  switch (code) {
    case 'STALE':
      return 'the verdict of the Stage itself is too old to count, or is about another digest';
    case 'STALE_NONCOMPLIANT':
      return 'the Stage was NonCompliant, and its verdict is too old to count either way';
    case 'STABILIZING':
      return 'the Stage misses something that has not been away for long enough to count';
    case 'TARGET_NONCOMPLIANT':
      return `the Stage is ${verdictText(own)}, and nothing proves that this digest is the cure`;
    default:
      return `the verdict of the Stage itself proves nothing: ${verdictText(own)}`;
  }
}
