/** Runs `go build` for one recipe and tells what it is doing. */
import { spawn, spawnSync } from 'node:child_process';
import { totalmem } from 'node:os';
import type { BinaryRecipe, GoModule } from './recipes.ts';

/** A failure that a person can act on; its message is complete and is printed without a stack. */
export class BuildError extends Error {
  override readonly name = 'BuildError';
}

/** Found on PATH. */
const GO = 'go';

/** A line of progress this often while a binary is being built: CI systems end jobs that are silent for long. */
const PROGRESS_INTERVAL_MS = 30_000;

/** Compiling and linking kube-apiserver with two parallel compilers peaks below this; smaller machines get `-p 1`. */
const COMFORTABLE_MEMORY_BYTES = 8 * 1024 ** 3;

/** Lines of `go build`'s own words kept for the error message. */
const ERROR_LINES = 20;

/** The oldest Go that can fetch the toolchain that a go.mod asks for by itself (go.dev/doc/toolchain). */
const OLDEST_GO_MINOR = 21;

/**
 * Checks that a usable Go is on PATH.
 *
 * @param otherwise what a person without it can do instead, as a clause that follows "or".
 * @returns its version, for example `go1.26.8`.
 * @throws BuildError when it is missing or cannot fetch newer toolchains.
 */
export function requireGo(otherwise = 'set KUBEBUILDER_ASSETS'): string {
  const { status, stdout, error } = spawnSync(GO, ['env', 'GOVERSION'], { encoding: 'utf8' });
  const hint = `install Go 1.26 or newer (https://go.dev/dl/) and put it on PATH, or ${otherwise}`;
  if (error !== undefined) throw new BuildError(`Go cannot be run (${error.message}); ${hint}`);
  if (status !== 0) throw new BuildError(`"go env GOVERSION" ended with status ${status}; ${hint}`);
  const version = stdout.trim();
  const minor = /^go1\.(\d+)/.exec(version)?.[1];
  if (minor !== undefined && Number(minor) < OLDEST_GO_MINOR) {
    throw new BuildError(
      `${version} is too old: it cannot fetch the toolchain that a go.mod asks for; ${hint}`,
    );
  }
  return version;
}

/**
 * The caller's environment with the settings that change what is built fixed. The proxy, the checksum database and
 * the caches of Go stay the caller's.
 */
function goEnvironment(): NodeJS.ProcessEnv {
  const { GOOS: _os, GOARCH: _arch, ...env } = process.env;
  return {
    ...env,
    // No C compiler is needed, and the result is static.
    CGO_ENABLED: '0',
    // A go.work above the checkout must not change versions.
    GOWORK: 'off',
    // What go.sum pins, and nothing else: a build must not write into the checkout.
    GOFLAGS: '-mod=readonly -buildvcs=false',
  };
}

/** True where two compilers at once could exhaust the memory. */
function isSmallMachine(): boolean {
  // 0 means that no limit of a control group is known.
  const constrained = process.constrainedMemory();
  return (
    Math.min(totalmem(), constrained > 0 ? constrained : Number.POSITIVE_INFINITY) < COMFORTABLE_MEMORY_BYTES
  );
}

/**
 * Builds one binary.
 *
 * @param output path of the file to write.
 * @param print called with each line of progress.
 * @throws BuildError with the last lines that `go build` wrote.
 */
export async function buildBinary(
  recipe: GoModule,
  binary: Pick<BinaryRecipe, 'goPackage'>,
  output: string,
  print: (line: string) => void,
): Promise<void> {
  const parallel = isSmallMachine() ? ['-p', '1'] : [];
  const args = ['build', '-v', ...parallel, ...recipe.buildFlags, '-o', output, binary.goPackage];
  const child = spawn(GO, args, {
    cwd: recipe.moduleDirectory,
    env: goEnvironment(),
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const end = (signal: NodeJS.Signals): void => void child.kill(signal);
  process.once('SIGTERM', end);
  const log = new BuildLog();
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => log.add(chunk));
  const started = performance.now();
  const ticker = setInterval(() => print(`  ${log.summary()}, ${elapsed(started)}`), PROGRESS_INTERVAL_MS);
  try {
    const code = await new Promise<number | null>((resolve, reject) => {
      child.once('error', reject);
      child.once('close', resolve);
    });
    if (code === null) throw new BuildError(`go build ${binary.goPackage} was interrupted`);
    if (code !== 0) throw new BuildError(`go build ${binary.goPackage} failed:\n${log.tail()}`);
  } finally {
    clearInterval(ticker);
    process.removeListener('SIGTERM', end);
  }
}

/** What `go build -v` wrote: module downloads, package names as they are compiled, and errors. */
class BuildLog {
  #partial = '';
  #downloads = 0;
  #packages = 0;
  #other: string[] = [];

  add(chunk: string): void {
    const lines = (this.#partial + chunk).split('\n');
    this.#partial = lines.pop() ?? '';
    for (const line of lines) this.#line(line);
  }

  #line(line: string): void {
    if (line.startsWith('go: downloading ')) this.#downloads += 1;
    // A package's path: no blank in it.
    else if (/^[^\s#:]+$/.test(line)) this.#packages += 1;
    else this.#other = [...this.#other, line].slice(-ERROR_LINES);
  }

  summary(): string {
    return `${this.#downloads} modules downloaded, ${this.#packages} packages compiled`;
  }

  tail(): string {
    return [...this.#other, this.#partial].filter((line) => line !== '').join('\n');
  }
}

/** Time since `started` (of `performance.now()`), as `1 min 05 s`. */
export function elapsed(started: number): string {
  const seconds = Math.round((performance.now() - started) / 1000);
  const rest = seconds % 60;
  return seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${String(rest).padStart(2, '0')} s`;
}
