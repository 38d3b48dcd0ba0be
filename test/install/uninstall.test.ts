import { describe, expect, it } from 'vitest';
import {
  GATE_POLICY,
  LEASE,
  NATIVE_POLICY,
  NATIVE_POLICY_BINDING,
  MUTATING_WEBHOOK_CONFIGURATION,
  VALIDATING_WEBHOOK_CONFIGURATION,
} from '../../src/cluster/kinds.ts';
import { createMemoryCluster, type MemoryCluster } from '../../src/cluster/memory.ts';
import type { KubeObject } from '../../src/cluster/objects.ts';
import { GateError } from '../../src/errors.ts';
import { MANAGED_LABEL } from '../../src/install/names.ts';
import { planUninstall, runningInstaller, uninstall } from '../../src/install/uninstall.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { CONFIGURATION, entryFor } from './support/pretended.ts';

const NOW_MS = Date.UTC(2026, 0, 1);
const NAMES = [CONFIGURATION, 'pacto-gate-node-identity'];

function configuration(name: string, webhooks: readonly object[]): KubeObject {
  return {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingWebhookConfiguration',
    metadata: { name },
    webhooks,
  };
}

function native(kind: typeof NATIVE_POLICY, name: string, labels: Record<string, string>): KubeObject {
  return {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: kind.kind,
    metadata: { name, labels },
    spec: {},
  };
}

const SINCE = '2025-01-01T00:00:00Z';
const READY = { type: 'Ready', status: 'True', lastTransitionTime: SINCE };
const B_SAYS = [READY, { type: 'Enforced', status: 'True', reason: 'Webhook', lastTransitionTime: SINCE }];

function custom(name: string, status: object | undefined): KubeObject {
  return {
    apiVersion: 'gate.pacto.trianalab.io/v1',
    kind: 'ValidatingAdmissionPolicy',
    metadata: { name },
    spec: {},
    ...(status && { status }),
  };
}

async function enforcedBy(cluster: MemoryCluster): Promise<readonly unknown[]> {
  const { items } = await cluster.list(GATE_POLICY);
  return items.map(({ status }) => (status as { enforcedBy?: string } | undefined)?.enforcedBy);
}

async function installed(): Promise<MemoryCluster> {
  const cluster = createMemoryCluster({ clock: new FakeClock() });
  const ours = { [MANAGED_LABEL]: 'pacto-gate' };
  await cluster.apply(VALIDATING_WEBHOOK_CONFIGURATION, configuration(CONFIGURATION, [entryFor('a')]), {
    fieldManager: 'pacto-gate',
  });
  // As a person applies what `generate webhooks` prints.
  await cluster.apply(VALIDATING_WEBHOOK_CONFIGURATION, configuration(CONFIGURATION, [entryFor('b')]), {
    fieldManager: 'kubectl',
  });
  cluster.load(VALIDATING_WEBHOOK_CONFIGURATION, configuration('somebody-elses', [entryFor('c')]));
  cluster.load(NATIVE_POLICY, native(NATIVE_POLICY, 'a', ours));
  cluster.load(NATIVE_POLICY_BINDING, native(NATIVE_POLICY_BINDING, 'a', ours));
  cluster.load(NATIVE_POLICY, native(NATIVE_POLICY, 'theirs', {}));
  cluster.load(GATE_POLICY, custom('a', { enforcedBy: 'Native' }));
  cluster.load(
    GATE_POLICY,
    custom('b', { enforcedBy: 'Webhook', entry: entryFor('b').name, conditions: B_SAYS }),
  );
  cluster.load(GATE_POLICY, custom('c', undefined));
  return cluster;
}

async function entriesOf(cluster: MemoryCluster, name: string): Promise<unknown> {
  return (await cluster.get(VALIDATING_WEBHOOK_CONFIGURATION, { name }))?.['webhooks'];
}

describe('uninstall', () => {
  it('plans what is there of the gate, and writes nothing', async () => {
    const cluster = await installed();
    expect(await planUninstall(cluster, NAMES)).toEqual({
      configurations: [{ name: CONFIGURATION, entries: [entryFor('a').name, entryFor('b').name] }],
      mutating: [],
      natives: ['ValidatingAdmissionPolicyBinding/a', 'ValidatingAdmissionPolicy/a'],
      policies: [
        { name: 'a', enforcedBy: 'Native' },
        { name: 'b', enforcedBy: 'Webhook' },
      ],
    });
    expect(cluster.calls('apply')).toBe(2);
    expect(cluster.calls('replace')).toBe(0);
  });

  it('empties the configurations whoever filled them, and leaves native policies and what is not ours', async () => {
    const cluster = await installed();
    await uninstall(cluster, await planUninstall(cluster, NAMES), false, NOW_MS);
    expect(await entriesOf(cluster, CONFIGURATION)).toEqual([]);
    expect(await entriesOf(cluster, 'somebody-elses')).toHaveLength(1);
    expect((await cluster.list(NATIVE_POLICY)).items).toHaveLength(2);
  });

  it('empties what mutates, and nobody else’s', async () => {
    const cluster = await installed();
    for (const name of ['pacto-gate-delivery', 'somebody-elses'])
      await cluster.create(MUTATING_WEBHOOK_CONFIGURATION, {
        apiVersion: 'admissionregistration.k8s.io/v1',
        kind: 'MutatingWebhookConfiguration',
        metadata: { name },
        webhooks: [{ name: `stamps.${name}.example.com` }],
      });
    const plan = await planUninstall(cluster, NAMES, ['pacto-gate-delivery', 'never-made']);
    expect(plan.mutating).toEqual([
      { name: 'pacto-gate-delivery', entries: ['stamps.pacto-gate-delivery.example.com'] },
    ]);
    await uninstall(cluster, plan, false, NOW_MS);
    const left = (await cluster.list(MUTATING_WEBHOOK_CONFIGURATION)).items;
    expect(
      left.map((one) => (one['webhooks'] as readonly unknown[]).length).toSorted((a, b) => a - b),
    ).toEqual([0, 1]);
  });

  it('says in the status of a policy that nothing enforces it, and leaves that of a native one that stays', async () => {
    const cluster = await installed();
    await uninstall(cluster, await planUninstall(cluster, NAMES), false, NOW_MS);
    expect(await enforcedBy(cluster)).toEqual(['Native', 'None', undefined]);
    expect((await cluster.get(GATE_POLICY, { name: 'b' }))?.['status']).toEqual({
      enforcedBy: 'None',
      notEnforcedHere: [],
      conditions: [
        READY,
        {
          type: 'Enforced',
          status: 'False',
          reason: 'Uninstalled',
          message: 'pacto-gate was taken out of the cluster',
          observedGeneration: 1,
          lastTransitionTime: '2026-01-01T00:00:00Z',
        },
      ],
    });
    await uninstall(cluster, await planUninstall(cluster, NAMES), true, NOW_MS);
    expect(await enforcedBy(cluster)).toEqual(['None', 'None', undefined]);
  });

  it('needs no custom resources', async () => {
    const cluster = await installed();
    const list: typeof cluster.list = (kind, options) =>
      kind === GATE_POLICY
        ? Promise.reject(new GateError('GATE_CLUSTER_UNSUPPORTED', 'not served'))
        : cluster.list(kind, options);
    const plan = await planUninstall({ get: (kind, name) => cluster.get(kind, name), list }, NAMES);
    expect(plan.policies).toEqual([]);
    expect(plan.configurations).toHaveLength(1);
  });

  it('removes native policies of ours where it is told to, after the entries', async () => {
    const cluster = await installed();
    await uninstall(cluster, await planUninstall(cluster, NAMES), true, NOW_MS);
    const left = (await cluster.list(NATIVE_POLICY)).items;
    expect(left.map(({ metadata }) => metadata.name)).toEqual(['theirs']);
    expect((await cluster.list(NATIVE_POLICY_BINDING)).items).toEqual([]);
    await uninstall(cluster, await planUninstall(cluster, NAMES), true, NOW_MS);
    expect(await entriesOf(cluster, CONFIGURATION)).toEqual([]);
  });

  it.each([
    ['nobody where there is no Lease', undefined, undefined],
    ['whoever renewed it lately', { holderIdentity: 'one', renewTime: '2026-01-01T00:00:00.123456Z' }, 'one'],
    [
      'nobody where it ran out',
      { holderIdentity: 'one', renewTime: '2025-12-31T23:59:40.000000Z' },
      undefined,
    ],
    [
      'nobody where it was given up',
      { holderIdentity: '', renewTime: '2026-01-01T00:00:00.000000Z' },
      undefined,
    ],
  ])('tells who runs as the installer: %s', async (_what, spec, expected) => {
    const clock = new FakeClock();
    const cluster = createMemoryCluster({ clock });
    if (spec !== undefined)
      cluster.load(LEASE, {
        apiVersion: 'coordination.k8s.io/v1',
        kind: 'Lease',
        metadata: { namespace: 'pacto-system', name: 'pacto-gate-installer' },
        spec: { leaseDurationSeconds: 15, ...spec },
      });
    expect(await runningInstaller(cluster, 'pacto-system', clock.now())).toBe(expected);
  });
});
