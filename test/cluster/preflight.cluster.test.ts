/** Preflight beside a gate that runs: what it says to whoever may read, and to whoever may not. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/clock.ts';
import { GATE_POLICY, GATE_POLICY_BINDING } from '../../src/cluster/kinds.ts';
import { preflightRights } from '../../src/install/preflight/live-cluster.ts';
import type { PreflightReport } from '../../src/install/preflight/preflight.ts';
import { runCommand } from '../cli/run-command.ts';
import { createAuthority } from './support/certificates.ts';
import { clusterSuite } from './support/cluster-suite.ts';
import { applyEntries, GATE_NAMESPACE } from './support/gate.ts';
import { startSite, type Site } from './support/site.ts';

const READER = { serviceAccount: 'reader', namespace: GATE_NAMESPACE } as const;
const NOBODY = { serviceAccount: 'nobody', namespace: GATE_NAMESPACE } as const;

clusterSuite('preflight', { versions: ['1.36'] }, () => {
  let site: Site;
  let reader = '';
  let nobody = '';

  beforeAll(async () => {
    site = await startSite({ plane: { version: '1.36' } });
    const { plane } = site;
    const account = ({ serviceAccount, namespace }: typeof READER | typeof NOBODY): object => ({
      apiVersion: 'v1',
      kind: 'ServiceAccount',
      metadata: { name: serviceAccount, namespace },
    });
    await plane.apply([
      account(READER),
      account(NOBODY),
      {
        apiVersion: 'rbac.authorization.k8s.io/v1',
        kind: 'ClusterRole',
        metadata: { name: 'preflight' },
        rules: preflightRights([GATE_POLICY, GATE_POLICY_BINDING]),
      },
      {
        apiVersion: 'rbac.authorization.k8s.io/v1',
        kind: 'ClusterRoleBinding',
        metadata: { name: 'preflight' },
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'preflight' },
        subjects: [{ kind: 'ServiceAccount', name: READER.serviceAccount, namespace: GATE_NAMESPACE }],
      },
    ]);
    reader = plane.kubeconfigFor('reader', { token: await plane.tokenFor(READER) });
    nobody = plane.kubeconfigFor('nobody', { token: await plane.tokenFor(NOBODY) });
  });
  afterAll(() => site?.stop());

  const preflight = async (
    kubeconfig: string,
    ...flags: readonly string[]
  ): Promise<PreflightReport & { readonly code: number }> => {
    const caFile = join(site.plane.directory, 'preflight-ca.crt');
    writeFileSync(caFile, site.gate.authority.certificate);
    const { code, out, err } = await runCommand(
      [
        'preflight',
        `--cluster-kubeconfig=${kubeconfig}`,
        `--installer-url=${site.gate.url}`,
        `--installer-namespace=${GATE_NAMESPACE}`,
        `--installer-ca-file=${caFile}`,
        '--output=json',
        ...flags,
      ],
      { clock: systemClock },
    );
    if (out === '') throw new Error(err);
    return { code, ...(JSON.parse(out) as PreflightReport) };
  };
  const codesOf = ({ findings }: PreflightReport): readonly string[] => findings.map(({ code }) => code);

  it('finds a gate in order, by no more than the rights that it names', async () => {
    const report = await preflight(reader);
    expect(codesOf(report)).toEqual(['PREFLIGHT_CERTIFICATE_EXPIRES', 'PREFLIGHT_AUTH_NONE']);
    expect(report.unknown).toEqual([]);
    // The certificate of a test is for a day.
    expect(report.findings[0]?.what).toBe('the certificate expires in less than 1 day');
    expect(report.code).toBe(1);
    const said = await preflight(reader, '--webhooks-network-policy-declared');
    expect(codesOf(said)).toEqual(['PREFLIGHT_CERTIFICATE_EXPIRES']);
  });

  it('writes nothing', async () => {
    await preflight(reader);
    const user = `system:serviceaccount:${GATE_NAMESPACE}:reader`;
    const verbs = site.plane
      .auditEvents()
      .filter((event) => event.user.username === user)
      .map(({ verb }) => verb);
    expect(verbs.length).toBeGreaterThan(5);
    expect(new Set(verbs)).toEqual(new Set(['get', 'list']));
  });

  it('calls nothing fine for whoever may read nothing', async () => {
    const report = await preflight(nobody, '--policies-sources=customResources');
    expect(report.code).toBe(3);
    expect(report.steps).toEqual([]);
    expect(report.rights).toEqual(preflightRights([GATE_POLICY, GATE_POLICY_BINDING]));
    expect(report.unknown.map(({ what }) => what)).toEqual(
      expect.arrayContaining([
        'validatingwebhookconfigurations',
        'what the entries of pacto-gate-policies should be',
      ]),
    );
  });

  describe('while the entries trust another CA', () => {
    beforeAll(async () => {
      const { certificate } = await createAuthority('another CA');
      await applyEntries(site.plane, site.gate, { ca: certificate });
    });
    afterAll(() => applyEntries(site.plane, site.gate));

    it('says that they do, and that the certificate is not trusted', async () => {
      const report = await preflight(reader);
      expect(codesOf(report).filter((code) => code === 'PREFLIGHT_CA_BUNDLE')).toHaveLength(4);
      const untrusted = report.findings.filter(({ code }) => code === 'PREFLIGHT_CERTIFICATE_UNTRUSTED');
      expect(untrusted.map(({ where }) => where)).toEqual([site.gate.url]);
    });
  });

  it('says that nobody answers once the server has ended', async () => {
    await site.gate.end('SIGTERM');
    const { findings } = await preflight(reader);
    await site.gate.start();
    const found = findings.find(({ code }) => code === 'PREFLIGHT_CERTIFICATE_NOT_CHECKED');
    expect(found?.what).toContain('ECONNREFUSED');
  });
});
