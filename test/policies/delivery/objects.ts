/** Objects as the gate reads them, for tests; the rest is as a Stage that is well has it. */
import type { KubeObject } from '../../../src/cluster/objects.ts';
import type { IdentityPolicy } from '../../../src/policies/delivery/identity-policy.ts';
import { readIdentityPolicy } from '../../../src/policies/delivery/identity-policy-text.ts';
import type { Approval, Operation, Person } from '../../../src/policies/delivery/operation.ts';
import type { Stage, StageCurrent, StageSpec, StageStatus } from '../../../src/policies/delivery/stage.ts';
import type { GateWorld } from '../../../src/policies/delivery/world.ts';
import { CANDIDATE, CURRENT, MINUTE_MS, NOW_MS } from './inputs.ts';

export function isoOf(ms: number): string {
  return new Date(ms).toISOString().replace('.000Z', 'Z');
}

/** Compliant, looked at a minute ago. */
export function aPacto(
  status: Readonly<Record<string, unknown>> = {},
  metadata: Readonly<Record<string, unknown>> = {},
): KubeObject {
  return {
    apiVersion: 'pacto.trianalab.io/v1alpha1',
    kind: 'Pacto',
    metadata: { name: 'payments', namespace: 'payments', generation: 3, resourceVersion: '41', ...metadata },
    spec: {},
    status: {
      contractStatus: 'Compliant',
      contractVersion: '2.3.0',
      observedGeneration: 3,
      lastReconciledAt: isoOf(NOW_MS - MINUTE_MS),
      ...status,
    },
  };
}

export function aCurrent(over: Partial<StageCurrent> = {}): StageCurrent {
  return {
    digest: CURRENT,
    tag: undefined,
    verifiedAtMs: undefined,
    templates: [],
    sinceMs: NOW_MS - 120 * MINUTE_MS,
    convergedAtMs: NOW_MS - 119 * MINUTE_MS,
    compliantSinceMs: NOW_MS - 118 * MINUTE_MS,
    ...over,
  };
}

export interface StageParts {
  readonly name?: string;
  readonly spec?: Partial<StageSpec>;
  readonly gate?: Partial<StageSpec['gate']>;
  readonly approvals?: Partial<StageSpec['approvals']>;
  readonly status?: Partial<StageStatus>;
}

/** `payments/payments-prod`, which stands on CURRENT and has no upstream. */
export function aStage({ name = 'payments-prod', spec, gate, approvals, status }: StageParts = {}): Stage {
  return {
    namespace: 'payments',
    name,
    uid: `uid-of-${name}`,
    generation: 1,
    resourceVersion: '12',
    spec: {
      pacto: { name: 'payments', namespace: undefined },
      pointers: [],
      consumers: [],
      upstreams: { strategy: 'All', from: [] },
      gate: {
        mode: 'Enforce',
        scope: 'Pointer',
        target: 'AllowCures',
        onUnknown: 'Wait',
        maxVerdictAgeMs: 15 * MINUTE_MS,
        requireReadiness: false,
        ...gate,
      },
      approvals: {
        required: [],
        separationOfDuties: 'Requester',
        validForMs: 24 * 60 * MINUTE_MS,
        onVerdictChange: 'Invalidate',
        ...approvals,
      },
      verification: { soakMs: 10 * MINUTE_MS, deadlineMs: 30 * MINUTE_MS },
      freeze: { untilMs: undefined, reason: '', allowCures: false },
      windows: [],
      historyLimit: 20,
      suspend: false,
      ...spec,
    },
    status: {
      observedGeneration: 1,
      current: aCurrent(),
      lastGood: [],
      holdDigests: [],
      activeOperation: undefined,
      ungated: undefined,
      ...status,
    },
  };
}

export function aPerson(username: string, ...groups: readonly string[]): Person {
  return { username, uid: '', groups };
}

export const ALICE = aPerson('alice', 'oidc:release-managers');
export const BOB = aPerson('bob', 'oidc:release-managers');
export const CAROL = aPerson('carol', 'oidc:incident-commanders');
export const DEPLOYER = aPerson('system:serviceaccount:ci:deployer', 'system:serviceaccounts');

/** A Promote to CANDIDATE, asked for by the deployer a minute ago. */
export function anOperation(over: Partial<Operation> = {}): Operation {
  const name = over.name ?? 'promote-1';
  return {
    namespace: 'payments',
    name,
    uid: `uid-of-${name}`,
    resourceVersion: '77',
    createdAtMs: NOW_MS - MINUTE_MS,
    stage: 'payments-prod',
    type: 'Promote',
    digest: CANDIDATE,
    expectedCurrent: CURRENT,
    requestedBy: DEPLOYER,
    deadlineMs: 30 * MINUTE_MS,
    cancel: false,
    phase: 'Pending',
    isTerminal: false,
    moves: [],
    ...over,
  };
}

/** Of Alice as release manager, half a minute ago, who saw a verdict that is Compliant. */
export function anApproval(over: Partial<Approval> = {}): Approval {
  const person = over.approvedBy ?? ALICE;
  return {
    namespace: 'payments',
    name: `of-${person.username}`,
    uid: `uid-of-${person.username}`,
    createdAtMs: NOW_MS - MINUTE_MS / 2,
    operation: { name: 'promote-1', uid: 'uid-of-promote-1' },
    digest: CANDIDATE,
    decision: 'Approve',
    role: 'release-manager',
    reason: '',
    ticket: '',
    expiresAtMs: undefined,
    approvedBy: person,
    seen: { verdict: 'Compliant', verdictResourceVersion: '41', gateDecision: 'Wait', policySha256: '' },
    ...over,
  };
}

/** Of Carol, with a ticket. */
export function aBreakGlass(over: Partial<Approval> = {}): Approval {
  return anApproval({
    approvedBy: CAROL,
    decision: 'BreakGlass',
    role: 'breakglass',
    reason: 'payments are down',
    ticket: 'INC-42',
    ...over,
  });
}

/** The example of delivery.md §3.4. */
export const POLICY_TEXT = `
version: 1
roles:
  release-manager: { subjects: [{ group: "oidc:release-managers" }] }
  ci:              { subjects: [{ serviceAccount: ci/deployer }], mayApprove: false }
  oncall:          { subjects: [{ group: "oidc:oncall" }] }
  stage-admin:     { subjects: [{ group: "oidc:platform" }] }
  breakglass:      { subjects: [{ group: "oidc:incident-commanders" }], ticketPattern: "^INC-[0-9]+$", maxDuration: 1h }
rules:
- match: { namespaces: ["*"], stages: ["*-prod"] }
  promote: [release-manager, ci]
  approve: [release-manager]
  rollback: [release-manager, oncall]
  breakGlass: [breakglass]
  admin: [stage-admin]
- match: { namespaces: ["*"], stages: ["*"] }
  promote: [ci, release-manager]
  approve: [release-manager]
  rollback: [ci, release-manager, oncall]
  breakGlass: []
  admin: [stage-admin]
crossNamespace: []
`;

/** @throws Error if it cannot be read, which is what the test is then about. */
export function policyOf(text: string): IdentityPolicy {
  const read = readIdentityPolicy(text);
  if ('error' in read) throw new Error(read.error);
  return read.policy;
}

export function aWorld(over: Partial<GateWorld> = {}): GateWorld {
  return {
    nowMs: NOW_MS,
    stage: aStage(),
    pacto: aPacto(),
    upstreams: [],
    operations: [],
    approvals: [],
    policy: { policy: policyOf(POLICY_TEXT), sha256: 'f'.repeat(64), invalid: undefined },
    stabilizationMs: 2 * MINUTE_MS,
    ...over,
  };
}
