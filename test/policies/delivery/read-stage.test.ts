import { describe, expect, it } from 'vitest';

import type { KubeObject } from '../../../src/cluster/objects.ts';
import { readStage, readStageSpec } from '../../../src/policies/delivery/read-stage.ts';
import { MINUTE_MS } from './inputs.ts';

const DIGEST = `sha256:${'a'.repeat(64)}`;

function stageWith(more: Readonly<Record<string, unknown>>): KubeObject {
  return {
    apiVersion: 'delivery.pacto.trianalab.io/v1alpha1',
    kind: 'Stage',
    metadata: { name: 'prod', namespace: 'payments', uid: 'u', generation: 4, resourceVersion: '9' },
    ...more,
  };
}

describe('a Stage that says nothing', () => {
  it('reads as the defaults', () => {
    expect(readStage(stageWith({}))).toEqual({
      namespace: 'payments',
      name: 'prod',
      uid: 'u',
      generation: 4,
      resourceVersion: '9',
      spec: {
        pacto: { name: '', namespace: undefined },
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
        },
        approvals: {
          required: [],
          separationOfDuties: 'Requester',
          validForMs: 1440 * MINUTE_MS,
          onVerdictChange: 'Invalidate',
        },
        verification: { soakMs: 10 * MINUTE_MS, deadlineMs: 30 * MINUTE_MS },
        freeze: { untilMs: undefined, reason: '', allowCures: false },
        windows: [],
        historyLimit: 20,
        suspend: false,
      },
      status: {
        observedGeneration: undefined,
        current: undefined,
        lastGood: [],
        holdDigests: [],
        activeOperation: undefined,
        ungated: undefined,
      },
    });
  });
});

describe('a Stage that says everything', () => {
  it('reads its spec', () => {
    const spec = readStageSpec({
      pacto: { name: 'payments', namespace: 'contracts' },
      pointers: [
        {
          name: 'manifests',
          target: { apiVersion: 'source.toolkit.fluxcd.io/v1', kind: 'OCIRepository', name: 'payments' },
          field: 'ociDigest',
          key: '',
          artifact: 'oci://ghcr.io/acme/payments',
        },
      ],
      consumers: [{ kind: 'Kustomization', name: 'payments' }],
      upstreams: {
        strategy: 'Any',
        from: [
          { stage: 'staging', minCompliantFor: '30m' },
          { remote: 'eu', stage: 'payments/staging', maxRecordAge: '1h' },
        ],
      },
      gate: {
        mode: 'Warn',
        scope: 'Strict',
        target: 'Block',
        onUnknown: 'Deny',
        maxVerdictAge: '1m30s',
        requireReadiness: true,
      },
      approvals: {
        required: [{ role: 'release-manager', count: 2 }],
        separationOfDuties: 'None',
        validFor: '2h',
        onVerdictChange: 'Keep',
      },
      verification: { soak: '0', deadline: '1h' },
      freeze: { until: '2026-01-02T03:04:05Z', reason: 'year end', allowCures: true },
      windows: [{ kind: 'Allow', schedule: '0 9 * * *', timeZone: 'Europe/Berlin', duration: '8h' }],
      historyLimit: 3n,
      suspend: true,
    });
    expect(spec).toMatchObject({
      pacto: { name: 'payments', namespace: 'contracts' },
      pointers: [
        { name: 'manifests', field: 'ociDigest', target: { name: 'payments', namespace: undefined } },
      ],
      upstreams: {
        strategy: 'Any',
        from: [
          { stage: 'staging', minCompliantForMs: 30 * MINUTE_MS },
          { remote: 'eu', stage: 'payments/staging', maxRecordAgeMs: 60 * MINUTE_MS },
        ],
      },
      gate: { mode: 'Warn', scope: 'Strict', target: 'Block', onUnknown: 'Deny', maxVerdictAgeMs: 90_000 },
      approvals: { required: [{ role: 'release-manager', count: 2 }], separationOfDuties: 'None' },
      verification: { soakMs: 0, deadlineMs: 60 * MINUTE_MS },
      freeze: { untilMs: Date.parse('2026-01-02T03:04:05Z'), reason: 'year end', allowCures: true },
      windows: [{ kind: 'Allow', durationMs: 480 * MINUTE_MS }],
      historyLimit: 3,
      suspend: true,
    });
  });

  it('reads its status', () => {
    const templates = [{ kind: 'Deployment', name: 'web', sha256: 'ff' }];
    const { status } = readStage(
      stageWith({
        status: {
          observedGeneration: 4,
          current: {
            digest: DIGEST,
            tag: '2.0',
            since: '2026-01-02T03:04:05Z',
            convergedAt: '2026-01-02T03:05:05Z',
            compliantSince: '2026-01-02T03:06:05Z',
            templates,
          },
          lastGood: [{ digest: DIGEST, verifiedAt: '2026-01-02T03:16:05Z', templates }, { tag: 'no digest' }],
          hold: { active: true, excludeDigests: ['sha256:1', 2] },
          activeOperation: { name: 'p', uid: 'q' },
          ungated: { digest: 'latest', since: '2026-01-02T03:04:05Z' },
        },
      }),
    );
    expect(status).toMatchObject({
      observedGeneration: 4,
      current: { digest: DIGEST, tag: '2.0', templates, sinceMs: Date.parse('2026-01-02T03:04:05Z') },
      lastGood: [{ digest: DIGEST, templates }],
      holdDigests: ['sha256:1'],
      activeOperation: { name: 'p', uid: 'q' },
      ungated: { digest: 'latest' },
    });
    expect(status.lastGood).toHaveLength(1);
  });

  it('holds nothing back where the hold is not active', () => {
    const { status } = readStage(
      stageWith({ status: { hold: { active: false, excludeDigests: ['sha256:1'] } } }),
    );
    expect(status.holdDigests).toEqual([]);
  });
});

describe('what is wrong reads as what opens least', () => {
  it.each<[string, unknown, object]>([
    ['an unknown mode', { gate: { mode: 'off' } }, { gate: { mode: 'Enforce' } }],
    ['an unknown scope', { gate: { scope: 7 } }, { gate: { scope: 'Strict' } }],
    ['an unknown target', { gate: { target: 'ignore' } }, { gate: { target: 'Block' } }],
    ['an unknown onUnknown', { gate: { onUnknown: 'allow' } }, { gate: { onUnknown: 'Wait' } }],
    ['an age that is none', { gate: { maxVerdictAge: 'ever' } }, { gate: { maxVerdictAgeMs: 900_000 } }],
    ['a negative age', { gate: { maxVerdictAge: '-1h' } }, { gate: { maxVerdictAgeMs: 900_000 } }],
    [
      'a readiness that is no truth value',
      { gate: { requireReadiness: 'no' } },
      { gate: { requireReadiness: true } },
    ],
    [
      'a count of nobody',
      { approvals: { required: [{ role: 'a', count: 0 }] } },
      { approvals: { required: [{ role: 'a', count: 1 }] } },
    ],
    [
      'an end that is no time',
      { freeze: { until: 'soon' } },
      { freeze: { untilMs: Number.POSITIVE_INFINITY } },
    ],
    ['no end', { freeze: { until: null } }, { freeze: { untilMs: undefined } }],
    [
      'a window of an unknown kind',
      { windows: [{ kind: 'Open' }] },
      { windows: [{ kind: 'Deny', durationMs: Number.NaN }] },
    ],
    [
      'a time to wait that is none',
      { upstreams: { from: [{ stage: 'a', minCompliantFor: 'x' }] } },
      { upstreams: { from: [{ minCompliantForMs: Number.MAX_SAFE_INTEGER }] } },
    ],
    ['a pointer of an unknown field', { pointers: [{ name: 'a', field: 'spec.x' }] }, { pointers: [] }],
  ])('%s', (_what, spec, expected) => {
    expect(readStageSpec(spec)).toMatchObject(expected);
  });

  it.each([undefined, null, 'text', 7, [], { pointers: 'x', windows: {}, consumers: [1, null], gate: [] }])(
    'never throws for %j',
    (spec) => {
      expect(readStageSpec(spec)).toMatchObject({ pointers: [], gate: { mode: 'Enforce' } });
      expect(readStage(stageWith({ spec, status: spec })).status.current).toBeUndefined();
    },
  );

  it('reads so many entries of a list and no more', () => {
    const spec = readStageSpec({
      consumers: Array.from({ length: 5_000 }, () => ({ kind: 'Kustomization' })),
    });
    expect(spec.consumers).toHaveLength(64);
  });
});
