/**
 * Server processes that cannot outlive the test: each is ended by its own id, by the test or, when the test process
 * died, by a guard.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { closeSync, existsSync, openSync, readFileSync } from 'node:fs';
import { once } from 'node:events';

/** A program that runs, with its output in a file. */
export interface ServerProcess {
  readonly name: string;
  readonly pid: number;
  readonly logFile: string;
  /** How it ended, for a message; undefined while it runs. */
  ending(): string | undefined;
  /** Sends the signal and resolves when the process is gone; kills it after `graceMs` milliseconds. */
  end(signal: 'SIGTERM' | 'SIGKILL', graceMs?: number): Promise<void>;
}

/** Starts server processes and ends those that are left when the test process dies, however it dies. */
export interface ProcessGuard {
  /** @throws Error when the program cannot be started. */
  start(name: string, file: string, args: readonly string[], logFile: string): Promise<ServerProcess>;
  /** Ids of the programs that run at this moment. */
  processIds(): number[];
  /** Ends what still runs and removes the guarded folder. */
  close(): Promise<void>;
}

/** Long enough for a loaded machine to let an API server close its connections. */
const DEFAULT_GRACE_MS = 20_000;

/**
 * The guard's whole program. Its input is a pipe that only the test process holds: end of file means that the test
 * process is gone, also after SIGKILL, when no exit hook of Node runs. It then kills the ids that were not dropped
 * and removes the folder given as its argument.
 */
const GUARD_SCRIPT = `
trap '' HUP INT TERM
pids=
while read -r verb pid; do
  case $verb in
    add) pids="$pids $pid" ;;
    drop) rest=; for p in $pids; do [ "$p" = "$pid" ] || rest="$rest $p"; done; pids=$rest ;;
  esac
done
for p in $pids; do kill -9 "$p"; done
rm -rf -- "$1"
`;

/** Servers get nothing of the test's environment: no proxy, no kubeconfig, no cloud settings may reach them. */
function closedEnvironment(directory: string): NodeJS.ProcessEnv {
  return { PATH: process.env['PATH'] ?? '/usr/bin:/bin', HOME: directory, TMPDIR: directory };
}

/**
 * @param directory the folder that belongs to these processes; removed with them.
 */
export async function createProcessGuard(directory: string): Promise<ProcessGuard> {
  // In a process group of its own, so that a signal to the test's process group does not end the guard first.
  const guard = spawn('/bin/sh', ['-c', GUARD_SCRIPT, 'control-plane-guard', directory], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
  });
  await once(guard, 'spawn');
  const gone = once(guard, 'exit');
  guard.unref();
  // The guard may be gone when the last words are written to it; there is nothing left to protect then.
  guard.stdin.on('error', () => undefined);
  const tell = (verb: 'add' | 'drop', pid: number): void => void guard.stdin.write(`${verb} ${pid}\n`);
  const running = new Set<ServerProcess>();

  return {
    async start(name, file, args, logFile) {
      const log = openSync(logFile, 'a');
      const child = spawn(file, args, {
        cwd: directory,
        env: closedEnvironment(directory),
        stdio: ['ignore', log, log],
      });
      closeSync(log);
      await once(child, 'spawn');
      const pid = child.pid ?? 0;
      tell('add', pid);
      const server = describeProcess(name, child, pid, logFile);
      running.add(server);
      child.once('exit', () => {
        tell('drop', pid);
        running.delete(server);
      });
      return server;
    },
    processIds: () => [...running].map(({ pid }) => pid),
    async close() {
      await Promise.all([...running].map((server) => server.end('SIGKILL')));
      guard.ref();
      guard.stdin.end();
      await gone;
    },
  };
}

function describeProcess(name: string, child: ChildProcess, pid: number, logFile: string): ServerProcess {
  const isRunning = (): boolean => child.exitCode === null && child.signalCode === null;
  return {
    name,
    pid,
    logFile,
    ending: () =>
      isRunning()
        ? undefined
        : child.exitCode === null
          ? `signal ${child.signalCode}`
          : `status ${child.exitCode}`,
    async end(signal, graceMs = DEFAULT_GRACE_MS) {
      if (!isRunning()) return;
      const exited = once(child, 'exit');
      child.kill(signal);
      const killer = setTimeout(() => child.kill('SIGKILL'), graceMs);
      await exited;
      clearTimeout(killer);
    },
  };
}

/** Lines of a server's own words that are enough to see why it did not start. */
const TAIL_LINES = 25;

/** The last lines of a log file, for an error message; empty when there is none. */
export function tailOf(logFile: string): string {
  if (!existsSync(logFile)) return '';
  return readFileSync(logFile, 'utf8').trimEnd().split('\n').slice(-TAIL_LINES).join('\n');
}
