import { describe, expect, it } from 'vitest';

import type { KubeObject } from '../../../src/cluster/objects.ts';
import { TERMINAL_PHASES } from '../../../src/policies/delivery/operation.ts';
import { readApproval, readOperation } from '../../../src/policies/delivery/read-operation.ts';
import { MINUTE_MS } from './inputs.ts';

function objectWith(spec: unknown, status?: unknown): KubeObject {
  const metadata = {
    name: 'one',
    namespace: 'payments',
    uid: 'u',
    resourceVersion: '9',
    creationTimestamp: '2026-01-02T03:04:05Z',
  };
  return { apiVersion: 'delivery.pacto.trianalab.io/v1alpha1', kind: 'Operation', metadata, spec, status };
}

const PERSON = { username: 'alice', uid: 'a', groups: ['dev'] };

describe('an Operation', () => {
  it('reads as it says', () => {
    const spec = {
      stage: 'prod',
      type: 'Rollback',
      digest: 'sha256:1',
      expectedCurrent: 'sha256:2',
      requestedBy: PERSON,
      deadline: '5m',
      cancel: false,
    };
    const move = { pointer: 'manifests', from: 'a', to: 'b', state: 'Intent' };
    expect(readOperation(objectWith(spec, { phase: 'Moving', moves: [move] }))).toEqual({
      namespace: 'payments',
      name: 'one',
      uid: 'u',
      resourceVersion: '9',
      createdAtMs: Date.parse('2026-01-02T03:04:05Z'),
      stage: 'prod',
      type: 'Rollback',
      digest: 'sha256:1',
      expectedCurrent: 'sha256:2',
      requestedBy: PERSON,
      deadlineMs: 5 * MINUTE_MS,
      cancel: false,
      phase: 'Moving',
      isTerminal: false,
      moves: [move],
    });
  });

  it('is Pending where nothing says otherwise, a Promote where its type is none, and waits half an hour', () => {
    expect(readOperation(objectWith({ type: 'promote' }))).toMatchObject({
      phase: 'Pending',
      type: 'Promote',
      deadlineMs: 30 * MINUTE_MS,
      isTerminal: false,
    });
  });

  it.each(TERMINAL_PHASES)('is over when %s', (phase) => {
    expect(readOperation(objectWith({}, { phase })).isTerminal).toBe(true);
  });

  it.each([undefined, null, 'x', 7, []])('never throws for %j', (part) => {
    expect(readOperation(objectWith(part, part))).toMatchObject({ digest: '', moves: [], cancel: false });
  });
});

describe('an Approval', () => {
  it('reads as it says', () => {
    const spec = {
      operation: { name: 'p', uid: 'q' },
      digest: 'sha256:1',
      decision: 'BreakGlass',
      role: 'breakglass',
      reason: 'down',
      ticket: 'INC-1',
      approvedBy: PERSON,
      seen: { verdict: 'Unknown', verdictResourceVersion: '7', gateDecision: 'Wait', policySha256: 'ff' },
    };
    expect(readApproval(objectWith({ ...spec, expiresAt: '2026-01-02T04:04:05Z' }))).toMatchObject({
      ...spec,
      expiresAtMs: Date.parse('2026-01-02T04:04:05Z'),
    });
  });

  it.each<[string, unknown, object]>([
    ['an unknown decision is a Reject', { decision: 'approve' }, { decision: 'Reject' }],
    ['no end is no end', {}, { expiresAtMs: undefined }],
    ['an end that is no time is over', { expiresAt: 'never' }, { expiresAtMs: 0 }],
  ])('%s', (_what, spec, expected) => {
    expect(readApproval(objectWith(spec))).toMatchObject(expected);
  });

  it.each([undefined, null, 'x', 7, []])('never throws for %j', (part) => {
    expect(readApproval(objectWith(part))).toMatchObject({
      decision: 'Reject',
      approvedBy: { username: '' },
    });
  });
});
