/** A wait that ends with its time, or with the caller. */
import type { Clock } from '../clock.ts';
import { GateError } from '../errors.ts';

/** Half of our own budget for a review of 8 s (webhook-operations.md R6): the other half is for the decision. */
export const WAIT_MS = 4_000;

export interface Patience {
  /** Aborts with a GateError GATE_OVERLOADED. */
  readonly signal: AbortSignal;
  end(): void;
}

/** @param onGone registers what to do when the caller leaves, and returns what takes that back. */
export function patienceOf(clock: Clock, waitMs: number, onGone: (gone: () => void) => () => void): Patience {
  const controller = new AbortController();
  const timer = clock.setTimer(waitMs, () =>
    controller.abort(overloaded(`no room or turn came within ${String(waitMs)} ms`)),
  );
  const forget = onGone(() => controller.abort(overloaded('the caller went away while it waited')));
  return {
    signal: controller.signal,
    end() {
      timer.cancel();
      forget();
    },
  };
}

/** What a wait failed with, as an error that says so. */
export function overloadOf(error: unknown): GateError {
  return error instanceof GateError
    ? error
    : new GateError('GATE_INTERNAL', 'limits: failed', { cause: error });
}

function overloaded(what: string): GateError {
  return new GateError('GATE_OVERLOADED', `pacto-gate is overloaded: ${what}: send again in a second`);
}
