import { describe, expect, it } from 'vitest';

import {
  breakGlassOf,
  countApprovals,
  isSamePerson,
  isTicket,
  type ApprovalQuestion,
} from '../../../src/policies/delivery/approvals.ts';
import type { Approvals } from '../../../src/policies/delivery/decision.ts';
import type { Approval, Operation } from '../../../src/policies/delivery/operation.ts';
import type { StageSpec } from '../../../src/policies/delivery/stage.ts';
import { CURRENT, MINUTE_MS, NOW_MS } from './inputs.ts';
import {
  ALICE,
  anApproval,
  anOperation,
  aBreakGlass,
  aPerson,
  aStage,
  aWorld,
  BOB,
  DEPLOYER,
  POLICY_TEXT,
  policyOf,
} from './objects.ts';

const HOUR_MS = 60 * MINUTE_MS;
const ONE = [{ role: 'release-manager', count: 1 }];

interface Case {
  readonly spec?: Partial<StageSpec['approvals']>;
  readonly operation?: Operation | undefined;
  readonly approvals: readonly Approval[];
  readonly policy?: ApprovalQuestion['policy'];
  readonly verdict?: string;
}

function asked({ spec, approvals, policy, verdict = 'Compliant', ...rest }: Case): ApprovalQuestion {
  return {
    nowMs: NOW_MS,
    stage: aStage({ approvals: { required: ONE, ...spec } }),
    operation: 'operation' in rest ? rest.operation : anOperation(),
    approvals,
    policy: policy ?? aWorld().policy,
    verdict,
  };
}

const MET: Partial<Approvals> = { have: 1, missing: [], isSelfApproved: false, hasExpired: false };
const LACKING: Partial<Approvals> = {
  have: 0,
  missing: ['release-manager'],
  isSelfApproved: false,
  hasExpired: false,
};
const EXPIRED: Partial<Approvals> = { ...LACKING, hasExpired: true };
const SELF: Partial<Approvals> = { ...LACKING, isSelfApproved: true };
const TWO = { required: [{ role: 'release-manager', count: 2 }] };
const NO_MANAGERS = {
  ...aWorld().policy,
  policy: policyOf(POLICY_TEXT.replace('"oidc:release-managers"', '"oidc:others"')),
};

describe('approvals', () => {
  it.each<[what: string, expected: Partial<Approvals>, of: Case]>([
    ['are met by one that is asked for', MET, { approvals: [anApproval()] }],
    ['are not met by none', LACKING, { approvals: [] }],
    ['are not met without an Operation', LACKING, { approvals: [anApproval()], operation: undefined }],
    [
      'ask for nothing',
      { required: 0, have: 0, missing: [] },
      { approvals: [anApproval()], spec: { required: [] } },
    ],
    ['do not count for another digest', LACKING, { approvals: [anApproval({ digest: CURRENT })] }],
    [
      'do not count for an Operation that came again under the name',
      LACKING,
      { approvals: [anApproval({ operation: { name: 'promote-1', uid: 'other' } })] },
    ],
    ['do not count in another namespace', LACKING, { approvals: [anApproval({ namespace: 'orders' })] }],
    [
      'do not count for an Operation without a uid',
      LACKING,
      {
        approvals: [anApproval({ operation: { name: 'promote-1', uid: '' } })],
        operation: anOperation({ uid: '' }),
      },
    ],
    [
      'do not count for a role that is not asked for',
      LACKING,
      { approvals: [anApproval({ role: 'oncall' })] },
    ],
    ['do not count with another decision', LACKING, { approvals: [anApproval({ decision: 'BreakGlass' })] }],
    [
      'do not count with a decision that nobody knows',
      LACKING,
      { approvals: [anApproval({ decision: 'Yes' as Approval['decision'] })] },
    ],
    ['do not count of nobody knows when', LACKING, { approvals: [anApproval({ createdAtMs: undefined })] }],
    ['do not count of the future', LACKING, { approvals: [anApproval({ createdAtMs: NOW_MS + MINUTE_MS })] }],
    ['ran out', EXPIRED, { approvals: [anApproval({ expiresAtMs: NOW_MS })] }],
    [
      'ran out by what the Stage asks, whatever they say themselves',
      EXPIRED,
      { approvals: [anApproval({ createdAtMs: NOW_MS - 24 * HOUR_MS, expiresAtMs: NOW_MS + HOUR_MS })] },
    ],
    ['were lost with the role', EXPIRED, { approvals: [anApproval()], policy: NO_MANAGERS }],
    [
      'are not met by an account that only a group names',
      EXPIRED,
      {
        approvals: [anApproval({ approvedBy: { ...DEPLOYER, groups: ['oidc:release-managers'] } })],
        operation: anOperation({ requestedBy: ALICE }),
      },
    ],
    [
      'are not met while the policy cannot be read',
      EXPIRED,
      { approvals: [anApproval()], policy: { ...aWorld().policy, invalid: 'broken' } },
    ],
    [
      'are not met without a policy',
      EXPIRED,
      { approvals: [anApproval()], policy: { policy: undefined, sha256: '', invalid: undefined } },
    ],
    [
      'are met by two people',
      { ...MET, have: 2 },
      { approvals: [anApproval(), anApproval({ approvedBy: BOB })], spec: TWO },
    ],
    [
      'are not met by one person twice',
      { have: 1, missing: ['release-manager'] },
      { approvals: [anApproval(), anApproval({ name: 'again' })], spec: TWO },
    ],
    [
      'are not met by one person under two names',
      { have: 1, missing: ['release-manager'] },
      {
        approvals: [
          anApproval({ approvedBy: { ...ALICE, uid: 'u' } }),
          anApproval({ approvedBy: { ...BOB, uid: 'u' } }),
        ],
        spec: TWO,
      },
    ],
    [
      'are not met by one vote for a role that is listed twice',
      { have: 1, missing: ['release-manager'] },
      { approvals: [anApproval()], spec: { required: [...ONE, ...ONE] } },
    ],
    [
      'name each role that lacks some',
      { have: 1, required: 3, missing: ['release-manager', 'oncall'] },
      { approvals: [anApproval()], spec: { required: [...TWO.required, { role: 'oncall', count: 1 }] } },
    ],
    [
      'count no vote of the requester',
      SELF,
      { approvals: [anApproval()], operation: anOperation({ requestedBy: ALICE }) },
    ],
    [
      'count no vote of the requester as author either',
      SELF,
      {
        approvals: [anApproval()],
        operation: anOperation({ requestedBy: ALICE }),
        spec: { separationOfDuties: 'RequesterAndAuthor' },
      },
    ],
    [
      'count no vote of the requester under another name',
      SELF,
      {
        approvals: [anApproval({ approvedBy: { ...ALICE, uid: 'u' } })],
        operation: anOperation({ requestedBy: { ...BOB, uid: 'u' } }),
      },
    ],
    [
      'are not called self-approved where the vote of the requester would not do either',
      LACKING,
      { approvals: [anApproval()], operation: anOperation({ requestedBy: ALICE }), spec: TWO },
    ],
    [
      'are not called expired where the vote that ran out would not do either',
      LACKING,
      { approvals: [anApproval({ expiresAtMs: NOW_MS })], spec: TWO },
    ],
    [
      'count a vote of the requester where duties are not separated',
      MET,
      {
        approvals: [anApproval()],
        operation: anOperation({ requestedBy: ALICE }),
        spec: { separationOfDuties: 'None' },
      },
    ],
    [
      'are met by another beside the requester',
      MET,
      {
        approvals: [anApproval(), anApproval({ approvedBy: BOB })],
        operation: anOperation({ requestedBy: ALICE }),
      },
    ],
    [
      'are rejected',
      { isRejected: true },
      { approvals: [anApproval(), anApproval({ approvedBy: BOB, decision: 'Reject' })] },
    ],
    [
      'are rejected although it ran out',
      { isRejected: true },
      { approvals: [anApproval({ decision: 'Reject', expiresAtMs: NOW_MS - 1, createdAtMs: undefined })] },
    ],
    [
      'are not rejected by who may not approve',
      { ...MET, isRejected: false },
      { approvals: [anApproval(), anApproval({ approvedBy: aPerson('mallory'), decision: 'Reject' })] },
    ],
    [
      'are not rejected by a role that may not approve',
      { ...MET, isRejected: false },
      { approvals: [anApproval(), anApproval({ approvedBy: BOB, decision: 'Reject', role: 'oncall' })] },
    ],
  ])('%s', (_what, expected, of) => {
    expect(countApprovals(asked(of))).toMatchObject(expected);
  });

  it.each<[isOutdated: boolean, seen: string, now: string]>([
    [false, 'Compliant', 'Compliant'],
    [false, 'Compliant', 'Warning'],
    [true, 'Compliant', 'Unknown'],
    [true, 'Compliant', 'NonCompliant'],
    [true, 'Unknown', 'Invalid'],
    [true, 'Invalid', 'NonCompliant'],
    [false, 'NonCompliant', 'Compliant'],
    [false, 'NonCompliant', 'NonCompliant'],
    [true, '', 'NonCompliant'],
    [false, '', ''],
    [true, 'Compliant', ''],
    [false, '', 'Compliant'],
  ])('are outdated: %s, where the oldest saw %j and it is %j now', (isOutdated, seen, verdict) => {
    const saw = (text: string) => ({
      verdict: text,
      verdictResourceVersion: '1',
      gateDecision: '',
      policySha256: '',
    });
    const older = anApproval({ approvedBy: BOB, createdAtMs: NOW_MS - HOUR_MS, seen: saw(seen) });
    const younger = anApproval({ seen: saw('NonCompliant') });
    const counted = countApprovals(asked({ approvals: [younger, older], spec: TWO, verdict }));
    expect(counted.isOutdated).toBe(isOutdated);
  });

  it('are outdated by no vote that does not count', () => {
    const seen = { verdict: 'Compliant', verdictResourceVersion: '1', gateDecision: '', policySha256: '' };
    const lost = anApproval({ approvedBy: aPerson('mallory'), createdAtMs: NOW_MS - HOUR_MS, seen });
    const counted = anApproval({ seen: { ...seen, verdict: 'Unknown' } });
    expect(countApprovals(asked({ approvals: [lost, counted], verdict: 'Unknown' })).isOutdated).toBe(false);
  });

  it('say when the first that counts runs out', () => {
    const approvals = [
      anApproval({ expiresAtMs: NOW_MS + HOUR_MS }),
      anApproval({ approvedBy: BOB, expiresAtMs: NOW_MS + MINUTE_MS, createdAtMs: NOW_MS }),
    ];
    expect(countApprovals(asked({ approvals, spec: TWO })).expiresAtMs).toBe(NOW_MS + MINUTE_MS);
    expect(countApprovals(asked({ approvals })).expiresAtMs).toBe(NOW_MS + HOUR_MS);
  });
});

describe('break-glass', () => {
  const shorter = {
    ...aWorld().policy,
    policy: policyOf(POLICY_TEXT.replace('maxDuration: 1h', 'maxDuration: 10m')),
  };

  it.each<[isValid: boolean, what: string, of: Case]>([
    [true, 'with reason and ticket', { approvals: [aBreakGlass()] }],
    [false, 'without a reason', { approvals: [aBreakGlass({ reason: ' ' })] }],
    [false, 'without a ticket', { approvals: [aBreakGlass({ ticket: '' })] }],
    [false, 'with another ticket', { approvals: [aBreakGlass({ ticket: 'INC-4x' })] }],
    [false, 'as an Approve', { approvals: [aBreakGlass({ decision: 'Approve' })] }],
    [false, 'for another digest', { approvals: [aBreakGlass({ digest: CURRENT })] }],
    [
      false,
      'for another Operation',
      { approvals: [aBreakGlass({ operation: { name: 'promote-1', uid: 'x' } })] },
    ],
    [false, 'without an Operation', { approvals: [aBreakGlass()], operation: undefined }],
    [false, 'without the role', { approvals: [aBreakGlass({ approvedBy: ALICE })] }],
    [false, 'by another role', { approvals: [aBreakGlass({ approvedBy: ALICE, role: 'release-manager' })] }],
    [
      false,
      'of an account, although a group has the role',
      { approvals: [aBreakGlass({ approvedBy: { ...DEPLOYER, groups: ['oidc:incident-commanders'] } })] },
    ],
    [false, 'that ran out by itself', { approvals: [aBreakGlass({ expiresAtMs: NOW_MS })] }],
    [
      false,
      'of an hour ago, whatever it says itself',
      { approvals: [aBreakGlass({ createdAtMs: NOW_MS - HOUR_MS, expiresAtMs: NOW_MS + HOUR_MS })] },
    ],
    [
      true,
      'of an hour ago but a second',
      { approvals: [aBreakGlass({ createdAtMs: NOW_MS - HOUR_MS + 1000 })] },
    ],
    [false, 'of nobody knows when', { approvals: [aBreakGlass({ createdAtMs: undefined })] }],
    [false, 'of the future', { approvals: [aBreakGlass({ createdAtMs: NOW_MS + MINUTE_MS })] }],
    [
      false,
      'older than its role lasts',
      { approvals: [aBreakGlass({ createdAtMs: NOW_MS - 10 * MINUTE_MS })], policy: shorter },
    ],
    [
      false,
      'while the policy cannot be read',
      { approvals: [aBreakGlass()], policy: { ...aWorld().policy, invalid: 'x' } },
    ],
    [
      false,
      'without a policy',
      { approvals: [aBreakGlass()], policy: { policy: undefined, sha256: '', invalid: undefined } },
    ],
  ])('is valid: %s, %s', (isValid, _what, of) => {
    expect(breakGlassOf(asked(of)) !== undefined).toBe(isValid);
  });

  it('lasts as long as the longest', () => {
    const approvals = [aBreakGlass({ expiresAtMs: NOW_MS + MINUTE_MS }), aBreakGlass({ name: 'longer' })];
    expect(breakGlassOf(asked({ approvals }))).toMatchObject({
      approval: { name: 'longer' },
      untilMs: NOW_MS - MINUTE_MS / 2 + HOUR_MS,
    });
  });
});

it.each<[expected: boolean, ticket: string, pattern: string | undefined]>([
  [true, 'anything', undefined],
  [false, '  ', undefined],
  [true, 'see INC-1', 'INC-[0-9]+'],
  [false, 'see INC-1', '^INC-[0-9]+$'],
  [false, `INC-${'1'.repeat(300)}`, 'INC'],
  [false, 'INC-1', '('],
  [false, `${'a'.repeat(250)}!`, '^(a+)+$'],
])('is %s that %j is a ticket by %s', (expected, ticket, pattern) => {
  expect(isTicket(ticket, pattern)).toBe(expected);
});

it('takes people for one by name or by uid, and no uid for nobody', () => {
  expect(isSamePerson({ ...ALICE, uid: 'u' }, { ...BOB, uid: 'u' })).toBe(true);
  expect(isSamePerson({ ...ALICE, uid: 'u' }, { ...ALICE, uid: 'v' })).toBe(true);
  expect(isSamePerson(ALICE, BOB)).toBe(false);
});
