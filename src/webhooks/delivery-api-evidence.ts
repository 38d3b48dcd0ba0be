/** Fetches what the rules for Stages, Operations and Approvals have to see, and asks them again. */
import type { Clock } from '../clock.ts';
import type { ReviewAccess } from '../cluster/access-reviews.ts';
import { STAGE } from '../cluster/kinds.ts';
import type { AdmissionRequest } from '../cluster/objects.ts';
import { GateError } from '../errors.ts';
import type { ApiEvidence, ApiNeed, ApiSettings } from '../policies/delivery/api-evidence.ts';
import type { StageName } from '../policies/delivery/change.ts';
import type { Verdict } from '../policies/verdict.ts';
import type { DeliveryReads } from './delivery-reads.ts';
import type { DecisionContext } from './webhook.ts';

/** Each kind of evidence is needed at most once. */
const ROUNDS = 9;

export interface ApiParts {
  readonly reads: DeliveryReads;
  readonly stabilizationMs: number;
  readonly clock: Pick<Clock, 'now'>;
  /** Left out where nobody can be asked: files know no RBAC, and only the identity policy counts. */
  readonly reviewAccess?: ReviewAccess | undefined;
}

export type ApiRules = (
  request: AdmissionRequest,
  settings: ApiSettings,
  evidence: ApiEvidence,
) => Verdict | ApiNeed;

/** @throws as the reader: the edge then answers by the failure policy. */
export async function decideByApiRules(
  rules: ApiRules,
  request: AdmissionRequest,
  parts: ApiParts,
  context: DecisionContext,
): Promise<Verdict> {
  const settings = { stabilizationMs: parts.stabilizationMs, nowMs: parts.clock.now() };
  const evidence: { -readonly [Key in keyof ApiEvidence]: ApiEvidence[Key] } = {};
  for (let round = 0; round < ROUNDS; round++) {
    const answer = rules(request, settings, evidence);
    if (!('need' in answer)) return answer;
    Object.assign(evidence, await look(answer, request, parts, context));
  }
  throw new GateError('GATE_INTERNAL', 'a decision asked for the same object again; report this as a defect');
}

async function look(
  need: ApiNeed,
  request: AdmissionRequest,
  parts: ApiParts,
  context: DecisionContext,
): Promise<ApiEvidence> {
  const { reads } = parts;
  switch (need.need) {
    case 'world':
      return { world: await reads.world(need.stage, context) };
    case 'pacto':
      return { pacto: { object: await reads.pacto(need, context) } };
    case 'operation':
      return { operation: { operation: await reads.operation(need, context) } };
    case 'approvals':
      return { approvals: await reads.approvals(need.namespace, need.uid, context) };
    case 'stages':
      return { stages: await reads.stages(need.namespace, context) };
    case 'pointers':
      return { pointers: await reads.pointers(need.stage, context) };
    case 'access':
      return { access: await mayApprove(need.stage, request, parts, context) };
    case 'namespace':
      return { namespace: { isTerminating: await reads.isTerminating(need.name, context) } };
  }
}

async function mayApprove(
  { namespace, name }: StageName,
  { userInfo }: AdmissionRequest,
  { reviewAccess }: ApiParts,
  { signal }: DecisionContext,
): Promise<boolean> {
  if (reviewAccess === undefined) return true;
  const { group, version, resource } = STAGE;
  const { allowed } = await reviewAccess(
    { user: userInfo, resource: { verb: 'approve', group, version, resource, namespace, name } },
    { signal },
  );
  return allowed;
}
