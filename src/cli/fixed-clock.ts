/** A clock that says one time: for decisions of which the outcome must not depend on when they are tried. */
import type { Clock } from '../clock.ts';

/** @param nowMs undefined: the clock as it is */
export function clockAt(clock: Clock, nowMs: number | undefined): Clock {
  if (nowMs === undefined) return clock;
  return {
    now: () => nowMs,
    monotonic: () => clock.monotonic(),
    setTimer: (delayMs, run) => clock.setTimer(delayMs, run),
  };
}
