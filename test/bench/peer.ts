/** The Go program in test/bench/go, which evaluates CEL with the API server's own packages: built once, and asked. */
import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { createInterface } from 'node:readline';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  acquireLock,
  beginFolder,
  binariesDirectory,
  completeFolder,
  isComplete,
} from '../../scripts/controlplane/cache.ts';
import { buildBinary, requireGo } from '../../scripts/controlplane/go-build.ts';
import type { Recipe } from '../../scripts/controlplane/recipes.ts';

const NAME = 'peer';

const RECIPE: Recipe = {
  version: '1.36',
  release: '1.36.3',
  moduleDirectory: fileURLToPath(new URL('go', import.meta.url)),
  sources: ['main.go', 'evaluate.go', 'measure.go', 'values.go', 'webhook.go'],
  binaries: [{ name: NAME, goPackage: '.' }],
  buildFlags: ['-trimpath', '-ldflags', '-s -w'],
};

/** Questions that are under way at most: more only wait in the pipe. */
const MOST_UNDER_WAY = 64;

/**
 * Builds the program unless it is in the cache already.
 *
 * @returns its path.
 * @throws BuildError where there is no Go, or the build fails.
 */
export async function buildPeer(say: (line: string) => void): Promise<string> {
  const directory = binariesDirectory(RECIPE);
  const program = join(directory, NAME);
  if (isComplete(RECIPE, directory)) return program;
  const goVersion = requireGo();
  const release = await acquireLock(directory, (owner) => say(`waiting for ${owner}, which builds the same`));
  try {
    if (isComplete(RECIPE, directory)) return program;
    say(`building the evaluator of Kubernetes ${RECIPE.release} with ${goVersion}`);
    const building = beginFolder(directory);
    for (const binary of RECIPE.binaries) await buildBinary(RECIPE, binary, join(building, NAME), say);
    completeFolder(RECIPE, building, directory, { release: RECIPE.release, goVersion });
    return program;
  } finally {
    release();
  }
}

interface Waiting {
  readonly resolve: (answer: unknown) => void;
  readonly reject: (error: Error) => void;
}

/** One running program. It answers in the order in which it is asked. */
export class Peer {
  readonly #process: ChildProcessWithoutNullStreams;
  readonly #waiting: Waiting[] = [];
  #ended: Error | undefined;

  constructor(program: string) {
    this.#process = spawn(program, [], { stdio: ['pipe', 'pipe', 'pipe'] });
    let complaint = '';
    this.#process.stderr.setEncoding('utf8').on('data', (text: string) => {
      complaint = (complaint + text).slice(-2000);
    });
    createInterface({ input: this.#process.stdout }).on('line', (line) => {
      this.#waiting.shift()?.resolve(JSON.parse(line));
    });
    // A broken pipe is told by the end of the process.
    this.#process.stdin.on('error', () => undefined);
    this.#process.once('error', (error) => this.#end(error));
    this.#process.once('close', (code) =>
      this.#end(new Error(`the evaluator ended (${String(code)}): ${complaint}`)),
    );
  }

  #end(error: Error): void {
    this.#ended ??= error;
    for (const { reject } of this.#waiting.splice(0)) reject(this.#ended);
  }

  get isBusy(): boolean {
    return this.#waiting.length >= MOST_UNDER_WAY;
  }

  /**
   * @param question one line of JSON
   * @throws Error where the program ends, or the answer is that it did not understand
   */
  async ask<T>(question: string): Promise<T> {
    if (this.#ended !== undefined) throw this.#ended;
    const answer = await new Promise<unknown>((resolve, reject) => {
      this.#waiting.push({ resolve, reject });
      this.#process.stdin.write(`${question}\n`);
    });
    const { failure } = answer as { failure?: string };
    if (failure !== undefined) throw new Error(`the evaluator did not understand: ${failure}`);
    return answer as T;
  }

  close(): void {
    this.#ended ??= new Error('closed');
    this.#process.stdin.end();
    this.#process.kill();
  }
}
