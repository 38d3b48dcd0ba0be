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

/** After somebody else wrote a status: two who contradict each other do not do so without a pause. */
const RESTATED_MS = 1_000;

export interface ReconcilerOptions {
  readonly sight: Pick<Sight, 'get' | 'keys' | 'follow' | 'onWake' | 'onStatus' | 'ready'>;
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
  /** Whose copy is known to be old: written by us, or contested. Until the watch has caught up these count. */
  readonly #known = new Map<string, KubeObject>();
  /** The resourceVersions that we wrote last. */
  readonly #versions = new Map<string, string>();
  /** Looked at, and whether the watch brought another status meanwhile: it may be ours, whose answer is still to come. */
  readonly #looking = new Map<string, { isRestated: boolean }>();
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
    options.sight.onStatus((key) => this.#restated(key));
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

  /** A look that compared with an older status found nothing to write: whoever wrote another one, it is compared anew. */
  #restated(key: PactoKey): void {
    const name = keyText(key);
    const looking = this.#looking.get(name);
    if (looking !== undefined) {
      looking.isRestated = true;
      return;
    }
    const { sight, leader } = this.#options;
    if (!this.#isReady || !leader.leads()) return;
    const watched = sight.get(key);
    const known = this.#known.get(name);
    // What we wrote is still to come.
    if (watched === undefined || (known !== undefined && !isNewer(watched, known))) return;
    this.#known.delete(name);
    if (watched.metadata.resourceVersion === this.#versions.get(name)) return;
    this.#keys.set(name, key);
    this.#queue.addAfter(name, RESTATED_MS);
  }

  async #work(name: string, stopping: AbortSignal): Promise<void> {
    const key = this.#keys.get(name);
    const { leader, sight } = this.#options;
    const term = leader.term();
    if (key === undefined || term === undefined) return;
    const object = this.#newest(name, sight.get(key));
    if (object === undefined) {
      this.#keys.delete(name);
      this.#versions.delete(name);
      this.#queue.forget(name);
      return;
    }
    const signal = AbortSignal.any([stopping, term]);
    const looking = { isRestated: false };
    this.#looking.set(name, looking);
    try {
      const result = await this.#look(key, readPacto(object), signal);
      await this.#write(key, object, result, signal);
      this.#queue.addAfter(name, this.#delayMs(result));
    } catch (error) {
      // The end of a term is no failure, and that it ended is said once: whoever leads next looks at every Pacto.
      if (!term.aborted && !isNotLeading(error)) throw error;
    } finally {
      this.#looking.delete(name);
      if (looking.isRestated) this.#restated(key);
    }
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
      const done = await writer.write(object, result, {
        isOwed: isStatusOwed(pacto, this.#options.clock.now()),
        signal,
        onWritten: (written) => this.#learn(key, written),
      });
      if (done === 'unchanged') return;
    } catch (error) {
      if (!isConflict(error)) throw error;
      // Somebody else wrote first: what they wrote may decide otherwise.
      const now = await readNow(key, signal);
      if (now === undefined) this.#known.delete(keyText(key));
      else this.#known.set(keyText(key), now);
      throw error;
    }
    if (pacto.status.contractStatus === status.contractStatus) return;
    const { namespace, name } = key;
    log.info('verdict', { namespace, name, verdict: status.contractStatus, codes: codesOf(result) });
  }

  #learn(key: PactoKey, written: KubeObject): void {
    const name = keyText(key);
    const { resourceVersion = '' } = written.metadata;
    this.#versions.set(name, resourceVersion);
    if (this.#options.sight.get(key)?.metadata.resourceVersion === resourceVersion) this.#known.delete(name);
    else this.#known.set(name, written);
  }

  /** Until the status that we last read or wrote is in the watch, that one counts. */
  #newest(name: string, watched: KubeObject | undefined): KubeObject | undefined {
    const known = this.#known.get(name);
    if (known === undefined) return watched;
    if (watched !== undefined && !isNewer(watched, known)) return known;
    this.#known.delete(name);
    return watched;
  }

  /** A moment after it is due, and never early: that look would find nothing. */
  #delayMs({ nextLookMs }: PassResult): number {
    return Math.max(0, nextLookMs - this.#options.clock.now()) + 1;
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

/** A heartbeat: nobody can tell a status that is true from one that nobody looks after, but by its time. */
export function isStatusOwed({ status, spec }: Pacto, nowMs: number): boolean {
  const ageMs = nowMs - Date.parse(status.lastReconciledAt ?? '');
  return !(ageMs >= 0 && ageMs < spec.checkIntervalSeconds * 1_000);
}

function isConflict(error: unknown): boolean {
  return error instanceof GateError && error.code === 'GATE_CLUSTER_CONFLICT';
}

function isNotLeading(error: unknown): boolean {
  return error instanceof GateError && error.code === 'GATE_NOT_LEADING';
}

/** Versions of one cluster are numbers that grow (Kubernetes 1.35 makes that official); another uid is another object. */
function isNewer(a: KubeObject, b: KubeObject): boolean {
  if (a.metadata.uid !== b.metadata.uid) return true;
  return Number(a.metadata.resourceVersion) >= Number(b.metadata.resourceVersion);
}

function codesOf({ status }: PassResult): readonly string[] {
  return [...new Set((status.findings ?? []).map(({ code }) => code))].slice(0, 10);
}
