import type { Clock } from '../clock.ts';

/** What a command touches beside files and the network, so that a test can stand in for a terminal. */
export interface Surroundings {
  readonly stdout: { write(text: string): void };
  readonly stderr: { write(text: string): void };
  readonly stdin: AsyncIterable<Uint8Array | string>;
  readonly clock: Clock;
  /** Left out: that of the process. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Calls `handler` at each SIGTERM, SIGINT and SIGHUP. @returns how to stop that. */
  onSignal(handler: (signal: string) => void): () => void;
}
