/**
 * Keeps the status of Stages true: what wakes a Stage puts its key in the queue, one turn at a time looks at it, and where
 * something changed the leader writes. Operations that nobody carries out are told so.
 */
import { isDeepStrictEqual } from 'node:util';
import type { Clock, Timer } from '../../clock.ts';
import type { Cluster } from '../../cluster/cluster.ts';
import { DEPLOYMENT, OPERATION, STAGE, STATEFUL_SET, type Kind } from '../../cluster/kinds.ts';
import type { KubeObject } from '../../cluster/objects.ts';
import { GateError } from '../../errors.ts';
import type { Log } from '../../log.ts';
import type { TemplateHash } from '../../policies/delivery/stage.ts';
import { templateTextOf } from '../../policies/delivery/workload-template.ts';
import { at } from '../../policies/identity/foreign.ts';
import type { EventRecorder } from '../event-recorder.ts';
import { inSeconds } from '../stabilization.ts';
import type { StageKey } from './gates.ts';
import type { StageSight } from './stage-sight.ts';
import { beginsToRun, keepStage, type Kept, type Sighted } from './stage-status.ts';

export interface KeeperOptions {
  readonly sight: Pick<StageSight, 'keys' | 'sighted' | 'operation' | 'unsynced'>;
  /** Only writes of the leader. */
  readonly writes: Pick<Cluster, 'replaceStatus'>;
  readonly reads: Pick<Cluster, 'get'>;
  readonly events: Pick<EventRecorder, 'say'>;
  readonly leads: () => boolean;
  readonly clock: Clock;
  readonly random: () => number;
  readonly sha256: (text: string) => string;
  /** Undefined: nobody carries Operations out. */
  readonly promoter: string | undefined;
  readonly log: Log;
}

/** delivery.md §3.5: each Stage is looked at so often although nothing changes, give or take a tenth. */
const RESYNC_MS = 60_000;
const JITTER = 0.1;
const RETRY_MS = 1_000;
/** Before everything is read a Stage would seem to have lost what it depends on. */
const UNREAD_MS = 500;
/** What a Pacto may name and the gate of workloads is asked about. */
const WORKLOADS: readonly Kind[] = [DEPLOYMENT, STATEFUL_SET];

export class StageKeeper {
  readonly #options: KeeperOptions;
  readonly #waiting = new Map<string, StageKey>();
  readonly #timers = new Map<string, Timer>();
  #running: Promise<void> | undefined;
  #isStopped = false;

  constructor(options: KeeperOptions) {
    this.#options = options;
  }

  wake(key: StageKey): void {
    if (this.#isStopped) return;
    this.#waiting.set(textOf(key), key);
    if (this.#options.leads()) this.#run();
  }

  /** Whoever begins to lead looks at every Stage once. */
  turn(leads: boolean): void {
    if (leads) for (const key of this.#options.sight.keys()) this.wake(key);
  }

  isIdle(): boolean {
    return this.#waiting.size === 0 && this.#running === undefined;
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#waiting.clear();
    for (const timer of this.#timers.values()) timer.cancel();
    this.#timers.clear();
    await this.#running;
  }

  #run(): void {
    this.#running ??= this.#work().finally(() => {
      this.#running = undefined;
      if (this.#waiting.size > 0 && this.#options.leads() && !this.#isStopped) this.#run();
    });
  }

  async #work(): Promise<void> {
    const { sight, leads, log } = this.#options;
    // A burst of changes of one moment is looked at once.
    await Promise.resolve();
    for (const [text, key] of this.#waiting) {
      if (!leads() || this.#isStopped) return;
      this.#waiting.delete(text);
      if (sight.unsynced() !== undefined) {
        this.#later(key, UNREAD_MS);
        continue;
      }
      try {
        await this.#keep(key);
      } catch (error) {
        if (!(error instanceof GateError && error.code === 'GATE_CLUSTER_CONFLICT'))
          log.warn('stage not kept', { namespace: key.namespace, name: key.name, err: error });
        this.#later(key, RETRY_MS);
      }
    }
  }

  async #keep(key: StageKey): Promise<void> {
    const { sight, writes, events, clock } = this.#options;
    const found = sight.sighted(key);
    if (found === undefined) return this.#forget(key);
    if (found.world.stage.spec.suspend) return this.#forget(key);
    const sighted = beginsToRun(found) ? { ...found, templates: await this.#templates(found) } : found;
    const kept = keepStage(sighted);
    const { object, world } = sighted;
    if (!isDeepStrictEqual(plain(object['status']), plain(kept.status)))
      await writes.replaceStatus(STAGE, { ...object, status: kept.status });
    const { uid, resourceVersion } = world.stage;
    for (const event of kept.events) await events.say({ ...key, uid, resourceVersion }, event);
    await this.#answerOperations(sighted);
    this.#later(key, this.#waitFor(kept, clock.now()));
  }

  /** Looked up once, by name: a list would make the API server wait for its own cache. */
  async #templates({ world }: Sighted): Promise<readonly TemplateHash[]> {
    const target = at(world.pacto, 'spec', 'target');
    const name = at(target, 'workloadRef', 'name') ?? at(target, 'serviceName');
    const kind = WORKLOADS.find((one) => one.kind === (at(target, 'workloadRef', 'kind') ?? DEPLOYMENT.kind));
    if (kind === undefined || typeof name !== 'string' || name === '') return [];
    const namespace = world.pacto?.metadata.namespace ?? '';
    const text = templateTextOf(await this.#options.reads.get(kind, { namespace, name }));
    return text === undefined ? [] : [{ kind: kind.kind, name, sha256: this.#options.sha256(text) }];
  }

  /** Once: from then on it says so. */
  async #answerOperations({ world }: Sighted): Promise<void> {
    const { promoter, sight, writes, clock } = this.#options;
    if (promoter !== undefined) return;
    for (const { namespace, name } of world.operations) {
      const object = sight.operation({ namespace, name });
      if (object === undefined || at(object, 'status', 'phase') !== undefined) continue;
      await writes.replaceStatus(OPERATION, { ...object, status: pendingStatus(object, clock.now()) });
    }
  }

  #waitFor({ nextMs }: Kept, nowMs: number): number {
    const resyncMs = RESYNC_MS * (1 - JITTER + 2 * JITTER * this.#options.random());
    return nextMs === undefined ? resyncMs : Math.min(resyncMs, Math.max(RETRY_MS, nextMs - nowMs));
  }

  #later(key: StageKey, delayMs: number): void {
    if (this.#isStopped) return;
    const text = textOf(key);
    this.#timers.get(text)?.cancel();
    this.#timers.set(
      text,
      this.#options.clock.setTimer(delayMs, () => this.wake(key)),
    );
  }

  #forget(key: StageKey): void {
    const text = textOf(key);
    this.#timers.get(text)?.cancel();
    this.#timers.delete(text);
  }
}

function pendingStatus(object: KubeObject, nowMs: number): object {
  const message =
    'no promoter is configured: it is carried out by nobody, and counts for approvals and break-glass';
  const condition = (type: string, status: string): object => ({
    type,
    status,
    reason: 'NoPromoter',
    message,
    observedGeneration: object.metadata.generation,
    lastTransitionTime: inSeconds(nowMs),
  });
  return {
    observedGeneration: object.metadata.generation,
    phase: 'Pending',
    reasonCode: 'NO_PROMOTER',
    message,
    phaseSince: inSeconds(nowMs),
    conditions: [condition('Ready', 'False'), condition('Reconciling', 'True')],
  };
}

/** As it goes over the wire. */
function plain(value: unknown): unknown {
  return value === undefined ? undefined : JSON.parse(JSON.stringify(value));
}

function textOf({ namespace, name }: StageKey): string {
  return `${namespace}/${name}`;
}
