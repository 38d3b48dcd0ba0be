import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { MANAGED_LABEL } from '../../src/install/names.ts';
import { entryFor } from '../install/support/pretended.ts';
import { runCommand, type Ran } from './run-command.ts';

describe('uninstall', () => {
  let directory = '';

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'gate-uninstall-'));
    const objects = [
      {
        apiVersion: 'admissionregistration.k8s.io/v1',
        kind: 'ValidatingWebhookConfiguration',
        metadata: { name: 'pacto-gate-policies' },
        webhooks: [entryFor('a')],
      },
      {
        apiVersion: 'admissionregistration.k8s.io/v1',
        kind: 'ValidatingAdmissionPolicy',
        metadata: { name: 'a', labels: { [MANAGED_LABEL]: 'pacto-gate' } },
        spec: {},
      },
      {
        apiVersion: 'gate.pacto.trianalab.io/v1',
        kind: 'ValidatingAdmissionPolicy',
        metadata: { name: 'a' },
        spec: {},
        status: { enforcedBy: 'Webhook' },
      },
      {
        apiVersion: 'coordination.k8s.io/v1',
        kind: 'Lease',
        metadata: { namespace: 'pacto-system', name: 'pacto-gate-installer' },
        spec: { holderIdentity: 'one', leaseDurationSeconds: 15, renewTime: '2026-01-01T00:00:00.000000Z' },
      },
    ];
    await writeFile(join(directory, 'all.yaml'), objects.map((one) => JSON.stringify(one)).join('\n---\n'));
  });
  afterAll(() => rm(directory, { recursive: true }));

  const uninstall = (...flags: string[]): Promise<Ran> =>
    runCommand(['uninstall', '--cluster-directory', directory, ...flags]);

  it('says what it would do, what is left to delete, and that an installer runs', async () => {
    const ran = await uninstall('--installer-namespace', 'pacto-system');
    expect(ran.code).toBe(0);
    expect(ran.out).toContain(
      'would empty pacto-gate-policies (1 entry):\n  a.policies.gate.pacto.trianalab.io',
    );
    expect(ran.out).toContain('1 native object stays, and goes on enforcing:\n  ValidatingAdmissionPolicy/a');
    expect(ran.out).toContain('would write enforcedBy None into the status of 1 policy:\n  a\n');
    expect(ran.out).toContain('nothing was written: give --yes');
    expect(ran.out).toContain('kubectl delete validatingwebhookconfiguration pacto-gate-policies');
    expect(ran.out).toContain('--all-namespaces --selector app.kubernetes.io/name=pacto-gate');
    expect(ran.err).toContain('the installer one runs');
  });

  it('says the same as data', async () => {
    const ran = await uninstall('--native', '--output', 'json');
    expect(JSON.parse(ran.out)).toMatchObject({
      done: false,
      removesNative: true,
      configurations: [{ name: 'pacto-gate-policies', entries: ['a.policies.gate.pacto.trianalab.io'] }],
      natives: ['ValidatingAdmissionPolicy/a'],
      policies: [{ name: 'a', enforcedBy: 'Webhook' }],
    });
    expect(ran.err).toContain('--installer-namespace');
  });

  it('never writes files', async () => {
    const ran = await uninstall('--yes');
    expect(ran.code).toBe(2);
    expect(ran.err).toContain('files are never written');
  });

  it('needs a cluster', async () => {
    const ran = await runCommand(['uninstall', '--cluster-source', 'none']);
    expect(ran.code).toBe(2);
    expect(ran.err).toContain('there is no cluster');
  });
});
