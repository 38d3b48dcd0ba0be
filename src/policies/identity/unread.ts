import type { AdmissionRequest } from '../../cluster/objects.ts';
import { allow, deny, type Verdict } from '../verdict.ts';
import { agentOf, type IdentitySettings } from './settings.ts';

/**
 * The answer where the objects of a review are too large or too deep to be read. An agent can send such ones, so its
 * request is denied whatever the failure policy; no Lease or observation needs them. Of everybody else nothing is read.
 * @param cause what was wrong with the review, without a full stop at its end.
 */
export function decideUnreadNodeIdentity(
  request: AdmissionRequest,
  settings: IdentitySettings,
  cause: string,
): Verdict {
  if (agentOf(request.userInfo, settings.agents) === undefined) return allow();
  const finding = {
    code: 'NODE_REVIEW_UNREADABLE',
    where: 'request',
    message: `the object of an agent could not be read, so nobody can tell whose it is: ${cause}`,
  };
  return deny([finding], { auditAnnotations: { proof: 'none' } });
}
