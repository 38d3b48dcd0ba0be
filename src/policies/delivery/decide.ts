/**
 * The decision of the gate: step 0 and Tables 1 to 3 of delivery.md §3.7, with the ratchet of §2.4 C. The same record gives
 * the same answer; each cell has a name, which `gate explain` shows.
 */
import { approvalsOutcome } from './decide-approvals.ts';
import { ownOutcome, ratchetOutcome } from './decide-own.ts';
import { briefly, denied, passed, waiting, type Outcome } from './decide-outcome.ts';
import { upstreamOutcome } from './decide-upstream.ts';
import type { Decision, DecisionInput } from './decision.ts';

/**
 * Whether the change may happen now.
 *
 * @returns an answer with its reason, and when it may be another without any event; mode `Warn` turns what is not
 *   allowed into Allow and says in `wouldBe` what it was.
 */
export function decide(input: DecisionInput): Decision {
  const outcome = withoutAsking(input) ?? untilWindowCloses(input, mayMove(input));
  return input.mode === 'Warn' ? warned(input, outcome) : decisionOf(input, outcome);
}

/** Step 0, in its order: the first that applies. */
function withoutAsking(input: DecisionInput): Outcome | undefined {
  if (input.change === 'Same') return passed('S0 Same', 'SAME', 'nothing that the gate looks at changes');
  if (input.change === 'Rollback') {
    return passed('S0 Rollback', 'ROLLBACK', 'the Stage has run this digest and may always go back to it');
  }
  // Mode Warn lets through what floats, and must not let another identity through with it.
  if (!input.isPinned && !(input.identityChanged && input.mode === 'Warn')) {
    return denied(
      'S0 NotPinned',
      'NOT_PINNED',
      'the pointer does not name one release for ever: pin it by digest',
    );
  }
  if (input.identityChanged) {
    const message =
      'what the digest is looked up in, or how it is verified, changes: this is for a stage admin';
    return denied('S0 PointerIdentity', 'POINTER_IDENTITY', message);
  }
  if (input.mode === 'Off') return passed('S0 Off', 'GATE_OFF', 'the gate of the Stage is off');
  if (input.isPolicyInvalid) {
    const message = 'the identity policy cannot be read: nothing goes forward until it is mended';
    return denied('S0 PolicyInvalid', 'POLICY_INVALID', message);
  }
  if (input.hasBreakGlass) {
    return passed('S0 BreakGlass', 'OVERRIDE', 'break-glass is valid for this digest', [
      input.breakGlassUntilMs,
    ]);
  }
  if (input.frozen !== undefined) {
    const { reason, untilMs } = input.frozen;
    const why = reason === '' ? '' : `: ${briefly(reason)}`;
    return waiting('S0 Frozen', 'FROZEN', `the Stage is frozen${why}`, [untilMs]);
  }
  if (input.isHeld) {
    return denied(
      'S0 Held',
      'HELD',
      'the Stage was rolled back from this digest, which is held: promote another',
    );
  }
  if (input.busyWith !== undefined) {
    return waiting('S0 Busy', 'BUSY', `Operation ${input.busyWith} is under way`, []);
  }
  return undefined;
}

/** Tables 1 to 3. */
function mayMove(input: DecisionInput): Outcome {
  const ratchet = ratchetOutcome(input);
  if (ratchet !== undefined) return ratchet.answer === 'Allow' ? approvalsOutcome(input, ratchet) : ratchet;
  const upstream = upstreamOutcome(input);
  if (upstream.answer !== 'Allow') return upstream;
  const own = ownOutcome(input, upstream);
  if (own.answer !== 'Allow') return own;
  if (input.readiness === 'Unsatisfied') {
    const message = 'the readiness gate of the contract is not satisfied';
    const outcome = denied('R Unsatisfied', 'READINESS', message, own.timersMs);
    return { ...outcome, cells: [...own.cells, ...outcome.cells] };
  }
  return approvalsOutcome(input, own);
}

/** What the tables say holds until a schedule stops all moves, whatever it is. */
function untilWindowCloses({ closesAtMs }: DecisionInput, outcome: Outcome): Outcome {
  return { ...outcome, timersMs: [...outcome.timersMs, closesAtMs] };
}

/**
 * What a Stage tries out is said and not done (delivery.md §3.7). Pointer identity stays denied: it is independent of any
 * verdict (row 6).
 */
function warned(input: DecisionInput, outcome: Outcome): Decision {
  const { answer, reasonCode, message } = outcome;
  if (answer === 'Allow' || reasonCode === 'POINTER_IDENTITY') return decisionOf(input, outcome);
  const said = `mode Warn lets it pass, Enforce would not: [${reasonCode}] ${message}`;
  return {
    ...decisionOf(input, { ...outcome, answer: 'Allow', reasonCode: 'ALLOWED', message: said }),
    warnings: [...outcome.warnings, said],
    wouldBe: { decision: answer, reasonCode, message },
  };
}

function decisionOf({ nowMs }: DecisionInput, outcome: Outcome): Decision {
  const { answer, reasonCode, message, timersMs, warnings, cells } = outcome;
  const ahead = timersMs.filter((ms): ms is number => ms !== undefined && ms > nowMs && Number.isFinite(ms));
  return {
    decision: answer,
    reasonCode,
    message,
    nextChangeMs: ahead.length === 0 ? undefined : Math.min(...ahead),
    warnings,
    wouldBe: undefined,
    cell: cells.at(-1) ?? '',
    cells,
  };
}
