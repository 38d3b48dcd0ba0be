/** From objects as they were read to what the gate knows when it decides. */
import type { KubeObject } from '../../cluster/objects.ts';
import { TERMINAL_PHASES, type Approval, type Operation } from './operation.ts';
import { textAt } from './read-fields.ts';
import { readApproval, readOperation } from './read-operation.ts';
import { readStage } from './read-stage.ts';
import type { Stage } from './stage.ts';
import type { GateWorld, LoadedPolicy } from './world.ts';

/** Operations of one Stage that are not over: more are a flood, and only slow its decisions down. */
const MOST_OPERATIONS = 1_000;
/** Approvals of all of them. */
const MOST_APPROVALS = 2_000;

const TERMINAL: ReadonlySet<string> = new Set(TERMINAL_PHASES);

export interface FoundObjects {
  /** Wall clock, in milliseconds. */
  readonly nowMs: number;
  readonly stage: KubeObject;
  /** Of `spec.pacto`; undefined where there is none. */
  readonly pacto: KubeObject | undefined;
  /** One for each upstream in the cluster, in the order of the spec. */
  readonly upstreams: readonly {
    readonly stage: KubeObject | undefined;
    readonly pacto: KubeObject | undefined;
  }[];
  /** Of the Stage's namespace, at least those of the Stage. */
  readonly operations: readonly KubeObject[];
  /** Of these operations, at least. */
  readonly approvals: readonly KubeObject[];
  readonly policy: LoadedPolicy;
  readonly stabilizationMs: number;
}

/**
 * Only what is this Stage's and is not over is kept: Operations by namespace and name of the Stage, the oldest first, as
 * their order is (delivery.md §3.2), Approvals by name and uid of these. Never throws: see `readStage`.
 */
export function worldOf(found: FoundObjects): GateWorld {
  const stage = readStage(found.stage);
  const votes = votesByOperation(found.approvals, stage.namespace);
  const operations = operationsOf(stage, found.operations, votes);
  return {
    nowMs: found.nowMs,
    stage,
    pacto: found.pacto,
    upstreams: found.upstreams.map((upstream) => ({
      stage: upstream.stage === undefined ? undefined : readStage(upstream.stage),
      pacto: upstream.pacto,
    })),
    operations,
    approvals: approvalsOf(operations, votes),
    policy: found.policy,
    stabilizationMs: found.stabilizationMs,
  };
}

function operationsOf(stage: Stage, found: readonly KubeObject[], votes: Votes): readonly Operation[] {
  const mine = found
    .filter(
      ({ metadata, spec, status }) =>
        textAt(spec, 'stage') === stage.name &&
        metadata.namespace === stage.namespace &&
        // Most of them are history.
        !TERMINAL.has(textAt(status, 'phase')),
    )
    .map((object) => readOperation(object));
  if (mine.length <= MOST_OPERATIONS) return mine.toSorted(byAge);
  // The one that is under way holds others up, and votes are for one: a flood must hide neither, nor what is newest.
  const active = stage.status.activeOperation?.uid;
  const rank = ({ uid, phase }: Operation): number =>
    uid === active ? 0 : phase !== 'Pending' ? 1 : votes.has(uid) ? 2 : 3;
  return mine
    .toSorted((a, b) => rank(a) - rank(b) || byAge(b, a))
    .slice(0, MOST_OPERATIONS)
    .toSorted(byAge);
}

/** Approvals as they were found, by uid of the Operation that they name. */
type Votes = ReadonlyMap<string, readonly KubeObject[]>;

function votesByOperation(found: readonly KubeObject[], namespace: string): Votes {
  const mine = found.filter(({ metadata }) => metadata.namespace === namespace);
  return Map.groupBy(mine, ({ spec }) => textAt(spec, 'operation', 'uid'));
}

function approvalsOf(operations: readonly Operation[], votes: Votes): readonly Approval[] {
  return operations
    .flatMap(({ uid, name }) =>
      uid === ''
        ? []
        : (votes.get(uid) ?? []).filter(({ spec }) => textAt(spec, 'operation', 'name') === name),
    )
    .toSorted(byWeight)
    .slice(0, MOST_APPROVALS)
    .map((object) => readApproval(object));
}

/** A flood of votes must hide neither a Reject nor a break-glass; the rest by name, so that all replicas count alike. */
function byWeight(a: KubeObject, b: KubeObject): number {
  const isVote = ({ spec }: KubeObject): number => Number(textAt(spec, 'decision') === 'Approve');
  return isVote(a) - isVote(b) || ((a.metadata.name ?? '') < (b.metadata.name ?? '') ? -1 : 1);
}

/** Of the same second, by name (delivery.md §3.2). */
function byAge(a: Operation, b: Operation): number {
  return (a.createdAtMs ?? 0) - (b.createdAtMs ?? 0) || (a.name < b.name ? -1 : 1);
}
