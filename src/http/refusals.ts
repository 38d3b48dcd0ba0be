/** Tells of the answers that a listener gives by itself, without a flood: a caller chooses how many there are. */
import type { Clock } from '../clock.ts';
import type { ErrorCode } from '../errors.ts';
import type { Log } from '../log.ts';

export interface Refusal {
  readonly status: number;
  readonly code: ErrorCode;
}

export type OnRefusal = (refusal: Refusal) => void;

/** After the first line for a code, one line each time with how many there were. */
const SUMMARY_MS = 10_000;

export interface RefusalsOptions {
  /** For the log line. */
  readonly listener: string;
  readonly clock: Clock;
  readonly log: Log;
  /** Told of each one. */
  readonly count?: (code: ErrorCode) => void;
}

/** A line at once for the first refusal of a code, then one for each ten seconds in which there were more. */
export function reportRefusals(options: RefusalsOptions): OnRefusal {
  const { listener, clock, log } = options;
  const more = new Map<ErrorCode, number>();
  const wait = ({ code, status }: Refusal): void => {
    more.set(code, 0);
    clock.setTimer(SUMMARY_MS, () => {
      const count = more.get(code) ?? 0;
      if (count === 0) {
        more.delete(code);
        return;
      }
      log.warn('more requests refused like this', { listener, status, code, count });
      wait({ code, status });
    });
  };
  return (refusal) => {
    const { code, status } = refusal;
    options.count?.(code);
    const count = more.get(code);
    if (count !== undefined) {
      more.set(code, count + 1);
      return;
    }
    log.warn('request refused', { listener, status, code });
    wait(refusal);
  };
}
