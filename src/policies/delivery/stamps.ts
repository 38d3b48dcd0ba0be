/** What is written into Operations and Approvals when they are made, whatever the client wrote there (delivery.md §3.2, §3.3). */
import type { AdmissionRequest, KubeObject } from '../../cluster/objects.ts';
import { at, isRecord, sameJson } from '../identity/foreign.ts';
import { allow, type Allowed, type PatchOperation, type Verdict } from '../verdict.ts';
import type { ApiEvidence, ApiNeed, ApiSettings } from './api-evidence.ts';
import { evaluateGate } from './gate.ts';
import type { Operation } from './operation.ts';
import { readApproval, readOperation } from './read-operation.ts';
import { textAt } from './read-fields.ts';
import { stampedPerson } from './stamped-person.ts';
import type { GateWorld, LoadedPolicy } from './world.ts';

/** delivery.md §2.5. */
const MAX_BREAK_GLASS_MS = 3_600_000;

/** @returns a patch of the object (RFC 6902), or what has to be seen for one. Applied twice it is the same. */
export function stampsFor(
  request: AdmissionRequest,
  settings: ApiSettings,
  evidence: ApiEvidence,
): Verdict | ApiNeed {
  const { operation, subResource = '', kind, object } = request;
  if (operation !== 'CREATE' || subResource !== '' || !isRecord(at(object, 'spec'))) return allow();
  if (kind.kind === 'Operation') return stampOperation(request, evidence);
  return kind.kind === 'Approval' ? stampApproval(request, settings, evidence) : allow();
}

function stampOperation(request: AdmissionRequest, evidence: ApiEvidence): Verdict | ApiNeed {
  const { object, namespace = '' } = request;
  const { stage, expectedCurrent } = readOperation(object as KubeObject);
  if (evidence.world === undefined) return { need: 'world', stage: { namespace, name: stage } };
  const current = evidence.world.isThere ? evidence.world.world.stage.status.current?.digest : undefined;
  return patched(object, [
    ['requestedBy', { ...stampedPerson(request) }],
    ...(expectedCurrent === '' && current !== undefined ? [['expectedCurrent', current] as const] : []),
  ]);
}

function stampApproval(
  request: AdmissionRequest,
  settings: ApiSettings,
  evidence: ApiEvidence,
): Verdict | ApiNeed {
  const { object, namespace = '' } = request;
  const approval = readApproval(object as KubeObject);
  const { name } = approval.operation;
  if (evidence.operation === undefined) return { need: 'operation', namespace, name };
  const { operation } = evidence.operation;
  const stage = { namespace, name: operation?.stage ?? name };
  if (evidence.world === undefined) return { need: 'world', stage };
  const world = evidence.world.isThere ? evidence.world.world : undefined;
  const policy = evidence.world.isThere ? evidence.world.world.policy : evidence.world.policy;
  const validForMs = world?.stage.spec.approvals.validForMs;
  const lastsMs =
    approval.decision === 'BreakGlass'
      ? Math.min(
          policy.policy?.roles.get(approval.role)?.maxDurationMs ?? MAX_BREAK_GLASS_MS,
          MAX_BREAK_GLASS_MS,
        )
      : validForMs;
  const needsEnd = textAt(object, 'spec', 'expiresAt') === '' && lastsMs !== undefined;
  return patched(object, [
    ['approvedBy', { ...stampedPerson(request) }],
    ['seen', seenBy(world, policy, operation)],
    ...(needsEnd ? [['expiresAt', timeText(settings.nowMs + lastsMs)] as const] : []),
  ]);
}

/** What was true when they decided. */
function seenBy(
  world: GateWorld | undefined,
  { sha256 }: LoadedPolicy,
  operation: Operation | undefined,
): Readonly<Record<string, string>> {
  const verdict = textAt(world?.pacto, 'status', 'contractStatus');
  const version = textAt(world?.pacto, 'metadata', 'resourceVersion');
  const gateDecision = world === undefined || operation === undefined ? '' : decisionOf(world, operation);
  return { verdict, verdictResourceVersion: version, gateDecision, policySha256: sha256 };
}

function decisionOf(world: GateWorld, operation: Operation): string {
  const { decision } = evaluateGate(world, {
    digest: operation.digest,
    change: 'Move',
    isPinned: true,
    identityChanged: false,
    ratchet: 'unknown',
    operation,
  });
  return decision.decision;
}

/** Only what differs is patched: a second round finds nothing to do. */
function patched(object: unknown, members: readonly (readonly [string, unknown])[]): Allowed {
  const patch = members
    .filter(([key, value]) => !sameJson(at(object, 'spec', key) ?? null, value))
    // `add` replaces a member that is there.
    .map(([key, value]): PatchOperation => ({ op: 'add', path: `/spec/${key}`, value }));
  return { ...allow(), patch };
}

/** RFC 3339 in seconds, as the API server writes times. */
function timeText(ms: number): string {
  return new Date(Math.floor(ms / 1_000) * 1_000).toISOString().replace('.000Z', 'Z');
}
