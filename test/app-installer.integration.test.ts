/** The role installer as it is put together, on a directory of files: writes stay in memory there. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startInstallerApp, type InstallerApp } from '../src/app/installer.ts';
import { systemClock } from '../src/clock.ts';
import { loadConfig, type Config } from '../src/config.ts';
import { createLog } from '../src/log.ts';
import { desiredOf } from './install/support/pretended.ts';
import { ask } from './support/http-client.ts';
import { testTls, type TestTls } from './support/tls.ts';

describe('the role installer', () => {
  let directory = '';
  let tls: TestTls;
  let port = 0;
  let stopServer: () => Promise<void> = () => Promise.resolve();

  beforeAll(async () => {
    tls = await testTls();
    directory = await mkdtemp(join(tmpdir(), 'gate-installer-'));
    const configuration = {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'ValidatingWebhookConfiguration',
      metadata: { name: 'pacto-gate-policies' },
    };
    const { policies, bindings } = desiredOf(['a']).policies;
    const objects = [...policies, ...bindings].map(({ object }) => object);
    const text = [configuration, ...objects].map((one) => JSON.stringify(one)).join('\n---\n');
    await writeFile(join(directory, 'all.yaml'), text);
    await writeFile(join(directory, 'ca.crt'), tls.ca);
    const server = createServer({ cert: tls.pair.certPem, key: tls.pair.keyPem }, (request, response) => {
      request.resume();
      response.end(JSON.stringify({ kind: 'AdmissionReview', response: { uid: 'x', allowed: true } }));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    ({ port } = server.address() as AddressInfo);
    stopServer = () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      });
  });
  afterAll(async () => {
    await stopServer();
    await rm(directory, { recursive: true });
  });

  async function configOf(settings: Readonly<Record<string, string>>): Promise<Config> {
    const flags = Object.entries(settings).map(([path, value]) => ({ path, value, origin: path }));
    const loaded = await loadConfig({ flags, env: {}, readFile: () => Promise.reject(new Error('no file')) });
    if (!loaded.ok) throw new Error(loaded.problems.map(({ message }) => message).join('\n'));
    return loaded.config;
  }
  const settings = (): Record<string, string> => ({
    roles: 'installer',
    'cluster.directory': directory,
    'policies.sources': 'customResources',
    'policies.enforcement': 'webhooks',
    'identity.enabled': 'false',
    'installer.url': `https://127.0.0.1:${port}`,
    'installer.caFile': join(directory, 'ca.crt'),
    'installer.namespace': 'pacto-system',
    'health.port': '0',
    'metrics.port': '0',
    'metrics.plain': 'true',
  });
  async function start(config: Config): Promise<InstallerApp> {
    return startInstallerApp(config, {
      clock: systemClock,
      log: createLog({ level: 'silent', format: 'json' }),
    });
  }
  async function eventually(url: string, holds: (text: string) => boolean): Promise<string> {
    for (;;) {
      const { text } = await ask(url);
      if (holds(text)) return text;
    }
  }

  it('fills the entries, says so in its metrics, is ready, and stops', async () => {
    const app = await start(await configOf(settings()));
    try {
      const metrics = `${app.urls.metrics ?? ''}/metrics`;
      const text = await eventually(metrics, (body) =>
        body.includes('pacto_gate_installer_policies{by="Webhook"} 1'),
      );
      expect(text).toContain('pacto_gate_installer_leads 1');
      expect(text).toContain('pacto_gate_installer_problems 0');
      expect((await ask(`${app.urls.probes}/readyz`)).status).toBe(200);
      expect(app.urls).not.toHaveProperty('admission');
    } finally {
      await app.stop();
    }
    await expect(ask(`${app.urls.probes}/livez`)).rejects.toThrow('ECONNREFUSED');
  });

  it.each([
    ['a CA file that is none', { 'installer.caFile': '' }, 'GATE_TLS_FILE'],
    [
      'no cluster',
      { 'cluster.directory': '', 'cluster.source': 'none', 'policies.sources': '' },
      'GATE_CONFIG_INVALID',
    ],
    ['no namespace', { 'installer.namespace': '' }, 'GATE_CONFIG_INVALID'],
  ])('does not start with %s', async (_what, change, code) => {
    const wanted: Record<string, string> = { ...settings(), ...change };
    if (wanted['installer.caFile'] === '') wanted['installer.caFile'] = join(directory, 'all.yaml');
    const given = Object.fromEntries(Object.entries(wanted).filter(([, value]) => value !== ''));
    await expect(start(await configOf(given))).rejects.toMatchObject({ code });
  });

  it.each([
    ['without a word where the servers are', { 'installer.url': '' }, 'installer.service'],
    ['with both ways to say it', { 'installer.service': 'pacto-system/pacto-gate' }, 'installer.url'],
    ['beside another role', { roles: 'installer,webhooks' }, 'installer stands alone'],
    ['with an address that is none', { 'installer.url': 'http://gate' }, 'an https URL'],
  ])('is refused as a configuration %s', async (_what, change, why) => {
    const wanted: Record<string, string> = { ...settings(), ...change };
    const given = Object.fromEntries(Object.entries(wanted).filter(([, value]) => value !== ''));
    await expect(configOf(given)).rejects.toThrow(why);
  });
});
