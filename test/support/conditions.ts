/** Waiting for something to become true, instead of sleeping for a guessed time. */
import { setTimeout as pause } from 'node:timers/promises';

/** @throws after `withinMs` with `what`, so that a test says what never came. */
export async function until(
  what: string,
  condition: () => boolean | Promise<boolean>,
  withinMs = 10_000,
): Promise<void> {
  const endMs = performance.now() + withinMs;
  while (!(await condition())) {
    if (performance.now() > endMs) throw new Error(`still not so after ${String(withinMs)} ms: ${what}`);
    await pause(5);
  }
}
