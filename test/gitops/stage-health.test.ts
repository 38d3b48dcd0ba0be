/** How Flux and Argo CD read the gate of a Stage (delivery.md §4.1, §4.2), on all that a Stage may say. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';

import { REASON_CODES } from '../../src/policies/delivery/decision.ts';
import { healthOf, type Expressions, type Judged } from './flux-expressions.ts';
import { healthBy } from './lua-health.ts';

const [GATE] = parseAllDocuments(readFileSync('manifests/flux/stage-gate.yaml', 'utf8')).map(
  (document) => document.toJS() as { readonly spec: { readonly healthCheckExprs: readonly Expressions[] } },
);
const EXPRESSIONS = GATE?.spec.healthCheckExprs[0] ?? { apiVersion: '', kind: '', failed: '', current: '' };
const SCRIPT =
  (
    parse(readFileSync('manifests/argocd/stage-health.yaml', 'utf8')) as {
      readonly data: Readonly<Record<string, string>>;
    }
  ).data['resource.customizations.health.delivery.pacto.trianalab.io_Stage'] ?? '';

const OPEN = { Allow: 'True', Deny: 'False', Wait: 'Unknown' } as const;

function stageWith(status?: object): Judged {
  return { metadata: { generation: 2 }, ...(status !== undefined && { status: { ...status } }) };
}

function saying(decision: keyof typeof OPEN, reasonCode: string, generation = 2): Judged {
  return stageWith({
    observedGeneration: generation,
    gate: { decision, reasonCode, message: 'because' },
    conditions: [{ type: 'GateOpen', status: OPEN[decision], observedGeneration: generation }],
  });
}

const PENDING = stageWith({ conditions: [{ type: 'Ready', status: 'Unknown', reason: 'Pending' }] });

describe('Flux', () => {
  it.each<[string, Judged, string]>([
    ['open', saying('Allow', 'ALLOWED'), 'Current'],
    ['closed', saying('Deny', 'NONCOMPLIANT'), 'Failed'],
    ['waiting', saying('Wait', 'STABILIZING'), 'InProgress'],
    ['open of an older generation', saying('Allow', 'ALLOWED', 1), 'InProgress'],
    ['of a Stage that nobody looked at', PENDING, 'InProgress'],
    ['of a Stage with an empty status', stageWith({}), 'InProgress'],
    ['of a Stage without a status', stageWith(), 'error'],
    ['with conditions of others alone', stageWith({ observedGeneration: 2, conditions: [] }), 'InProgress'],
  ])('takes a gate that is %s', (_what, stage, health) => {
    expect(healthOf(EXPRESSIONS, stage)).toBe(health);
  });
});

describe('Argo CD', () => {
  it.each<[string, Judged, string, string]>([
    ['open', saying('Allow', 'ALLOWED'), 'Healthy', 'ALLOWED because'],
    ['closed', saying('Deny', 'NONCOMPLIANT'), 'Degraded', 'NONCOMPLIANT because'],
    ['waiting for people', saying('Wait', 'APPROVAL_REQUIRED'), 'Suspended', 'APPROVAL_REQUIRED because'],
    ['frozen', saying('Wait', 'FROZEN'), 'Suspended', 'FROZEN because'],
    ['open of an older generation', saying('Allow', 'ALLOWED', 1), 'Progressing', 'waiting for the gate'],
    ['of a Stage that nobody looked at', PENDING, 'Progressing', 'waiting for the gate'],
    ['of a Stage with an empty status', stageWith({}), 'Progressing', 'waiting for the gate'],
    ['of a Stage without a status', stageWith(), 'Progressing', 'waiting for the gate'],
  ])('takes a gate that is %s', async (_what, stage, status, message) => {
    expect(await healthBy(SCRIPT, stage)).toEqual({ status, message });
  });

  it('never takes a Wait for good or bad, whatever its code', async () => {
    for (const code of REASON_CODES) {
      const { status } = await healthBy(SCRIPT, saying('Wait', code));
      expect(['Progressing', 'Suspended']).toContain(status);
    }
  });
});
