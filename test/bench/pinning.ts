/** Keeping processes to one processor each, so that the generator does not take the server's time. */
import { execFileSync } from 'node:child_process';
import { availableParallelism } from 'node:os';

/** From util-linux; where it is missing, processes are not kept apart. */
const TASKSET = 'taskset';

export interface Cores {
  /** Undefined where processes cannot be kept apart. */
  readonly server: number | undefined;
  readonly loader: number | undefined;
}

/** Server on processor 0, generator on 1, where there are two and `taskset` is installed. */
export function chooseCores(): Cores {
  if (availableParallelism() < 2) return { server: undefined, loader: undefined };
  try {
    execFileSync(TASKSET, ['--version'], { stdio: 'ignore' });
  } catch {
    return { server: undefined, loader: undefined };
  }
  return { server: 0, loader: 1 };
}

/** `taskset` replaces itself by the command, so the process id stays that of the command. */
export function pinned(
  core: number | string | undefined,
  command: readonly [string, ...string[]],
): readonly [string, ...string[]] {
  return core === undefined ? command : [TASKSET, '-c', String(core), ...command];
}

/** For what has no generator beside it: both processors, not only the one that the caller keeps to. */
export function anyOf({ server, loader }: Cores): string | undefined {
  return server === undefined || loader === undefined ? undefined : `${server},${loader}`;
}

/** Moves the calling process out of the server's way, or back to all of a list. */
export function pinSelf(core: number | string | undefined): void {
  pinProcess(process.pid, core);
}

/** Moves a process that runs, with all its threads. */
export function pinProcess(pid: number, core: number | string | undefined): void {
  if (core === undefined) return;
  execFileSync(TASKSET, ['-a', '-c', '-p', String(core), String(pid)], { stdio: 'ignore' });
}
