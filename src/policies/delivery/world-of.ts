/** From objects as they were read to what the gate knows when it decides. */
import type { KubeObject } from '../../cluster/objects.ts';
import type { Approval, Operation } from './operation.ts';
import { textAt } from './read-fields.ts';
import { readApproval, readOperation } from './read-operation.ts';
import { readStage } from './read-stage.ts';
import type { Stage } from './stage.ts';
import type { GateWorld, LoadedPolicy } from './world.ts';

/** Operations of one Stage that are not over: more are a flood, and only slow its decisions down. */
const MOST_OPERATIONS = 1_000;
/** Approvals of all of them. */
const MOST_APPROVALS = 2_000;

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
  const approvals = operations.flatMap(({ uid, name }) =>
    (votes.get(uid) ?? []).filter(({ operation }) => operation.name === name),
  );
  return {
    nowMs: found.nowMs,
    stage,
    pacto: found.pacto,
    upstreams: found.upstreams.map((upstream) => ({
      stage: upstream.stage === undefined ? undefined : readStage(upstream.stage),
      pacto: upstream.pacto,
    })),
    operations,
    approvals: approvals.toSorted(byWeight).slice(0, MOST_APPROVALS),
    policy: found.policy,
    stabilizationMs: found.stabilizationMs,
  };
}

function operationsOf(
  stage: Stage,
  found: readonly KubeObject[],
  votes: ReadonlyMap<string, readonly Approval[]>,
): readonly Operation[] {
  const mine = found
    .filter(
      ({ metadata, spec }) => textAt(spec, 'stage') === stage.name && metadata.namespace === stage.namespace,
    )
    .map((object) => readOperation(object))
    .filter(({ isTerminal }) => !isTerminal);
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

function votesByOperation(
  found: readonly KubeObject[],
  namespace: string,
): ReadonlyMap<string, readonly Approval[]> {
  const votes = found
    .filter((object) => object.metadata.namespace === namespace)
    .map((object) => readApproval(object))
    .filter(({ operation }) => operation.uid !== '');
  return Map.groupBy(votes, ({ operation }) => operation.uid);
}

/** A flood of votes must hide neither a Reject nor a break-glass; the rest by name, so that all replicas count alike. */
function byWeight(a: Approval, b: Approval): number {
  const isVote = ({ decision }: Approval): number => Number(decision === 'Approve');
  return isVote(a) - isVote(b) || (a.name < b.name ? -1 : 1);
}

/** Of the same second, by name (delivery.md §3.2). */
function byAge(a: Operation, b: Operation): number {
  return (a.createdAtMs ?? 0) - (b.createdAtMs ?? 0) || (a.name < b.name ? -1 : 1);
}
