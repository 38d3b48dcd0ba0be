/** What may become of Stages, Operations and Approvals (delivery.md §3.1 to §3.3, row 37 of §2.3). */
import type { AdmissionRequest } from '../../cluster/objects.ts';
import { at, sameJson } from '../identity/foreign.ts';
import type { Verdict } from '../verdict.ts';
import { decideApproval } from './api-approval.ts';
import type { ApiEvidence, ApiNeed, ApiSettings } from './api-evidence.ts';
import { decideOperation } from './api-operation.ts';
import { decideStage } from './api-stage.ts';
import { pass } from './delivery-answer.ts';

/** Who empties namespaces, and who collects what nobody owns any more: they must never be stopped (flux-facts.md FF-110). */
const COLLECTORS: ReadonlySet<string> = new Set([
  'system:serviceaccount:kube-system:namespace-controller',
  'system:serviceaccount:kube-system:generic-garbage-collector',
]);

/**
 * @returns the verdict where the review alone gives one: a status, a finalizer or a label, and what the namespace controller
 *   and the garbage collector delete.
 */
export function decideApiPlainly(request: AdmissionRequest): Verdict | undefined {
  const { operation, subResource = '', object, oldObject, userInfo } = request;
  const nobody = { stage: undefined };
  if (subResource !== '') return pass('SAME', 'Subresource', nobody);
  if (operation === 'DELETE' && COLLECTORS.has(userInfo.username ?? ''))
    return pass('DELETE', 'Collected', nobody);
  if (operation === 'UPDATE' && sameJson(at(object, 'spec') ?? null, at(oldObject, 'spec') ?? null))
    return pass('SAME', 'Same', nobody);
  return operation === 'CONNECT' ? pass('SAME', 'Connect', nobody) : undefined;
}

/** @returns a verdict, or what has to be seen for one. */
export function decideApi(
  request: AdmissionRequest,
  settings: ApiSettings,
  evidence: ApiEvidence,
): Verdict | ApiNeed {
  const plainly = decideApiPlainly(request);
  if (plainly !== undefined) return plainly;
  const { operation, namespace = '' } = request;
  if (operation === 'DELETE') {
    if (evidence.namespace === undefined) return { need: 'namespace', name: namespace };
    if (evidence.namespace.isTerminating) return pass('DELETE', 'Terminating', { stage: undefined });
  }
  switch (request.kind.kind) {
    case 'Stage':
      return decideStage(request, settings, evidence);
    case 'Operation':
      return decideOperation(request, evidence);
    case 'Approval':
      return decideApproval(request, settings, evidence);
    default:
      return pass('SAME', 'OtherKind', { stage: undefined });
  }
}
