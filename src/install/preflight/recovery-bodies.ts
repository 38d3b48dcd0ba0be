/** Bodies that several steps of recovery write. */
import { BINDING_BODY, EVICTION_BODY, SCALE_BODY, TOKEN_BODY } from './recovery-kinds.ts';
import type { StepDraft } from './recovery-step.ts';
import { NODE_NAME } from './recovery-users.ts';

/** A user-chosen image says nothing of recovery; this one is never pulled. */
const IMAGE = 'registry.invalid/pacto-gate:preflight';

type Labels = Readonly<Record<string, string>>;
type Body = Readonly<Record<string, unknown>>;

export function podSpec(account: string): Body {
  return { serviceAccountName: account, containers: [{ name: 'main', image: IMAGE }] };
}

export function workloadSpec(labels: Labels, account: string): Body {
  const template = { metadata: { labels }, spec: podSpec(account) };
  return { selector: { matchLabels: labels }, template };
}

/** Of a Pod that runs. */
export function runningPod(account: string): Body {
  return { spec: { ...podSpec(account), nodeName: NODE_NAME }, status: { phase: 'Running' } };
}

export function leaseFields(holderIdentity: string): Body {
  return { spec: { holderIdentity, leaseDurationSeconds: 15 } };
}

export const EMPTY_SLICE: Body = { addressType: 'IPv4', endpoints: [], ports: [] };

/** What makes a draft about an object one about its subresource. */
export const BIND: Partial<StepDraft> = {
  subResource: 'binding',
  bodyKind: BINDING_BODY,
  fields: { target: { apiVersion: 'v1', kind: 'Node', name: NODE_NAME } },
};
export const EVICT: Partial<StepDraft> = { subResource: 'eviction', bodyKind: EVICTION_BODY, fields: {} };
export const TOKEN: Partial<StepDraft> = {
  subResource: 'token',
  bodyKind: TOKEN_BODY,
  fields: { spec: { audiences: [], expirationSeconds: 3607 } },
};
export const SCALE: Partial<StepDraft> = {
  subResource: 'scale',
  bodyKind: SCALE_BODY,
  fields: { spec: { replicas: 2 } },
};
export const STATUS: Partial<StepDraft> = { subResource: 'status' };
