import { describe, expect, it } from 'vitest';
import {
  LEASE,
  NATIVE_POLICY,
  NATIVE_POLICY_BINDING,
  VALIDATING_WEBHOOK_CONFIGURATION,
} from '../../src/cluster/kinds.ts';
import { createMemoryCluster, type MemoryCluster } from '../../src/cluster/memory.ts';
import type { KubeObject } from '../../src/cluster/objects.ts';
import { MANAGED_LABEL } from '../../src/install/names.ts';
import { planUninstall, runningInstaller, uninstall } from '../../src/install/uninstall.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { CONFIGURATION, entryFor } from './support/pretended.ts';

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
      natives: ['ValidatingAdmissionPolicyBinding/a', 'ValidatingAdmissionPolicy/a'],
    });
    expect(cluster.calls('apply')).toBe(2);
    expect(cluster.calls('replace')).toBe(0);
  });

  it('empties the configurations whoever filled them, and leaves native policies and what is not ours', async () => {
    const cluster = await installed();
    await uninstall(cluster, await planUninstall(cluster, NAMES), false);
    expect(await entriesOf(cluster, CONFIGURATION)).toEqual([]);
    expect(await entriesOf(cluster, 'somebody-elses')).toHaveLength(1);
    expect((await cluster.list(NATIVE_POLICY)).items).toHaveLength(2);
  });

  it('removes native policies of ours where it is told to, after the entries', async () => {
    const cluster = await installed();
    await uninstall(cluster, await planUninstall(cluster, NAMES), true);
    const left = (await cluster.list(NATIVE_POLICY)).items;
    expect(left.map(({ metadata }) => metadata.name)).toEqual(['theirs']);
    expect((await cluster.list(NATIVE_POLICY_BINDING)).items).toEqual([]);
    await uninstall(cluster, await planUninstall(cluster, NAMES), true);
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
