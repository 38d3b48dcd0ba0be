/**
 * Reads contracts, each text once, and never on the event loop where that would take long: a valid text of 1 MiB takes
 * seconds, and a hostile one may (contract.md §2).
 */
import { existsSync } from 'node:fs';
import { Worker } from 'node:worker_threads';
import { abortable } from '../abort.ts';
import type { Clock, Timer } from '../clock.ts';
import { GateError, messageOf } from '../errors.ts';
import type { SchemaChecks } from '../policies/contract/schema-checks.ts';
import { WeightedCache } from '../registry/cache.ts';
import { isQuick } from './contract-effort.ts';
import { readContractOf, weightOf, type ContractJob, type ReadContract } from './contract-reading.ts';
import type { WorkerAnswer } from './contract-worker.ts';

/** Four times what the slowest valid text of 1 MiB took. */
const JOB_MS = 20_000;
/** Then the worker ends, and its memory with it. */
const IDLE_MS = 60_000;
/** Contracts of different texts that wait for the worker. */
const WAITING = 256;
/** Of the worker's heap. */
const MEMORY_MB = 512;
/** Of all that is kept: thousands of ordinary contracts, or two of the worst. */
const KEPT_BYTES = 64 * 1024 * 1024;
/** A text that was too hard once is tried again after this: the machine may have been busy. */
const TOO_HARD_MS = 10 * 60_000;

/** Beside this file in the source, beside or above it in the bundle. */
const WORKER_FILES = ['./contract-worker.ts', './contract-worker.js', '../contract-worker.js'];

interface Waiting {
  readonly job: ContractJob;
  readonly resolve: (outcome: Outcome) => void;
  readonly reject: (error: unknown) => void;
}

interface Kept {
  readonly read: ReadContract;
  /** On the monotonic clock; undefined: the same text always reads the same. */
  readonly untilMs: number | undefined;
}

/** What came of a text, and how much memory it takes. */
interface Outcome {
  readonly read: ReadContract;
  readonly weightBytes: number;
}

export interface ContractReaderOptions {
  readonly schemas: SchemaChecks;
  readonly clock: Clock;
  /** Default: 20 s. */
  readonly jobMs?: number;
  /** Of the worker's heap; default: 512. */
  readonly memoryMb?: number;
}

export class ContractReader {
  readonly #options: ContractReaderOptions;
  readonly #kept = new WeightedCache<Kept>(KEPT_BYTES);
  readonly #reading = new Map<string, Promise<ReadContract>>();
  readonly #queue: Waiting[] = [];
  #worker: Worker | undefined;
  #current: Waiting | undefined;
  #timer: Timer | undefined;
  #isClosed = false;

  constructor(options: ContractReaderOptions) {
    this.#options = options;
  }

  /**
   * @param key tells this text, these files and these overrides from all others.
   * @param signal gives up waiting; what was begun goes on for the others who wait for it.
   * @throws GateError GATE_OVERLOADED where too many wait, GATE_INTERNAL where no worker starts; the signal's reason.
   */
  async read(key: string, job: ContractJob, signal?: AbortSignal): Promise<ReadContract> {
    signal?.throwIfAborted();
    const kept = this.#kept.get(key);
    if (kept !== undefined && (kept.untilMs === undefined || this.#options.clock.monotonic() < kept.untilMs))
      return kept.read;
    return await abortable(this.#reading.get(key) ?? this.#begin(key, job), signal);
  }

  /** Ends the worker; what waits is refused. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#timer?.cancel();
    this.#current?.reject(stopping());
    this.#current = undefined;
    for (const { reject } of this.#queue.splice(0)) reject(stopping());
    await this.#end();
  }

  #begin(key: string, job: ContractJob): Promise<ReadContract> {
    const reading = this.#readNow(job)
      .then(({ read, weightBytes }) => {
        const isTooHard = !read.ok && read.isTooHard === true;
        const untilMs = isTooHard ? this.#options.clock.monotonic() + TOO_HARD_MS : undefined;
        this.#kept.set(key, { read, untilMs }, weightBytes);
        return read;
      })
      .finally(() => this.#reading.delete(key));
    this.#reading.set(key, reading);
    return reading;
  }

  async #readNow(job: ContractJob): Promise<Outcome> {
    if (this.#isClosed) throw stopping();
    if (!isQuick(job)) return await this.#inWorker(job);
    const read = await readContractOf(job, this.#options.schemas);
    return { read, weightBytes: weightOf(read) };
  }

  #inWorker(job: ContractJob): Promise<Outcome> {
    if (this.#queue.length >= WAITING)
      return Promise.reject(
        new GateError('GATE_OVERLOADED', 'too many large contracts wait to be read: they are tried again'),
      );
    return new Promise((resolve, reject) => {
      this.#queue.push({ job, resolve, reject });
      this.#next();
    });
  }

  #next(): void {
    if (this.#current !== undefined) return;
    const next = this.#queue.shift();
    if (next === undefined) {
      this.#worker?.unref();
      this.#after(IDLE_MS, () => void this.#end());
      return;
    }
    this.#current = next;
    try {
      this.#worker ??= this.#start();
    } catch (error) {
      this.#current = undefined;
      next.reject(error);
      this.#next();
      return;
    }
    this.#worker.ref();
    this.#after(this.#options.jobMs ?? JOB_MS, () => {
      void this.#end();
      this.#settle(tooHard('it takes too long to be read'));
    });
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- threads have no origin
    this.#worker.postMessage(next.job);
  }

  #start(): Worker {
    const file = WORKER_FILES.map((name) => new URL(name, import.meta.url)).find((url) => existsSync(url));
    if (file === undefined)
      throw new GateError('GATE_INTERNAL', 'the contract worker is not beside the program: build it again');
    const worker = new Worker(file, {
      env: {},
      argv: [],
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: this.#options.memoryMb ?? MEMORY_MB },
    });
    worker.on('message', (answer: WorkerAnswer) => {
      if (worker !== this.#worker) return;
      this.#settle(answer.ok ? answer : new GateError('GATE_INTERNAL', answer.message));
    });
    let cause: unknown;
    worker.on('error', (error) => (cause = error));
    worker.on('exit', () => {
      if (worker !== this.#worker) return;
      this.#worker = undefined;
      const isMemory = cause instanceof Error && 'code' in cause && cause.code === 'ERR_WORKER_OUT_OF_MEMORY';
      this.#settle(
        isMemory
          ? tooHard('it needs more memory to be read than it may have')
          : new GateError('GATE_INTERNAL', `the contract worker ended: ${messageOf(cause)}`),
      );
    });
    return worker;
  }

  #settle(answer: Outcome | GateError): void {
    this.#timer?.cancel();
    const done = this.#current;
    this.#current = undefined;
    if (answer instanceof GateError) done?.reject(answer);
    else done?.resolve(answer);
    this.#next();
  }

  #after(delayMs: number, run: () => void): void {
    this.#timer?.cancel();
    this.#timer = this.#options.clock.setTimer(delayMs, run);
  }

  async #end(): Promise<void> {
    const worker = this.#worker;
    this.#worker = undefined;
    await worker?.terminate();
  }
}

/** Of the contract, not of us: the next look would come to the same. */
function tooHard(why: string): Outcome {
  const message = `failed to parse the contract: ${why}; make it smaller`;
  const read: ReadContract = { ok: false, stage: 'load', message, isTooHard: true };
  return { read, weightBytes: weightOf(read) };
}

function stopping(): GateError {
  return new GateError('GATE_INTERNAL', 'contracts are no longer read: the program is stopping');
}
