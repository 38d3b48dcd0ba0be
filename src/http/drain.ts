/**
 * The way down after SIGTERM, so that no request is lost (design §6, platform.md §3.4): not ready any more; go on
 * accepting and answering, each answer closing its connection, until every proxy has noticed; then close.
 */
import { sleep, type Clock } from '../clock.ts';
import type { DrainSignal } from './server.ts';

/**
 * Measured servers lose requests unless they go on accepting for 2 s; endpoints and a readiness probe may need some
 * more, and a Pod has 30 s in all, of which closing may take another 10.
 */
const DRAIN_MS = 5_000;

export interface DrainOptions {
  readonly clock: Clock;
  readonly drainMs?: number;
}

export interface Drain extends DrainSignal {
  /** Adds what is to be closed at the end; all are closed together. */
  add(part: { close(): Promise<void> }): void;
  /** Begins, once; resolves when everything is closed. A part that fails to close does not keep the others open. */
  begin(): Promise<void>;
}

export function createDrain(options: DrainOptions): Drain {
  const parts: { close(): Promise<void> }[] = [];
  let begun: Promise<void> | undefined;
  const run = async (): Promise<void> => {
    await sleep(options.clock, options.drainMs ?? DRAIN_MS);
    const results = await Promise.allSettled(parts.map((part) => part.close()));
    const failed = results.find((result) => result.status === 'rejected');
    if (failed !== undefined) throw failed.reason;
  };
  return {
    get draining() {
      return begun !== undefined;
    },
    add(part) {
      parts.push(part);
    },
    begin() {
      begun ??= run();
      return begun;
    },
  };
}
