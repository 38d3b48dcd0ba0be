/**
 * JSON Schema in a worker with limits (design decision 6): schemas of a bundle are hostile, and every validator can be
 * made to hang, to overflow or to eat all memory (platform.md §5). Here a runaway costs a worker, and nothing else.
 */
import { existsSync } from 'node:fs';
import { Worker } from 'node:worker_threads';
import { systemClock, type Clock } from '../clock.ts';
import { GateError, messageOf } from '../errors.ts';
import { refused, type Answer, type Job, type Json, type Report } from './answer.ts';
import { SCHEMA_LIMITS, instanceExcess } from './limits.ts';
import { ProcessorLimit } from './processor-limit.ts';

export interface SchemaPoolOptions {
  readonly clock?: Clock;
  /** Processor time for a schema that is seen for the first time. A large one takes some 50 ms. */
  readonly compileMs?: number;
  /** Processor time. */
  readonly validateMs?: number;
  /** For the worker to load. */
  readonly startMs?: number;
  /** Jobs that wait; one more is refused. */
  readonly queueLength?: number;
  /** Memory of the worker's heap. */
  readonly memoryMb?: number;
}

const DEFAULTS = {
  compileMs: 2000,
  validateMs: 500,
  startMs: 20_000,
  queueLength: 1024,
  memoryMb: 128,
} as const;

/** Beside this file in the source, beside or above it in the bundle. */
const WORKER_FILES = ['./schema-worker.ts', './schema-worker.js', '../schema-worker.js'];

interface Waiting {
  readonly job: Job;
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: unknown) => void;
  /** Whether a worker that had done other work before died of it. */
  hasKilled: boolean;
}

interface Running {
  readonly worker: Worker;
  isReady: boolean;
  /** Whether it has answered something: its memory may be full of others' schemas. */
  hasAnswered: boolean;
  /** Processor time that it had taken at its last report. */
  usedMs: number;
}

/** Fits `SchemaChecks` of the contract rules. Starts its worker at the first job; `close` it. */
export class SchemaPool {
  readonly #options: Required<SchemaPoolOptions>;
  readonly #queue: Waiting[] = [];
  #running: Running | undefined;
  #current: Waiting | undefined;
  readonly #limits: ProcessorLimit;
  #lastId = 0;
  #isClosed = false;

  constructor(options: SchemaPoolOptions = {}) {
    this.#options = { clock: systemClock, ...DEFAULTS, ...options };
    this.#limits = new ProcessorLimit(this.#options.clock);
  }

  /** @returns `valid` where it compiles, never `invalid`. Rejects only where no worker starts (GATE_INTERNAL). */
  compile(schemaText: string): Promise<Answer> {
    return this.#ask(schemaText, undefined);
  }

  /** @returns as `compile`; `invalid` with what does not fit. */
  validate(schemaText: string, instance: Json): Promise<Answer> {
    const excess = instanceExcess(instance);
    return excess === undefined ? this.#ask(schemaText, [instance]) : Promise.resolve(refused(excess));
  }

  /** Ends the worker; what waits is refused. */
  async close(): Promise<void> {
    this.#isClosed = true;
    const waiting =
      this.#current === undefined ? this.#queue.splice(0) : [this.#current, ...this.#queue.splice(0)];
    this.#current = undefined;
    for (const { resolve } of waiting)
      resolve(refused('schemas are no longer checked: the program is stopping'));
    await this.#end();
  }

  #ask(schemaText: string, instance: readonly [Json] | undefined): Promise<Answer> {
    const { textBytes } = SCHEMA_LIMITS;
    if (Buffer.byteLength(schemaText) > textBytes)
      return Promise.resolve(refused(`the schema has more than ${String(textBytes)} bytes`));
    if (this.#isClosed)
      return Promise.resolve(refused('schemas are no longer checked: the program is stopping'));
    if (this.#queue.length >= this.#options.queueLength)
      return Promise.resolve(
        refused(`more than ${String(this.#options.queueLength)} schemas wait to be checked`),
      );
    const job = { id: ++this.#lastId, schemaText, ...(instance === undefined ? {} : { instance }) };
    return new Promise((resolve, reject) => {
      this.#queue.push({ job, resolve, reject, hasKilled: false });
      this.#next();
    });
  }

  #next(): void {
    if (this.#current !== undefined) return;
    if (this.#queue.length === 0) {
      this.#running?.worker.unref();
      return;
    }
    const running = (this.#running ??= this.#start());
    running?.worker.ref();
    if (running?.isReady !== true) return;
    const current = this.#queue.shift();
    if (current === undefined) return;
    this.#current = current;
    this.#limit(running, this.#options.validateMs, 'was still being validated');
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- threads have no origin
    running.worker.postMessage(current.job);
  }

  /** @returns undefined where there is no worker to start, which is told to all who wait. */
  #start(): Running | undefined {
    const file = WORKER_FILES.map((name) => new URL(name, import.meta.url)).find((url) => existsSync(url));
    if (file === undefined) {
      this.#giveUp('the schema worker is not beside the program: build it again');
      return undefined;
    }
    const worker = new Worker(file, {
      // It needs nothing of ours, and a schema that broke out would find nothing.
      env: {},
      argv: [],
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: this.#options.memoryMb, maxYoungGenerationSizeMb: 16 },
    });
    const running: Running = { worker, isReady: false, hasAnswered: false, usedMs: 0 };
    worker.on('message', (report: Report) => this.#hear(running, report));
    // `exit` follows and deals with it.
    let cause: unknown;
    worker.on('error', (error) => (cause = error));
    worker.on('exit', () => this.#mourn(running, cause));
    this.#limit(running, this.#options.startMs, 'waited for the schema worker');
    return running;
  }

  #hear(running: Running, report: Report): void {
    if (running !== this.#running) return;
    running.usedMs = report.usedMs;
    if (report.kind === 'ready') {
      running.isReady = true;
      this.#unlimit();
      this.#next();
      return;
    }
    if (report.kind === 'compiling')
      return this.#limit(running, this.#options.compileMs, 'was still being compiled');
    if (report.kind === 'compiled')
      return this.#limit(running, this.#options.validateMs, 'was still being validated');
    if (report.id !== this.#current?.job.id) return;
    this.#unlimit();
    running.hasAnswered = true;
    this.#settle(report.answer);
  }

  #settle(answer: Answer): void {
    const done = this.#current;
    this.#current = undefined;
    done?.resolve(answer);
    this.#next();
  }

  /** Gives the worker time for what it does now; after that it is ended, and who was served is refused. */
  #limit(running: Running, limitMs: number, what: string): void {
    const { worker, usedMs } = running;
    this.#limits.start({ limitMs, usedMs }, worker, () => {
      void this.#end();
      this.#blame(refused(`the schema ${what} after ${String(limitMs)} ms`));
    });
  }

  #unlimit(): void {
    this.#limits.stop();
  }

  /** Whom the worker served, or, where it never came up, who waits for it. */
  #blame(answer: Answer): void {
    if (this.#current !== undefined) return this.#settle(answer);
    this.#giveUp('the schema worker did not start in time: look for what keeps the processor busy');
  }

  #giveUp(message: string, cause?: unknown): void {
    const error = new GateError('GATE_INTERNAL', message, { cause });
    for (const { reject } of this.#queue.splice(0)) reject(error);
  }

  /** A worker that died on its own: out of memory, or by a fault of ours. */
  #mourn(running: Running, cause: unknown): void {
    if (running !== this.#running) return;
    this.#running = undefined;
    this.#unlimit();
    const victim = this.#current;
    this.#current = undefined;
    const isOutOfMemory =
      cause instanceof Error && 'code' in cause && cause.code === 'ERR_WORKER_OUT_OF_MEMORY';
    if (victim !== undefined && running.hasAnswered && !victim.hasKilled) {
      // The memory may have been full before it came: it gets a fresh worker once.
      victim.hasKilled = true;
      this.#queue.unshift(victim);
    } else if (victim !== undefined) {
      victim.resolve(
        refused(
          isOutOfMemory ? 'the schema needs more memory than it may have' : 'the schema ended its worker',
        ),
      );
    } else if (!running.isReady) {
      this.#giveUp(`the schema worker does not start: ${messageOf(cause)}`, cause);
    }
    this.#next();
  }

  async #end(): Promise<void> {
    this.#unlimit();
    const worker = this.#running?.worker;
    this.#running = undefined;
    await worker?.terminate();
  }
}
