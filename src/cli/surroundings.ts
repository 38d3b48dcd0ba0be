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

/** Reads standard input to its end as UTF-8. */
export async function readStdin(around: Pick<Surroundings, 'stdin'>): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of around.stdin) chunks.push(typeof chunk === 'string' ? Buffer.from(chunk) : chunk);
  return Buffer.concat(chunks).toString('utf8');
}
