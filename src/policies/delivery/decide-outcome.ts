/** What one step of a decision comes to, and the cells that the tables of delivery.md §3.7 are made of. */
import { inertText } from '../quote.ts';
import type { DecisionInput, GateAnswer, ReasonCode, VerdictEvidence } from './decision.ts';

export interface Outcome {
  readonly answer: GateAnswer;
  readonly reasonCode: ReasonCode;
  readonly message: string;
  /** Times at which it may be another; those that are over or unknown do not count. */
  readonly timersMs: readonly (number | undefined)[];
  readonly warnings: readonly string[];
  /** Cells that it went through, in their order. */
  readonly cells: readonly string[];
}

/** A cell that waits until the deadline denies from then on; without a deadline it waits for ever. */
export interface Cell {
  readonly answer: GateAnswer;
  readonly reasonCode: ReasonCode;
  readonly untilDeadline?: boolean;
}

export function passed(
  cell: string,
  reasonCode: ReasonCode,
  message: string,
  timersMs: Outcome['timersMs'] = [],
): Outcome {
  return { answer: 'Allow', reasonCode, message, timersMs, warnings: [], cells: [cell] };
}

export function waiting(
  cell: string,
  reasonCode: ReasonCode,
  message: string,
  timersMs: Outcome['timersMs'],
): Outcome {
  return { answer: 'Wait', reasonCode, message, timersMs, warnings: [], cells: [cell] };
}

export function denied(
  cell: string,
  reasonCode: ReasonCode,
  message: string,
  timersMs: Outcome['timersMs'] = [],
): Outcome {
  return { answer: 'Deny', reasonCode, message, timersMs, warnings: [], cells: [cell] };
}

/** What a cell comes to at this time. */
export function answerOf(cell: Cell, { nowMs, deadlineMs }: DecisionInput): GateAnswer {
  const isOver = cell.untilDeadline === true && deadlineMs !== undefined && nowMs >= deadlineMs;
  return cell.answer === 'Wait' && isOver ? 'Deny' : cell.answer;
}

/** Codes that a message has room for. */
const SHOWN_FINDINGS = 5;

/** `NonCompliant: A, B on contract 2.3.0`, for messages; nothing in it changes with time. */
export function verdictText({ status, findings, contractVersion }: VerdictEvidence): string {
  const said = status === '' ? 'none' : status;
  const codes = findings.slice(0, SHOWN_FINDINGS).join(', ');
  const more = findings.length > SHOWN_FINDINGS ? ' and others' : '';
  const version = contractVersion === undefined ? '' : ` on contract ${contractVersion}`;
  return `${said}${codes === '' ? '' : `: ${codes}${more}`}${version}`;
}

const BRIEF_LENGTH = 200;

/** A text that whoever writes a Stage chose, for a message. */
export function briefly(text: string): string {
  const cut = text.length > BRIEF_LENGTH ? `${text.slice(0, BRIEF_LENGTH)}…` : text;
  return inertText(cut.toWellFormed());
}
