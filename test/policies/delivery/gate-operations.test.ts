import { describe, expect, it } from 'vitest';

import type { Candidate } from '../../../src/policies/delivery/gate.ts';
import type { GateWorld } from '../../../src/policies/delivery/world.ts';
import { CURRENT, MINUTE_MS, NOW_MS } from './inputs.ts';
import { afterStaging, answer, ONE_APPROVAL, RED } from './moves.ts';
import { aBreakGlass, ALICE, anApproval, anOperation, aPacto, aStage } from './objects.ts';

describe('approvals and break-glass count', () => {
  const stage = aStage({ approvals: ONE_APPROVAL });
  const second = anOperation({ name: 'promote-2' });
  const ofSecond = { operation: { name: 'promote-2', uid: 'uid-of-promote-2' } };

  it.each<[expected: string, of: string, world: Partial<GateWorld>, candidate: Partial<Candidate>]>([
    [
      'Allow ALLOWED',
      'of the Operation with the digest, for a direct write',
      { operations: [anOperation()], approvals: [anApproval()] },
      {},
    ],
    [
      'Allow ALLOWED',
      'of the Operation that asks',
      { operations: [], approvals: [anApproval()] },
      { operation: anOperation() },
    ],
    [
      'Wait APPROVAL_REQUIRED',
      'of no other Operation than the one that asks',
      { operations: [anOperation(), second], approvals: [anApproval()] },
      { operation: second },
    ],
    [
      'Allow ALLOWED',
      'of the one of two that has them, the second',
      { operations: [anOperation(), second], approvals: [anApproval(ofSecond)] },
      {},
    ],
    [
      'Allow ALLOWED',
      'of the one of two that has them, the first',
      { operations: [anOperation(), second], approvals: [anApproval()] },
      {},
    ],
    [
      'Allow ALLOWED',
      'of the one of two that nobody rejected',
      {
        operations: [anOperation(), second],
        approvals: [anApproval({ decision: 'Reject' }), anApproval(ofSecond)],
      },
      {},
    ],
    [
      'Deny REJECTED',
      'of none that was rejected',
      { operations: [anOperation()], approvals: [anApproval({ decision: 'Reject' })] },
      {},
    ],
    [
      'Deny REJECTED',
      'of none that was rejected, although another has no votes at all',
      { operations: [anOperation(), second], approvals: [anApproval({ decision: 'Reject' })] },
      {},
    ],
    [
      'Deny REJECTED',
      'of none that was rejected, where no vote is asked for',
      {
        stage: aStage(),
        operations: [anOperation(), second],
        approvals: [anApproval({ decision: 'Reject' })],
      },
      {},
    ],
    [
      'Allow ALLOWED',
      'of no other where the one that asks was not rejected, and no vote is asked for',
      {
        stage: aStage(),
        operations: [anOperation(), second],
        approvals: [anApproval({ decision: 'Reject' })],
      },
      { operation: second },
    ],
    [
      'Wait APPROVAL_REQUIRED',
      'of no Operation to another digest',
      { operations: [anOperation({ digest: CURRENT })], approvals: [anApproval({ digest: CURRENT })] },
      {},
    ],
    [
      'Wait APPROVAL_REQUIRED',
      'of no Operation that is over',
      { operations: [anOperation({ isTerminal: true })], approvals: [anApproval()] },
      {},
    ],
    [
      'Wait APPROVAL_REQUIRED',
      'of no Operation that is cancelled',
      { operations: [anOperation({ cancel: true })], approvals: [anApproval()] },
      {},
    ],
    [
      'Wait APPROVAL_REQUIRED',
      'of no Operation of another Stage',
      { operations: [anOperation({ stage: 'orders-prod' })], approvals: [anApproval()] },
      {},
    ],
    [
      'Wait APPROVAL_REQUIRED',
      'of no Operation of another namespace',
      {
        operations: [anOperation({ namespace: 'orders' })],
        approvals: [anApproval({ namespace: 'orders' })],
      },
      {},
    ],
    [
      'Allow OVERRIDE',
      'by breaking the glass',
      { pacto: RED, operations: [anOperation()], approvals: [aBreakGlass()] },
      {},
    ],
    [
      'Deny TARGET_NONCOMPLIANT',
      'by breaking no other glass',
      { pacto: RED, operations: [second], approvals: [aBreakGlass()] },
      {},
    ],
    [
      'Wait SELF_APPROVAL',
      'by no vote of who asked',
      { operations: [anOperation({ requestedBy: ALICE })], approvals: [anApproval()] },
      {},
    ],
    [
      'Wait APPROVAL_STALE',
      'by none that saw it better',
      {
        pacto: aPacto({ contractStatus: 'Unknown' }),
        operations: [anOperation()],
        approvals: [anApproval()],
      },
      {},
    ],
  ])('%s: %s', (expected, _of, world, candidate) => {
    expect(answer({ stage, ...world }, candidate)).toBe(expected);
  });
});

describe('the Operation under way', () => {
  const active = { name: 'promote-2', uid: 'uid-of-promote-2' };
  const stage = aStage({ status: { activeOperation: active } });
  const other = anOperation({ name: 'promote-2', digest: CURRENT });

  it.each<[expected: string, of: string, world: Partial<GateWorld>, candidate: Partial<Candidate>]>([
    ['Wait BUSY', 'is another', { operations: [other] }, {}],
    [
      'Allow ALLOWED',
      'is the one that asks',
      { operations: [other] },
      { operation: anOperation({ name: 'promote-2' }) },
    ],
    ['Allow ALLOWED', 'moves to the same digest', { operations: [anOperation({ name: 'promote-2' })] }, {}],
    ['Allow ALLOWED', 'is gone', { operations: [] }, {}],
    ['Allow ALLOWED', 'is over', { operations: [{ ...other, isTerminal: true }] }, {}],
  ])('%s: it %s', (expected, _of, world, candidate) => {
    expect(answer({ stage, ...world }, candidate)).toBe(expected);
  });
});

describe('the deadline', () => {
  const stale = afterStaging({}, { observedGeneration: 2 });

  it.each<[expected: string, of: string, candidate: Partial<Candidate>]>([
    ['Wait STALE', 'a direct write, for ever', {}],
    ['Wait STALE', 'an Operation before it', { operation: anOperation() }],
    [
      'Deny STALE',
      'an Operation after it',
      { operation: anOperation({ createdAtMs: NOW_MS - 30 * MINUTE_MS }) },
    ],
    [
      'Deny STALE',
      'an Operation of nobody knows when',
      { operation: anOperation({ createdAtMs: undefined }) },
    ],
  ])('gives %s to %s', (expected, _of, candidate) => {
    expect(answer(stale, candidate)).toBe(expected);
  });
});
