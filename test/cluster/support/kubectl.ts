/** Runs the built kubectl against a test's control plane. */
import { spawn } from 'node:child_process';

/** Who a request claims to be, by impersonation (the caller needs the right to it). */
interface Impersonation {
  readonly user: string;
  readonly groups?: readonly string[];
  readonly uid?: string;
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

export interface KubectlOptions {
  /** Text for the standard input: a manifest for `-f -`. */
  readonly stdin?: string;
  /** Impersonated user; a bare string is a user name without groups. */
  readonly as?: string | Impersonation;
  /** Bearer token to present instead of the administrator's certificate. */
  readonly token?: string;
  /** Another kubeconfig than the administrator's. */
  readonly kubeconfig?: string;
  /** Milliseconds after which kubectl is killed and the call rejects. */
  readonly timeoutMs?: number;
}

export interface KubectlResult {
  /** Exit code of kubectl: 0, or 1 for any error. */
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** What kubectl is, and whom it talks to. */
export interface KubectlTarget {
  readonly file: string;
  /** HOME of the child: kubectl keeps a discovery cache there, which another cluster on the same port would poison. */
  readonly home: string;
  readonly adminKubeconfig: string;
  /** Names the cluster without any credential. */
  readonly anonymousKubeconfig: string;
}

/** Far above what a request to loopback takes; a hanging webhook times out after at most 30 s. */
const DEFAULT_TIMEOUT_MS = 60_000;

/**
 * Runs kubectl and collects what it says. A non-zero exit code is a result, not an error.
 *
 * @throws Error when kubectl cannot be run or does not end within `timeoutMs`.
 */
export function runKubectl(
  target: KubectlTarget,
  args: readonly string[],
  options: KubectlOptions = {},
): Promise<KubectlResult> {
  const { timeoutMs = DEFAULT_TIMEOUT_MS } = options;
  return new Promise((resolve, reject) => {
    const child = spawn(target.file, [...connectionArguments(target, options), ...args], {
      env: { PATH: process.env['PATH'] ?? '/usr/bin:/bin', HOME: target.home },
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    const timer = setTimeout(() => {
      child.kill('SIGKILL');
      reject(new Error(`kubectl ${args.join(' ')} did not end within ${timeoutMs} ms`));
    }, timeoutMs);
    const stdout: Buffer[] = [];
    const stderr: Buffer[] = [];
    child.stdout.on('data', (chunk: Buffer) => stdout.push(chunk));
    child.stderr.on('data', (chunk: Buffer) => stderr.push(chunk));
    child.once('error', (error) => {
      clearTimeout(timer);
      reject(error);
    });
    child.once('close', (code) => {
      clearTimeout(timer);
      // A signal (only ours, by the timer, which has rejected already) leaves no code.
      resolve({ code: code ?? 1, stdout: text(stdout), stderr: text(stderr) });
    });
    // kubectl may end without reading its input, for example on wrong usage.
    child.stdin.on('error', () => undefined);
    child.stdin.end(options.stdin ?? '');
  });
}

function text(chunks: readonly Buffer[]): string {
  return Buffer.concat(chunks).toString('utf8');
}

function connectionArguments(target: KubectlTarget, { as, token, kubeconfig }: KubectlOptions): string[] {
  // A client certificate would win over a token: with a token, no other credential may be in the file.
  const file = kubeconfig ?? (token === undefined ? target.adminKubeconfig : target.anonymousKubeconfig);
  const args = [`--kubeconfig=${file}`];
  if (token !== undefined) args.push(`--token=${token}`);
  if (as === undefined) return args;
  const who = typeof as === 'string' ? { user: as } : as;
  args.push(`--as=${who.user}`, ...(who.groups ?? []).map((group) => `--as-group=${group}`));
  if (who.uid !== undefined) args.push(`--as-uid=${who.uid}`);
  for (const [key, values] of Object.entries(who.extra ?? {})) {
    args.push(...values.map((value) => `--as-user-extra=${key}=${value}`));
  }
  return args;
}
