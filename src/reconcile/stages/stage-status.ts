/**
 * What the gate keeper makes of a Stage: where it stands, what it ran and was good, and what its gate says (delivery.md §3.1,
 * §3.5 to §3.9). Pure: everything comes in as data, the time too.
 */
import type { KubeObject } from '../../cluster/objects.ts';
import type { Pin } from '../../policies/delivery/change.ts';
import type { Decision, DecisionInput } from '../../policies/delivery/decision.ts';
import { evaluateGate } from '../../policies/delivery/gate.ts';
import type {
  Stage,
  StageCurrent,
  StagePointer,
  StageRelease,
  StageStatus,
  TemplateHash,
} from '../../policies/delivery/stage.ts';
import type { GateWorld } from '../../policies/delivery/world.ts';
import { at } from '../../policies/identity/foreign.ts';
import { inSeconds } from '../stabilization.ts';
import { isApplied, isFetched } from './convergence.ts';
import { mergeConditions, type StageCondition } from './stage-conditions.ts';

export interface Sighted {
  /** The Stage as it is stored. */
  readonly object: KubeObject;
  readonly world: GateWorld;
  /** The first pointer, which names the release, and what it names now; undefined where it is not there. */
  readonly pointer: StagePointer | undefined;
  readonly source: KubeObject | undefined;
  readonly pin: Pin | undefined;
  readonly consumers: readonly KubeObject[];
  /** Of the workloads that it runs, as they are now. */
  readonly templates: readonly TemplateHash[];
  /** Whether the entry that holds pointers is registered; undefined where nobody can tell. */
  readonly isRegistered: boolean | undefined;
  /** Objects of others in the Kustomization that applies the pointer: a refusal would stop them too. */
  readonly neighbours: number;
}

export interface StageEvent {
  readonly type: 'Normal' | 'Warning';
  readonly reason: 'Adopted' | 'Moved' | 'UngatedMove' | 'Verified' | 'GateOpened' | 'GateClosed';
  readonly message: string;
}

export interface Kept {
  readonly status: Readonly<Record<string, unknown>>;
  readonly events: readonly StageEvent[];
  /** When to look again although nothing changes. */
  readonly nextMs: number | undefined;
  readonly decision: Decision;
  readonly input: DecisionInput;
  /** What the decision is about. */
  readonly digest: string;
}

export function keepStage(sighted: Sighted): Kept {
  const { world, object } = sighted;
  const { nowMs } = world;
  const stood = standing(sighted);
  const moved: Stage = { ...world.stage, status: { ...world.stage.status, ...stood.status } };
  const evaluation = evaluateStage({ ...world, stage: moved });
  const { decision, input, digest } = evaluation;
  const proved = proof(moved, input.own, sighted);
  const status = {
    ...recordOf(object['status']),
    observedGeneration: world.stage.generation,
    ...releaseMembers(proved),
    gate: gateOf(object, evaluation, world),
    conditions: mergeConditions(at(object, 'status', 'conditions'), conditionsOf(sighted, proved, decision), {
      generation: world.stage.generation,
      at: inSeconds(nowMs),
    }),
    candidate: digest === proved.current?.digest || digest === '' ? undefined : candidateOf(evaluation),
  };
  return {
    status: withoutUndefined(status),
    events: [...stood.events, ...proved.events, ...turned(object, decision)],
    nextMs: earliest([decision.nextChangeMs, proved.untilMs], nowMs),
    decision,
    input,
    digest,
  };
}

/** What the gate of a Stage is asked about, where nobody names it: what stands ungated, what an upstream has, what it runs. */
export function candidateFor({ stage, upstreams }: GateWorld): string {
  const { current, ungated, lastGood } = stage.status;
  if (ungated !== undefined) return ungated.digest;
  const known = new Set([current?.digest, ...lastGood.map(({ digest }) => digest)]);
  const next = upstreams.find(({ stage: upstream }) => {
    const digest = upstream?.status.current?.digest;
    return digest !== undefined && !known.has(digest);
  });
  return next?.stage?.status.current?.digest ?? current?.digest ?? '';
}

/** The gate's answer about a digest, or about the candidate. About what it runs already the upstreams have no say. */
export function evaluateStage(
  world: GateWorld,
  asked?: string,
): { readonly decision: Decision; readonly input: DecisionInput; readonly digest: string } {
  const digest = asked ?? candidateFor(world);
  const { stage } = world;
  const { current, lastGood, ungated } = stage.status;
  const isCurrent = digest !== '' && digest === current?.digest;
  const isBack = asked !== undefined && lastGood.some((release) => release.digest === digest);
  const alone: Stage = { ...stage, spec: { ...stage.spec, upstreams: { strategy: 'All', from: [] } } };
  const evaluated = evaluateGate(isCurrent ? { ...world, stage: alone, upstreams: [] } : world, {
    digest,
    change: isBack || (isCurrent && ungated !== undefined) ? 'Rollback' : 'Move',
    isPinned: true,
    identityChanged: false,
    ratchet: 'unknown',
  });
  return { ...evaluated, digest };
}

interface Standing {
  readonly status: Pick<StageStatus, 'current' | 'ungated'>;
  readonly events: readonly StageEvent[];
}

/** Where the pointer stands, and whether the gate let it go there. */
function standing({ world, pin }: Sighted): Standing {
  const { stage, nowMs } = world;
  const { current, ungated, lastGood } = stage.status;
  if (pin === undefined || pin.value === '') return { status: { current, ungated }, events: [] };
  if (current !== undefined && pin.value === current.digest)
    return { status: { current, ungated: undefined }, events: [] };
  const known = lastGood.find(({ digest }) => digest === pin.value);
  const fresh: StageCurrent = {
    digest: pin.value,
    tag: known?.tag,
    verifiedAtMs: undefined,
    templates: known?.templates ?? [],
    sinceMs: nowMs,
    convergedAtMs: undefined,
    compliantSinceMs: undefined,
  };
  if (current === undefined && pin.isPinned)
    return { status: { current: fresh, ungated: undefined }, events: [said('Normal', 'Adopted', pin.value)] };
  if (known !== undefined || isAllowed(world, pin))
    return { status: { current: fresh, ungated: undefined }, events: [said('Normal', 'Moved', pin.value)] };
  const isNew = ungated?.digest !== pin.value;
  return {
    status: { current, ungated: isNew ? { digest: pin.value, sinceMs: nowMs } : ungated },
    events: isNew ? [said('Warning', 'UngatedMove', pin.value)] : [],
  };
}

/**
 * Admission leaves no trace of an Allow, so a move is taken for allowed where the gate would allow it now, or said so when it
 * was last asked about just that.
 */
function isAllowed(world: GateWorld, pin: Pin): boolean {
  const { decision } = evaluateGate(world, {
    digest: pin.value,
    change: 'Move',
    isPinned: pin.isPinned,
    identityChanged: false,
    ratchet: 'unknown',
  });
  return decision.decision === 'Allow';
}

interface Proof extends Pick<StageStatus, 'current' | 'ungated' | 'lastGood'> {
  readonly events: readonly StageEvent[];
  /** When it will have been good for long enough. */
  readonly untilMs: number | undefined;
}

/** Whether the consumers run it, since when its verdict is good, and whether that was for long enough. */
function proof(stage: Stage, own: DecisionInput['own'], sighted: Sighted): Proof {
  const { status, spec } = stage;
  const { ungated, lastGood } = status;
  const { nowMs } = sighted.world;
  if (status.current === undefined || ungated !== undefined)
    return { current: status.current, ungated, lastGood, events: [], untilMs: undefined };
  const converged = withConvergence(status.current, sighted);
  const isGood = own.currency === 'Fresh' && own.class === 'Compliant';
  const isBad = own.currency === 'Fresh' && own.class !== 'Compliant';
  const sinceMs = isBad ? undefined : (converged.compliantSinceMs ?? (isGood ? nowMs : undefined));
  const untilMs = sinceMs === undefined ? undefined : sinceMs + spec.verification.soakMs;
  const isVerified = isGood && untilMs !== undefined && untilMs <= nowMs;
  const isNew = isVerified && converged.verifiedAtMs === undefined;
  const current: StageCurrent = {
    ...converged,
    compliantSinceMs: sinceMs,
    verifiedAtMs: isNew ? nowMs : converged.verifiedAtMs,
  };
  return {
    current,
    ungated,
    lastGood: isVerified ? remembered(current, lastGood, spec.historyLimit) : lastGood,
    events: isNew ? [said('Normal', 'Verified', current.digest)] : [],
    untilMs: isVerified ? undefined : untilMs,
  };
}

/** Whether this look is the first that finds what the pointer names running: then its templates are remembered. */
export function beginsToRun(sighted: Sighted): boolean {
  const { current, ungated } = standing(sighted).status;
  return current !== undefined && ungated === undefined && isConverging(current, sighted);
}

function withConvergence(current: StageCurrent, sighted: Sighted): StageCurrent {
  const { templates, world } = sighted;
  return isConverging(current, sighted) ? { ...current, convergedAtMs: world.nowMs, templates } : current;
}

function isConverging(
  { convergedAtMs, digest }: StageCurrent,
  { consumers, source, pointer }: Sighted,
): boolean {
  if (convergedAtMs !== undefined || pointer === undefined) return false;
  const hasSource = pointer.field === 'ociDigest' || pointer.field === 'gitCommit';
  return (
    (!hasSource || isFetched(source, digest)) &&
    consumers.every((consumer) => isApplied(consumer, { digest, field: pointer.field }))
  );
}

/** Newest first, each once. */
function remembered(
  current: StageCurrent,
  lastGood: readonly StageRelease[],
  limit: number,
): readonly StageRelease[] {
  if (lastGood[0]?.digest === current.digest) return lastGood;
  const { digest, tag, verifiedAtMs, templates } = current;
  const others = lastGood.filter((release) => release.digest !== digest);
  return [{ digest, tag, verifiedAtMs, templates }, ...others].slice(0, Math.max(1, limit));
}

function said(type: StageEvent['type'], reason: StageEvent['reason'], digest: string): StageEvent {
  const words = {
    Adopted: 'is where the pointer stands: taken as current',
    Moved: 'is where the pointer moved, as the gate allows',
    UngatedMove: 'is where the pointer stands, and the gate did not let it',
    Verified: 'was Compliant for the soak, and may always be gone back to',
    GateOpened: '',
    GateClosed: '',
  } as const;
  return { type, reason, message: `${digest} ${words[reason]}` };
}

function releaseMembers({ current, ungated, lastGood }: Proof): Record<string, unknown> {
  return {
    current: current === undefined ? undefined : currentMember(current),
    ungated:
      ungated === undefined ? undefined : { digest: ungated.digest, since: inSeconds(ungated.sinceMs) },
    lastGood: lastGood.length === 0 ? undefined : lastGood.map(releaseMember),
  };
}

function releaseMember({ digest, tag, verifiedAtMs, templates }: StageRelease): object {
  return withoutUndefined({
    digest,
    tag,
    verifiedAt: timeOf(verifiedAtMs),
    templates: templates.length === 0 ? undefined : templates.map((one) => ({ ...one })),
  });
}

function currentMember(current: StageCurrent): object {
  return withoutUndefined({
    ...releaseMember(current),
    since: timeOf(current.sinceMs),
    convergedAt: timeOf(current.convergedAtMs),
    compliantSince: timeOf(current.compliantSinceMs),
  });
}

interface Evaluation {
  readonly decision: Decision;
  readonly input: DecisionInput;
  readonly digest: string;
}

/** Times of looking are written anew only where the answer is another, or half of what it counts for is over. */
function gateOf(object: KubeObject, { decision, input, digest }: Evaluation, world: GateWorld): object {
  const { nowMs, stage, policy } = world;
  const before = at(object, 'status', 'gate');
  const said = withoutUndefined({
    decision: decision.decision,
    reasonCode: decision.reasonCode,
    message: decision.message,
    verdict: input.own.status === '' ? undefined : input.own.status,
    subjectDigest: digest === '' ? undefined : digest,
    policySha256: policy.sha256,
  });
  const isSame = Object.entries(said).every(([key, value]) => at(before, key) === value);
  const evaluatedAt = at(before, 'evaluatedAt');
  const evaluatedMs = typeof evaluatedAt === 'string' ? Date.parse(evaluatedAt) : Number.NaN;
  if (isSame && nowMs - evaluatedMs < stage.spec.gate.maxVerdictAgeMs / 2) return before as object;
  return withoutUndefined({
    ...said,
    verdictObservedAt: timeOf(input.own.observedAtMs),
    verdictResourceVersion: input.own.resourceVersion === '' ? undefined : input.own.resourceVersion,
    evaluatedAt: inSeconds(nowMs),
    expiresAt: timeOf(nowMs + stage.spec.gate.maxVerdictAgeMs),
    nextChange: timeOf(decision.nextChangeMs),
  });
}

function candidateOf({ decision, digest }: Evaluation): object {
  const { decision: answer, reasonCode, message } = decision;
  return { digest, decision: answer, reasonCode, message };
}

const OPEN = { Allow: 'True', Deny: 'False', Wait: 'Unknown' } as const;

function conditionsOf(
  { world, isRegistered, neighbours }: Sighted,
  { ungated }: Proof,
  { decision, reasonCode, message }: Decision,
): readonly StageCondition[] {
  const { policy, stage, nowMs } = world;
  const { invalid } = policy;
  const { untilMs, reason } = stage.spec.freeze;
  const isFrozen = untilMs !== undefined && untilMs > nowMs;
  const flag = (
    type: StageCondition['type'],
    is: boolean,
    [yes, no]: readonly [string, string],
    text: string,
  ): StageCondition => ({ type, status: is ? 'True' : 'False', reason: is ? yes : no, message: text });
  return [
    flag(
      'Ready',
      invalid === undefined,
      ['Kept', 'PolicyInvalid'],
      invalid ?? 'the gate keeper looks after it',
    ),
    flag('Stalled', invalid !== undefined, ['PolicyInvalid', 'Kept'], invalid ?? ''),
    { type: 'GateOpen', status: OPEN[decision], reason: reasonName(reasonCode), message },
    flag('Frozen', isFrozen, ['Frozen', 'NotFrozen'], isFrozen ? reason : ''),
    flag(
      'UngatedMove',
      ungated !== undefined,
      ['UngatedMove', 'NoUngatedMove'],
      ungated === undefined
        ? ''
        : `the pointer stands on ${ungated.digest}, which the gate did not let through`,
    ),
    isRegistered === undefined
      ? {
          type: 'GateBypassed',
          status: 'Unknown',
          reason: 'NotKnown',
          message: 'the webhook configuration cannot be read',
        }
      : flag(
          'GateBypassed',
          !isRegistered,
          ['NotRegistered', 'Registered'],
          isRegistered ? '' : 'no entry holds pointers: moves are not asked about',
        ),
    flag(
      'CollateralRisk',
      neighbours > 0,
      ['SharedKustomization', 'OwnKustomization'],
      neighbours > 0
        ? `the Kustomization that applies the pointer applies ${neighbours} objects more, which a refusal holds up too`
        : '',
    ),
  ];
}

/** `TARGET_NONCOMPLIANT` → `TargetNoncompliant`, as reasons of conditions are written. */
function reasonName(code: string): string {
  return code
    .toLowerCase()
    .split('_')
    .map((word) => `${word.charAt(0).toUpperCase()}${word.slice(1)}`)
    .join('');
}

/** Told when it opens or closes, not at the first look. */
function turned(object: KubeObject, { decision, reasonCode, message }: Decision): readonly StageEvent[] {
  const before = at(object, 'status', 'gate', 'decision');
  if (typeof before !== 'string' || before === decision) return [];
  if (decision === 'Allow')
    return [{ type: 'Normal', reason: 'GateOpened', message: `[${reasonCode}] ${message}` }];
  return before === 'Allow' || decision === 'Deny'
    ? [{ type: 'Warning', reason: 'GateClosed', message: `[${reasonCode}] ${message}` }]
    : [];
}

function earliest(times: readonly (number | undefined)[], nowMs: number): number | undefined {
  const future = times.filter((time): time is number => time !== undefined && Number.isFinite(time));
  return future.length === 0 ? undefined : Math.max(nowMs, Math.min(...future));
}

function timeOf(ms: number | undefined): string | undefined {
  return ms === undefined || !Number.isFinite(ms) ? undefined : inSeconds(ms);
}

function recordOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Readonly<Record<string, unknown>>)
    : {};
}

function withoutUndefined(value: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(value).filter(([, member]) => member !== undefined));
}
