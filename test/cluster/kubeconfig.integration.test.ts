import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/clock.ts';
import type { Cluster } from '../../src/cluster/cluster.ts';
import { POD } from '../../src/cluster/kinds.ts';
import { loadConnection } from '../../src/cluster/kubeconfig.ts';
import { createRestCluster } from '../../src/cluster/rest.ts';
import { type FakeApiServer, sendStatus, startFakeApiServer } from '../support/fake-api-server.ts';
import { aPod, outcomeOf } from '../support/rest-cluster.ts';
import { type Authority, createAuthority, type CertificatePair } from './support/certificates.ts';

let authority: Authority;
let client: CertificatePair;
let directory: string;
let server: FakeApiServer;
const opened: Cluster[] = [];

beforeAll(async () => {
  authority = await createAuthority('test authority');
  client = await authority.issue({ commonName: 'gate' });
  const pair = await authority.issue({
    commonName: 'api',
    dnsNames: ['kubernetes'],
    ipAddresses: ['127.0.0.1'],
  });
  directory = await mkdtemp(join(tmpdir(), 'gate-connection-'));
  server = await startFakeApiServer({
    cert: pair.certificate,
    key: pair.key,
    ca: authority.certificate,
    requestCert: true,
    rejectUnauthorized: false,
  });
  server.put(POD, aPod('a'));
});
afterEach(async () => {
  await Promise.all(opened.splice(0).map((one) => one.close()));
  server.requests.length = 0;
});
afterAll(async () => {
  await server.stop();
  await rm(directory, { recursive: true, force: true });
});

const base64 = (text: string): string => Buffer.from(text).toString('base64');

async function connect(user: object, cluster: object = {}): Promise<Cluster> {
  const path = join(directory, 'config');
  await writeFile(
    path,
    JSON.stringify({
      'current-context': 'one',
      contexts: [{ name: 'one', context: { cluster: 'one', user: 'one' } }],
      users: [{ name: 'one', user }],
      clusters: [
        {
          name: 'one',
          cluster: {
            server: server.url,
            'certificate-authority-data': base64(authority.certificate),
            ...cluster,
          },
        },
      ],
    }),
  );
  const made = createRestCluster({
    connection: await loadConnection({ source: 'kubeconfig', paths: [path], clock: systemClock }),
    clock: systemClock,
  });
  opened.push(made);
  return made;
}

const readPod = (cluster: Cluster): Promise<unknown> => cluster.get(POD, { namespace: 'web', name: 'a' });

/** A plugin that counts its runs, keeps what it was told, and hands out `token-<run>`. */
async function plugin(
  status: string,
): Promise<{ exec: object; runs: () => Promise<number>; told: () => Promise<unknown> }> {
  const runs = join(directory, 'runs');
  const told = join(directory, 'told');
  await rm(runs, { force: true });
  await writeFile(
    join(directory, 'plugin.mjs'),
    `import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
     appendFileSync(${JSON.stringify(runs)}, 'x');
     writeFileSync(${JSON.stringify(told)}, process.env.KUBERNETES_EXEC_INFO ?? '');
     const run = readFileSync(${JSON.stringify(runs)}, 'utf8').length;
     const status = ${status};
     console.log(JSON.stringify({ kind: 'ExecCredential', apiVersion: 'client.authentication.k8s.io/v1', status }));`,
  );
  return {
    exec: {
      apiVersion: 'client.authentication.k8s.io/v1',
      command: process.execPath,
      args: [join(directory, 'plugin.mjs'), 'get-token'],
      env: [{ name: 'PLUGIN_MODE', value: 'test' }],
      provideClusterInfo: true,
      interactiveMode: 'IfAvailable',
    },
    runs: async () => (await readFile(runs, 'utf8')).length,
    told: async () => JSON.parse(await readFile(told, 'utf8')) as unknown,
  };
}

describe('TLS', () => {
  it('presents a client certificate, inline or by file', async () => {
    await writeFile(join(directory, 'client.crt'), client.certificate);
    await writeFile(join(directory, 'client.key'), client.key);
    for (const user of [
      { 'client-certificate-data': base64(client.certificate), 'client-key-data': base64(client.key) },
      { 'client-certificate': 'client.crt', 'client-key': 'client.key' },
    ]) {
      server.requests.length = 0;
      expect(await readPod(await connect(user))).toBeDefined();
      expect(server.requests[0]?.clientName).toBe('gate');
    }
  });

  it.each([
    [
      'another authority',
      async () => ({ 'certificate-authority-data': base64((await createAuthority('x')).certificate) }),
    ],
    ['no authority', () => Promise.resolve({ 'certificate-authority-data': undefined })],
    ['another name', () => Promise.resolve({ 'tls-server-name': 'elsewhere' })],
  ])('refuses a server that is vouched for by %s, before it says who we are', async (_what, cluster) => {
    const refused = readPod(await connect({ token: 'secret' }, await cluster()));
    await expect(refused).rejects.toMatchObject({
      code: 'GATE_CLUSTER_UNREACHABLE',
      message: expect.stringMatching(/\(found [A-Z_]+\); check the CA and the server name$/),
    });
    expect(server.requests).toHaveLength(0);
  });

  it('takes the name that the certificate should carry, and skips the check where told to', async () => {
    expect(await readPod(await connect({}, { 'tls-server-name': 'kubernetes' }))).toBeDefined();
    const skipping = { 'insecure-skip-tls-verify': true, 'certificate-authority-data': undefined };
    expect(await readPod(await connect({}, skipping))).toBeDefined();
  });

  it('refuses a key that does not belong to the certificate', async () => {
    const other = await authority.issue({ commonName: 'other' });
    const cluster = await connect({
      'client-certificate-data': base64(client.certificate),
      'client-key-data': base64(other.key),
    });
    await expect(readPod(cluster)).rejects.toMatchObject({
      code: 'GATE_KUBECONFIG',
      message: expect.stringContaining('the key belongs to the certificate'),
    });
  });
});

describe('exec plugins', () => {
  it('asks the plugin once, tells it the cluster, and again after a 401', async () => {
    const { exec, runs, told } = await plugin('{ token: `token-${run}` }');
    const cluster = await connect({ exec });
    await Promise.all([readPod(cluster), readPod(cluster)]);
    expect(await readPod(cluster)).toBeDefined();
    expect(server.requests.map((r) => r.headers.authorization)).toEqual(Array(3).fill('Bearer token-1'));
    expect([await runs(), await told()]).toEqual([
      1,
      {
        apiVersion: 'client.authentication.k8s.io/v1',
        kind: 'ExecCredential',
        spec: {
          interactive: false,
          cluster: expect.objectContaining({ server: server.url, 'insecure-skip-tls-verify': false }),
        },
      },
    ]);
    const remove = server.script((request, response) =>
      request.headers.authorization === 'Bearer token-1' ? sendStatus(response, 401, 'Unauthorized') : false,
    );
    expect(await readPod(cluster)).toBeDefined();
    remove();
    expect(await runs()).toBe(2);
  });

  it('presents a certificate that the plugin hands out', async () => {
    const certificates = JSON.stringify({
      clientCertificateData: client.certificate,
      clientKeyData: client.key,
    });
    const { exec } = await plugin(certificates);
    expect(await readPod(await connect({ exec }))).toBeDefined();
    expect(server.requests[0]?.clientName).toBe('gate');
  });

  it('says that the plugin failed, without what it wrote, and does not run it for each call', async () => {
    const { exec, runs } = await plugin('(console.error("secret-token"), process.exit(3))');
    const cluster = await connect({ exec });
    for (let call = 0; call < 3; call++) {
      const error = await outcomeOf(readPod(cluster));
      expect(error).toMatchObject({ code: 'GATE_KUBECONFIG' });
      expect(inspect(error)).not.toContain('secret-token');
    }
    expect(await runs()).toBe(1);
  });

  it('says that the plugin is not there', async () => {
    const cluster = await connect({
      exec: { command: './no-such-plugin', apiVersion: 'client.authentication.k8s.io/v1' },
    });
    await expect(readPod(cluster)).rejects.toMatchObject({
      code: 'GATE_KUBECONFIG',
      message: `${join(directory, 'config')}: the exec plugin gives no credentials (found ENOENT); run it by hand to see why`,
    });
  });
});

it('follows a token file that is rotated, after a 401', async () => {
  const path = join(directory, 'token');
  await writeFile(path, 'old');
  const cluster = await connect({ tokenFile: 'token' });
  expect(await readPod(cluster)).toBeDefined();
  await writeFile(path, 'new');
  const remove = server.script((request, response) =>
    request.headers.authorization === 'Bearer old' ? sendStatus(response, 401, 'Unauthorized') : false,
  );
  expect(await readPod(cluster)).toBeDefined();
  remove();
  expect(server.requests.map((r) => r.headers.authorization)).toEqual([
    'Bearer old',
    'Bearer old',
    'Bearer new',
  ]);
});
