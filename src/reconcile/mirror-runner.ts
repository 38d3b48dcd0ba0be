/** Mirrors every Pacto's repository at the start of a term and then at intervals, a few at a time, while this process leads. */
import { sleep, type Clock } from '../clock.ts';
import type { Log } from '../log.ts';
import type { Pacto } from './api/pacto.ts';
import { readPacto } from './api/read-pacto.ts';
import { plainReference, type ContractSource, type MirrorRound } from './contract-source.ts';
import type { EventRecorder } from './event-recorder.ts';
import { isMirrored, mirror, MirrorMemory, oneSpelling, type MirrorParts } from './mirror.ts';
import type { RevisionPlan } from './pass.ts';
import { sourceOf } from './revision.ts';
import type { Sight } from './sight.ts';
import { resolutionPolicyOf } from './status.ts';
import type { PactoKey } from './wake.ts';
import type { Writer } from './writer.ts';

/** Pactos at the same time: registries are asked for what nobody waits for. */
const AT_ONCE = 4;

export interface MirrorRunnerOptions extends Pick<MirrorParts, 'reader'> {
  readonly source: Pick<ContractSource, 'round'>;
  readonly sight: Pick<Sight, 'get' | 'keys' | 'glance' | 'ready'>;
  readonly writer: Pick<Writer, 'ensure'>;
  readonly events: Pick<EventRecorder, 'say'>;
  readonly clock: Clock;
  readonly intervalMs: number;
  readonly log: Log;
  /** The tag that a Pacto follows names something else, or there is a new one where it follows the latest: it should look. */
  readonly onNew: (key: PactoKey) => void;
}

export interface MirrorRunner {
  /** @param term aborted when it ends; undefined: this process does not lead. */
  turn(term: AbortSignal | undefined): void;
  isIdle(): boolean;
  stop(): Promise<void>;
}

export function createMirrorRunner(options: MirrorRunnerOptions): MirrorRunner {
  return new Runner(options);
}

class Runner implements MirrorRunner {
  readonly #options: MirrorRunnerOptions;
  readonly #memory = new MirrorMemory();
  readonly #stopping = new AbortController();
  #running: Promise<void> = Promise.resolve();
  #isWorking = false;

  constructor(options: MirrorRunnerOptions) {
    this.#options = options;
  }

  turn(term: AbortSignal | undefined): void {
    if (term === undefined || this.#stopping.signal.aborted) return;
    const signal = AbortSignal.any([term, this.#stopping.signal]);
    this.#running = this.#running.then(() => this.#run(signal));
  }

  isIdle(): boolean {
    return !this.#isWorking;
  }

  async stop(): Promise<void> {
    this.#stopping.abort(new Error('the reconciler stops'));
    await this.#running;
  }

  /** Until the term ends. Never rejects. */
  async #run(signal: AbortSignal): Promise<void> {
    const { clock, intervalMs, log, sight } = this.#options;
    try {
      await sight.ready;
      while (!signal.aborted) {
        this.#isWorking = true;
        await this.#all(signal);
        this.#isWorking = false;
        await sleep(clock, intervalMs, signal);
      }
    } catch (error) {
      if (!signal.aborted) log.error('mirror failed', { err: error });
    } finally {
      this.#isWorking = false;
    }
  }

  async #all(signal: AbortSignal): Promise<void> {
    const round = this.#options.source.round();
    // One repository after the other: what it says of its tags is shared by all its Pactos.
    const left = this.#mirrored().toSorted(([a], [b]) => (a < b ? -1 : Number(a > b)));
    const work = async (): Promise<void> => {
      for (let next = left.shift(); next !== undefined && !signal.aborted; next = left.shift())
        await this.#one(next[1], round, signal);
    };
    // All of them have ended when this one has, also where the term ended first.
    await Promise.allSettled(Array.from({ length: AT_ONCE }, work));
    signal.throwIfAborted();
  }

  /** With their references. */
  #mirrored(): readonly (readonly [string, PactoKey])[] {
    const { sight } = this.#options;
    return [...sight.keys()].flatMap((key) => {
      const object = sight.get(key);
      const pacto = object === undefined ? undefined : readPacto(object);
      return pacto !== undefined && isMirrored(pacto) ? [[pacto.spec.contractRef.oci, key] as const] : [];
    });
  }

  /** Never rejects but with the signal's reason: one repository stands in the way of no other. */
  async #one(key: PactoKey, round: MirrorRound, signal: AbortSignal): Promise<void> {
    const { sight, log } = this.#options;
    try {
      const object = sight.get(key);
      const pacto = object === undefined ? undefined : readPacto(object);
      if (pacto !== undefined && isMirrored(pacto)) await this.#mirror(pacto, round, signal);
    } catch (error) {
      signal.throwIfAborted();
      log.warn('mirror failed', { namespace: key.namespace, name: key.name, err: error });
    }
  }

  async #mirror(pacto: Pacto, round: MirrorRound, signal: AbortSignal): Promise<void> {
    const { reader, sight, clock, writer, events, onNew } = this.#options;
    const options = { view: sight.glance(), signal, nowMs: clock.now() };
    const { revisions, failure } = await mirror(
      pacto,
      { source: round, reader, memory: this.#memory },
      options,
    );
    let isNew = false;
    for (const { plan, event } of revisions) {
      if (!(await writer.ensure(pacto, plan, signal))) continue;
      this.#memory.accept(pacto, plan);
      if (event !== undefined) await events.say(pacto, event, signal);
      isNew ||= (event !== undefined || plan.existing === undefined) && isFollowed(pacto, plan);
    }
    if (isNew) onNew(pacto);
    if (failure !== undefined) await events.say(pacto, failure, signal);
  }
}

/** Whoever names a tag has nothing to do with any other. */
function isFollowed({ spec: { contractRef } }: Pacto, { object }: RevisionPlan): boolean {
  if (resolutionPolicyOf(contractRef) === 'Latest') return true;
  return sourceOf(object).oci === oneSpelling(plainReference(contractRef.oci));
}
