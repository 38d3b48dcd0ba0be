/** What may become of an Operation: made by who may, then only cancelled (delivery.md §3.2). */
import type { AdmissionRequest, KubeObject } from '../../cluster/objects.ts';
import { at, isRecord, sameJson } from '../identity/foreign.ts';
import type { Verdict } from '../verdict.ts';
import type { ApiEvidence, ApiNeed } from './api-evidence.ts';
import type { StageName } from './change.ts';
import { isSamePerson } from './approvals.ts';
import { bar, pass, personOf, type Barred } from './delivery-answer.ts';
import { oneLine, shortDigest } from './deny-text.ts';
import { mayDo } from './identity-policy.ts';
import type { Operation } from './operation.ts';
import { readOperation } from './read-operation.ts';
import { isSameStamp, stampedPerson } from './stamped-person.ts';
import type { GateWorld, LoadedPolicy } from './world.ts';

const DIGEST = /^sha256:[0-9a-f]{64}$/;
/** As the definition has it. */
const MOST_PIN = 256;

export function decideOperation(request: AdmissionRequest, evidence: ApiEvidence): Verdict | ApiNeed {
  const operation = readOperation(
    asObject(request.operation === 'DELETE' ? request.oldObject : request.object),
  );
  const stage: StageName = { namespace: request.namespace ?? '', name: operation.stage };
  if (evidence.world === undefined) return { need: 'world', stage };
  const world = evidence.world.isThere ? evidence.world.world : undefined;
  const policy = evidence.world.isThere ? evidence.world.world.policy : evidence.world.policy;
  const question: OperationQuestion = { request, operation, stage, world, policy };
  const rule = { CREATE: created, UPDATE: changed, DELETE: deleted }[request.operation as 'CREATE'];
  const barred = rule(question);
  return barred === undefined ? pass('ALLOWED', request.operation, { stage }) : bar(barred, { stage });
}

interface OperationQuestion {
  readonly request: AdmissionRequest;
  readonly operation: Operation;
  readonly stage: StageName;
  /** Undefined where there is no such Stage. */
  readonly world: GateWorld | undefined;
  readonly policy: LoadedPolicy;
}

function asObject(object: unknown): KubeObject {
  return (isRecord(object) ? object : { metadata: {} }) as unknown as KubeObject;
}

function created(question: OperationQuestion): Barred | undefined {
  return [stampedRight, wellFormed, stageThere, allowed]
    .map((rule) => rule(question))
    .find((found) => found !== undefined);
}

function stampedRight({ request, operation }: OperationQuestion): Barred | undefined {
  if (isSameStamp(operation.requestedBy, stampedPerson(request))) return undefined;
  return {
    code: 'MALFORMED',
    message: 'spec.requestedBy is not whoever asks',
    next: 'leave it out: it is filled in by the entry for stamps, which must be registered',
  };
}

function wellFormed({ operation: { digest, expectedCurrent } }: OperationQuestion): Barred | undefined {
  if (!DIGEST.test(digest))
    return { code: 'MALFORMED', message: 'spec.digest is no sha256:… digest', next: 'state what to move to' };
  if (expectedCurrent.length > MOST_PIN || oneLine(expectedCurrent, MOST_PIN) !== expectedCurrent)
    return {
      code: 'MALFORMED',
      message: 'spec.expectedCurrent is nothing that a pointer may hold',
      next: 'leave it out',
    };
  return undefined;
}

function stageThere({ world }: OperationQuestion): Barred | undefined {
  return world === undefined
    ? { code: 'NO_STAGE', message: 'the Stage does not exist', next: 'name a Stage of this namespace' }
    : undefined;
}

function allowed({ request, operation, stage, world, policy }: OperationQuestion): Barred | undefined {
  const isBack = operation.type === 'Rollback' || operation.type === 'Revert';
  // The last good policy still lets back (delivery.md §3.4).
  if (policy.invalid !== undefined && !isBack)
    return {
      code: 'POLICY_INVALID',
      message: `the identity policy cannot be read: ${policy.invalid}`,
      next: 'correct its ConfigMap; rollbacks go by the last one that could be read',
    };
  const action = isBack ? 'rollback' : 'promote';
  if (!mayDo(policy.policy, stage, action, personOf(request)))
    return {
      code: 'ROLE_REQUIRED',
      message: `the identity policy gives you no role that may ${action} this Stage`,
      next: `have somebody who may ${action} do it, or have the role added to the policy`,
    };
  const good = world?.stage.status.lastGood ?? [];
  if (operation.type === 'Rollback' && !good.some(({ digest }) => digest === operation.digest))
    return {
      code: 'MALFORMED',
      message: `${shortDigest(operation.digest)} is no release that this Stage ran and was good`,
      next: 'take one of status.lastGood, or make it a Promote',
    };
  return undefined;
}

/** All of it stays, but for `cancel`, which becomes true. */
function changed({ request, operation, stage, policy }: OperationQuestion): Barred | undefined {
  const before = withoutCancel(request.oldObject);
  const after = withoutCancel(request.object);
  if (!sameJson(before.rest, after.rest) || (before.cancel === true && after.cancel !== true))
    return {
      code: 'FIXED',
      message: 'of an Operation nothing may change but cancel, and that to true only',
      next: 'cancel it, and make another one',
    };
  const person = personOf(request);
  const asked = readOperation(asObject(request.oldObject)).requestedBy;
  const mayCancel =
    isSamePerson(asked, person) ||
    mayDo(policy.policy, stage, operation.type === 'Rollback' ? 'rollback' : 'promote', person) ||
    mayDo(policy.policy, stage, 'admin', person);
  return mayCancel
    ? undefined
    : {
        code: 'ROLE_REQUIRED',
        message:
          'it may be cancelled by whoever asked for it, by who may ask for such a one, and by a stage admin',
        next: 'have one of them cancel it',
      };
}

function withoutCancel(object: unknown): { readonly cancel: unknown; readonly rest: unknown } {
  const spec = at(object, 'spec');
  if (!isRecord(spec)) return { cancel: undefined, rest: spec };
  const { cancel, ...rest } = spec;
  return { cancel, rest };
}

/** What is under way ends first; what is over is history (delivery.md §3.2). */
function deleted({ request, operation, stage, policy }: OperationQuestion): Barred | undefined {
  // Nobody began it, and somebody took it back: there is nothing to remember.
  if (operation.phase === 'Pending' && operation.cancel) return undefined;
  if (!operation.isTerminal)
    return {
      code: 'FIXED',
      message: `it is ${operation.phase}, and an Operation is not deleted before it is over`,
      next: 'cancel it (spec.cancel: true), then delete it',
    };
  const isRecorded = at(request.oldObject, 'status', 'record', 'exported') === true;
  if (isRecorded || mayDo(policy.policy, stage, 'admin', personOf(request))) return undefined;
  return {
    code: 'NOT_ADMIN',
    message: 'it is history, and may be deleted by a stage admin only before its record is exported',
    next: 'leave it, or have a stage admin delete it',
  };
}
