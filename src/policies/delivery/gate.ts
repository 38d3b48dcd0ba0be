/** The gate of a Stage for one candidate: from objects as read to a decision (delivery.md §3.7). */
import type { KubeObject } from '../../cluster/objects.ts';
import { breakGlassOf, countApprovals } from './approvals.ts';
import { decide } from './decide.ts';
import type { Approvals, Decision, DecisionInput, UpstreamEvidence, VerdictEvidence } from './decision.ts';
import { evidenceOf, isReady } from './freshness.ts';
import type { Operation } from './operation.ts';
import type { Stage, StageUpstream } from './stage.ts';
import { windowOf } from './windows.ts';
import type { GateWorld } from './world.ts';

/** What is to happen, as far as it can be told without any verdict. */
export interface Candidate {
  /** What the change is a move to; empty where it names none, which no evidence speaks for. */
  readonly digest: string;
  readonly change: DecisionInput['change'];
  readonly isPinned: boolean;
  /** Row 6, where the person is no stage admin. */
  readonly identityChanged: boolean;
  readonly ratchet: DecisionInput['ratchet'];
  /**
   * The Operation that asks. Left out for a direct write: then approvals and break-glass of any Operation of this Stage count
   * that is not over and has the same digest, and the write waits without a deadline.
   */
  readonly operation?: Operation;
}

/** The decision with all that it depended on, which `gate explain` shows. Reads nothing but its arguments, and never throws. */
export function evaluateGate(
  world: GateWorld,
  candidate: Candidate,
): { readonly decision: Decision; readonly input: DecisionInput } {
  const input = inputOf(world, candidate);
  return { decision: decide(input), input };
}

function inputOf(world: GateWorld, candidate: Candidate): DecisionInput {
  const { nowMs, stage, policy } = world;
  const { spec, status } = stage;
  const own = ownEvidence(world);
  const { approvals, breakGlassUntilMs } = consentOf(world, candidate, own);
  const { frozen, closesAtMs } = windowOf(thawedFor(candidate, spec), nowMs);
  return {
    nowMs,
    change: candidate.change,
    isPinned: candidate.isPinned,
    identityChanged: candidate.identityChanged,
    digest: candidate.digest,
    mode: spec.gate.mode,
    target: spec.gate.target,
    onUnknown: spec.gate.onUnknown,
    isPolicyInvalid: policy.invalid !== undefined,
    hasBreakGlass: breakGlassUntilMs !== undefined,
    breakGlassUntilMs,
    frozen,
    closesAtMs,
    isHeld: status.holdDigests.includes(candidate.digest),
    busyWith: busyWith(world, candidate),
    upstreams: {
      strategy: spec.upstreams.strategy,
      from: spec.upstreams.from.map((upstream) => upstreamEvidence(world, candidate.digest, upstream)),
    },
    own,
    ownDigest: own.currency === 'Fresh' || own.currency === 'Stale' ? status.current?.digest : undefined,
    movedAtMs: status.current?.sinceMs,
    ratchet: candidate.ratchet,
    readiness: readinessOf(stage, world.pacto),
    approvals,
    deadlineMs: deadlineOf(candidate.operation),
  };
}

/** The Stage's own verdict, about what it stands on. */
function ownEvidence(
  world: Pick<GateWorld, 'nowMs' | 'stage' | 'pacto' | 'stabilizationMs'>,
): VerdictEvidence {
  const { nowMs, stage, pacto, stabilizationMs } = world;
  return evidenceOf({
    pacto,
    current: stage.status.current,
    digest: undefined,
    nowMs,
    maxVerdictAgeMs: stage.spec.gate.maxVerdictAgeMs,
    stabilizationMs,
  });
}

function upstreamEvidence(world: GateWorld, digest: string, upstream: StageUpstream): UpstreamEvidence {
  const { nowMs, stage, stabilizationMs } = world;
  const { maxVerdictAgeMs } = stage.spec.gate;
  const question = { digest, nowMs, maxVerdictAgeMs, stabilizationMs };
  if ('remote' in upstream) {
    // Records of other clusters are not read yet: one that is asked for proves nothing.
    const evidence = evidenceOf({ ...question, pacto: undefined, current: undefined });
    return { name: `${upstream.remote}:${upstream.stage}`, evidence, soakMs: 0, isMoving: false };
  }
  const namespace = upstream.namespace ?? stage.namespace;
  const found = world.upstreams.find(
    (one) => one.stage?.name === upstream.stage && one.stage.namespace === namespace,
  );
  const current = found?.stage?.status.current;
  const evidence = evidenceOf({ ...question, pacto: found?.pacto, current });
  return {
    name: `${namespace}/${upstream.stage}`,
    evidence,
    soakMs: upstream.minCompliantForMs,
    // It stands on the candidate, and only has no verdict about it yet.
    isMoving: evidence.currency === 'WrongSubject' && digest !== '' && current?.digest === digest,
  };
}

/** Approvals and break-glass for the candidate: of the Operation that asks, or of the one that has the most of them. */
function consentOf(
  { nowMs, stage, operations, approvals, policy }: GateWorld,
  { digest, operation: asking }: Candidate,
  own: VerdictEvidence,
): { readonly approvals: Approvals; readonly breakGlassUntilMs: number | undefined } {
  const candidates = asking === undefined ? operations.filter((one) => isFor(one, stage, digest)) : [asking];
  const byOperation = Map.groupBy(approvals, ({ operation }) => operation.uid);
  const question = { nowMs, stage, policy, verdict: own.status };
  // One without any undoes no Reject of another, and there may be a thousand of them.
  const questions = candidates.flatMap((operation) => {
    const mine = byOperation.get(operation.uid);
    return mine === undefined ? [] : [{ ...question, operation, approvals: mine }];
  });
  const untilMs = questions
    .map((one) => breakGlassOf(one)?.untilMs ?? 0)
    .reduce((latest, one) => Math.max(latest, one), 0);
  const none = { ...question, operation: undefined, approvals: [] };
  const [first = countApprovals(none), ...rest] = questions.map((one) => countApprovals(one));
  return {
    approvals: rest.reduce((best, one) => (isCloser(one, best) ? one : best), first),
    breakGlassUntilMs: untilMs > 0 ? untilMs : undefined,
  };
}

function isFor(operation: Operation, stage: Stage, digest: string): boolean {
  const isMine = operation.namespace === stage.namespace && operation.stage === stage.name;
  return isMine && digest !== '' && operation.digest === digest && !operation.isTerminal && !operation.cancel;
}

/** A rejected one is never chosen over one that is not, nor one whose votes saw a better verdict. */
function isCloser(one: Approvals, other: Approvals): boolean {
  const rank = ({ isRejected, isOutdated, missing }: Approvals): number =>
    isRejected ? 2 : missing.length === 0 && !isOutdated ? 0 : 1;
  return rank(one) - rank(other) < 0 || (rank(one) === rank(other) && one.have > other.have);
}

/** The Operation under way, unless it is the one that asks, or moves to the same digest. One that is gone holds nobody up. */
function busyWith({ stage, operations }: GateWorld, { operation, digest }: Candidate): string | undefined {
  const active = stage.status.activeOperation;
  if (active === undefined || active.uid === operation?.uid) return undefined;
  const found = operations.find(({ uid }) => uid === active.uid);
  return found === undefined || found.isTerminal || found.digest === digest ? undefined : found.name;
}

/** A freeze may let cures through that the objects alone prove (delivery.md §2.5); windows let none. */
function thawedFor(
  { ratchet }: Candidate,
  { freeze, windows, gate }: Stage['spec'],
): Pick<Stage['spec'], 'freeze' | 'windows'> {
  const isCure = freeze.allowCures && ratchet === 'better' && gate.target === 'AllowCures';
  return { freeze: isCure ? { ...freeze, untilMs: undefined } : freeze, windows };
}

function readinessOf({ spec }: Stage, pacto: KubeObject | undefined): DecisionInput['readiness'] {
  if (!spec.gate.requireReadiness) return 'NotRequired';
  return isReady(pacto) ? 'Satisfied' : 'Unsatisfied';
}

/** Of an Operation that does not say when it was created the deadline is over. */
function deadlineOf(operation: Operation | undefined): number | undefined {
  if (operation === undefined) return undefined;
  return operation.createdAtMs === undefined ? 0 : operation.createdAtMs + operation.deadlineMs;
}
