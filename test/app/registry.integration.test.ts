import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';

import { readContract } from '../../src/app/contract-reader.ts';
import { openRegistries, type Registries } from '../../src/app/registry.ts';
import { systemClock } from '../../src/clock.ts';
import { loadConfig, type Config } from '../../src/config.ts';
import { bestTag } from '../../src/policies/contract/best-tag.ts';
import { pullBundle } from '../../src/registry/pull.ts';
import { bundleFiles, failure, packed } from '../support/registry/bundles.ts';

const POISON = 'p01son-of-the-environment';
const base64 = (text: string): string => Buffer.from(text).toString('base64');

let home: string;
let server: Server;
let host: string;
/** What came with each request. */
let sent: (string | undefined)[];
const opened: Registries[] = [];

beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'pacto-gate-registry-'));
  sent = [];
  const bundle = packed();
  const answers = new Map([
    ['/v2/acme/shop/manifests/1.0.0', bundle.manifest],
    [`/v2/acme/shop/manifests/${bundle.digest}`, bundle.manifest],
    [`/v2/acme/shop/blobs/${bundle.layer.digest}`, bundle.layer],
  ]);
  server = createServer((request, response) => {
    sent.push(request.headers.authorization);
    const found = answers.get(request.url ?? '');
    response.writeHead(found === undefined ? 404 : 200, {
      'content-type': found?.mediaType ?? 'text/plain',
      ...(found !== undefined && {
        'docker-content-digest': found.digest,
        'content-length': String(found.bytes.length),
      }),
    });
    response.end(request.method === 'HEAD' ? undefined : found?.bytes);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  host = `127.0.0.1:${String((server.address() as AddressInfo).port)}`;
});
afterEach(async () => {
  for (const registries of opened.splice(0)) await registries.close();
  await new Promise((resolve) => server.close(resolve));
  await rm(home, { recursive: true });
});

async function configOf(env: Readonly<Record<string, string>>): Promise<Config> {
  const loaded = await loadConfig({
    flags: [],
    env: {
      HOME: home,
      PACTO_GATE_REGISTRY_ALLOW_ADDRESSES: '127.0.0.1',
      PACTO_INSECURE_REGISTRIES: host,
      ...env,
    },
    readFile: async () => '',
  });
  if (!loaded.ok) throw new Error(loaded.problems.map(({ message }) => message).join('\n'));
  return loaded.config;
}

async function open(env: Readonly<Record<string, string>>, cachesOnDisk = false): Promise<Registries> {
  const registries = await openRegistries(await configOf(env), { clock: systemClock, cachesOnDisk });
  opened.push(registries);
  return registries;
}

const pull = ({
  client,
  cache,
}: Pick<Registries, 'client'> & Partial<Registries>): ReturnType<typeof pullBundle> =>
  pullBundle(client, `oci://${host}/acme/shop:1.0.0`, { readContract, chooseTag: bestTag, cache });

describe('registries as configured', () => {
  test('pulls anonymously, and caches on disk for commands', async () => {
    const first = await open({}, true);
    expect((await pull(first)).files).toEqual(bundleFiles());
    expect(new Set(sent)).toEqual(new Set([undefined]));
    expect(await readdir(join(home, '.cache/pacto-gate/registry'))).toHaveLength(2);
    sent.length = 0;
    await pull(await open({}, true));
    expect(sent).toHaveLength(1);
  });

  test('keeps nothing on disk for the server', async () => {
    await pull(await open({}));
    expect(await readdir(home)).toEqual([]);
  });

  test('sends the token of the environment to the named host and to no other', async () => {
    await pull(await open({ PACTO_REGISTRY_TOKEN: POISON }));
    expect(new Set(sent)).toEqual(new Set([undefined]));
    sent.length = 0;
    await pull(
      await open({ PACTO_REGISTRY_TOKEN: POISON, PACTO_GATE_REGISTRY_CREDENTIAL_HOSTS: `ghcr.io,${host}` }),
    );
    expect(new Set(sent)).toEqual(new Set([`Bearer ${POISON}`]));
  });

  test('sends a pull secret first, and not where another host is asked', async () => {
    const registries = await open({});
    const secret = { namespace: 'shop', name: 'pull', data: { token: base64(POISON) } };
    await pull({ client: registries.withPullSecret(secret, `oci://${host}/acme/shop`) });
    expect(new Set(sent)).toEqual(new Set([`Bearer ${POISON}`]));
    sent.length = 0;
    await pull({ client: registries.withPullSecret(secret, 'oci://ghcr.io/acme/shop') });
    expect(new Set(sent)).toEqual(new Set([undefined]));
  });

  test('refuses a host that is not allowed, an inner address and plain http that nobody configured', async () => {
    expect(await failure(async () => pull(await open({ PACTO_GATE_REGISTRY_ALLOW: 'ghcr.io' })))).toMatch(
      /^GATE_REGISTRY_REFUSED/,
    );
    expect(
      await failure(async () => pull(await open({ PACTO_GATE_REGISTRY_ALLOW_ADDRESSES: '10.0.0.0/8' }))),
    ).toMatch(/^GATE_REGISTRY_REFUSED/);
    expect(sent).toEqual([]);
    expect(
      await failure(async () => pull(await open({ PACTO_INSECURE_REGISTRIES: 'other.example' }))),
    ).toMatch(/^GATE_REGISTRY_UNREACHABLE/);
    expect(sent).toEqual([]);
  });

  test('reads the stores in their places', async () => {
    await mkdir(join(home, '.docker'));
    await mkdir(join(home, 'config/pacto'), { recursive: true });
    const { registry } = await configOf({
      XDG_CONFIG_HOME: join(home, 'config'),
      XDG_RUNTIME_DIR: '/run/user/1',
    });
    expect(registry.environment.dockerConfigFiles).toEqual([
      join(home, '.docker/config.json'),
      '/run/user/1/containers/auth.json',
      join(home, 'config/containers/auth.json'),
    ]);
    expect(registry.environment.storeFile).toBe(join(home, 'config/pacto/config.json'));
    await writeFile(
      join(home, '.docker/config.json'),
      JSON.stringify({ auths: { [host]: { registrytoken: POISON } } }),
    );
    await pull(await open({}));
    expect(new Set(sent)).toEqual(new Set([`Bearer ${POISON}`]));
  });

  test('refuses a CA file that is not there, and one that is none', async () => {
    const authority = (file: string): Promise<string> =>
      failure(() => open({ PACTO_GATE_REGISTRY_CERTIFICATE_AUTHORITIES: `r.example=${file}` }));
    expect(await authority(join(home, 'none.pem'))).toMatch(/^GATE_CONFIG_INVALID: .*"r.example".*ENOENT/);
    await writeFile(join(home, 'bad.pem'), POISON);
    const found = await authority(join(home, 'bad.pem'));
    expect(found).toMatch(/^GATE_CONFIG_INVALID/);
    expect(found).not.toContain(POISON);
  });

  test('shows no secret of the environment to who prints the configuration', async () => {
    const config = await configOf({
      PACTO_REGISTRY_TOKEN: POISON,
      PACTO_REGISTRY_PASSWORD: POISON,
      HTTPS_PROXY: `http://a:${POISON}@proxy.test`,
    });
    expect(`${JSON.stringify(config)}${inspect(config, { depth: 9 })}`).not.toContain(POISON);
    expect(config.registry.environment.proxy().https).toContain(POISON);
  });

  test.each([
    [
      'our own variable before the upstream one',
      { PACTO_GATE_REGISTRY_INSECURE: 'a.example' },
      ['a.example'],
    ],
    [
      'a list with commas',
      { PACTO_INSECURE_REGISTRIES: 'a.example:5000, b.example' },
      ['a.example:5000', 'b.example'],
    ],
  ])('takes %s for the hosts without TLS', async (_what, env, wanted) => {
    expect((await configOf(env)).registry.insecure).toEqual(wanted);
  });
});
