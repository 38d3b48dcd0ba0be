/**
 * Keeps verdicts true: what wakes a Pacto puts its key in the queue, a worker looks, and where something changed the leader
 * writes. All that is to be remembered is in the status, so that any process may go on from there (design decision 15).
 */
import type { Clock } from '../clock.ts';
import type { KubeObject } from '../cluster/objects.ts';
import type { Leader } from '../cluster/leader.ts';
import { GateError } from '../errors.ts';
import type { Log } from '../log.ts';
import type { Pacto } from './api/pacto.ts';
import { readPacto } from './api/read-pacto.ts';
import type { Pass, PassResult } from './pass.ts';
import { Queue, type Priority, type QueueFacts } from './queue.ts';
import type { Sight } from './sight.ts';
import { keyText, type PactoKey } from './wake.ts';
import type { Writer } from './writer.ts';

/** Of the times between looks that are merely due, so that a thousand Pactos are not due together. */
const SPREAD = 0.1;

export interface ReconcilerOptions {
  readonly sight: Pick<Sight, 'get' | 'keys' | 'follow' | 'onWake' | 'ready'>;
  /** The Pacto as the API server has it now, for after a conflict. */
  readonly readNow: (key: PactoKey, signal: AbortSignal) => Promise<KubeObject | undefined>;
  readonly pass: Pass;
  readonly writer: Pick<Writer, 'write'>;
  readonly leader: Pick<Leader, 'leads' | 'term'>;
  readonly clock: Clock;
  /** From 0 up to 1. */
  readonly random: () => number;
  readonly workers: number;
  readonly log: Log;
}

export interface Reconciler {
  /** To be called when this process begins or ceases to lead. */
  turn(leads: boolean): void;
  wake(key: PactoKey, priority: Priority): void;
  facts(): QueueFacts;
  stop(): Promise<void>;
}

export function startReconciler(options: ReconcilerOptions): Reconciler {
  return new LeadingReconciler(options);
}

class LeadingReconciler implements Reconciler {
  readonly #options: ReconcilerOptions;
  readonly #queue: Queue;
  readonly #keys = new Map<string, PactoKey>();
  /** Whose copy is known to be old: written by us, or contested. */
  readonly #written = new Map<string, KubeObject>();
  #isReady = false;

  constructor(options: ReconcilerOptions) {
    this.#options = options;
    this.#queue = new Queue({
      clock: options.clock,
      random: options.random,
      workers: options.workers,
      work: (name, signal) => this.#work(name, signal),
      onFailure: (name, error, retryMs) => this.#failed(name, error, retryMs),
    });
    options.sight.onWake((key, reason) => this.#woken(key, reason));
    void options.sight.ready.then(() => {
      this.#isReady = true;
      if (options.leader.leads()) this.turn(true);
    });
  }

  turn(leads: boolean): void {
    if (!leads) this.#queue.clear();
    else if (this.#isReady) for (const key of this.#options.sight.keys()) this.wake(key, 'timer');
  }

  wake(key: PactoKey, priority: Priority): void {
    if (!this.#isReady || !this.#options.leader.leads()) return;
    const name = keyText(key);
    this.#keys.set(name, key);
    this.#queue.add(name, priority);
  }

  facts(): QueueFacts {
    return this.#queue.facts();
  }

  stop(): Promise<void> {
    return this.#queue.stop();
  }

  #woken(key: PactoKey, reason: string): void {
    this.#options.log.debug('woken', { namespace: key.namespace, name: key.name, kind: reason });
    this.wake(key, 'change');
  }

  async #work(name: string, stopping: AbortSignal): Promise<void> {
    const key = this.#keys.get(name);
    const { leader, sight } = this.#options;
    const term = leader.term();
    if (key === undefined || term === undefined) return;
    const object = this.#newest(name, sight.get(key));
    if (object === undefined) {
      this.#keys.delete(name);
      this.#queue.forget(name);
      return;
    }
    const signal = AbortSignal.any([stopping, term]);
    const result = await this.#look(key, readPacto(object), signal);
    await this.#write(key, object, result, signal);
    this.#queue.addAfter(name, this.#delayMs(result));
  }

  async #look(key: PactoKey, pacto: Pacto, signal: AbortSignal): Promise<PassResult> {
    const view = this.#options.sight.follow(key);
    try {
      return await this.#options.pass.look(pacto, { view, signal });
    } finally {
      view.end();
    }
  }

  async #write(key: PactoKey, object: KubeObject, result: PassResult, signal: AbortSignal): Promise<void> {
    const { writer, readNow, log } = this.#options;
    const { pacto, status } = result;
    try {
      const done = await writer.write(object, result, { isOwed: this.#isOwed(pacto), signal });
      if (done === 'unchanged') return;
    } catch (error) {
      if (!isConflict(error)) throw error;
      // Somebody else wrote first: what they wrote may decide otherwise.
      const now = await readNow(key, signal);
      if (now === undefined) this.#written.delete(keyText(key));
      else this.#written.set(keyText(key), now);
      throw error;
    }
    if (pacto.status.contractStatus === status.contractStatus) return;
    const { namespace, name } = key;
    log.info('verdict', { namespace, name, verdict: status.contractStatus, codes: codesOf(result) });
  }

  /** A heartbeat: nobody can tell a status that is true from one that nobody looks after, but by its time. */
  #isOwed({ status, spec }: Pacto): boolean {
    const writtenMs = Date.parse(status.lastReconciledAt ?? '');
    const ageMs = this.#options.clock.now() - writtenMs;
    return !(ageMs >= 0 && ageMs < spec.checkIntervalSeconds * 1_000);
  }

  /** Until the status that we last read or wrote is in the watch, that one counts. */
  #newest(name: string, watched: KubeObject | undefined): KubeObject | undefined {
    const known = this.#written.get(name);
    if (known === undefined) return watched;
    this.#written.delete(name);
    return watched === undefined || isNewer(watched, known) ? watched : known;
  }

  #delayMs({ nextLookMs }: PassResult): number {
    const delayMs = Math.max(0, nextLookMs - this.#options.clock.now());
    const { random } = this.#options;
    // Never early: a look a moment before its time would find nothing.
    return delayMs * (1 + random() * SPREAD * Math.min(1, delayMs / 60_000)) + 1;
  }

  #failed(name: string, error: unknown, retryMs: number): void {
    const { log } = this.#options;
    const key = this.#keys.get(name);
    const facts = {
      namespace: key?.namespace ?? '',
      name: key?.name ?? name,
      requeueMs: Math.round(retryMs),
      err: error,
    };
    if (isConflict(error)) log.debug('contested', facts);
    else log.warn('reconcile failed', facts);
  }
}

function isConflict(error: unknown): boolean {
  return error instanceof GateError && error.code === 'GATE_CLUSTER_CONFLICT';
}

/** Versions of one cluster are numbers that grow (Kubernetes 1.35 makes that official); another uid is another object. */
function isNewer(a: KubeObject, b: KubeObject): boolean {
  if (a.metadata.uid !== b.metadata.uid) return true;
  return Number(a.metadata.resourceVersion) >= Number(b.metadata.resourceVersion);
}

function codesOf({ status }: PassResult): readonly string[] {
  return [...new Set((status.findings ?? []).map(({ code }) => code))].slice(0, 10);
}
