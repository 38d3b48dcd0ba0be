/**
 * What a look comes to in the cluster, in an order in which any end between two writes leaves something that the next look
 * makes whole: the revision, its event, its status; then the status of the Pacto; then what is said of it.
 */
import type { Cluster } from '../cluster/cluster.ts';
import { PACTO, PACTO_REVISION } from '../cluster/kinds.ts';
import type { KubeObject } from '../cluster/objects.ts';
import { GateError } from '../errors.ts';
import type { Log } from '../log.ts';
import type { Pacto, PactoStatus } from './api/pacto.ts';
import type { EventRecorder } from './event-recorder.ts';
import type { PassResult, PlannedEvent, RevisionPlan } from './pass.ts';

const FIELD_MANAGER = 'pacto-gate';

/** Creations and status writes, begun only while this process leads (cluster/leader.ts, writesOfLeader). */
export type Writes = Pick<Cluster, 'create' | 'replaceStatus'>;

export interface WriterOptions {
  readonly writes: Writes;
  readonly events: Pick<EventRecorder, 'say'>;
  readonly log: Pick<Log, 'warn'>;
}

export class Writer {
  readonly #options: WriterOptions;
  readonly #ensuring = new Map<string, Promise<boolean>>();

  constructor(options: WriterOptions) {
    this.#options = options;
  }

  /**
   * @param object the Pacto as it was read for this look.
   * @param isOwed the status is old enough to be written although nothing changed.
   * @param onWritten told of the Pacto as it is then, before anything is said of it.
   * @throws GateError as Cluster.replaceStatus: GATE_CLUSTER_CONFLICT where somebody else has written meanwhile.
   */
  async write(
    object: KubeObject,
    result: PassResult,
    {
      isOwed,
      signal,
      onWritten,
    }: {
      readonly isOwed: boolean;
      readonly signal: AbortSignal;
      readonly onWritten?: (object: KubeObject) => void;
    },
  ): Promise<'written' | 'unchanged'> {
    const revised = await this.#revision(result, signal);
    const status = withRevision(result, revised);
    const isRevised = status.currentRevision !== result.pacto.status.currentRevision;
    if (!result.changed && !isRevised && !isOwed) return 'unchanged';
    const written = await this.#options.writes.replaceStatus(
      PACTO,
      { ...object, status },
      { signal, fieldManager: FIELD_MANAGER },
    );
    onWritten?.(written);
    for (const event of result.events) await this.#options.events.say(result.pacto, event, signal);
    return 'written';
  }

  /** @returns whether the planned revision is there. Two who want the same one share what comes of it. */
  async ensure(pacto: Pacto, plan: RevisionPlan, signal: AbortSignal): Promise<boolean> {
    const { namespace = '', name = '' } = plan.object.metadata;
    const key = `${namespace}/${name}`;
    const under =
      this.#ensuring.get(key) ?? this.#ensure(pacto, plan, signal).finally(() => this.#ensuring.delete(key));
    this.#ensuring.set(key, under);
    return await under;
  }

  async #ensure(pacto: Pacto, plan: RevisionPlan, signal: AbortSignal): Promise<boolean> {
    const { writes, log, events } = this.#options;
    const options = { signal, fieldManager: FIELD_MANAGER };
    try {
      let revision = plan.existing;
      if (revision === undefined) {
        const { status: _status, ...object } = plan.object;
        revision = await create(writes, object, options);
      }
      // What has its status was said as well: a creation that ended before that is made whole now.
      if (revision === undefined || isResolved(revision)) return true;
      await events.say(pacto, created(plan.object), signal);
      const status = {
        ...(revision['status'] as object | undefined),
        ...(plan.object['status'] as object | undefined),
      };
      await writes.replaceStatus(PACTO_REVISION, { ...revision, status }, options);
      return true;
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof GateError && error.code === 'GATE_NOT_LEADING') throw error;
      log.warn('revision not made', { namespace: pacto.namespace, name: pacto.name, err: error });
      return false;
    }
  }

  async #revision({ pacto, revision }: PassResult, signal: AbortSignal): Promise<boolean> {
    return revision === undefined ? false : await this.ensure(pacto, revision, signal);
  }
}

/** Undefined where somebody else was quicker: the revision is the same, and the rest of it is theirs. */
async function create(
  writes: Writes,
  object: KubeObject,
  options: { readonly signal: AbortSignal; readonly fieldManager: string },
): Promise<KubeObject | undefined> {
  try {
    return await writes.create(PACTO_REVISION, object, options);
  } catch (error) {
    if (error instanceof GateError && error.code === 'GATE_CLUSTER_EXISTS') return undefined;
    throw error;
  }
}

function isResolved(revision: KubeObject): boolean {
  const { resolved, contractHash } = (revision['status'] ?? {}) as {
    resolved?: unknown;
    contractHash?: unknown;
  };
  return resolved === true && typeof contractHash === 'string' && contractHash !== '';
}

/** operator.md §7.2. */
function created(revision: KubeObject): PlannedEvent {
  const { version } = revision['spec'] as { readonly version: string };
  return {
    type: 'Normal',
    reason: 'RevisionCreated',
    message: `Created revision ${revision.metadata.name ?? ''} for contract v${version}`,
  };
}

/** One that could not be made is not the current one. */
function withRevision({ status, revision, pacto }: PassResult, isThere: boolean): PactoStatus {
  if (revision === undefined || isThere) return status;
  const { currentRevision: _planned, ...rest } = status;
  const { currentRevision } = pacto.status;
  return currentRevision === undefined ? rest : { ...rest, currentRevision };
}
