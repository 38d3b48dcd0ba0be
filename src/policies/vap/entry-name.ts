/** How the webhook entry of a policy is called, and where it is answered (design decision 16). */

/** `{policy}` is the name of the policy. */
export const POLICIES_PATH = '/validate/policies/{policy}';

/** Labels that the name of an entry needs at least. */
const LEAST_LABELS = 3;
const SUFFIX = '.policies.gate.pacto.trianalab.io';

export function policyEntryName(policy: string): string {
  return policy.split('.').length >= LEAST_LABELS ? policy : `${policy}${SUFFIX}`;
}

export function policyPath(policy: string): string {
  return POLICIES_PATH.replace('{policy}', encodeURIComponent(policy));
}
