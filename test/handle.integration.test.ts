import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../src/clock.ts';
import { loadConfig, type Config } from '../src/config.ts';
import { createHandle, type Handle } from '../src/handle.ts';
import { silentLog } from '../src/log.ts';
import { startFakeApiServer, type FakeApiServer } from './support/fake-api-server.ts';

const OWN = readFileSync('examples/reviews/01-own-lease-renewed.json', 'utf8');
const FOREIGN = readFileSync('examples/reviews/02-foreign-lease-renewed.json', 'utf8');
const ADDRESS = 'https://function.example/validate/node-identity?timeout=10s';
const MIB = 1024 * 1024;

let directory: string;
let server: FakeApiServer;
let handle: Handle;

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'handle-'));
  server = await startFakeApiServer();
  server.script((request, response) => {
    if (!request.path.endsWith('/tokenreviews')) return false;
    const { token } = (request.body as { spec: { token: string } }).spec;
    const user = token === 'good' ? 'kube-apiserver' : 'somebody';
    const status = { authenticated: token !== 'bad', user: { username: user } };
    response
      .writeHead(201, { 'content-type': 'application/json' })
      .end(
        JSON.stringify({ apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview', metadata: {}, status }),
      );
    return true;
  });
  const kubeconfig = join(directory, 'kubeconfig');
  writeFileSync(
    kubeconfig,
    JSON.stringify({
      'current-context': 'here',
      clusters: [{ name: 'here', cluster: { server: server.url } }],
      users: [{ name: 'gate', user: { token: 'ours' } }],
      contexts: [{ name: 'here', context: { cluster: 'here', user: 'gate' } }],
    }),
  );
  handle = await createHandle(
    await configOf({
      state: 'live',
      'cluster.kubeconfig': kubeconfig,
      'webhooks.auth': 'bearer',
      'webhooks.bearer.usernames': 'kube-apiserver',
      'identity.podLookup': 'never',
    }),
    { clock: systemClock, log: silentLog() },
  );
});

afterEach(async () => {
  await server.stop();
  rmSync(directory, { recursive: true });
});

async function configOf(settings: Readonly<Record<string, string>>): Promise<Config> {
  const flags = Object.entries(settings).map(([path, value]) => ({ path, value, origin: path }));
  const loaded = await loadConfig({ flags, env: {}, readFile: () => Promise.reject(new Error('no file')) });
  if (!loaded.ok) throw new Error(loaded.problems.map(({ message }) => message).join('; '));
  return loaded.config;
}

function review(body: string, headers: Readonly<Record<string, string>> = {}): Request {
  return new Request(ADDRESS, {
    method: 'POST',
    body,
    headers: { 'content-type': 'application/json', authorization: 'Bearer good', ...headers },
  });
}

async function answerOf(request: Request): Promise<{ status: number; body: unknown }> {
  const response = await handle(request);
  const text = await response.text();
  const [, code] = /\[(GATE_\w+)\]\n$/.exec(text) ?? [];
  return { status: response.status, body: code === undefined ? JSON.parse(text) : { code } };
}

describe('handle', () => {
  it('allows the own Lease', async () => {
    const { status, body } = await answerOf(review(OWN));
    expect(status).toBe(200);
    expect(body).toMatchObject({ kind: 'AdmissionReview', response: { allowed: true } });
  });

  it('denies a foreign Lease', async () => {
    const { status, body } = await answerOf(review(FOREIGN));
    expect(status).toBe(200);
    expect(body).toMatchObject({
      response: {
        allowed: false,
        status: { code: 403, details: { causes: [{ reason: 'NODE_NAME_MISMATCH' }] } },
      },
    });
  });

  it.each([
    ['no token', '', 401, 'GATE_CALLER_UNAUTHENTICATED'],
    ['a token that the API server does not accept', 'Bearer bad', 401, 'GATE_CALLER_UNAUTHENTICATED'],
    ['a token of somebody else', 'Bearer other', 403, 'GATE_CALLER_FORBIDDEN'],
  ])('refuses %s before it reads the body', async (_what, authorization, status, code) => {
    const request = review(OWN, { authorization });
    expect(await answerOf(request)).toMatchObject({ status, body: { code } });
    expect(request.bodyUsed).toBe(false);
  });

  it('refuses 8 MiB and a byte, whatever length was declared', async () => {
    const body = 'x'.repeat(8 * MIB + 1);
    const want = { status: 413, body: { code: 'GATE_REVIEW_TOO_LARGE' } };
    expect(await answerOf(review(body))).toMatchObject(want);
    expect(await answerOf(review(body, { 'content-length': '10' }))).toMatchObject(want);
    expect(await answerOf(review(body, { 'content-length': String(body.length) }))).toMatchObject(want);
  });

  it('gives back what it took: a hundred large refusals leave room for the next review', async () => {
    for (let turn = 0; turn < 100; turn++) await answerOf(review('x'.repeat(MIB)));
    expect(await answerOf(review(OWN))).toMatchObject({ status: 200 });
  });

  it('refuses to be made without a caller that proves itself', async () => {
    const config = await configOf({ 'cluster.source': 'none' });
    await expect(createHandle(config, { clock: systemClock, log: silentLog() })).rejects.toMatchObject({
      code: 'GATE_CONFIG_INVALID',
    });
  });
});
