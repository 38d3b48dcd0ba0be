/** Policies change hands between webhook entries and the API server itself, and no request slips through meanwhile. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { ask } from '../support/http-client.ts';
import { createApiClient, type ApiClient } from './support/api-client.ts';
import { clusterSuite } from './support/cluster-suite.ts';
import { startControlPlane, type ControlPlane } from './support/control-plane.ts';
import { startGate, type Gate } from './support/gate.ts';
import { entriesIn, INSTALLER_USERNAME, prepareInstaller, type Installer } from './support/installer.ts';
import { pollUntil } from './support/polling.ts';
import { startRefusalStream, type RefusalStream } from './support/refusal-stream.ts';

const GROUP = '/apis/admissionregistration.k8s.io/v1';
const CONFIG_MAPS = '/api/v1/namespaces/default/configmaps';
const COUNT = 8;
const TIMEOUT_MS = 90_000;

/** As a control plane with native policies, and one that serves them and does not enforce. */
const SUITES = [
  { title: 'hand-over on 1.36', disabled: ['ServiceAccount'], enforces: true },
  {
    title: 'hand-over where the plugin is off',
    disabled: ['ServiceAccount', 'ValidatingAdmissionPolicy'],
    enforces: false,
  },
] as const;

function policies(): string {
  const objects = Array.from({ length: COUNT }, (_, index) => {
    const name = `no-bad-${index}`;
    return [
      {
        apiVersion: 'admissionregistration.k8s.io/v1',
        kind: 'ValidatingAdmissionPolicy',
        metadata: { name },
        spec: {
          matchConstraints: {
            resourceRules: [
              { apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['configmaps'] },
            ],
          },
          validations: [{ expression: `object.metadata.name != 'bad-${index}'`, message: 'bad' }],
        },
      },
      {
        apiVersion: 'admissionregistration.k8s.io/v1',
        kind: 'ValidatingAdmissionPolicyBinding',
        metadata: { name },
        spec: { policyName: name, validationActions: ['Deny'] },
      },
    ];
  });
  return objects
    .flat()
    .map((object) => JSON.stringify(object))
    .join('\n---\n');
}

for (const { title, disabled, enforces } of SUITES) {
  clusterSuite(title, { versions: ['1.36'] }, () => {
    let plane: ControlPlane;
    let api: ApiClient;
    let gate: Gate;
    let installer: Installer;
    let stream: RefusalStream | undefined;

    beforeAll(async () => {
      plane = await startControlPlane({ version: '1.36', disableAdmissionPlugins: disabled });
      api = createApiClient(plane);
      const file = join(plane.directory, 'policies.yaml');
      writeFileSync(file, policies());
      const flags = [`--policies-files=${file}`, '--identity-enabled=false'];
      gate = await startGate({ plane, flags });
      installer = await prepareInstaller({ plane, gate, flags });
    });
    afterAll(async () => {
      await stream?.stop();
      await installer?.stop();
      await gate?.stop();
      await api?.close();
      await plane?.stop();
    });

    const entries = (): Promise<readonly string[]> => entriesIn(api);
    async function natives(): Promise<readonly (string | undefined)[]> {
      const { items } = (await api.demand({
        method: 'GET',
        path: `${GROUP}/validatingadmissionpolicies`,
      })) as unknown as { items: { metadata: { name?: string } }[] };
      return items.map(({ metadata }) => metadata.name);
    }
    const until = (what: string, holds: () => Promise<boolean>): Promise<true> =>
      pollUntil(what, TIMEOUT_MS, async () => ((await holds()) ? true : undefined)).catch(
        (error: unknown) => {
          const said = installer.log().map((line) => JSON.stringify(line));
          throw new Error(`${String(error)}\n${said.slice(-20).join('\n')}`, { cause: error });
        },
      );
    async function restart(enforcement: string): Promise<void> {
      await installer.end('SIGTERM');
      await installer.start([`--policies-enforcement=${enforcement}`]);
    }

    it('begins with webhook entries', async () => {
      await installer.start(['--policies-enforcement=webhooks']);
      await until('all entries', async () => (await entries()).length === COUNT);
      await until('the API server to act on them', async () => {
        const refused = await Promise.all(
          Array.from({ length: COUNT }, (_, index) =>
            api.request({ method: 'POST', path: `${CONFIG_MAPS}?dryRun=All`, body: configMap(index) }),
          ),
        );
        return refused.every(({ status }) => status === 422);
      });
      stream = startRefusalStream({ api, path: CONFIG_MAPS, body: configMap });
      expect(await natives()).toEqual([]);
    });

    it.runIf(enforces)('hands over to the API server', async () => {
      await restart('native');
      await until('no entry to be left', async () => (await entries()).length === 0);
      expect(await natives()).toHaveLength(COUNT + 1);
      await until('native refusals', () => Promise.resolve(stream?.history.at(-1) === 'native'));
      expect(stream?.slipped).toEqual([]);
    });

    it.runIf(enforces)('hands back to webhook entries', async () => {
      await restart('webhooks');
      await until('no native policy to be left', async () => (await natives()).length === 0);
      // The canary's own entry goes last.
      await until('the entries of the policies alone', async () => (await entries()).length === COUNT);
      await until('refusals by webhook', () => Promise.resolve(stream?.history.at(-1) === 'webhook'));
      expect(stream?.slipped).toEqual([]);
    });

    it.runIf(enforces)('hands over again when an installer was killed in the middle', async () => {
      await restart('native');
      await until('the canary', async () => (await natives()).includes('pacto-gate-canary'));
      await installer.end('SIGKILL');
      expect(await entries()).toHaveLength(COUNT);
      await installer.start(['--policies-enforcement=auto']);
      await until('no entry to be left', async () => (await entries()).length === 0);
      expect(stream?.slipped).toEqual([]);
    });

    it.runIf(!enforces)(
      'stays on webhook entries, and says that the API server does not enforce',
      async () => {
        for (const enforcement of ['native', 'auto']) {
          await restart(enforcement);
          const restartedAt = installer.log().length;
          await until('NativeNotEnforcing in the log', () =>
            Promise.resolve(
              installer
                .log()
                .some(
                  (line, at) => at >= restartedAt - 5 && JSON.stringify(line).includes('NativeNotEnforcing'),
                ),
            ),
          );
          expect(await entries()).toHaveLength(COUNT);
        }
        const { text } = await ask(installer.metricsUrl);
        expect(text).toContain(`pacto_gate_installer_policies{by="Webhook"} ${COUNT}`);
        expect(stream?.history).toEqual(['webhook']);
      },
    );

    it('let no request slip through, and asked for nothing that it may not', async () => {
      await stream?.stop();
      expect(stream?.slipped).toEqual([]);
      expect(stream?.count).toBeGreaterThan(100);
      const own = plane.auditEvents().filter(({ user }) => user.username === INSTALLER_USERNAME);
      expect(own.length).toBeGreaterThan(10);
      const refused = own.filter(
        ({ responseStatus, objectRef }) =>
          responseStatus?.code === 403 && objectRef?.name !== 'pacto-gate-canary',
      );
      expect(refused.map(({ verb, requestURI }) => `${verb} ${requestURI}`)).toEqual([]);
    });
  });
}

function configMap(index: number): object {
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: `bad-${index % COUNT}`, namespace: 'default' },
  };
}
