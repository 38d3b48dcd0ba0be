/** The gate keeper on a cluster in memory: where Stages stand, what they ran and was good, and what their gates say. */
import { describe, expect, it } from 'vitest';

import {
  CONFIG_MAP,
  KUSTOMIZATION,
  OCI_REPOSITORY,
  OPERATION,
  STAGE,
  VALIDATING_WEBHOOK_CONFIGURATION,
} from '../../../src/cluster/kinds.ts';
import type { KubeObject } from '../../../src/cluster/objects.ts';
import {
  BAD,
  fetched,
  MINUTE_MS,
  NEW,
  OLD,
  POINTER,
  pointing,
  settled,
  World,
  worldWith,
  type Members,
} from './stage-world.ts';

describe('a Stage that is new', () => {
  it('takes what its pointer stands on as current', async () => {
    const world = await worldWith();
    expect(await world.status()).toMatchObject({ current: { digest: OLD, since: '2026-01-02T03:00:00Z' } });
    expect((await world.status())['current']).not.toHaveProperty('convergedAt');
    expect(await world.events()).toContain('Normal Adopted');
    expect(await world.condition('Ready')).toBe('True Kept');
  });

  it('stands on nothing while its pointer floats', async () => {
    const world = new World();
    await world.make(OCI_REPOSITORY, 'payments', pointing({ tag: 'latest' }));
    await world.make(STAGE, 'prod', { spec: { pacto: { name: 'payments' }, pointers: [POINTER] } });
    await world.pass();
    expect(await world.status()).not.toHaveProperty('current');
    expect(await world.condition('UngatedMove')).toBe('True UngatedMove');
  });
});

describe('what a Stage runs', () => {
  it('is known once source and consumers have it, with its templates', async () => {
    const world = await worldWith();
    await world.runs(OLD);
    await world.pass();
    const { current } = (await world.status()) as {
      current: { convergedAt?: string; templates?: readonly Members[] };
    };
    expect(current.convergedAt).toBe('2026-01-02T03:00:00Z');
    expect(current.templates).toMatchObject([{ kind: 'Deployment', name: 'payments' }]);
  });

  it('asks for the workload once, when it begins to run', async () => {
    const world = await worldWith();
    await world.pass(5 * MINUTE_MS);
    expect(world.asked).toEqual([]);
    await world.runs(OLD);
    await world.pass(5 * MINUTE_MS);
    expect(world.asked).toEqual(['Deployment payments']);
  });

  it.each([
    ['a source that is not ready', OCI_REPOSITORY],
    ['a consumer that is not ready', KUSTOMIZATION],
  ])('is not known with %s', async (_what, kind) => {
    const world = await worldWith();
    for (const one of [OCI_REPOSITORY, KUSTOMIZATION]) {
      const status = one === kind ? 'False' : 'True';
      await world.change(one, 'payments', {
        status: { ...fetched(OLD, 1), lastAppliedRevision: OLD, conditions: [{ type: 'Ready', status }] },
      });
    }
    await world.pass();
    const { current } = (await world.status()) as { current: object };
    expect(current).not.toHaveProperty('convergedAt');
  });

  it('is good once its verdict was Compliant for the soak, and is remembered', async () => {
    const world = await settled();
    expect(await world.status()).toMatchObject({ lastGood: [{ digest: OLD }], gate: { decision: 'Allow' } });
    expect(await world.events()).toContain('Normal Verified');
    expect(await world.condition('GateOpen')).toBe('True Allowed');
  });

  it('is not good before, and a violation begins the soak anew', async () => {
    const world = await worldWith();
    await world.runs(OLD);
    await world.pass(1_000);
    await world.verdict('Compliant');
    await world.pass(5 * MINUTE_MS);
    await world.verdict('NonCompliant', [{ code: 'WORKLOAD_MISMATCH', severity: 'error' }]);
    await world.pass();
    expect(await world.status()).not.toHaveProperty('lastGood');
    expect((await world.status())['current']).not.toHaveProperty('compliantSince');
    expect(await world.condition('GateOpen')).toBe('False TargetNoncompliant');
  });
});

describe('a pointer that moves', () => {
  it('takes current with it where the gate allows it', async () => {
    const world = await settled();
    await world.change(OCI_REPOSITORY, 'payments', { spec: { url: 'oci://x', ref: { digest: NEW } } });
    await world.pass();
    expect(await world.status()).toMatchObject({ current: { digest: NEW }, lastGood: [{ digest: OLD }] });
    expect(await world.events()).toContain('Normal Moved');
  });

  it('leaves current and what was good where the gate does not, and says so until it is back', async () => {
    const world = await settled();
    await world.verdict('NonCompliant', [{ code: 'WORKLOAD_MISMATCH', severity: 'error' }]);
    await world.pass();
    await world.change(OCI_REPOSITORY, 'payments', { spec: { url: 'oci://x', ref: { digest: BAD } } });
    await world.pass();
    expect(await world.status()).toMatchObject({
      current: { digest: OLD },
      lastGood: [{ digest: OLD }],
      ungated: { digest: BAD },
    });
    expect(await world.condition('UngatedMove')).toBe('True UngatedMove');
    expect(await world.events()).toContain('Warning UngatedMove');
    await world.change(OCI_REPOSITORY, 'payments', { spec: { url: 'oci://x', ref: { digest: OLD } } });
    await world.pass();
    expect(await world.condition('UngatedMove')).toBe('False NoUngatedMove');
    expect(await world.status()).not.toHaveProperty('ungated');
  });

  it('may go back to what was good whatever the verdict', async () => {
    const world = await settled();
    await world.change(OCI_REPOSITORY, 'payments', { spec: { url: 'oci://x', ref: { digest: NEW } } });
    await world.pass();
    await world.verdict('NonCompliant', [{ code: 'WORKLOAD_MISMATCH', severity: 'error' }]);
    await world.change(OCI_REPOSITORY, 'payments', { spec: { url: 'oci://x', ref: { digest: OLD } } });
    await world.pass();
    expect(await world.status()).toMatchObject({ current: { digest: OLD } });
    expect(await world.condition('UngatedMove')).toBe('False NoUngatedMove');
  });
});

describe('the gate of a Stage', () => {
  it('follows a verdict at once, and says so once', async () => {
    const world = await settled();
    await world.verdict('NonCompliant', [{ code: 'WORKLOAD_MISMATCH', severity: 'error' }]);
    await world.pass();
    expect(await world.status()).toMatchObject({
      gate: { decision: 'Deny', reasonCode: 'TARGET_NONCOMPLIANT' },
    });
    expect((await world.events()).filter((event) => event === 'Warning GateClosed')).toHaveLength(1);
    await world.verdict('Compliant');
    await world.pass();
    expect(await world.condition('GateOpen')).toBe('True Allowed');
    expect(await world.events()).toContain('Normal GateOpened');
  });

  it('is about what an upstream runs that this Stage does not', async () => {
    const world = await settled({ upstreams: { from: [{ stage: 'staging' }] } });
    await world.make(STAGE, 'staging', {
      spec: { pacto: { name: 'staging' }, pointers: [] },
      status: {
        current: { digest: NEW, since: '2026-01-02T02:00:00Z', convergedAt: '2026-01-02T02:00:00Z' },
      },
    });
    await world.pass();
    expect(await world.status()).toMatchObject({
      candidate: { digest: NEW },
      gate: { subjectDigest: NEW },
    });
  });

  it('is closed in a freeze, which a condition says', async () => {
    const world = await settled({ freeze: { until: '2027-01-01T00:00:00Z', reason: 'year end' } });
    expect(await world.condition('GateOpen')).toBe('Unknown Frozen');
    expect(await world.condition('Frozen')).toBe('True Frozen');
  });

  it('writes nothing while nothing changes, but once in half of what an answer counts for', async () => {
    const world = await settled();
    const before = await world.version();
    await world.pass(2 * MINUTE_MS);
    expect(await world.version()).toBe(before);
  });

  it('is told whether anybody asks it', async () => {
    const world = await settled();
    expect(await world.condition('GateBypassed')).toBe('Unknown NotKnown');
    await world.make(VALIDATING_WEBHOOK_CONFIGURATION, 'pacto-gate-delivery', {
      webhooks: [{ name: 'pointers.gate.delivery.pacto.trianalab.io' }],
    });
    await world.pass();
    expect(await world.condition('GateBypassed')).toBe('False Registered');
    const live = await world.cluster.get(VALIDATING_WEBHOOK_CONFIGURATION, { name: 'pacto-gate-delivery' });
    await world.cluster.replace(VALIDATING_WEBHOOK_CONFIGURATION, { ...(live as KubeObject), webhooks: [] });
    await world.pass();
    expect(await world.condition('GateBypassed')).toBe('True NotRegistered');
  });

  it('stalls with an identity policy that cannot be read', async () => {
    const world = await settled();
    await world.make(
      CONFIG_MAP,
      'pacto-delivery-identity',
      { data: { 'policy.yaml': 'version: 2' } },
      'pacto-delivery',
    );
    await world.pass();
    expect(await world.condition('Stalled')).toBe('True PolicyInvalid');
    expect(await world.condition('Ready')).toBe('False PolicyInvalid');
  });

  it('answers about any digest from memory', async () => {
    const world = await settled();
    const key = { namespace: 'payments', name: 'prod' };
    expect(world.sight.read(key)).toMatchObject({ candidate: OLD });
    expect(world.sight.evaluate(key)?.decision.decision).toBe('Allow');
    await world.verdict('NonCompliant', [{ code: 'WORKLOAD_MISMATCH', severity: 'error' }]);
    await world.pass();
    expect(world.sight.evaluate(key, NEW)?.decision).toMatchObject({ decision: 'Deny' });
    expect(world.sight.evaluate(key, OLD)?.decision).toMatchObject({
      decision: 'Allow',
      reasonCode: 'ROLLBACK',
    });
    expect(world.sight.evaluate({ namespace: 'payments', name: 'nowhere' })).toBeUndefined();
    expect(world.sight.unsynced()).toBeUndefined();
  });
});

describe('who writes', () => {
  it('is only who leads, and whoever begins to lead looks at all', async () => {
    const world = new World();
    world.leads = false;
    await world.make(OCI_REPOSITORY, 'payments', pointing({ digest: OLD }));
    await world.make(STAGE, 'prod', { spec: { pacto: { name: 'payments' }, pointers: [POINTER] } });
    await world.pass();
    expect(await world.status()).toEqual({});
    world.leads = true;
    world.keeper.turn(true);
    await world.pass();
    expect(await world.status()).toMatchObject({ current: { digest: OLD } });
    expect(world.keeper.isIdle()).toBe(true);
  });

  it('leaves a Stage alone that is suspended', async () => {
    const world = await worldWith({ suspend: true });
    expect(await world.status()).toEqual({});
  });

  it('tries again after a conflict', async () => {
    const world = await settled();
    const { sight } = world;
    const stale = sight.sighted({ namespace: 'payments', name: 'prod' });
    expect(stale).toBeDefined();
    await world.cluster.replaceStatus(STAGE, {
      ...((await world.cluster.get(STAGE, { namespace: 'payments', name: 'prod' })) as KubeObject),
      status: {},
    });
    await world.pass(2_000);
    expect(await world.status()).toMatchObject({ current: { digest: OLD } });
  });
});

describe('an Operation', () => {
  const asked = { spec: { stage: 'prod', type: 'Promote', digest: NEW } };

  it('is told that nobody carries it out', async () => {
    const world = await settled();
    await world.make(OPERATION, 'p', asked);
    await world.pass();
    const found = await world.cluster.get(OPERATION, { namespace: 'payments', name: 'p' });
    expect(found?.['status']).toMatchObject({ phase: 'Pending', reasonCode: 'NO_PROMOTER' });
  });

  it('is left to the promoter where there is one', async () => {
    const world = await worldWith({}, 'system:serviceaccount:a:b');
    await world.make(OPERATION, 'p', asked);
    await world.pass();
    const found = await world.cluster.get(OPERATION, { namespace: 'payments', name: 'p' });
    expect(found?.['status']).toBeUndefined();
  });
});
