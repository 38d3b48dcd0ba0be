/**
 * With every process of the gate gone and all entries on Fail: what `preflight` calls possible is possible, and what it
 * calls blocked is refused for want of an answer. A policy that denies everything can still be taken away.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { entriesOf } from '../../src/app/entries.ts';
import { openPolicySources } from '../../src/app/policy-sources.ts';
import { systemClock } from '../../src/clock.ts';
import type { Cluster } from '../../src/cluster/cluster.ts';
import { openCluster } from '../../src/cluster/open.ts';
import { loadConfig, type Config } from '../../src/config.ts';
import { LiveCluster } from '../../src/install/preflight/live-cluster.ts';
import { readGate } from '../../src/install/preflight/live-gate.ts';
import type { PreflightReport } from '../../src/install/preflight/preflight.ts';
import type { RecoveryStep } from '../../src/install/preflight/recovery-step.ts';
import { recoverySteps } from '../../src/install/preflight/recovery-steps.ts';
import { API_SERVER } from '../../src/install/preflight/recovery-users.ts';
import { silentLog } from '../../src/log.ts';
import { runCommand } from '../cli/run-command.ts';
import { createApiClient, type ApiClient } from './support/api-client.ts';
import { clusterSuite } from './support/cluster-suite.ts';
import { startControlPlane, type ControlPlane, type KubernetesVersion } from './support/control-plane.ts';
import { pollUntil } from './support/polling.ts';
import { prepareKinds, prepareObjects, sendStep, type SentStep } from './support/recovery.ts';

const NAMESPACE = 'pacto-system';
const TEAM = 'team-policies';
/** A port on which nobody listens. */
const DEAD = 'https://127.0.0.1:1';
const POLICIES = '/apis/gate.pacto.trianalab.io/v1/validatingadmissionpolicies';
const BINDINGS = '/apis/gate.pacto.trianalab.io/v1/validatingadmissionpolicybindings';
const NATIVE = '/apis/admissionregistration.k8s.io/v1';
const CONFIGURATIONS = `${NATIVE}/validatingwebhookconfigurations`;
const CLUSTER_ROLES = '/apis/rbac.authorization.k8s.io/v1/clusterroles';
const CONFIG_MAPS = '/api/v1/namespaces/default/configmaps';

const EVERYTHING = { apiGroups: ['*'], apiVersions: ['*'], operations: ['*'], resources: ['*/*'] };

/** A policy that denies all there is, and its binding. */
function denyAll(name: string, group: string, labels: object = {}): readonly [object, object] {
  const apiVersion = `${group}/v1`;
  const metadata = { name, labels };
  return [
    {
      apiVersion,
      kind: 'ValidatingAdmissionPolicy',
      metadata,
      spec: {
        matchConstraints: { resourceRules: [EVERYTHING] },
        validations: [{ expression: 'false', message: 'nothing is allowed' }],
      },
    },
    {
      apiVersion,
      kind: 'ValidatingAdmissionPolicyBinding',
      metadata,
      spec: { policyName: name, validationActions: ['Deny'] },
    },
  ];
}

const GATE_OBJECTS = [
  { apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE } },
  { apiVersion: 'v1', kind: 'Namespace', metadata: { name: TEAM } },
  { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'flux-system' } },
  {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: {
      name: 'pacto-gate',
      namespace: NAMESPACE,
      labels: {
        'app.kubernetes.io/name': 'pacto-gate',
        'helm.toolkit.fluxcd.io/name': 'pacto-gate',
        'helm.toolkit.fluxcd.io/namespace': 'flux-system',
      },
    },
    spec: {
      selector: { matchLabels: { app: 'pacto-gate' } },
      template: {
        metadata: { labels: { app: 'pacto-gate' } },
        spec: { containers: [{ name: 'gate', image: 'registry.invalid/pacto-gate:1' }] },
      },
    },
  },
] as const;

describe.each<KubernetesVersion>(['1.36', '1.29'])('on %s', (version) => {
  clusterSuite(`lock-out (${version})`, { versions: [version] }, () => {
    let plane: ControlPlane;
    let api: ApiClient;
    let cluster: Cluster;
    let steps: readonly RecoveryStep[];
    let flags: readonly string[];
    let config: Config;

    beforeAll(async () => {
      plane = await startControlPlane({ version });
      api = createApiClient(plane, 8);
      cluster = await openCluster(
        { source: 'kubeconfig', paths: [plane.adminKubeconfigPath] },
        systemClock,
        () => undefined,
      );
      await prepareKinds(plane, api);
      await plane.apply([...GATE_OBJECTS]);
      const directory = join(plane.directory, 'policies');
      mkdirSync(directory);
      const ofFile = denyAll('of-file.example.com', 'admissionregistration.k8s.io');
      writeFileSync(
        join(directory, 'all.json'),
        JSON.stringify({ apiVersion: 'v1', kind: 'List', items: ofFile }),
      );
      await plane.apply([
        ...denyAll('of-custom.example.com', 'gate.pacto.trianalab.io'),
        ...[NAMESPACE, TEAM].map((namespace) => ({
          apiVersion: 'v1',
          kind: 'ConfigMap',
          metadata: { name: 'policies', namespace, labels: { 'gate.pacto.trianalab.io/policies': 'true' } },
          data: {
            'all.yaml': denyAll(`of-${namespace}.example.com`, 'gate.pacto.trianalab.io')
              .map((object) => JSON.stringify(object))
              .join('\n---\n'),
          },
        })),
      ]);
      flags = [
        `--policies-directory=${directory}`,
        '--policies-sources=customResources,configMaps',
        `--policies-namespaces=${NAMESPACE},${TEAM}`,
        `--installer-url=${DEAD}`,
        `--installer-namespace=${NAMESPACE}`,
      ];
      config = await configOf(flags);
      const { site } = await readGate(new LiveCluster(cluster), {
        namespace: NAMESPACE,
        policyNamespaces: [NAMESPACE, TEAM],
      });
      steps = recoverySteps(site);
      await prepareObjects(api, steps);
    });
    afterAll(async () => {
      await cluster?.close();
      await api?.close();
      await plane?.stop();
    });

    const preflight = async (): Promise<
      PreflightReport & { readonly code: number; readonly err: string }
    > => {
      const { code, out, err } = await runCommand(
        ['preflight', `--cluster-kubeconfig=${plane.adminKubeconfigPath}`, ...flags, '--output=json'],
        { clock: systemClock },
      );
      if (out === '') throw new Error(err);
      return { ...(JSON.parse(out) as PreflightReport), code, err };
    };

    /** What preflight said beside what the API server did, for each step where they are not the same. */
    const differences = async (report: PreflightReport): Promise<readonly object[]> => {
      const said = new Map(report.steps.map((step) => [step.id, step]));
      const sent: SentStep[] = [];
      for (const step of steps) sent.push(await sendStep(api, step));
      expect(report.steps.map(({ id }) => id)).toEqual(steps.map(({ id }) => id));
      return sent.flatMap(({ id, outcome, message }) => {
        const step = said.get(id);
        const named = step?.by.some(({ entry }) => message.includes(`"${entry}"`)) === true;
        const agrees = outcome === step?.outcome && (outcome !== 'blocked' || named);
        // Kinds that this release does not have.
        return agrees || outcome === 'absent' ? [] : [{ id, said: step?.outcome, did: outcome, message }];
      });
    };
    const absent = async (): Promise<readonly string[]> => {
      const sent = await Promise.all(steps.map((step) => sendStep(api, step)));
      return sent.filter(({ outcome }) => outcome === 'absent').map(({ id }) => id);
    };
    /** Until a request that every policy here is about is refused, or passes. */
    const until = async (refused: boolean): Promise<void> => {
      await pollUntil(refused ? 'the entries to act' : 'the entries to be gone', 30_000, async () => {
        const { status } = await api.request({
          method: 'POST',
          path: `${CONFIG_MAPS}?dryRun=All`,
          body: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'probe' } },
        });
        return status >= 300 === refused ? true : undefined;
      });
    };
    const apply = async (configurations: readonly object[]): Promise<void> => {
      const stdin = JSON.stringify({ apiVersion: 'v1', kind: 'List', items: configurations });
      const { code, stderr } = await plane.kubectl(
        ['apply', '--server-side', '--force-conflicts', '-f', '-'],
        { stdin },
      );
      if (code !== 0) throw new Error(stderr);
    };
    /** @param kubeMinor that they are for: before 1.28 wildcards are written out. */
    const applyGenerated = async (kubeMinor = Number(version.split('.')[1])): Promise<void> => {
      const sources = await openPolicySources(
        { ...config, state: 'live' },
        { cluster, clock: systemClock, log: silentLog() },
      );
      const { identity, policies } = entriesOf(config, {
        target: { url: DEAD },
        timeoutSeconds: 10,
        kubeMinor,
        served: (await cluster.resources()).resources,
        policies: sources.current(),
      });
      await sources.close();
      // Of the four that deny everything, of the one that is a step of recovery, and of the writers.
      expect(policies.configuration.webhooks).toHaveLength(6);
      await apply([identity.configuration, policies.configuration]);
    };

    it('passes every step while there are no entries', async () => {
      const report = await preflight();
      expect(report.steps.filter(({ outcome }) => outcome !== 'possible')).toEqual([]);
      expect(await differences(report)).toEqual([]);
      expect(await absent()).toEqual(
        version === '1.36'
          ? []
          : [
              'cure-native-policy-delete',
              'cure-native-policy-update',
              'cure-native-binding-delete',
              'cure-native-binding-update',
            ],
      );
    });

    describe('with entries for an API server without match conditions', () => {
      beforeAll(async () => {
        await applyGenerated(27);
        await until(true);
      });
      afterAll(async () => {
        await api.request({ method: 'DELETE', path: `${CONFIGURATIONS}/pacto-gate-policies` });
        await until(false);
      });

      it('is refused and passes what preflight says', async () => {
        const report = await preflight();
        const conditions = report.findings.filter(({ code }) => code === 'PREFLIGHT_CONDITIONS');
        expect(conditions.length).toBeGreaterThan(3);
        expect(await differences(report)).toEqual([]);
      });
    });

    describe('with the entries that are generated for policies that deny everything', () => {
      beforeAll(async () => {
        await applyGenerated();
        await until(true);
      });

      it('is refused what preflight calls blocked, and passes what it calls possible', async () => {
        const report = await preflight();
        expect(await differences(report)).toEqual([]);
        const blocked = report.steps.filter(({ outcome }) => outcome === 'blocked');
        expect(blocked.filter(({ need }) => need === 'necessary').map(({ id }) => id)).toEqual([
          'node-csinode-create',
          'pointer-helmrelease-flux-system-pacto-gate-update',
          'pointer-helmrelease-flux-system-pacto-gate-status',
        ]);
        expect(report.code).toBe(1);
        expect(report.unknown).toEqual([]);
      });

      it('finds the entries to be as they should, and each of them in the way', async () => {
        const { findings } = await preflight();
        const codes = findings.filter(({ level }) => level === 'problem').map(({ code }) => code);
        expect(new Set(codes)).toEqual(new Set(['PREFLIGHT_RECOVERY_BLOCKED', 'PREFLIGHT_POINTER_BLOCKED']));
      });

      it('lets a policy be taken away that came from a custom resource', async () => {
        for (const path of [BINDINGS, POLICIES])
          await api.demand({ method: 'DELETE', path: `${path}/of-custom.example.com` });
        const update = await api.request({
          method: 'POST',
          path: `${POLICIES}?dryRun=All`,
          body: denyAll('another.example.com', 'gate.pacto.trianalab.io')[0],
        });
        expect(update.body.message).toContain(
          'failed calling webhook "policy-writers.gate.pacto.trianalab.io"',
        );
      });

      it.each([NAMESPACE, TEAM])('lets a policy be taken out of a ConfigMap of %s', async (namespace) => {
        const path = `/api/v1/namespaces/${namespace}/configmaps/policies`;
        const emptied = await api.demand({
          method: 'PATCH',
          path,
          contentType: 'application/merge-patch+json',
          body: { data: { 'all.yaml': null } },
        });
        expect(emptied['data']).toBeUndefined();
        await api.demand({ method: 'DELETE', path });
        const elsewhere = await api.request({
          method: 'POST',
          path: CONFIG_MAPS,
          body: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'other' } },
        });
        expect(elsewhere.body.message).toContain('failed calling webhook');
      });

      it('lets an API server start that has roles of its release to write', async () => {
        // As after an upgrade, which brings new ones: without them it ends after half a minute.
        const path = `${CLUSTER_ROLES}/system:basic-user`;
        await api.demand({ method: 'DELETE', path, as: API_SERVER });
        await plane.stopApiServer('SIGTERM');
        await plane.startApiServer();
        await pollUntil('the role', 60_000, async () => {
          const { status } = await api.request({ method: 'GET', path });
          return status === 200 ? true : undefined;
        });
        const { body } = await api.request({ method: 'DELETE', path });
        expect(body.message).toContain('failed calling webhook');
      });

      it('lets the configuration be emptied and deleted, and everything passes then', async () => {
        const path = `${CONFIGURATIONS}/pacto-gate-policies`;
        await api.demand({
          method: 'PATCH',
          path,
          contentType: 'application/merge-patch+json',
          body: { webhooks: [] },
        });
        await until(false);
        await api.demand({ method: 'DELETE', path });
        await api.demand({ method: 'DELETE', path: `${CONFIGURATIONS}/pacto-gate-node-identity` });
        expect(await differences({ ...(await preflight()) })).toEqual([]);
      });
    });

    describe('with an entry of the gate about everything', () => {
      beforeAll(async () => {
        await apply([
          {
            apiVersion: 'admissionregistration.k8s.io/v1',
            kind: 'ValidatingWebhookConfiguration',
            metadata: { name: 'pacto-gate-policies', labels: { 'app.kubernetes.io/name': 'pacto-gate' } },
            webhooks: [
              {
                name: 'of-file.example.com',
                clientConfig: { url: `${DEAD}/validate/policies/of-file.example.com` },
                rules: [EVERYTHING],
                failurePolicy: 'Fail',
                sideEffects: 'None',
                admissionReviewVersions: ['v1'],
              },
            ],
          },
        ]);
        await until(true);
      });
      afterAll(async () => {
        await api.request({ method: 'DELETE', path: `${CONFIGURATIONS}/pacto-gate-policies` });
        await until(false);
      });

      it('is refused all but what no webhook is asked about, and preflight says so', async () => {
        const report = await preflight();
        const possible = report.steps.filter(({ outcome }) => outcome === 'possible').map(({ id }) => id);
        expect(possible).toEqual(
          ['validating', 'mutating', 'native-policy', 'native-binding'].flatMap((what) => [
            `cure-${what}-delete`,
            `cure-${what}-update`,
          ]),
        );
        expect(await differences(report)).toEqual([]);
        const codes = report.findings.filter(({ level }) => level === 'problem').map(({ code }) => code);
        expect(codes).toEqual(
          expect.arrayContaining([
            'PREFLIGHT_ENTRY_WIDER',
            'PREFLIGHT_NO_SELECTOR',
            'PREFLIGHT_RECOVERY_BLOCKED',
            'PREFLIGHT_POINTER_BLOCKED',
            'PREFLIGHT_CONFIGURATION_MISSING',
          ]),
        );
      });
    });

    if (version === '1.36') {
      it('lets a native policy be taken away that denies everything', async () => {
        const labels = { 'gate.pacto.trianalab.io/managed-by': 'pacto-gate' };
        const [policy, binding] = denyAll('native.example.com', 'admissionregistration.k8s.io', labels);
        const policies = `${NATIVE}/validatingadmissionpolicies`;
        const bindings = `${NATIVE}/validatingadmissionpolicybindings`;
        await api.demand({ method: 'POST', path: policies, body: policy });
        await api.demand({ method: 'POST', path: bindings, body: binding });
        await until(true);
        const { findings } = await preflight();
        const lock = findings.find(({ code }) => code === 'PREFLIGHT_NATIVE_LOCK');
        const refused = steps.filter(({ id }) => lock?.what.includes(id) === true);
        expect(refused.map(({ id }) => id)).toEqual([
          // About webhook configurations native policies are asked, and webhooks are not (vap.md F5).
          ...['validating', 'mutating'].flatMap((what) => [`cure-${what}-delete`, `cure-${what}-update`]),
          'cure-custom-policy-delete',
          'cure-custom-binding-delete',
          ...[NAMESPACE, TEAM].flatMap((namespace) => [
            `cure-configmap-delete-${namespace}`,
            `cure-configmap-update-${namespace}`,
          ]),
        ]);
        for (const step of refused)
          expect((await sendStep(api, step)).message).toContain('nothing is allowed');
        // What the API server enforces itself is not let off by R1: a custom policy is as locked as all else.
        const custom = await api.request({ method: 'DELETE', path: `${POLICIES}/preflight` });
        expect(custom.body.message).toContain('nothing is allowed');
        await api.demand({ method: 'DELETE', path: `${bindings}/native.example.com` });
        await api.demand({ method: 'DELETE', path: `${policies}/native.example.com` });
        await until(false);
      });
    }
  });
});

async function configOf(flags: readonly string[]): Promise<Config> {
  const loaded = await loadConfig({
    flags: flags.map((flag) => {
      const [name = '', value = ''] = flag.replace(/^--/, '').split('=');
      return { path: pathOf(name), value, origin: flag };
    }),
    env: {},
    readFile: () => Promise.reject(new Error('there is no file')),
  });
  if (!loaded.ok) throw new Error(loaded.problems.map(({ message }) => message).join('\n'));
  return loaded.config;
}

function pathOf(flag: string): string {
  const [section = '', ...rest] = flag.split('-');
  return `${section}.${rest.join('')}`;
}
