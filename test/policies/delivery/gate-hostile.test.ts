import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import type { KubeObject } from '../../../src/cluster/objects.ts';
import { evaluateGate } from '../../../src/policies/delivery/gate.ts';
import { loadPolicy } from '../../../src/policies/delivery/loaded-policy.ts';
import type { StageWindow } from '../../../src/policies/delivery/stage.ts';
import { MAX_WINDOWS } from '../../../src/policies/delivery/windows.ts';
import { worldOf } from '../../../src/policies/delivery/world-of.ts';
import type { GateWorld } from '../../../src/policies/delivery/world.ts';
import { CANDIDATE, MINUTE_MS, NOW_MS, said } from './inputs.ts';
import { aMove } from './moves.ts';
import {
  anApproval,
  anOperation,
  aPacto,
  aPerson,
  aStage,
  aWorld,
  isoOf,
  POLICY_TEXT,
  policyOf,
} from './objects.ts';

/** Of a decision that 20 ms are meant for: two cores are shared with whatever else runs. */
const PATIENCE_MS = 500;

/** What the gate says, and how long it took at best; milliseconds. */
function timed(world: GateWorld): { readonly answer: string; readonly tookMs: number } {
  let tookMs = Number.POSITIVE_INFINITY;
  let answer = '';
  for (let round = 0; round < 3; round += 1) {
    const started = performance.now();
    answer = said(evaluateGate(world, aMove()).decision);
    tookMs = Math.min(tookMs, performance.now() - started);
  }
  return { answer, tookMs };
}

const operations = Array.from({ length: 1_000 }, (_, index) => anOperation({ name: `op-${String(index)}` }));
/** Votes of so many release managers, spread over so many of the Operations. */
function votes(count: number, over: number) {
  return Array.from({ length: count }, (_, index) => {
    const name = `op-${String(index % over)}`;
    return anApproval({
      name: `vote-${String(index)}`,
      operation: { name, uid: `uid-of-${name}` },
      approvedBy: aPerson(`user-${String(index)}`, 'oidc:release-managers'),
    });
  });
}
const groups = Array.from({ length: 64 }, () => ({ role: 'release-manager', count: 2 }));

describe('the gate answers in time', () => {
  it.each<[expected: string, of: string, world: Partial<GateWorld>]>([
    [
      'Allow ALLOWED',
      '64 groups of approvals that are met',
      { stage: aStage({ approvals: { required: groups } }), operations, approvals: votes(128, 1) },
    ],
    [
      'Wait APPROVAL_REQUIRED',
      '64 groups of approvals that lack one vote',
      { stage: aStage({ approvals: { required: groups } }), operations, approvals: votes(127, 1) },
    ],
    [
      'Wait APPROVAL_REQUIRED',
      '64 groups of approvals that are spread over a thousand Operations',
      { stage: aStage({ approvals: { required: groups } }), operations, approvals: votes(2_000, 1_000) },
    ],
    [
      'Wait APPROVAL_REQUIRED',
      'a count of approvals that nobody reaches',
      {
        stage: aStage({
          approvals: { required: [{ role: 'release-manager', count: Number.MAX_SAFE_INTEGER }] },
        }),
        operations,
        approvals: votes(2_000, 1),
      },
    ],
    [
      'Allow ALLOWED',
      'a Pacto with a hundred thousand findings',
      {
        pacto: aPacto({
          findings: Array.from({ length: 100_000 }, () => ({ code: 'TAG_NOT_DIGEST', severity: 'warning' })),
          observationWindows: Array.from({ length: 100_000 }, () => ({
            firstObservedNegativeAt: isoOf(NOW_MS),
          })),
        }),
      },
    ],
  ])('%s to %s', (expected, _of, world) => {
    const { answer, tookMs } = timed(aWorld(world));
    expect(answer).toBe(expected);
    expect(tookMs).toBeLessThan(PATIENCE_MS);
  });
});

describe('windows of any kind are read in time', () => {
  const HOUR_MS = 60 * MINUTE_MS;
  const [day, month] = [24 * HOUR_MS, 31 * 24 * HOUR_MS];

  it.each<[expected: string, of: string, schedule: string, timeZone: string, durationMs: number]>([
    ['Wait FROZEN', 'a day that never comes', '0 0 30 2 *', '', day],
    ['Wait FROZEN', 'days that never come', '0 0 31 2,4,6,9,11 *', 'Antarctica/Troll', day],
    ['Wait FROZEN', 'a day that comes every four years', '0 0 29 2 *', 'Pacific/Apia', day],
    ['Wait FROZEN', 'every minute, for a month', '* * * * *', 'America/St_Johns', month],
    ['Wait FROZEN', 'a time zone that is none', '* * * * *', 'Mars/Olympus', day],
    ['Wait FROZEN', 'a time zone of another shape', '* * * * *', '../../etc/localtime', day],
    ['Wait FROZEN', 'a long schedule', `${'1,'.repeat(60)}1 * * * *`, '', day],
    ['Wait FROZEN', 'a schedule that is longer than any', `${'1,'.repeat(100_000)}1 * * * *`, '', day],
    ['Wait FROZEN', 'a range that runs backwards', '59-0 * * * *', '', day],
    ['Wait FROZEN', 'a step of nothing', '*/0 * * * *', '', day],
    ['Wait FROZEN', 'a duration of ages', '* * * * *', '', Number.MAX_VALUE],
    ['Wait FROZEN', 'a duration that is none', '* * * * *', '', Number.NaN],
    ['Wait FROZEN', 'a duration that runs backwards', '* * * * *', '', -day],
  ])('%s: %s', (expected, _of, schedule, timeZone, durationMs) => {
    const windows = Array.from({ length: MAX_WINDOWS }, (_, index): StageWindow => ({
      kind: index % 2 === 0 ? 'Allow' : 'Deny',
      schedule,
      timeZone,
      durationMs,
    }));
    const { answer, tookMs } = timed(aWorld({ stage: aStage({ spec: { windows } }) }));
    expect(answer).toBe(expected);
    expect(tookMs).toBeLessThan(PATIENCE_MS);
  });
});

describe('times of any kind are no error', () => {
  const times = [
    '0001-01-01T00:00:00Z',
    '9999-12-31T23:59:59Z',
    '2026-02-30T00:00:00Z',
    '2026-01-02T25:61:61Z',
    '+275760-09-13T00:00:00.001Z',
    'yesterday',
    '',
    0,
    {},
  ];

  it.each(times)('%j, wherever one may stand', (time) => {
    const of = (kind: string, name: string, spec: object, status: object): KubeObject => ({
      apiVersion: 'delivery.pacto.trianalab.io/v1alpha1',
      kind,
      metadata: { namespace: 'payments', name, uid: `uid-of-${name}`, creationTimestamp: time as string },
      spec,
      status,
    });
    const spec = {
      pacto: { name: 'payments' },
      freeze: { until: time },
      windows: [{ kind: 'Deny', schedule: time, timeZone: time, duration: time }],
      approvals: { required: [{ role: 'release-manager', count: time }], validFor: time },
      upstreams: { from: [{ stage: 'payments-staging', minCompliantFor: time }] },
      gate: { maxVerdictAge: time },
    };
    const status = { current: { digest: CANDIDATE, since: time, convergedAt: time, compliantSince: time } };
    const world = worldOf({
      nowMs: NOW_MS,
      stage: of('Stage', 'payments-prod', spec, status),
      pacto: aPacto({
        lastReconciledAt: time,
        observationWindows: [{ firstObservedNegativeAt: time }],
        contractStatus: 'Unknown',
      }),
      upstreams: [{ stage: of('Stage', 'payments-staging', {}, status), pacto: aPacto() }],
      operations: [of('Operation', 'one', { stage: 'payments-prod', digest: CANDIDATE, deadline: time }, {})],
      approvals: [
        of(
          'Approval',
          'of-alice',
          {
            operation: { name: 'one', uid: 'uid-of-one' },
            digest: CANDIDATE,
            decision: 'Approve',
            role: 'release-manager',
            approvedBy: { username: 'alice', groups: ['oidc:release-managers'] },
            expiresAt: time,
          },
          {},
        ),
      ],
      policy: { policy: policyOf(POLICY_TEXT), sha256: 'f', invalid: undefined },
      stabilizationMs: 2 * MINUTE_MS,
    });
    for (const candidate of [aMove(), aMove({ operation: anOperation({ name: 'one' }) })]) {
      const { decision } = evaluateGate(world, candidate);
      expect(decision.decision).not.toBe('Allow');
      expect(decision.nextChangeMs ?? NOW_MS + 1).toBeGreaterThan(NOW_MS);
      expect(Number.isFinite(decision.nextChangeMs ?? 0)).toBe(true);
    }
  });
});

/** Any JSON, and often of the shape that is read. */
const anyPart = fc.oneof(
  fc.jsonValue({ maxDepth: 3 }),
  fc.dictionary(
    fc.constantFrom('current', 'gate', 'approvals', 'required', 'windows', 'upstreams', 'from', 'hold'),
    fc.oneof(fc.jsonValue({ maxDepth: 2 }), fc.array(fc.jsonValue({ maxDepth: 2 }), { maxLength: 3 })),
  ),
);

it('never throws, and says one line, whatever the objects are', () => {
  const anyObject: fc.Arbitrary<KubeObject> = fc.record({
    apiVersion: fc.constant('delivery.pacto.trianalab.io/v1alpha1'),
    kind: fc.constant('Stage'),
    metadata: fc.constant({ namespace: 'payments', name: 'payments-prod', uid: 'a', generation: 1 }),
    spec: anyPart,
    status: anyPart,
    data: anyPart,
  });
  const property = fc.property(fc.tuple(anyObject, anyObject, anyObject), ([first, second, third]) => {
    const world = worldOf({
      nowMs: NOW_MS,
      stage: first,
      pacto: second,
      upstreams: [{ stage: third, pacto: second }],
      operations: [second, third],
      approvals: [first, third],
      policy: loadPolicy(third, undefined, (text) => text),
      stabilizationMs: 2 * MINUTE_MS,
    });
    const { decision } = evaluateGate(world, aMove());
    return !/[\r\n]/.test(decision.message) && decision.cell !== '';
  });
  expect(fc.check(property, { seed: 20_260_102, numRuns: 2_000 }).counterexample).toBeNull();
});
