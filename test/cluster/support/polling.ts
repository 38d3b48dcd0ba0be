/** Waiting for something that another process does: asked again and again, with an end, never a fixed time. */
import { setTimeout as delay } from 'node:timers/promises';

/** Short against what is waited for (a server's start, a policy taking effect), long against one question. */
const INTERVAL_MS = 50;

/**
 * Asks until the answer is defined.
 *
 * @param what is waited for, as it reads after "timed out waiting for".
 * @param ask answers undefined for "not yet"; when it throws, waiting ends with that error.
 * @throws Error after `timeoutMs` milliseconds.
 */
export async function pollUntil<T>(
  what: string,
  timeoutMs: number,
  ask: () => Promise<T | undefined>,
): Promise<T> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    const answer = await ask();
    if (answer !== undefined) return answer;
    if (performance.now() > deadline) throw new Error(`timed out waiting for ${what} (${timeoutMs} ms)`);
    await delay(INTERVAL_MS);
  }
}
