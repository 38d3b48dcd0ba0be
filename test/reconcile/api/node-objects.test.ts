/** What node agents publish, read with nothing taken for granted (operator.md §13.2, §13.5). */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../../src/cluster/objects.ts';
import {
  HEARTBEAT_WITHOUT_LEASE_MS,
  heartbeatEndMs,
  readNodeLease,
} from '../../../src/reconcile/api/node-lease.ts';
import { readNodeObservation } from '../../../src/reconcile/api/node-runtime-observation.ts';

const T = '2026-05-01T10:00:00Z';
const T_MS = Date.parse(T);
const observation = (status: unknown): KubeObject => ({
  apiVersion: 'pacto.trianalab.io/v1alpha1',
  kind: 'NodeRuntimeObservation',
  metadata: { name: 'n1', namespace: 'agents' },
  status,
});
const lease = (spec: unknown): KubeObject => ({
  apiVersion: 'coordination.k8s.io/v1',
  kind: 'Lease',
  metadata: { name: 'n1', namespace: 'agents' },
  spec,
});
const POD = { uid: 'u', namespace: 'shop', name: 'cart-1' };

describe('an observation', () => {
  it('is read whole', () => {
    const read = readNodeObservation(
      observation({
        nodeName: 'n1',
        state: 'Ready',
        lastPublished: T,
        pods: [
          {
            ...POD,
            hostNetwork: true,
            listeners: [{ port: 80, protocol: 'TCP', loopbackOnly: true }],
            connections: [{ destIP: '10.0.0.1', destPort: 443, lastSuccess: T, lastFailure: 'never' }],
          },
        ],
      }),
    );
    expect(read).toEqual({
      node: 'n1',
      state: 'Ready',
      reason: '',
      pods: new Map([
        [
          'u',
          {
            ...POD,
            hostNetwork: true,
            listeners: [{ port: 80, protocol: 'TCP', loopbackOnly: true }],
            connections: [{ address: '10.0.0.1', port: 443, lastSuccessMs: T_MS, lastFailureMs: undefined }],
          },
        ],
      ]),
    });
  });

  it('that failed says why', () => {
    expect(readNodeObservation(observation({ state: 'Failed', reason: 'no BTF' }))).toMatchObject({
      node: 'n1',
      state: 'Failed',
      reason: 'no BTF',
    });
  });

  it.each([
    ['no status', undefined],
    ['a status that is a text', 'text'],
    ['no state', { pods: [] }],
    ['a state that is none', { state: 'Unknown' }],
  ])('says nothing with %s', (_title, status) => {
    expect(readNodeObservation(observation(status))).toBeUndefined();
  });

  it('is read without the Pods that are none', () => {
    const pods = [null, 7, [], { uid: 'a' }, { ...POD, uid: 1 }, POD];
    expect([...(readNodeObservation(observation({ state: 'Ready', pods }))?.pods.keys() ?? [])]).toEqual([
      'u',
    ]);
  });

  it('knows nothing of a Pod whose list is cut short or is none, as that would prove an absence', () => {
    const listeners = Array.from({ length: 1_001 }, () => ({ port: 1, protocol: 'TCP' }));
    const pods = [
      { ...POD, listeners },
      { ...POD, uid: 'v', connections: 'none' },
    ];
    expect(readNodeObservation(observation({ state: 'Ready', pods }))?.pods.size).toBe(0);
  });

  it('never makes the reader throw', () => {
    const some = fc.property(fc.anything(), fc.anything(), (status, pod) => {
      readNodeObservation(observation(status));
      return readNodeObservation(observation({ state: 'Ready', pods: [pod] })) !== undefined;
    });
    expect(fc.check(some, { numRuns: 1_000 })).toMatchObject({ failed: false });
  });
});

describe('a Lease', () => {
  it('is a heartbeat for as long as it says', () => {
    const given = lease({ renewTime: T, leaseDurationSeconds: 90, holderIdentity: 'n1' });
    expect(readNodeLease(given)).toEqual({ renewMs: T_MS, durationMs: 90_000, holder: 'n1' });
    expect(heartbeatEndMs(given, undefined)).toBe(T_MS + 90_000);
  });

  it('lasts an hour at most', () => {
    const given = lease({ renewTime: T, leaseDurationSeconds: 2_147_483_647 });
    expect(readNodeLease(given)).toEqual({ renewMs: T_MS, durationMs: 3_600_000, holder: '' });
  });

  it.each([
    ['no spec', undefined],
    ['no time', { leaseDurationSeconds: 90 }],
    ['a time that is none', { renewTime: 'now', leaseDurationSeconds: 90 }],
    ['no duration', { renewTime: T }],
    ['a duration of 0', { renewTime: T, leaseDurationSeconds: 0 }],
    ['a duration that is a text', { renewTime: T, leaseDurationSeconds: '90' }],
  ])('with %s is no heartbeat, whatever the observation says', (_title, spec) => {
    expect(readNodeLease(lease(spec))).toBeUndefined();
    expect(heartbeatEndMs(lease(spec), observation({ lastPublished: T }))).toBeUndefined();
  });

  it('that is not there leaves the time of the observation, for three intervals', () => {
    expect(heartbeatEndMs(undefined, observation({ lastPublished: T }))).toBe(
      T_MS + HEARTBEAT_WITHOUT_LEASE_MS,
    );
    expect(heartbeatEndMs(undefined, observation({ lastPublished: 7 }))).toBeUndefined();
    expect(heartbeatEndMs(undefined, undefined)).toBeUndefined();
  });
});
