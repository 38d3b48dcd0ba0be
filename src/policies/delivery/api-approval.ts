/** What may become of an Approval: one person, one decision, which never changes (delivery.md §3.3, §2.5). */
import type { AdmissionRequest, KubeObject } from '../../cluster/objects.ts';
import { isRecord } from '../identity/foreign.ts';
import type { Verdict } from '../verdict.ts';
import type { ApiEvidence, ApiNeed, ApiSettings } from './api-evidence.ts';
import { isSamePerson, isTicket } from './approvals.ts';
import type { StageName } from './change.ts';
import { bar, pass, personOf, type Barred } from './delivery-answer.ts';
import { holdsRole, mayDo, rolesFor } from './identity-policy.ts';
import type { Approval, Operation } from './operation.ts';
import { readApproval } from './read-operation.ts';
import { isSameStamp, stampedPerson } from './stamped-person.ts';
import type { GateWorld, LoadedPolicy } from './world.ts';

/** delivery.md §2.5. */
const MAX_BREAK_GLASS_MS = 3_600_000;
/** Between a clock of the person's and ours (delivery.md §3.6). */
const SKEW_MS = 30_000;
const BEFORE_MOVING: ReadonlySet<string> = new Set(['Pending', 'Gating', 'AwaitingApproval']);

export function decideApproval(
  request: AdmissionRequest,
  settings: ApiSettings,
  evidence: ApiEvidence,
): Verdict | ApiNeed {
  const { namespace = '' } = request;
  const object = request.operation === 'DELETE' ? request.oldObject : request.object;
  const approval = readApproval((isRecord(object) ? object : { metadata: {} }) as unknown as KubeObject);
  const { name } = approval.operation;
  if (request.operation === 'UPDATE')
    return bar(
      {
        code: 'FIXED',
        message: 'an Approval never changes',
        next: 'delete it, which takes it back, and make another one',
      },
      { stage: { namespace, name } },
    );
  if (evidence.operation === undefined) return { need: 'operation', namespace, name };
  const { operation } = evidence.operation;
  const stage: StageName = { namespace, name: operation?.stage ?? name };
  if (evidence.world === undefined) return { need: 'world', stage };
  const world = evidence.world.isThere ? evidence.world.world : undefined;
  const policy = evidence.world.isThere ? evidence.world.world.policy : evidence.world.policy;
  const question = { request, settings, approval, stage, world, policy };
  if (request.operation === 'DELETE') return answer(stage, revoked(question, operation));
  if (operation === undefined || world === undefined) return answer(stage, missing(operation));
  if (evidence.approvals === undefined) return { need: 'approvals', namespace, uid: operation.uid };
  if (evidence.access === undefined) return { need: 'access', stage };
  const { approvals, access } = evidence;
  return answer(stage, created({ ...question, operation, world, approvals, access }));
}

interface Question {
  readonly request: AdmissionRequest;
  readonly settings: ApiSettings;
  readonly approval: Approval;
  readonly stage: StageName;
  readonly policy: LoadedPolicy;
}
interface Creation extends Question {
  readonly operation: Operation;
  readonly world: GateWorld;
  readonly approvals: readonly Approval[];
  readonly access: boolean;
}

function answer(stage: StageName, barred: Barred | undefined): Verdict {
  return barred === undefined ? pass('ALLOWED', 'Approval', { stage }) : bar(barred, { stage });
}

function missing(operation: Operation | undefined): Barred {
  return operation === undefined
    ? {
        code: 'NO_STAGE',
        message: 'the Operation that it names does not exist',
        next: 'name an Operation of this namespace',
      }
    : { code: 'NO_STAGE', message: 'the Stage of the Operation does not exist', next: 'create the Stage' };
}

function created(question: Creation): Barred | undefined {
  return [stampedRight, about, times, once, eligible, apart, broken]
    .map((rule) => rule(question))
    .find((found) => found !== undefined);
}

function stampedRight({ request, approval, policy }: Creation): Barred | undefined {
  if (!isSameStamp(approval.approvedBy, stampedPerson(request)))
    return {
      code: 'MALFORMED',
      message: 'spec.approvedBy is not whoever asks',
      next: 'leave it out: it is filled in by the entry for stamps, which must be registered',
    };
  if (approval.seen.policySha256 !== policy.sha256)
    return {
      code: 'MALFORMED',
      message: 'spec.seen.policySha256 is not the identity policy of now',
      next: 'leave spec.seen out and try again: it is filled in by the entry for stamps',
    };
  return undefined;
}

function about({ approval, operation }: Creation): Barred | undefined {
  const barred = (message: string, next: string): Barred => ({ code: 'MALFORMED', message, next });
  if (approval.operation.uid === '' || approval.operation.uid !== operation.uid)
    return barred(
      'spec.operation.uid is not that of the Operation',
      'state the uid of the Operation that you looked at',
    );
  if (approval.digest !== operation.digest)
    return barred(
      'spec.digest is not that of the Operation',
      'state the digest of the Operation that you looked at',
    );
  if (operation.isTerminal)
    return {
      code: 'FIXED',
      message: `the Operation is over: ${operation.phase}`,
      next: 'make another Operation',
    };
  return undefined;
}

function times({ approval, settings, world }: Creation): Barred | undefined {
  const { expiresAtMs, decision } = approval;
  if (expiresAtMs === undefined) return undefined;
  const isBreakGlass = decision === 'BreakGlass';
  const mostMs = isBreakGlass ? MAX_BREAK_GLASS_MS : world.stage.spec.approvals.validForMs;
  if (expiresAtMs > settings.nowMs - SKEW_MS && expiresAtMs <= settings.nowMs + mostMs + SKEW_MS)
    return undefined;
  return {
    code: 'MALFORMED',
    message: `spec.expiresAt is over, or more than ${isBreakGlass ? '1h' : 'approvals.validFor of the Stage'} from now`,
    next: 'leave it out, or state an earlier time',
  };
}

/** One live Approval for each person: a second one would count twice, or contradict the first. */
function once({ approval, approvals }: Creation): Barred | undefined {
  const other = approvals.find((one) => isSamePerson(one.approvedBy, approval.approvedBy));
  return other === undefined
    ? undefined
    : {
        code: 'FIXED',
        message: `you have decided already, by Approval ${other.name}`,
        next: 'delete that one first, which takes it back',
      };
}

function eligible({ request, approval, stage, policy, access }: Creation): Barred | undefined {
  if (policy.invalid !== undefined && approval.decision !== 'Reject')
    return {
      code: 'POLICY_INVALID',
      message: `the identity policy cannot be read: ${policy.invalid}`,
      next: 'correct its ConfigMap',
    };
  if (!access)
    return {
      code: 'ROLE_REQUIRED',
      message: `you may not approve stages.delivery.pacto.trianalab.io ${stage.name}, by RBAC`,
      next: 'have the verb approve on stages granted to you',
    };
  const action = approval.decision === 'BreakGlass' ? 'breakGlass' : 'approve';
  const may =
    rolesFor(policy.policy, stage, action).includes(approval.role) &&
    holdsRole(policy.policy, approval.role, action, personOf(request));
  return may
    ? undefined
    : {
        code: 'ROLE_REQUIRED',
        message: `the identity policy does not let you ${action === 'approve' ? 'decide' : 'break the glass'} on this Stage in the role of spec.role`,
        next: 'name a role that you have and that may, or have somebody else decide',
      };
}

function apart({ approval, operation, world }: Creation): Barred | undefined {
  const { separationOfDuties } = world.stage.spec.approvals;
  if (approval.decision !== 'Approve' || separationOfDuties === 'None') return undefined;
  return isSamePerson(approval.approvedBy, operation.requestedBy)
    ? {
        code: 'SELF_APPROVAL',
        message: 'whoever asked for the Operation may not approve it',
        next: 'have somebody else approve it',
      }
    : undefined;
}

function broken({ approval, policy }: Creation): Barred | undefined {
  const { decision, role, reason, ticket } = approval;
  if (decision !== 'Approve' && reason.trim() === '')
    return { code: 'MALFORMED', message: 'spec.reason is empty', next: 'say why' };
  if (decision !== 'BreakGlass' || isTicket(ticket, policy.policy?.roles.get(role)?.ticketPattern))
    return undefined;
  return {
    code: 'MALFORMED',
    message: 'spec.ticket is not one as the identity policy wants it (ticketPattern)',
    next: 'name the ticket of the incident',
  };
}

/** By its author before anything moved; later it is history. */
function revoked(
  { request, approval, stage, policy }: Question,
  operation: Operation | undefined,
): Barred | undefined {
  const person = personOf(request);
  const isEarly = operation !== undefined && BEFORE_MOVING.has(operation.phase);
  if (isEarly && isSamePerson(approval.approvedBy, person)) return undefined;
  if (mayDo(policy.policy, stage, 'admin', person)) return undefined;
  return {
    code: 'NOT_ADMIN',
    message: isEarly
      ? 'it may be taken back by its author or a stage admin only'
      : 'its Operation has begun or is over, and it may be deleted by a stage admin only',
    next: 'leave it, or have a stage admin delete it',
  };
}
