import { describe, expect, it } from 'vitest';

import type { KubeObject } from '../../../src/cluster/objects.ts';
import { evaluateGate } from '../../../src/policies/delivery/gate.ts';
import { NO_POLICY } from '../../../src/policies/delivery/loaded-policy.ts';
import { worldOf, type FoundObjects } from '../../../src/policies/delivery/world-of.ts';
import { CANDIDATE, CURRENT, MINUTE_MS, NOW_MS, said } from './inputs.ts';
import { aMove } from './moves.ts';
import { aPacto, isoOf } from './objects.ts';

type Parts = Readonly<Record<string, unknown>>;

function anObject(kind: string, name: string, parts: Parts = {}, metadata: Parts = {}): KubeObject {
  return {
    apiVersion: 'delivery.pacto.trianalab.io/v1alpha1',
    kind,
    metadata: { namespace: 'payments', name, uid: `uid-of-${name}`, ...metadata },
    ...parts,
  };
}

/** Of payments-prod, asked for so many minutes ago. */
function operation(name: string, parts: Parts = {}, minutes = 1, metadata: Parts = {}): KubeObject {
  return anObject(
    'Operation',
    name,
    { spec: { stage: 'payments-prod', type: 'Promote', digest: CANDIDATE }, ...parts },
    { creationTimestamp: isoOf(NOW_MS - minutes * MINUTE_MS), ...metadata },
  );
}

function approval(name: string, of: string, spec: Parts = {}, metadata: Parts = {}): KubeObject {
  const reference = { name: of, uid: `uid-of-${of}` };
  return anObject(
    'Approval',
    name,
    { spec: { operation: reference, digest: CANDIDATE, decision: 'Approve', ...spec } },
    metadata,
  );
}

const STAGE = anObject('Stage', 'payments-prod', {
  spec: {
    pacto: { name: 'payments' },
    upstreams: { from: [{ stage: 'payments-staging' }, { stage: 'payments-qa' }] },
  },
  status: {
    current: { digest: CURRENT, since: isoOf(NOW_MS - 9 * MINUTE_MS) },
    activeOperation: { name: 'active', uid: 'uid-of-active' },
  },
});
const STAGING = anObject('Stage', 'payments-staging', {
  status: { current: { digest: CANDIDATE, convergedAt: isoOf(NOW_MS - 9 * MINUTE_MS) } },
});

function world(over: Partial<FoundObjects> = {}) {
  return worldOf({
    nowMs: NOW_MS,
    stage: STAGE,
    pacto: aPacto(),
    upstreams: [],
    operations: [],
    approvals: [],
    policy: NO_POLICY,
    stabilizationMs: 2 * MINUTE_MS,
    ...over,
  });
}

function operationsOf(...operations: readonly KubeObject[]): readonly string[] {
  return world({ operations }).operations.map(({ name }) => name);
}

describe('the Operations of a world', () => {
  it.each<[kept: boolean, what: string, operation: KubeObject]>([
    [true, 'says nothing of its phase', operation('one')],
    [true, 'is Moving', operation('one', { status: { phase: 'Moving' } })],
    [true, 'has a phase that nobody knows', operation('one', { status: { phase: 'Dancing' } })],
    [false, 'Succeeded', operation('one', { status: { phase: 'Succeeded' } })],
    [false, 'was Cancelled', operation('one', { status: { phase: 'Cancelled' } })],
    [false, 'is of another Stage', operation('one', { spec: { stage: 'payments-qa' } })],
    [false, 'names no Stage', operation('one', { spec: {} })],
    [false, 'has no spec', operation('one', { spec: undefined })],
    [
      false,
      'is of a Stage of that name in another namespace',
      operation('one', {}, 1, { namespace: 'other' }),
    ],
  ])('have (%s) one that %s', (kept, _what, one) => {
    expect(operationsOf(one)).toEqual(kept ? ['one'] : []);
  });

  it('are ordered by age, and of the same second by name', () => {
    expect(operationsOf(operation('c', {}, 1), operation('b', {}, 1), operation('a', {}, 2))).toEqual([
      'a',
      'b',
      'c',
    ]);
  });

  it('have, of a flood, what is under way, what has votes, and what is newest', () => {
    const flood = Array.from({ length: 3_000 }, (_, index) => operation(`flood-${String(index)}`, {}, 10));
    const kept = world({
      operations: [
        operation('active', {}, 99),
        operation('moving', { status: { phase: 'Moving' } }, 98),
        operation('voted', {}, 97),
        ...flood,
        operation('newest', {}, 1),
      ],
      approvals: [approval('of-alice', 'voted')],
    });
    const names = kept.operations.map(({ name }) => name);
    expect(names).toHaveLength(1_000);
    expect([...names.slice(0, 3), names.at(-1)]).toEqual(['active', 'moving', 'voted', 'newest']);
  });
});

describe('the Approvals of a world', () => {
  it.each<[kept: boolean, what: string, approval: KubeObject]>([
    [true, 'names an Operation by name and uid', approval('of-alice', 'one')],
    [
      false,
      'names the uid of one that was there before',
      approval('of-alice', 'one', { operation: { name: 'one', uid: 'uid-of-former' } }),
    ],
    [
      false,
      'names another by its uid',
      approval('of-alice', 'one', { operation: { name: 'two', uid: 'uid-of-one' } }),
    ],
    [false, 'names no uid', approval('of-alice', 'one', { operation: { name: 'one' } })],
    [false, 'names none', approval('of-alice', 'one', { operation: undefined })],
    [false, 'is of an Operation that is over', approval('of-alice', 'over')],
    [false, 'is of another namespace', approval('of-alice', 'one', {}, { namespace: 'other' })],
  ])('have (%s) one that %s', (kept, _what, one) => {
    const operations = [operation('one'), operation('over', { status: { phase: 'Failed' } })];
    expect(world({ operations, approvals: [one] }).approvals.map(({ name }) => name)).toEqual(
      kept ? ['of-alice'] : [],
    );
  });

  it('have none of an Operation without a uid, whatever they name', () => {
    const operations = [operation('one', {}, 1, { uid: undefined })];
    const approvals = [approval('of-alice', 'one', { operation: { name: 'one', uid: '' } })];
    expect(world({ operations, approvals }).approvals).toEqual([]);
  });

  it('have, of a flood, each Reject and each break-glass', () => {
    const flood = Array.from({ length: 3_000 }, (_, index) => approval(`a-${String(index)}`, 'one'));
    const approvals = [
      ...flood,
      approval('z-reject', 'one', { decision: 'Reject' }),
      approval('z-break', 'one', { decision: 'BreakGlass' }),
    ];
    const kept = world({ operations: [operation('one')], approvals }).approvals;
    expect(kept).toHaveLength(2_000);
    expect(kept.slice(0, 2).map(({ name }) => name)).toEqual(['z-break', 'z-reject']);
  });
});

it('has the Stage, its upstreams in their order, and the rest as it was found', () => {
  const pacto = aPacto();
  const upstreams = [
    { stage: STAGING, pacto },
    { stage: undefined, pacto: undefined },
  ];
  expect(world({ pacto, upstreams })).toMatchObject({
    nowMs: NOW_MS,
    stage: { namespace: 'payments', name: 'payments-prod', status: { current: { digest: CURRENT } } },
    pacto,
    upstreams: [
      { stage: { name: 'payments-staging', status: { current: { digest: CANDIDATE } } }, pacto },
      { stage: undefined, pacto: undefined },
    ],
    policy: NO_POLICY,
    stabilizationMs: 2 * MINUTE_MS,
  });
});

it('is enough for a decision: what staging proves is allowed, and what qa does not is not', () => {
  const of = (from: readonly Parts[]) => {
    const stage = { ...STAGE, spec: { pacto: { name: 'payments' }, upstreams: { from } } };
    return said(
      evaluateGate(world({ stage, upstreams: [{ stage: STAGING, pacto: aPacto() }] }), aMove()).decision,
    );
  };
  expect(of([{ stage: 'payments-staging' }])).toBe('Allow ALLOWED');
  expect(of([{ stage: 'payments-staging' }, { stage: 'payments-qa' }])).toBe('Deny NO_EVIDENCE');
});

it.each([undefined, null, 'text', 7, [], [null, 1], { operation: 7 }])('never throws for %j', (part) => {
  const spec = { stage: 'payments-prod', digest: part, approvals: part, gate: part, upstreams: part };
  const of = (kind: string) => anObject(kind, 'payments-prod', { spec, status: part });
  const found = world({
    stage: of('Stage'),
    pacto: of('Pacto'),
    upstreams: [{ stage: of('Stage'), pacto: anObject('Pacto', 'x', { status: part }) }],
    operations: [of('Operation'), anObject('Operation', 'x', { spec: part })],
    approvals: [of('Approval'), anObject('Approval', 'x', { spec: part })],
  });
  expect(evaluateGate(found, aMove()).decision.decision).toMatch(/^(?:Allow|Wait|Deny)$/);
});
