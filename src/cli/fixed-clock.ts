/** A clock that says one time: for decisions of which the outcome must not depend on when they are tried. */
import { InvalidArgumentError } from 'commander';
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

/** @throws InvalidArgumentError for what is no RFC 3339 time. */
export function parseNow(text: string): number {
  const ms = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d{1,9})?(?:Z|[+-]\d{2}:\d{2})$/.test(text)
    ? Date.parse(text)
    : Number.NaN;
  if (Number.isNaN(ms)) throw new InvalidArgumentError('need a time such as 2026-01-02T03:04:05Z');
  return ms;
}
