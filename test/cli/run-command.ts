import { run } from '../../src/cli/program.ts';
import type { Surroundings } from '../../src/cli/surroundings.ts';
import type { Clock } from '../../src/clock.ts';
import { FakeClock } from '../support/fake-clock.ts';

export interface Ran {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

export interface FakeTerminal {
  readonly around: Surroundings;
  readonly written: { out: string; err: string };
  /** Sends a signal to the command that runs. */
  signal(name: string): void;
}

export function fakeTerminal(
  given: { stdin?: string; env?: Record<string, string>; clock?: Clock } = {},
): FakeTerminal {
  const written = { out: '', err: '' };
  const handlers = new Set<(signal: string) => void>();
  return {
    written,
    signal: (name) => handlers.forEach((handler) => handler(name)),
    around: {
      stdout: { write: (text) => void (written.out += text) },
      stderr: { write: (text) => void (written.err += text) },
      stdin: (async function* () {
        yield Buffer.from(given.stdin ?? '');
      })(),
      clock: given.clock ?? new FakeClock(),
      env: given.env ?? {},
      onSignal(handler) {
        handlers.add(handler);
        return () => handlers.delete(handler);
      },
    },
  };
}

/** Runs a command line in this process. */
export async function runCommand(
  argv: readonly string[],
  given: { stdin?: string; env?: Record<string, string>; clock?: Clock } = {},
): Promise<Ran> {
  const terminal = fakeTerminal(given);
  const code = await run(argv, terminal.around);
  return { code, ...terminal.written };
}
