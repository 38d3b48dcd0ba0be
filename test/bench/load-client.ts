/** The harness's side of the load generator process. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { pinned } from './pinning.ts';
import type { LoaderCommand, LoaderReply, LoadJob, StreamResult } from './load-job.ts';

export class LoadClient {
  private readonly child: ChildProcess;
  private readonly replies: AsyncIterator<string>;

  private constructor(child: ChildProcess, replies: AsyncIterator<string>) {
    this.child = child;
    this.replies = replies;
  }

  /** @param core the processor that the generator keeps to; undefined: any. */
  static async start(core: number | undefined): Promise<LoadClient> {
    const program = fileURLToPath(new URL('./loader.ts', import.meta.url));
    const [command, ...args] = pinned(core, [process.execPath, program]);
    const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'inherit'] });
    await once(child, 'spawn');
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    return new LoadClient(child, lines);
  }

  /**
   * Runs one job to its end; one at a time.
   * @throws Error when the generator cannot run it or is gone.
   */
  async run(job: LoadJob): Promise<readonly StreamResult[]> {
    this.tell({ run: job });
    const line = await this.replies.next();
    if (line.done === true) throw new Error('the load generator ended before it answered');
    const reply = JSON.parse(line.value) as LoaderReply;
    if ('error' in reply) throw new Error(`load generator: ${reply.error}`);
    return reply.result;
  }

  /** Lets the running job send nothing more; `run` then resolves. */
  stop(): void {
    this.tell({ stop: true });
  }

  async close(): Promise<void> {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return;
    const gone = once(this.child, 'exit');
    this.child.stdin?.end();
    await gone;
  }

  private tell(command: LoaderCommand): void {
    this.child.stdin?.write(`${JSON.stringify(command)}\n`);
  }
}
