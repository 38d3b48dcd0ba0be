/** The whole server with policies of a cluster that is a directory, as on a laptop. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { startApp, type App } from '../../src/app.ts';
import { systemClock } from '../../src/clock.ts';
import { CONFIG_MAP, GATE_POLICY, GATE_POLICY_BINDING, NAMESPACE } from '../../src/cluster/kinds.ts';
import type { KubeObject } from '../../src/cluster/objects.ts';
import { loadConfig, type Config } from '../../src/config.ts';
import { createHandle } from '../../src/handle.ts';
import { silentLog } from '../../src/log.ts';
import { ask } from '../support/http-client.ts';
import { until } from '../support/conditions.ts';
import { startFakeApiServer, type FakeApiServer } from '../support/fake-api-server.ts';
import { bindingObject, configMapObject, policyObject, REVIEW, SHOP, yamlOf } from './policy-support.ts';

const SOURCES = { 'policies.sources': 'customResources,configMaps', 'identity.enabled': 'false' };

let directory: string;
let app: App | undefined;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'policies-'));
});
afterEach(async () => {
  await app?.stop();
  app = undefined;
  rmSync(directory, { recursive: true });
});

async function configOf(settings: Readonly<Record<string, string>>): Promise<Config> {
  const flags = Object.entries(settings).map(([path, value]) => ({ path, value, origin: path }));
  const env = { POD_NAMESPACE: 'pacto-system' };
  const loaded = await loadConfig({ flags, env, readFile: () => Promise.reject(new Error('no file')) });
  if (!loaded.ok) throw new Error(loaded.problems.map(({ message }) => message).join('; '));
  return loaded.config;
}

function write(file: string, ...objects: readonly KubeObject[]): void {
  writeFileSync(join(directory, file), yamlOf(...objects));
}

describe('a server with a directory for a cluster', () => {
  it('enforces custom resources and ConfigMaps with their parameters, and follows the files', async () => {
    const limited = policyObject('limited', {
      expression: "params.data.allow == 'yes'",
      spec: { paramKind: { apiVersion: 'v1', kind: 'ConfigMap' } },
    });
    const byLabels = {
      namespace: 'shop',
      selector: { matchLabels: { app: 'limits' } },
      parameterNotFoundAction: 'Deny',
    };
    const limits = (allow: string): KubeObject =>
      configMapObject('limits', { allow }, { namespace: 'shop', labels: { app: 'limits' } });
    write('shop.yaml', SHOP, limits('no'));
    write('resources.yaml', policyObject('plain'), bindingObject('plain'), limited);
    write(
      'map.yaml',
      configMapObject('m', {
        'bindings.yaml': yamlOf(bindingObject('limited', { spec: { paramRef: byLabels } })),
      }),
    );
    const config = await configOf({
      ...SOURCES,
      'cluster.directory': directory,
      'policies.paramKinds': 'v1/ConfigMap',
      'webhooks.port': '0',
      'webhooks.drainSeconds': '0',
      'health.port': '0',
      'metrics.port': '0',
      'metrics.plain': 'true',
    });
    app = await startApp(config, { clock: systemClock, log: silentLog() });
    const { urls, caBundle = '' } = app;
    await until('it is ready', async () => (await ask(`${urls.probes}/readyz`)).status === 200);
    expect((await ask(`${urls.probes}/readyz?verbose`)).text).toContain('[+]policies ok');
    const answerOf = async (policy: string): Promise<string> => {
      const answer = await ask(`${urls.admission}/validate/policies/${policy}?timeout=10s`, {
        body: REVIEW,
        ca: caBundle,
        headers: { 'content-type': 'application/json' },
      });
      if (answer.status !== 200) return String(answer.status);
      return String((answer.json() as { response: { allowed: boolean } }).response.allowed);
    };
    expect([await answerOf('plain'), await answerOf('limited'), await answerOf('other')]).toEqual([
      'false',
      'false',
      '503',
    ]);
    write('shop.yaml', SHOP, limits('yes'));
    await until('the parameter counts', async () => (await answerOf('limited')) === 'true');
    write('resources.yaml', policyObject('other'), bindingObject('other'), limited);
    await until('the policy is gone', async () => (await answerOf('plain')) === '503');
    expect(await answerOf('other')).toBe('false');
    const metrics = (await ask(`${urls.metrics ?? ''}/metrics`)).text;
    expect(metrics).toMatch(/^pacto_gate_policies 2$/m);
    expect(metrics).toMatch(/^pacto_gate_policy_problems 0$/m);
    expect(metrics).toMatch(/^pacto_gate_watch_synced\{kind="ConfigMap",namespace="pacto-system"\} 1$/m);
    expect(metrics).toMatch(/^pacto_gate_watch_synced\{kind="Namespace",namespace=""\} 1$/m);
  });
});

describe('a server whose API server lacks kinds', () => {
  const ports = {
    'webhooks.port': '0',
    'webhooks.drainSeconds': '0',
    'health.port': '0',
    'metrics.enabled': 'false',
    'identity.enabled': 'false',
  };

  it('is ready without a kind of parameters, and answers by the failure policy', async () => {
    const server = await startFakeApiServer();
    onTestFinished(() => server.stop());
    server.put(NAMESPACE, SHOP);
    const limits = { apiVersion: 'x.example.com/v1', kind: 'Limit' };
    const paramRef = { name: 'limits', parameterNotFoundAction: 'Allow' };
    write('policy.yaml', policyObject('limited', { expression: 'true', spec: { paramKind: limits } }));
    write('binding.yaml', bindingObject('limited', { spec: { paramRef } }));
    const config = await configOf({
      ...ports,
      'policies.directory': directory,
      'policies.paramKinds': 'x.example.com/v1/Limit',
      'cluster.kubeconfig': kubeconfigFor(server),
    });
    app = await startApp(config, { clock: systemClock, log: silentLog() });
    const { urls, caBundle = '' } = app;
    await until('it is ready', async () => (await ask(`${urls.probes}/readyz`)).status === 200);
    const answer = await ask(`${urls.admission}/validate/policies/limited?timeout=10s`, {
      body: REVIEW,
      ca: caBundle,
    });
    expect(answer.json()).toMatchObject({ response: { allowed: false, status: { code: 500 } } });
  });

  it('is not ready without the kinds of policies, and says which to install', async () => {
    const server = await startFakeApiServer();
    onTestFinished(() => server.stop());
    server.put(NAMESPACE, SHOP);
    const config = await configOf({
      ...ports,
      'policies.sources': 'customResources',
      'cluster.kubeconfig': kubeconfigFor(server),
    });
    app = await startApp(config, { clock: systemClock, log: silentLog() });
    const { urls } = app;
    const missing =
      '[-]policies failed: validatingadmissionpolicies.gate.pacto.trianalab.io are not served: install their CustomResourceDefinition (manifests/crds)';
    await until('it says so', async () => (await ask(`${urls.probes}/readyz`)).text.includes(missing));
    server.put(GATE_POLICY, policyObject('plain'));
    server.put(GATE_POLICY_BINDING, bindingObject('plain'));
    await until('it is ready', async () => (await ask(`${urls.probes}/readyz`)).status === 200);
    expect((await ask(`${urls.probes}/readyz?verbose`)).text).toContain('[+]policies ok');
  });
});

describe('a function', () => {
  it.each(['cached', 'live'] as const)(
    'enforces what the cluster has from its first request on (%s)',
    async (state) => {
      const server = await startFakeApiServer();
      const isMine = vouchFor(server);
      server.put(GATE_POLICY, policyObject('plain'));
      server.put(GATE_POLICY_BINDING, bindingObject('other'));
      server.put(CONFIG_MAP, configMapObject('m', { 'plain.yaml': yamlOf(bindingObject('plain')) }));
      server.put(NAMESPACE, SHOP);
      const config = await configOf({
        ...SOURCES,
        state,
        'cluster.kubeconfig': kubeconfigFor(server),
        'webhooks.auth': 'bearer',
        'webhooks.bearer.usernames': 'kube-apiserver',
      });
      const handle = await createHandle(config, { clock: systemClock, log: silentLog() });
      const response = await handle(
        new Request('https://function.example/validate/policies/plain?timeout=10s', {
          method: 'POST',
          body: JSON.stringify(REVIEW),
          headers: { 'content-type': 'application/json', authorization: 'Bearer good' },
        }),
      );
      expect(await response.json()).toMatchObject({
        response: { allowed: false, status: { message: expect.stringContaining('plain: no') as string } },
      });
      expect(server.count('watch') > 0).toBe(state === 'cached');
      expect(isMine()).toBe(true);
      await server.stop();
    },
  );
});

function kubeconfigFor({ url }: FakeApiServer): string {
  const file = join(mkdtempSync(join(tmpdir(), 'policies-kubeconfig-')), 'kubeconfig');
  onTestFinished(() => rmSync(dirname(file), { recursive: true }));
  const text = JSON.stringify({
    'current-context': 'here',
    clusters: [{ name: 'here', cluster: { server: url } }],
    users: [{ name: 'gate', user: { token: 'ours' } }],
    contexts: [{ name: 'here', context: { cluster: 'here', user: 'gate' } }],
  });
  writeFileSync(file, text);
  return file;
}

/** Every token is that of the API server. */
function vouchFor(server: FakeApiServer): () => boolean {
  let asked = false;
  server.script((request, response) => {
    if (!request.path.endsWith('/tokenreviews')) return false;
    asked = true;
    const status = { authenticated: true, user: { username: 'kube-apiserver' } };
    response
      .writeHead(201, { 'content-type': 'application/json' })
      .end(
        JSON.stringify({ apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview', metadata: {}, status }),
      );
    return true;
  });
  return () => asked;
}
