/** The identity policy as it is served: the newest that can be read (delivery.md §3.4). */
import type { KubeObject } from '../../cluster/objects.ts';
import { at } from '../identity/foreign.ts';
import { readIdentityPolicy } from './identity-policy-text.ts';
import { IDENTITY_POLICY } from './names.ts';
import type { LoadedPolicy } from './world.ts';

/**
 * Deny by default: nobody has a role. It is not `invalid`, which would stop every Stage that ever moves: one that asks for no
 * approval works without a policy, and one that asks for some waits for votes that nobody may give.
 */
export const NO_POLICY: LoadedPolicy = { policy: undefined, sha256: '', invalid: undefined };

/**
 * One that cannot be read leaves the last good one for what goes back, and `invalid` says why nothing goes forward by it.
 * One that is gone is no policy: whoever deletes it takes every role away, at once. Never throws.
 *
 * @param configMap of now; undefined where there is none
 * @param before what was served until now
 * @param sha256 hex digest of a text
 */
export function loadPolicy(
  configMap: KubeObject | undefined,
  before: LoadedPolicy | undefined,
  sha256: (text: string) => string,
): LoadedPolicy {
  if (configMap === undefined) return NO_POLICY;
  const text = at(configMap, 'data', IDENTITY_POLICY.key);
  const last = { policy: before?.policy, sha256: before?.sha256 ?? '' };
  if (typeof text !== 'string') return { ...last, invalid: `it has no ${IDENTITY_POLICY.key}` };
  const read = readIdentityPolicy(text);
  return 'error' in read
    ? { ...last, invalid: read.error }
    : { policy: read.policy, sha256: sha256(text), invalid: undefined };
}
