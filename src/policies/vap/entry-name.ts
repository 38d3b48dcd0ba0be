/** How the webhook entry of a policy is called, and where it is answered (design decision 16). */

/** API group of the kinds that are ours (design decision 27). */
export const OWN_GROUP = 'gate.pacto.trianalab.io';

/** `{policy}` is the name of the policy. */
export const POLICIES_PATH = '/validate/policies/{policy}';

/** The entry that checks whoever writes policies of our own group (design decision 17). */
export const WRITERS_ENTRY = `policy-writers.${OWN_GROUP}`;
export const WRITERS_PATH = '/validate/policy-writers';

/**
 * Of the native policy and binding, the path and the ConfigMap by which the installer proves what enforces policies:
 * no policy and no binding of anybody else may be called so, or the proof would be about that.
 */
export const CANARY_NAME = 'pacto-gate-canary';

/** Labels that the name of an entry needs at least. */
const LEAST_LABELS = 3;
/** Names below it are those of our own entries. */
const OWN = `.${OWN_GROUP}`;
const SUFFIX = `.policies${OWN}`;

/** No two policies have the same entry, and none has one that is called like an entry of ours. */
export function policyEntryName(policy: string): string {
  return policy.split('.').length >= LEAST_LABELS && !policy.endsWith(OWN) ? policy : `${policy}${SUFFIX}`;
}

export function policyPath(policy: string): string {
  return POLICIES_PATH.replace('{policy}', encodeURIComponent(policy));
}
