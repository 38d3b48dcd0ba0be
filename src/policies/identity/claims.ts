/** What a token says about its bearer, as it arrives in `userInfo.extra` (node-identity.md §3.1). */
import type { UserInfo } from '../../cluster/objects.ts';
import { at, isRecord, typeName } from './foreign.ts';

// Literal keys: they hold a slash, and nothing but this spelling counts (NI29).
export const NODE_NAME_KEY = 'authentication.kubernetes.io/node-name';
export const NODE_UID_KEY = 'authentication.kubernetes.io/node-uid';
export const POD_NAME_KEY = 'authentication.kubernetes.io/pod-name';
export const POD_UID_KEY = 'authentication.kubernetes.io/pod-uid';

export type Claim =
  | { readonly state: 'absent' }
  /** Present, but not exactly one non-empty string: never to be trusted nor to be replaced by another proof. */
  | { readonly state: 'malformed'; readonly found: string }
  | { readonly state: 'value'; readonly value: string };

/** One claim. The precedent for "exactly one" is constrained impersonation (node-identity.md §3.2; NI02 to NI05). */
export function claimOf(user: UserInfo | undefined, key: string): Claim {
  const extra = at(user, 'extra');
  if (extra === undefined || extra === null) return { state: 'absent' };
  if (!isRecord(extra)) return { state: 'malformed', found: `extra is ${typeName(extra)}` };
  if (!Object.hasOwn(extra, key)) return { state: 'absent' };
  const values = extra[key];
  if (!Array.isArray(values)) return { state: 'malformed', found: typeName(values) };
  if (values.length !== 1) return { state: 'malformed', found: `${String(values.length)} values` };
  const value: unknown = values[0];
  if (typeof value !== 'string') return { state: 'malformed', found: typeName(value) };
  return value === '' ? { state: 'malformed', found: 'an empty value' } : { state: 'value', value };
}

/** Field path of a claim in a finding. */
export function claimPath(key: string): string {
  return `userInfo.extra[${key}]`;
}
