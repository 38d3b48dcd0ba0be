/** The installer beside real API servers: policies that are custom resources, their entries, their status, its rights. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { systemClock } from '../../src/clock.ts';
import { runCommand } from '../cli/run-command.ts';
import { createApiClient, type ApiBody, type ApiClient } from './support/api-client.ts';
import { clusterSuite } from './support/cluster-suite.ts';
import { startControlPlane, type ControlPlane, type ControlPlaneOptions } from './support/control-plane.ts';
import { GATE_NAMESPACE, startGate, type Gate } from './support/gate.ts';
import { granted } from './support/granted.ts';
import {
  entriesIn,
  INSTALLER_ACCOUNT,
  INSTALLER_USERNAME,
  prepareInstaller,
  type Installer,
} from './support/installer.ts';
import { applyPolicyDefinitions } from './support/policy-definitions.ts';
import { pollUntil } from './support/polling.ts';

const GROUP = '/apis/admissionregistration.k8s.io/v1';
const CONFIGURATION = `${GROUP}/validatingwebhookconfigurations/pacto-gate-policies`;
const POLICIES = '/apis/gate.pacto.trianalab.io/v1/validatingadmissionpolicies';
const CONFIG_MAPS = '/api/v1/namespaces/default/configmaps';
const TIMEOUT_MS = 60_000;

const AUDIT_POLICY = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
  - level: Metadata
    users: ['${INSTALLER_USERNAME}']
  - level: None
`;

interface Status {
  readonly enforcedBy?: string;
  readonly entry?: string;
  readonly observedGeneration?: number;
  readonly conditions?: readonly {
    readonly type: string;
    readonly status: string;
    readonly reason: string;
  }[];
  readonly typeChecking?: { readonly expressionWarnings?: readonly { readonly fieldRef: string }[] };
  readonly compileErrors?: readonly { readonly field: string }[];
  readonly notEnforcedHere?: readonly string[];
}

function policy(name: string, spec: object): object {
  return {
    apiVersion: 'gate.pacto.trianalab.io/v1',
    kind: 'ValidatingAdmissionPolicy',
    metadata: { name },
    spec: {
      matchConstraints: {
        resourceRules: [
          {
            apiGroups: [''],
            apiVersions: ['v1'],
            operations: ['CREATE', 'UPDATE'],
            resources: ['configmaps'],
          },
        ],
      },
      ...spec,
    },
  };
}

function binding(name: string): object {
  return {
    apiVersion: 'gate.pacto.trianalab.io/v1',
    kind: 'ValidatingAdmissionPolicyBinding',
    metadata: { name },
    spec: { policyName: name, validationActions: ['Deny'] },
  };
}

const CASES = [
  { version: '1.36', enforcement: 'webhooks', by: 'Webhook' },
  { version: '1.36', enforcement: 'native', by: 'Native' },
  { version: '1.29', enforcement: 'auto', by: 'Webhook' },
] as const satisfies readonly (Pick<ControlPlaneOptions, 'version'> & { enforcement: string; by: string })[];

for (const { version, enforcement, by } of CASES) {
  clusterSuite(`installer on ${version}, ${enforcement}`, { versions: [version] }, () => {
    let plane: ControlPlane;
    let api: ApiClient;
    let gate: Gate;
    let installer: Installer;

    beforeAll(async () => {
      plane = await startControlPlane({ version, auditPolicy: AUDIT_POLICY });
      api = createApiClient(plane);
      await applyPolicyDefinitions(plane, api);
      const flags = ['--policies-sources=customResources', '--identity-enabled=false'];
      gate = await startGate({ plane, flags });
      installer = await prepareInstaller({
        plane,
        gate,
        flags: [...flags, `--policies-enforcement=${enforcement}`],
      });
      await plane.apply([
        policy('no-bad', { validations: [{ expression: "object.metadata.name != 'bad'", message: 'bad' }] }),
        binding('no-bad'),
        policy('mistyped', {
          failurePolicy: 'Ignore',
          validations: [{ expression: "object.metadata.nonsense == 'x' || true" }],
        }),
        binding('mistyped'),
        policy('unbound', { validations: [{ expression: 'false' }] }),
      ]);
      await installer.start([]);
    });
    afterAll(async () => {
      await installer?.stop();
      await gate?.stop();
      await api?.close();
      await plane?.stop();
    });

    const entries = (): Promise<readonly string[]> => entriesIn(api);
    async function statusOf(name: string): Promise<Status> {
      const body = (await api.demand({ method: 'GET', path: `${POLICIES}/${name}` })) as { status?: Status };
      return body.status ?? {};
    }
    const until = (what: string, holds: () => Promise<boolean>): Promise<true> =>
      pollUntil(what, TIMEOUT_MS, async () => ((await holds()) ? true : undefined)).catch(
        (error: unknown) => {
          const said = installer.log().map((line) => JSON.stringify(line));
          throw new Error(`${String(error)}\n${said.slice(-20).join('\n')}`, { cause: error });
        },
      );
    const tryBad = (): Promise<{ status: number; body: ApiBody }> =>
      api.request({
        method: 'POST',
        path: `${CONFIG_MAPS}?dryRun=All`,
        body: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'bad', namespace: 'default' } },
      });

    it('enforces, and says in the status by what', async () => {
      await until('the status', async () => (await statusOf('no-bad')).enforcedBy === by);
      await until('a refusal', async () => (await tryBad()).status === 422);
      const status = await statusOf('no-bad');
      expect(status.observedGeneration).toBe(1);
      expect(status.entry).toBe(by === 'Webhook' ? 'no-bad.policies.gate.pacto.trianalab.io' : undefined);
      expect(status.conditions?.map(({ type, status: is, reason }) => `${type} ${is} ${reason}`)).toEqual([
        'Ready True Compiled',
        `Enforced True ${by}`,
      ]);
      expect((await statusOf('unbound')).enforcedBy).toBe('None');
      const mistyped = await statusOf('mistyped');
      expect(mistyped.typeChecking?.expressionWarnings?.map(({ fieldRef }) => fieldRef)).toEqual([
        'spec.validations[0].expression',
      ]);
      expect(await entries()).toEqual(
        [
          ...(by === 'Webhook'
            ? ['mistyped.policies.gate.pacto.trianalab.io', 'no-bad.policies.gate.pacto.trianalab.io']
            : []),
          'policy-writers.gate.pacto.trianalab.io',
        ].toSorted(),
      );
    });

    it('comes to rest: nothing is written while nothing changes', async () => {
      const versionsOf = async (): Promise<unknown> => {
        const paths = [
          CONFIGURATION,
          ...['no-bad', 'mistyped', 'unbound'].map((name) => `${POLICIES}/${name}`),
        ];
        const objects = await Promise.all(paths.map((path) => api.demand({ method: 'GET', path })));
        return objects.map(({ metadata }) => metadata?.resourceVersion);
      };
      // The last words about a round, which come after all that it writes.
      await until('the first round to be told', () =>
        Promise.resolve(
          installer
            .log()
            .some(({ message, dimension }) => message === 'policies enforced' && dimension === by),
        ),
      );
      const before = await versionsOf();
      // Wakes it: a change that asks for nothing.
      await plane.kubectl(['annotate', 'validatingwebhookconfiguration', 'pacto-gate-node-identity', 'a=b']);
      const rounds = installer.log().length;
      await until('its Lease to be renewed twice', async () => {
        const path = `/apis/coordination.k8s.io/v1/namespaces/${GATE_NAMESPACE}/leases/pacto-gate-installer`;
        const { spec } = (await api.demand({ method: 'GET', path })) as { spec?: { renewTime?: string } };
        renewals.add(spec?.renewTime ?? '');
        return renewals.size > 2;
      });
      expect(await versionsOf()).toEqual(before);
      // What is still told of the first round, or of a watch, is no work.
      const works = /^installer(?! leads)|^somebody else changes/;
      const told = installer.log().slice(rounds);
      expect(told.filter(({ message }) => works.test(message))).toEqual([]);
    });
    const renewals = new Set<string>();

    it('follows a change, and the end of a policy', async () => {
      await plane.apply([
        policy('no-bad', {
          validations: [{ expression: "object.metadata.name != 'worse'", message: 'worse' }],
        }),
      ]);
      await until('the new generation', async () => (await statusOf('no-bad')).observedGeneration === 2);
      await until('the new policy', async () => (await tryBad()).status === 201);
      await plane.kubectl(['delete', 'validatingadmissionpolicies.gate.pacto.trianalab.io', 'no-bad']);
      await until('its enforcement to be gone', async () => {
        const native = await plane.kubectl([
          'get',
          'validatingadmissionpolicies.v1.admissionregistration.k8s.io',
          '-o',
          'name',
        ]);
        return !(await entries()).join().includes('no-bad') && !native.stdout.includes('no-bad');
      });
      expect((await entries()).join()).toContain('policy-writers');
    });

    it('puts back what somebody else took away', async () => {
      const patch = ['patch', 'validatingwebhookconfiguration', 'pacto-gate-policies', '--type=json'];
      const took = await plane.kubectl([...patch, '-p=[{"op":"remove","path":"/webhooks"}]']);
      expect(took.stderr).toBe('');
      await until('the entries to be back', async () => (await entries()).length > 0);
      expect((await entries()).join()).toContain('policy-writers');
    });

    it('asked for nothing beyond its roles', async () => {
      const events = plane.auditEvents();
      const rights = await granted(api, [GATE_NAMESPACE], INSTALLER_ACCOUNT);
      const beyond = events.filter(({ objectRef, verb }) => {
        if (objectRef?.resource === undefined) return false;
        const part = objectRef.subresource === undefined ? '' : `/${objectRef.subresource}`;
        const what = `${verb} ${objectRef.apiGroup ?? ''}/${objectRef.resource}${part}`;
        return !rights.has(`: ${what}`) && !rights.has(`${objectRef.namespace ?? ''}: ${what}`);
      });
      expect(events.length).toBeGreaterThan(10);
      expect(beyond.map(({ verb, requestURI }) => `${verb} ${requestURI}`)).toEqual([]);
      const refused = events.filter(
        ({ responseStatus, objectRef }) =>
          responseStatus?.code === 403 && objectRef?.resource !== 'configmaps',
      );
      expect(refused.map(({ verb, requestURI }) => `${verb} ${requestURI}`)).toEqual([]);
      for (const question of [
        'create deployments',
        'get secrets',
        'delete validatingwebhookconfigurations',
      ]) {
        const [verb = '', resource = ''] = question.split(' ');
        const args = ['auth', 'can-i', verb, resource, '--all-namespaces'];
        const { stdout } = await plane.kubectl(args, { as: INSTALLER_USERNAME });
        expect(`${question}: ${stdout.trim()}`).toBe(`${question}: no`);
      }
    });

    it('is taken out without an entry that is left behind', async () => {
      const uninstall = (...flags: string[]): ReturnType<typeof runCommand> =>
        runCommand(
          [
            'uninstall',
            `--cluster-kubeconfig=${plane.adminKubeconfigPath}`,
            `--installer-namespace=${GATE_NAMESPACE}`,
            ...flags,
          ],
          { clock: systemClock },
        );
      const early = await uninstall('--yes');
      expect(early.code).toBe(1);
      expect(early.err).toContain('stop it first');
      expect((await entries()).length).toBeGreaterThan(0);
      await installer.end('SIGTERM');
      const done = await uninstall('--native', '--yes');
      expect(`${done.code} ${done.err}`).toBe('0 ');
      expect(await entries()).toEqual([]);
      const native = ['get', 'validatingadmissionpolicies.v1.admissionregistration.k8s.io', '-o', 'name'];
      expect((await plane.kubectl(native)).stdout).toBe('');
    });
  });
}
