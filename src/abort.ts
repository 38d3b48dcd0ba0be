/** Signals: joined, and waited under. */

export interface LinkedSignal {
  readonly signal: AbortSignal;
  abort(reason: unknown): void;
  release(): void;
}

/**
 * A signal that aborts with the first of several. Unlike AbortSignal.any it can be released, so that a signal that
 * lives as long as the process does not collect one listener a call.
 */
export function linkSignals(sources: readonly (AbortSignal | undefined)[]): LinkedSignal {
  const controller = new AbortController();
  const listeners: (() => void)[] = [];
  for (const source of sources) {
    if (source === undefined) continue;
    if (source.aborted) controller.abort(source.reason);
    const onAbort = (): void => controller.abort(source.reason);
    source.addEventListener('abort', onAbort, { once: true });
    listeners.push(() => source.removeEventListener('abort', onAbort));
  }
  return {
    signal: controller.signal,
    abort: (reason) => controller.abort(reason),
    release: () => {
      for (const remove of listeners) remove();
    },
  };
}

/** Waits for `promise`, but no longer than until the signal aborts: then rejects with its reason. */
export function abortable<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return promise;
  return new Promise((resolve, reject) => {
    const onAbort = (): void => reject(signal.reason as Error);
    if (signal.aborted) onAbort();
    signal.addEventListener('abort', onAbort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
  });
}
