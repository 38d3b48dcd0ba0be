import { describe, expect, it } from 'vitest';

import { decide } from '../../../src/policies/delivery/decide.ts';
import type {
  Currency,
  DecisionInput,
  UpstreamEvidence,
  VerdictClass,
} from '../../../src/policies/delivery/decision.ts';
import { APPROVALS, tablesSay } from './decide-oracle.ts';
import {
  anInput,
  anUpstream,
  CANDIDATE,
  CURRENT,
  MINUTE_MS,
  NOW_MS,
  product,
  said,
  someApprovals,
  someEvidence,
} from './inputs.ts';

const CLASSES: readonly VerdictClass[] = [
  'Compliant',
  'Stabilizing',
  'Unsupported',
  'Unknown',
  'NonCompliant',
  'NotEvaluated',
];
const CURRENCIES: readonly Currency[] = ['Fresh', 'Stale', 'WrongSubject', 'Missing'];
const TARGETS = ['AllowCures', 'Block', 'Ignore'] as const;
const RATCHETS = ['better', 'equal', 'worse', 'unknown'] as const;
const ON_UNKNOWN = ['Wait', 'Deny', 'Allow'] as const;
const DEADLINES = [undefined, NOW_MS + MINUTE_MS, NOW_MS] as const;
const READINESS = ['NotRequired', 'Satisfied', 'Unsatisfied'] as const;

const SOAKS = {
  none: { soakMs: 0, compliantSinceMs: undefined },
  met: { soakMs: 30 * MINUTE_MS, compliantSinceMs: NOW_MS - 30 * MINUTE_MS },
  running: { soakMs: 30 * MINUTE_MS, compliantSinceMs: NOW_MS - 29 * MINUTE_MS },
  'of nobody knows when': { soakMs: 30 * MINUTE_MS, compliantSinceMs: undefined },
} as const;

const UPSTREAMS: readonly UpstreamEvidence[] = product(CLASSES, CURRENCIES, Object.values(SOAKS), [
  false,
  true,
]).map(([verdict, currency, { soakMs, compliantSinceMs }, isMoving]) =>
  anUpstream({ class: verdict, currency, compliantSinceMs }, { soakMs, isMoving }),
);

/** All combinations of Table 2 and what stands around it. */
const OWN_SIDES: readonly Partial<DecisionInput>[] = product(
  CLASSES,
  CURRENCIES,
  TARGETS,
  RATCHETS,
  [30_000, 120_000],
  [CANDIDATE, CURRENT],
).map(([verdict, currency, target, ratchet, movedMs, digest]) => ({
  own: someEvidence({ class: verdict, currency }),
  target,
  ratchet,
  movedAtMs: NOW_MS - movedMs,
  digest,
}));

/** Those that are answered otherwise than the text says, with all that they depended on. */
function differences(inputs: readonly DecisionInput[]): readonly unknown[] {
  return inputs.flatMap((input) => {
    const [found, expected] = [said(decide(input)), tablesSay(input)];
    return found === expected ? [] : [{ found, expected, input }];
  });
}

describe('the tables', () => {
  it('answer as the text says for each verdict of an upstream', () => {
    const inputs = product(UPSTREAMS, ON_UNKNOWN, DEADLINES, TARGETS).map(
      ([upstream, onUnknown, deadlineMs, target]) =>
        anInput({ upstreams: { strategy: 'All', from: [upstream] }, onUnknown, deadlineMs, target }),
    );
    expect(inputs).toHaveLength(6 * 4 * 4 * 2 * 3 * 3 * 3);
    expect(differences(inputs).slice(0, 1)).toEqual([]);
  });

  it('answer as the text says for each pair of upstreams, all of them and any', () => {
    const still = UPSTREAMS.filter(({ isMoving }) => !isMoving);
    const inputs = product(still, still, ['All', 'Any'] as const).map(([first, second, strategy]) =>
      anInput({ upstreams: { strategy, from: [first, second] }, onUnknown: 'Allow' }),
    );
    expect(inputs).toHaveLength(96 * 96 * 2);
    expect(differences(inputs).slice(0, 1)).toEqual([]);
  });

  const before: readonly DecisionInput['upstreams'][] = [
    { strategy: 'All', from: [] },
    { strategy: 'All', from: [anUpstream()] },
    { strategy: 'All', from: [anUpstream({ class: 'Unsupported' })] },
    { strategy: 'All', from: [anUpstream({ class: 'Unsupported' }), anUpstream()] },
    { strategy: 'Any', from: [anUpstream({ class: 'NonCompliant' }), anUpstream()] },
    { strategy: 'All', from: [anUpstream({ class: 'NonCompliant' }), anUpstream()] },
  ];

  it.each(DEADLINES)(
    'answer as the text says for each state of the Stage, its approvals and readiness, deadline %s',
    (deadlineMs) => {
      const inputs = product(OWN_SIDES, before, Object.values(APPROVALS), READINESS).map(
        ([own, upstreams, given, readiness]) =>
          anInput({
            ...own,
            upstreams,
            approvals: someApprovals(given),
            readiness,
            deadlineMs,
            onUnknown: 'Allow',
          }),
      );
      expect(inputs).toHaveLength(6 * 4 * 3 * 4 * 2 * 2 * 6 * 8 * 3);
      expect(differences(inputs).slice(0, 1)).toEqual([]);
    },
  );
});

describe('step 0', () => {
  const worst: Partial<DecisionInput> = {
    upstreams: { strategy: 'All', from: [anUpstream({ class: 'NonCompliant' })] },
    own: someEvidence({ class: 'NonCompliant' }),
    frozen: { untilMs: undefined, reason: 'audit' },
    isHeld: true,
    busyWith: 'other',
    approvals: someApprovals({ required: 1, missing: ['x'], isRejected: true }),
    ratchet: 'worse',
    readiness: 'Unsatisfied',
  };
  const unpinned = { isPinned: false, identityChanged: true, isPolicyInvalid: true } as const;

  it.each<[answer: string, of: string, input: Partial<DecisionInput>, cell: string]>([
    ['Allow SAME', 'no change, whatever else is', { change: 'Same', ...unpinned }, 'S0 Same'],
    ['Allow ROLLBACK', 'a way back, whatever else is', { change: 'Rollback', ...unpinned }, 'S0 Rollback'],
    ['Deny NOT_PINNED', 'what floats, before identity', { ...unpinned }, 'S0 NotPinned'],
    [
      'Deny NOT_PINNED',
      'what floats, in spite of break-glass',
      { ...unpinned, hasBreakGlass: true },
      'S0 NotPinned',
    ],
    ['Deny NOT_PINNED', 'what floats, in mode Off', { ...unpinned, mode: 'Off' }, 'S0 NotPinned'],
    [
      'Deny POINTER_IDENTITY',
      'another identity, in spite of break-glass and mode Off',
      { identityChanged: true, hasBreakGlass: true, mode: 'Off' },
      'S0 PointerIdentity',
    ],
    [
      'Allow GATE_OFF',
      'a gate that is off, with a broken policy',
      { mode: 'Off', isPolicyInvalid: true },
      'S0 Off',
    ],
    [
      'Deny POLICY_INVALID',
      'a broken policy, in spite of break-glass',
      { isPolicyInvalid: true, hasBreakGlass: true },
      'S0 PolicyInvalid',
    ],
    [
      'Allow OVERRIDE',
      'break-glass, in a freeze and on a red verdict',
      { hasBreakGlass: true },
      'S0 BreakGlass',
    ],
    ['Wait FROZEN', 'a freeze, before what is held', {}, 'S0 Frozen'],
    ['Deny HELD', 'what is held, before who is busy', { frozen: undefined }, 'S0 Held'],
    ['Wait BUSY', 'another Operation, before the tables', { frozen: undefined, isHeld: false }, 'S0 Busy'],
  ])('answers %s to %s', (answer, _of, input, cell) => {
    const decision = decide(anInput({ ...worst, ...input }));
    expect(said(decision)).toBe(answer);
    expect(decision.cell).toBe(cell);
  });

  it('says when a freeze ends', () => {
    const untilMs = NOW_MS + MINUTE_MS;
    const frozen = { untilMs, reason: 'audit\nof June' };
    const decision = decide(anInput({ frozen }));
    expect(decision.nextChangeMs).toBe(untilMs);
    expect(decision.message).toBe(String.raw`the Stage is frozen: audit\u000aof June`);
  });

  it('says when break-glass ends', () => {
    const breakGlassUntilMs = NOW_MS + MINUTE_MS;
    expect(decide(anInput({ hasBreakGlass: true, breakGlassUntilMs })).nextChangeMs).toBe(breakGlassUntilMs);
  });
});

describe('mode Warn', () => {
  it.each<[answer: string, input: Partial<DecisionInput>]>([
    ['Deny NOT_PINNED', { isPinned: false }],
    ['Deny POLICY_INVALID', { isPolicyInvalid: true }],
    ['Wait FROZEN', { frozen: { untilMs: undefined, reason: '' } }],
    ['Deny HELD', { isHeld: true }],
    ['Wait BUSY', { busyWith: 'other' }],
    ['Deny NONCOMPLIANT', { upstreams: { strategy: 'All', from: [anUpstream({ class: 'NonCompliant' })] } }],
    ['Wait APPROVAL_REQUIRED', { approvals: someApprovals({ required: 1, missing: ['x'] }) }],
  ])('allows what is %s, and says what it would be', (answer, input) => {
    const decision = decide(anInput({ mode: 'Warn', ...input }));
    const enforced = decide(anInput(input));
    expect(said(decision)).toBe('Allow ALLOWED');
    expect(`${decision.wouldBe?.decision ?? ''} ${decision.wouldBe?.reasonCode ?? ''}`).toBe(answer);
    expect(decision.wouldBe?.message).toBe(enforced.message);
    expect(decision.warnings.join()).toContain(enforced.message);
    expect([decision.cell, decision.nextChangeMs]).toEqual([enforced.cell, enforced.nextChangeMs]);
  });

  it.each([true, false])('denies another identity of the pointer all the same, pinned or not', (isPinned) => {
    const decision = decide(anInput({ mode: 'Warn', identityChanged: true, isPinned }));
    expect([said(decision), decision.wouldBe]).toEqual(['Deny POINTER_IDENTITY', undefined]);
  });

  it('says nothing of what is allowed anyway', () => {
    expect(decide(anInput({ mode: 'Warn' }))).toEqual(decide(anInput()));
  });
});

describe('a decision', () => {
  const staging = (evidence: Parameters<typeof anUpstream>[0], over: Parameters<typeof anUpstream>[1] = {}) =>
    anInput({ upstreams: { strategy: 'All', from: [anUpstream(evidence, over)] } });

  it.each<[cell: string, message: string, input: DecisionInput]>([
    [
      'T1 NonCompliant/Fresh',
      'payments/payments-staging is NonCompliant: DEPENDENCY_UNREACHABLE, INTERFACE_PROTOCOL_MISMATCH on contract 2.3.0',
      staging({
        class: 'NonCompliant',
        findings: ['DEPENDENCY_UNREACHABLE', 'INTERFACE_PROTOCOL_MISMATCH'],
      }),
    ],
    [
      'T1 NonCompliant/Fresh',
      'payments/payments-staging is NonCompliant: A, B, C, D, E and others',
      staging({
        class: 'NonCompliant',
        findings: ['A', 'B', 'C', 'D', 'E', 'F'],
        contractVersion: undefined,
      }),
    ],
    [
      'T1 Compliant/Soaking',
      'payments/payments-staging is Compliant, but not yet for as long as the Stage asks',
      staging({}, { soakMs: 61 * MINUTE_MS }),
    ],
    [
      'T1 Compliant/Absent',
      'payments/payments-staging has no verdict about this digest',
      staging({ currency: 'WrongSubject' }),
    ],
    [
      'T1 NotEvaluated/Fresh',
      'the contract of payments/payments-staging is not evaluated (none on contract 2.3.0)',
      staging({ class: 'NotEvaluated', status: '' }),
    ],
    [
      'T2 NonCompliant/Fresh/Block',
      'the Stage is NonCompliant: WORKLOAD_MISMATCH on contract 2.3.0, and nothing proves that this digest is the cure',
      anInput({
        target: 'Block',
        own: someEvidence({ class: 'NonCompliant', findings: ['WORKLOAD_MISMATCH'] }),
      }),
    ],
    [
      'T3 Missing',
      'approvals are missing: release-manager, oncall',
      anInput({ approvals: someApprovals({ required: 2, missing: ['release-manager', 'oncall'] }) }),
    ],
    [
      'T3 Met',
      'payments/payments-staging is Compliant with this digest',
      anInput({ approvals: someApprovals({ required: 1, have: 1 }) }),
    ],
    ['T3 None', 'no stage comes before this one', anInput({ upstreams: { strategy: 'All', from: [] } })],
  ])('of cell %s says: %s', (cell, message, input) => {
    const decision = decide(input);
    expect([decision.cell, decision.message]).toEqual([cell, message]);
  });

  it.each<[what: string, at: number | undefined, input: DecisionInput]>([
    ['the soak ends', NOW_MS + MINUTE_MS, staging({}, { soakMs: 61 * MINUTE_MS })],
    ['an absence counts', NOW_MS + MINUTE_MS, staging({ class: 'Stabilizing' })],
    ['a verdict is too old', NOW_MS + 14 * MINUTE_MS, staging({ class: 'NonCompliant' })],
    ['the own verdict is too old', NOW_MS + 5, anInput({ own: someEvidence({ expiresAtMs: NOW_MS + 5 }) })],
    ['an approval runs out', NOW_MS + 7, anInput({ approvals: someApprovals({ expiresAtMs: NOW_MS + 7 }) })],
    ['a window closes', NOW_MS + 9, anInput({ closesAtMs: NOW_MS + 9 })],
    [
      'a window closes what is not allowed anyway',
      NOW_MS + 9,
      { ...staging({ class: 'NonCompliant' }), closesAtMs: NOW_MS + 9 },
    ],
    [
      'the deadline is over',
      NOW_MS + 11,
      { ...staging({ currency: 'Stale', expiresAtMs: undefined }), deadlineMs: NOW_MS + 11 },
    ],
    ['an object changes only', undefined, staging({ currency: 'Stale', expiresAtMs: undefined })],
  ])('may be another once %s', (_what, at, input) => {
    expect(decide(input).nextChangeMs).toBe(at);
  });

  it('says with a warning that a stale verdict of the Stage itself was passed over', () => {
    const decision = decide(anInput({ own: someEvidence({ currency: 'Stale' }) }));
    expect([said(decision), decision.warnings.length]).toEqual(['Allow ALLOWED', 1]);
  });

  it('says with a warning that approvals are kept although the verdict got worse', () => {
    const approvals = someApprovals({ required: 1, have: 1, isOutdated: true, onVerdictChange: 'Keep' });
    const decision = decide(anInput({ approvals }));
    expect([decision.cell, decision.warnings.length]).toEqual(['T3 Outdated/Keep', 1]);
  });

  it('says with a warning that an upstream proves nothing where onUnknown is Allow', () => {
    const decision = decide({ ...staging({ class: 'Unsupported' }), onUnknown: 'Allow' });
    expect([said(decision), decision.warnings.length]).toEqual(['Allow UNPROVEN', 1]);
  });

  it.each<[answer: string, what: string, movedMs: number]>([
    ['Wait STABILIZING', 'after the last move', MINUTE_MS + 1],
    [
      'Wait STABILIZING',
      'in the same second as the last move, since nobody knows which was first',
      MINUTE_MS,
    ],
    ['Allow ALLOWED', 'before the last move', MINUTE_MS - 1],
  ])('answers %s where something is missing since %s', (answer, _what, movedMs) => {
    const own = someEvidence({ class: 'Stabilizing' });
    expect(said(decide(anInput({ own, movedAtMs: NOW_MS - movedMs })))).toBe(answer);
  });

  it('denies a digest on a red Stage where nobody knows which one is red', () => {
    const own = someEvidence({ class: 'NonCompliant' });
    expect(said(decide(anInput({ own, ownDigest: undefined })))).toBe('Deny TARGET_NONCOMPLIANT');
  });
});
