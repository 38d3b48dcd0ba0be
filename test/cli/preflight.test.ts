import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { PreflightReport } from '../../src/install/preflight/preflight.ts';
import { runCommand, type Ran } from './run-command.ts';

const POLICY = {
  apiVersion: 'admissionregistration.k8s.io/v1',
  kind: 'ValidatingAdmissionPolicy',
  metadata: { name: 'labels.example.com' },
  spec: {
    matchConstraints: {
      resourceRules: [
        { apiGroups: ['apps'], apiVersions: ['v1'], operations: ['CREATE'], resources: ['deployments'] },
      ],
    },
    validations: [{ expression: 'has(object.metadata.labels)' }],
  },
};
const BINDING = {
  apiVersion: 'admissionregistration.k8s.io/v1',
  kind: 'ValidatingAdmissionPolicyBinding',
  metadata: { name: 'labels' },
  spec: { policyName: 'labels.example.com', validationActions: ['Deny'] },
};
const GATE = { namespace: 'pacto-system', name: 'pacto-gate' };
const SITE = [
  { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'pacto-system' } },
  { apiVersion: 'v1', kind: 'Service', metadata: GATE, spec: { ports: [{ port: 443 }] } },
  {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: { ...GATE, labels: { 'kubernetes.io/service-name': 'pacto-gate' } },
    endpoints: [{ addresses: ['10.0.0.1'] }],
  },
];

let root = '';
let flags: readonly string[] = [];

const write = (file: string, items: readonly object[]): Promise<void> =>
  writeFile(join(root, file), JSON.stringify({ apiVersion: 'v1', kind: 'List', items }));
const preflight = (...more: readonly string[]): Promise<Ran> =>
  runCommand(['preflight', `--cluster-directory=${root}/cluster`, ...flags, ...more]);
const reportOf = async (...more: readonly string[]): Promise<PreflightReport & { code: number }> => {
  const { code, out } = await preflight('--output=json', ...more);
  return { code, ...(JSON.parse(out) as PreflightReport) };
};

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'gate-preflight-'));
  await mkdir(join(root, 'cluster'));
  await write('policies.json', [POLICY, BINDING]);
  await write('cluster/site.json', SITE);
  flags = [
    `--policies-files=${root}/policies.json`,
    '--installer-service=pacto-system/pacto-gate',
    '--webhooks-network-policy-declared',
  ];
  const { code, out, err } = await runCommand([
    'generate',
    'webhooks',
    `--policies-files=${root}/policies.json`,
    '--service=pacto-system/pacto-gate',
  ]);
  if (code !== 0) throw new Error(err);
  await writeFile(join(root, 'cluster/entries.yaml'), out);
});
afterEach(() => rm(root, { recursive: true }));

describe('preflight', () => {
  it('finds nothing wrong with what generate webhooks wrote', async () => {
    const { code, findings, unknown, steps } = await reportOf();
    expect(findings.map((found) => found.code)).toEqual([
      'PREFLIGHT_NOT_COMPARED',
      'PREFLIGHT_CERTIFICATE_NOT_CHECKED',
    ]);
    expect(unknown).toEqual([]);
    expect(steps.filter(({ outcome }) => outcome !== 'possible')).toEqual([]);
    expect(code).toBe(0);
  });

  it('finds out where the gate is from its entries, and compares the rest', async () => {
    flags = flags.filter((flag) => !flag.startsWith('--installer'));
    const { code, namespace, findings } = await reportOf();
    expect({ code, namespace }).toEqual({ code: 0, namespace: 'pacto-system' });
    expect(findings[0]?.what).toBe(
      'the entries were compared without their address (installer.service or installer.url) and their caBundle (installer.caFile)',
    );
  });

  it('says for a person what is wrong, what comes of it, and what to do', async () => {
    await write('policies.json', [{ ...POLICY, spec: { ...POLICY.spec, failurePolicy: 'Ignore' } }, BINDING]);
    const { code, out, err } = await preflight();
    expect({ code, err }).toEqual({ code: 1, err: '' });
    expect(out).toContain(
      `gate: namespace pacto-system

PROBLEM: ValidatingWebhookConfiguration pacto-gate-policies, entry labels.example.com [PREFLIGHT_FAILURE_POLICY]
  failurePolicy is Fail and should be Ignore
  so that: while the gate is away requests are refused, although it was said that they pass
  next step: apply what pacto-gate generate webhooks writes, or let the installer
`,
    );
    expect(out).toMatch(
      /While no process of the gate runs, (\d+) of \1 steps of recovery are possible at once\.\n/,
    );
    expect(out).toMatch(/\n1 problem, 0 warnings, 2 notes, 0 not known\n$/);
  });

  it('shows steps that are blocked, and by which entry', async () => {
    const rule = {
      apiGroups: [''],
      apiVersions: ['v1'],
      operations: ['*'],
      resources: ['persistentvolumes'],
    };
    const matchConstraints = { resourceRules: [rule] };
    await write('policies.json', [{ ...POLICY, spec: { ...POLICY.spec, matchConstraints } }, BINDING]);
    const { out: entries } = await runCommand([
      'generate',
      'webhooks',
      `--policies-files=${root}/policies.json`,
      '--service=pacto-system/pacto-gate',
    ]);
    await writeFile(join(root, 'cluster/entries.yaml'), entries);
    const { code, out } = await preflight();
    expect(code).toBe(0);
    expect(out).toContain(
      'Warning: ValidatingWebhookConfiguration pacto-gate-policies, entry labels.example.com',
    );
    expect(out).toMatch(
      /\n {2}BLOCKED {2}comfort {2}storage-volume {2}a volume is made {2}by labels\.example\.com\n/,
    );
    expect((await preflight('--strict')).code).toBe(1);
  });

  it('could not find out what a file holds that is broken', async () => {
    await writeFile(join(root, 'cluster/broken.yaml'), 'kind: [');
    const { code, unknown, rights } = await reportOf();
    expect(code).toBe(3);
    expect(unknown.map(({ what }) => what)).toContain('validatingwebhookconfigurations');
    expect(rights.length).toBeGreaterThan(5);
    const { out } = await preflight();
    expect(out).toContain('\nNot known:\n  validatingwebhookconfigurations: ');
    expect(out).toContain(
      '  - {apiGroups: ["admissionregistration.k8s.io"], resources: ["validatingwebhookconfigurations"], verbs: ["list"]}\n',
    );
  });

  it('could not find out what entries of policies should be where nobody says which policies there are', async () => {
    flags = flags.slice(1);
    const { code, unknown, findings } = await reportOf();
    expect(code).toBe(3);
    expect(unknown).toEqual([
      {
        what: 'what the entries of pacto-gate-policies should be',
        why: 'the configuration names no policies: give that of the server by --config, or delete the entries if it has none',
      },
    ]);
    expect(findings.filter(({ level }) => level === 'problem')).toEqual([]);
  });

  it('calls nothing left over while a policy cannot be read', async () => {
    await write('policies.json', [{ ...POLICY, spec: { ...POLICY.spec, failurePolicy: 7 } }, BINDING]);
    const { code, unknown, findings } = await reportOf();
    expect(code).toBe(3);
    expect(unknown).toHaveLength(1);
    expect(new Set(findings.map((found) => found.code))).toEqual(
      new Set(['PREFLIGHT_POLICY', 'PREFLIGHT_NOT_COMPARED', 'PREFLIGHT_CERTIFICATE_NOT_CHECKED']),
    );
  });

  it('compares policies of the cluster itself', async () => {
    const group = 'gate.pacto.trianalab.io/v1';
    await write('cluster/policies.json', [
      { ...POLICY, apiVersion: group, metadata: { name: 'more.example.com' } },
      {
        ...BINDING,
        apiVersion: group,
        metadata: { name: 'more' },
        spec: { ...BINDING.spec, policyName: 'more.example.com' },
      },
    ]);
    const { code, findings } = await reportOf('--policies-sources=customResources');
    expect(code).toBe(1);
    const missing = findings.filter((found) => found.code === 'PREFLIGHT_ENTRY_MISSING');
    expect(missing.map(({ what }) => what.split(',', 1)[0])).toEqual([
      'there is no entry more.example.com',
      'there is no entry policy-writers.gate.pacto.trianalab.io',
    ]);
  });

  it('needs a cluster', async () => {
    expect(await runCommand(['preflight'])).toEqual({
      code: 2,
      out: '',
      err: 'pacto-gate: there is no cluster to look at: give --cluster-kubeconfig, KUBECONFIG or --cluster-directory\n',
    });
  });
});
