/**
 * The pointers webhook: whether a labelled pointer may change as somebody wants (delivery.md §2.3). The order: what the
 * review tells alone, drift correction, then the rules.
 */
import type { AdmissionRequest } from '../../cluster/objects.ts';
import { at } from '../identity/foreign.ts';
import type { Verdict } from '../verdict.ts';
import type { ObjectRef, PlainChange, PointerChange, StageName } from './change.ts';
import { plainChangeOf } from './classify.ts';
import {
  answerOf,
  bar,
  listed,
  pass,
  personOf,
  stageText,
  type About,
  type Barred,
} from './delivery-answer.ts';
import { shortDigest } from './deny-text.ts';
import type { DeliveryEvidence, DeliveryNeed, DeliverySettings } from './evidence.ts';
import { evaluateGate } from './gate.ts';
import { mayCross, mayDo, type IdentityPolicy } from './identity-policy.ts';
import { PROMOTER_FIELD_MANAGER } from './names.ts';
import type { Person } from './operation.ts';
import { isIgnoredByParent, parentOf } from './parent.ts';
import { pendingOf, sourceRefOf } from './pending.ts';
import { pointerChangeOf } from './pointer-change.ts';
import type { PointerField, StagePointer } from './stage.ts';
import type { GateWorld } from './world.ts';

const PLAIN_CODES = { Same: 'SAME', Suspend: 'SUSPEND', Delete: 'DELETE' } as const;

/** @returns the verdict where the review alone gives one: nothing changed, suspend, DELETE (rows 8, 10, 19, 22, 23, 30, 33). */
export function decidePointerPlainly(request: AdmissionRequest): Verdict | undefined {
  return plainVerdict(plainChangeOf(request));
}

function plainVerdict(plain: PlainChange): Verdict | undefined {
  if (plain.class === 'Other') return undefined;
  return pass(PLAIN_CODES[plain.class], plain.class, { stage: plain.oldStage ?? plain.stage });
}

/** @returns a verdict, or what has to be seen for one. */
export function decidePointer(
  request: AdmissionRequest,
  settings: DeliverySettings,
  evidence: DeliveryEvidence,
): Verdict | DeliveryNeed {
  const plain = plainChangeOf(request);
  const plainly = plainVerdict(plain);
  if (plainly !== undefined) return plainly;
  // Whoever gated it until now decides whether it may go.
  const stage = plain.oldStage ?? plain.stage;
  if (stage === undefined) return pass('GATE_OFF', 'Ungated', { stage: undefined });
  if (evidence.world === undefined) return { need: 'world', stage };
  const person = personOf(request);
  if (!evidence.world.isThere)
    return decideWithoutStage({ request, plain, stage, policy: evidence.world.policy.policy, person });
  const { world } = evidence.world;
  const pointer = world.stage.spec.pointers.find((one) => isTarget(one, plain.object, world));
  if (pointer === undefined)
    return pass('GATE_OFF', 'Unnamed', { stage }, [
      `${stageText(stage)} does not name this object among its pointers, so its gate does not hold it`,
    ]);
  const { namespace } = plain.object;
  if (!mayCross(world.policy.policy, stage, namespace))
    return bar(
      {
        code: 'NOT_ADMIN',
        message: `the identity policy does not let this Stage gate objects in namespace ${namespace}`,
        next: 'add it to crossNamespace, or move the Stage',
      },
      { stage },
    );
  const change = pointerChangeOf(request, pointer);
  return decideChange({
    request,
    settings,
    evidence,
    world,
    pointer,
    object: plain.object,
    change,
    isAdmin: mayDo(world.policy.policy, stage, 'admin', person),
    about: { stage, world, from: change.from, to: change.to },
  });
}

interface Question {
  readonly request: AdmissionRequest;
  readonly settings: DeliverySettings;
  readonly evidence: DeliveryEvidence;
  readonly world: GateWorld;
  readonly pointer: StagePointer;
  readonly object: ObjectRef;
  readonly change: PointerChange;
  readonly isAdmin: boolean;
  readonly about: About & { readonly stage: StageName; readonly world: GateWorld };
}

/** What of a kind is most likely the pin, where no Stage says. */
const LIKELY_FIELDS: Readonly<Record<string, PointerField>> = {
  OCIRepository: 'ociDigest',
  GitRepository: 'gitCommit',
  HelmRelease: 'chartVersion',
  Kustomization: 'kustomizeImageDigest',
  ConfigMap: 'configKey',
};

/** A labelled pointer whose Stage does not exist: nothing can let it go forward, and an admin may take the label away. */
function decideWithoutStage({
  request,
  plain,
  stage,
  policy,
  person,
}: {
  readonly request: AdmissionRequest;
  readonly plain: PlainChange;
  readonly stage: StageName;
  readonly policy: IdentityPolicy | undefined;
  readonly person: Person;
}): Verdict {
  const change = pointerChangeOf(request, likelyPointer(plain.object));
  const about = { stage, from: change.from, to: change.to };
  if (change.leaves && mayDo(policy, stage, 'admin', person))
    return pass('NO_STAGE', 'Admin', about, [
      `${stageText(stage)} does not exist: nothing gates this object`,
    ]);
  if (change.leaves)
    return bar(
      {
        code: 'NO_STAGE',
        message:
          'the Stage that gates this object does not exist, and its label may be taken away by a stage admin only',
        next: 'create the Stage, or have a stage admin take the label away',
      },
      about,
    );
  const { isCreate, moves, resumes, identity, release, config, weakened } = change;
  const isForward =
    isCreate || moves || resumes || [identity, release, config, weakened].some((fields) => fields.length > 0);
  if (!isForward) return pass('NO_STAGE', 'Rest', about);
  return bar(
    {
      code: 'NO_STAGE',
      message: 'the Stage that the label names does not exist, so nothing can let a move through',
      next: 'create the Stage, or have a stage admin take the label away',
    },
    about,
  );
}

function likelyPointer({ kind, name }: ObjectRef): StagePointer {
  return {
    name: kind,
    target: { apiVersion: '', kind, name, namespace: undefined },
    field: LIKELY_FIELDS[kind] ?? 'configKey',
    key: '',
    artifact: '',
  };
}

function decideChange(question: Question): Verdict | DeliveryNeed {
  const { change, world, about, isAdmin } = question;
  if (isDriftCorrection(change, world)) return pass('DRIFT_CORRECTION', 'DriftCorrection', about);
  const barred = barredBy(question);
  if (barred !== undefined) return bar(barred, about);
  if (change.leaves && isAdmin)
    return pass('GATE_OFF', 'Leaves', about, [
      `${stageText(about.stage)} does not gate this object any more`,
    ]);
  const warnings = weightless(change, about.stage);
  if (change.moves || change.isCreate || change.release.length > 0 || change.resumes)
    return decideMove(question, warnings);
  return decideConfiguration(question, warnings);
}

/** The new value is pinned and what the Stage stands on, and nothing else that counts differs. */
function isDriftCorrection(change: PointerChange, { stage }: GateWorld): boolean {
  const { to } = change;
  const isBack = to !== undefined && to.isPinned && to.value === stage.status.current?.digest;
  const { identity, release, config, weakened, leaves, resumes } = change;
  return (
    isBack &&
    change.moves &&
    !leaves &&
    !resumes &&
    [identity, release, config, weakened].every((fields) => fields.length === 0)
  );
}

/** What no verdict opens: rows 4, 6, 13 and 17. */
function barredBy({ change, isAdmin, world }: Question): Barred | undefined {
  const { to, from } = change;
  if (change.leaves && !isAdmin)
    return {
      code: 'NOT_ADMIN',
      message: 'the label that names the Stage may be taken away or changed by a stage admin only',
      next: 'leave the label, or have a stage admin change it',
    };
  const wasPinned = from?.isPinned === true || change.isCreate;
  const isWarn = world.stage.spec.gate.mode === 'Warn';
  if (to !== undefined && !to.isPinned && (wasPinned || change.moves) && !isWarn)
    return {
      code: 'NOT_PINNED',
      message: 'a gated pointer must name one release for ever, and would name whatever is newest',
      next: 'state a digest (spec.ref.digest), a commit, or an exact version',
    };
  if (change.identity.length > 0 && !isAdmin)
    return {
      code: 'POINTER_IDENTITY',
      message: `${listed(change.identity)} may be changed by a stage admin only: it is what the digest is looked up in, or how it is verified`,
      next: 'leave these fields, or have a stage admin change them',
    };
  if (change.weakened.length > 0 && !isAdmin)
    return {
      code: 'NOT_ADMIN',
      message: `${listed(change.weakened)} carry a gate, and may be taken away by a stage admin only`,
      next: 'leave these fields, or have a stage admin change them',
    };
  return undefined;
}

function weightless(change: PointerChange, stage: StageName): readonly string[] {
  const floats = `${stageText(stage)}: the pointer names no release for ever: moves behind it pass ungated`;
  const forces = `${stageText(stage)}: with force, Flux deletes and creates anew what the API server refuses to change: turn it on for single objects, by annotation`;
  return [...(change.to?.isPinned === false ? [floats] : []), ...(change.forceOn ? [forces] : [])];
}

/** Rows 1 to 3, 7, 9, 11, 14, 16 and 18. */
function decideMove(question: Question, warnings: readonly string[]): Verdict | DeliveryNeed {
  const { change, request, evidence, world, object, about } = question;
  let digest = change.to?.value ?? '';
  if (!change.moves && (change.release.length > 0 || change.resumes)) {
    const source = sourceRefOf(request.object, object);
    if (source !== undefined && evidence.source === undefined) return { need: 'source', object: source };
    const pending = pendingOf(request.object, evidence.source?.object, change.to);
    if (change.release.length === 0 && !pending.isPending)
      return pass('SAME', 'ResumesNothing', about, warnings);
    digest = pending.digest;
  }
  const { decision } = evaluateGate(world, {
    digest,
    change: isWayBack(change, digest, world) ? 'Rollback' : 'Move',
    isPinned: change.to?.isPinned !== false || !change.moves || world.stage.spec.gate.mode === 'Warn',
    identityChanged: false,
    ratchet: 'unknown',
  });
  // Break-glass opens this too (row 2).
  const warrant = decision.reasonCode === 'OVERRIDE' ? undefined : warrantOf(question, digest);
  if (warrant !== undefined) return warrant;
  const answered = answerOf(decision, about, { digest, warnings });
  return answered.allowed ? answered : (exceptionOf(question) ?? answered);
}

/** Row 7 and the free way back: a digest this Stage ran, of the same release of manifests. */
function isWayBack(change: PointerChange, digest: string, { stage }: GateWorld): boolean {
  if (digest === '' || change.release.length > 0) return false;
  const { current, lastGood } = stage.status;
  return current?.digest === digest || lastGood.some((release) => release.digest === digest);
}

/** Row 1: with a promoter, it alone moves pointers, each by an Operation that names object, old and new value. */
function warrantOf(
  { settings, request, change, pointer, world, about }: Question,
  digest: string,
): Verdict | undefined {
  const { promoterUsername } = settings;
  if (promoterUsername === undefined || world.stage.spec.gate.mode !== 'Enforce') return undefined;
  const from = change.from?.value ?? '';
  const isPromoter = request.userInfo.username === promoterUsername;
  const isWarranted = world.operations.some(
    ({ phase, moves }) =>
      phase === 'Moving' &&
      moves.some((move) => move.pointer === pointer.name && move.from === from && move.to === digest),
  );
  if (isPromoter && isWarranted) return pass('ALLOWED', 'Warrant', about);
  if (isPromoter)
    return bar(
      {
        code: 'NO_EVIDENCE',
        message: `no Operation that is moving names ${pointer.name} from ${shortDigest(from)} to ${shortDigest(digest)}`,
        next: 'create an Operation and let the promoter move the pointer',
      },
      about,
    );
  if (isWayBack(change, digest, world)) return undefined;
  return bar(
    {
      code: 'NO_EVIDENCE',
      message: `${shortDigest(digest)} is moved to by an Operation only`,
      next: 'create an Operation of type Promote for this digest, roll back to a known good one, or break glass (docs/delivery.md)',
    },
    about,
  );
}

/** Rows 12 and 15: configuration is often the cure, so it is held in scope Strict only. */
function decideConfiguration({ change, world, about }: Question, warnings: readonly string[]): Verdict {
  if (change.config.length === 0) return pass('ALLOWED', 'Rest', about, warnings);
  const digest = world.stage.status.current?.digest ?? '';
  const { decision } = evaluateGate(world, {
    digest,
    change: 'Move',
    isPinned: true,
    identityChanged: false,
    ratchet: 'unknown',
  });
  if (world.stage.spec.gate.scope === 'Strict') return answerOf(decision, about, { digest, warnings });
  const said = `${stageText(about.stage)}: ${listed(change.config)} change while its gate is closed: ${decision.message}`;
  return pass('ALLOWED', 'Configuration', about, [
    ...warnings,
    ...(decision.decision === 'Allow' ? [] : [said]),
  ]);
}

/**
 * Row 3, its exception (flux-facts.md FF-84): a parent with `spec.ignore` shows Git's value in the dry-run and never writes
 * it, and refusing that makes the parent fail for nothing.
 */
function exceptionOf({
  request,
  object,
  evidence,
  change,
  about,
}: Question): Verdict | DeliveryNeed | undefined {
  if (request.dryRun !== true || !change.moves || !isOwnedByPromoter(request.oldObject)) return undefined;
  const parent = parentOf(request.object);
  if (parent === undefined) return undefined;
  if (evidence.parent === undefined) return { need: 'parent', object: parent };
  if (!isIgnoredByParent(evidence.parent.object, object)) return undefined;
  return pass('SAME', 'Ignored', about);
}

function isOwnedByPromoter(object: unknown): boolean {
  const managers = at(object, 'metadata', 'managedFields');
  return (
    Array.isArray(managers) &&
    managers.some((one) => at(one, 'manager') === PROMOTER_FIELD_MANAGER && at(one, 'operation') === 'Apply')
  );
}

function isTarget({ target }: StagePointer, object: ObjectRef, { stage }: GateWorld): boolean {
  const group = target.apiVersion.includes('/') ? (target.apiVersion.split('/')[0] ?? '') : '';
  return (
    target.kind === object.kind &&
    target.name === object.name &&
    group === object.group &&
    (target.namespace ?? stage.namespace) === object.namespace
  );
}
