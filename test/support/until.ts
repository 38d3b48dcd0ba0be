import { setImmediate as nextTurn } from 'node:timers/promises';

/** Longer than any condition of a healthy test takes on a busy machine. */
const PATIENCE_MS = 20_000;

/** Turns of the event loop until `condition` holds: no fixed time to wait, and a failure that says what was awaited. */
export async function until(what: string, condition: () => boolean): Promise<void> {
  const end = performance.now() + PATIENCE_MS;
  while (!condition()) {
    if (performance.now() > end) throw new Error(`waited in vain until ${what}`);
    await nextTurn();
  }
}
