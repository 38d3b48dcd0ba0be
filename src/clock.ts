/**
 * The clock: the only file that reads time, so that everything else can be tested with a clock that a
 * test turns by hand (design §3).
 */

/** A timer that was set and can be cancelled. */
export interface Timer {
  cancel(): void;
}

export interface Clock {
  /** Wall-clock time, milliseconds since the Unix epoch. Jumps when the system clock is set. */
  now(): number;
  /** Monotonic time in milliseconds from an arbitrary start. Never jumps: use it for deadlines and durations. */
  monotonic(): number;
  /** Calls `run` once after `delayMs` milliseconds. The timer does not keep the process alive. */
  setTimer(delayMs: number, run: () => void): Timer;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  setTimer(delayMs, run) {
    const handle = setTimeout(run, delayMs);
    handle.unref();
    return { cancel: () => clearTimeout(handle) };
  },
};

/** Resolves after `delayMs` milliseconds of `clock`, or rejects with the signal's reason when it aborts first. */
export function sleep(clock: Clock, delayMs: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted === true) {
      reject(signal.reason as Error);
      return;
    }
    const onAbort = (): void => {
      timer.cancel();
      reject(signal?.reason as Error);
    };
    const timer = clock.setTimer(delayMs, () => {
      signal?.removeEventListener('abort', onAbort);
      resolve();
    });
    signal?.addEventListener('abort', onAbort, { once: true });
  });
}
