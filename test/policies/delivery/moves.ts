/** What the tests of the gate ask it. */
import { evaluateGate, type Candidate } from '../../../src/policies/delivery/gate.ts';
import type { StageCurrent } from '../../../src/policies/delivery/stage.ts';
import type { GateWorld } from '../../../src/policies/delivery/world.ts';
import { CANDIDATE, MINUTE_MS, said } from './inputs.ts';
import { aCurrent, aPacto, aStage, aWorld, type StageParts } from './objects.ts';

export function aMove(over: Partial<Candidate> = {}): Candidate {
  return {
    digest: CANDIDATE,
    change: 'Move',
    isPinned: true,
    identityChanged: false,
    ratchet: 'unknown',
    ...over,
  };
}

export const FROM_STAGING = {
  stage: 'payments-staging',
  namespace: undefined,
  minCompliantForMs: 30 * MINUTE_MS,
};

/** payments-prod after payments-staging, which stands on the candidate. */
export function afterStaging(
  staging: Partial<StageCurrent> | undefined = {},
  status: Readonly<Record<string, unknown>> = {},
  prod: StageParts = {},
): Partial<GateWorld> {
  const upstreams = { strategy: 'All', from: [FROM_STAGING] } as const;
  return {
    stage: aStage({ ...prod, spec: { upstreams, ...prod.spec } }),
    upstreams: [
      {
        stage: aStage({
          name: 'payments-staging',
          status: { current: staging && aCurrent({ digest: CANDIDATE, ...staging }) },
        }),
        pacto: aPacto(status),
      },
    ],
  };
}

export function answer(world: Partial<GateWorld>, candidate: Partial<Candidate> = {}): string {
  return said(evaluateGate(aWorld(world), aMove(candidate)).decision);
}

export const RED = aPacto({
  contractStatus: 'NonCompliant',
  findings: [{ code: 'WORKLOAD_MISMATCH', severity: 'error' }],
});
export const ONE_APPROVAL = { required: [{ role: 'release-manager', count: 1 }] };
