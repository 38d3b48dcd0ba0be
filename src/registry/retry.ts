/** Trying again, with a limit of time for all attempts together (platform.md §1.3 rule 8). */
import { linkSignals } from '../abort.ts';
import { type Clock, sleep } from '../clock.ts';
import { PassingFailure, silent, type Subject } from './failures.ts';

export interface RetryPolicy {
  readonly clock: Clock;
  readonly random: () => number;
  readonly attempts: number;
  /** For all attempts and the waiting in between. */
  readonly totalMs: number;
  readonly subject: Subject;
  readonly signal: AbortSignal | undefined;
}

const FIRST_WAIT_MS = 250;
const LONGEST_WAIT_MS = 5_000;
/** Whoever asks for more than this is not waited for longer. */
const LONGEST_ASKED_MS = 60_000;

/**
 * @param attempt throws a PassingFailure where another one makes sense; its signal aborts when time is up.
 * @throws whatever the last attempt failed with.
 */
export async function retrying<T>(
  policy: RetryPolicy,
  attempt: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const { clock, subject, totalMs, signal: outer } = policy;
  outer?.throwIfAborted();
  const linked = linkSignals([outer]);
  const endMs = clock.monotonic() + totalMs;
  const timer = clock.setTimer(totalMs, () =>
    linked.abort(silent(subject, `no whole answer within ${totalMs} ms`)),
  );
  try {
    for (let made = 1; ; made++) {
      try {
        return await attempt(linked.signal);
      } catch (failure) {
        if (!(failure instanceof PassingFailure)) throw failure;
        const waitMs = waitBefore(made, failure, policy.random);
        if (made >= policy.attempts || clock.monotonic() + waitMs >= endMs) throw failure.error;
        await sleep(clock, waitMs, linked.signal);
      }
    }
  } finally {
    timer.cancel();
    linked.release();
  }
}

/** Doubled with each attempt, and between half and all of that, so that many clients do not come back as one. */
function waitBefore(made: number, failure: PassingFailure, random: () => number): number {
  if (failure.retryAfterMs !== undefined) return Math.min(failure.retryAfterMs, LONGEST_ASKED_MS);
  return Math.min(FIRST_WAIT_MS * 2 ** (made - 1), LONGEST_WAIT_MS) * (0.5 + random() / 2);
}

/**
 * Retry-After (RFC 9110 §10.2.3): seconds or a date.
 * @param nowMs since the Unix epoch.
 * @returns milliseconds from now; undefined where it says neither.
 */
export function retryAfterMs(header: string | undefined, nowMs: number): number | undefined {
  if (header === undefined) return undefined;
  if (/^\d{1,9}$/.test(header)) return Number(header) * 1000;
  const dateMs = /^[A-Z][a-z]{2}, /.test(header) ? Date.parse(header) : Number.NaN;
  return Number.isNaN(dateMs) ? undefined : Math.max(0, dateMs - nowMs);
}
