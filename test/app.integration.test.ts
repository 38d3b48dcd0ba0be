import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { until } from './support/conditions.ts';
import { ask } from './support/http-client.ts';
import { newTestTls } from './support/tls.ts';

const FOREIGN = readFileSync('examples/reviews/02-foreign-lease-renewed.json');
const OWN_BY_POD = readFileSync('examples/reviews/06-no-node-claim-own-lease.json');

interface Serving {
  readonly child: ChildProcess;
  readonly output: () => string;
  url(name: 'pacto-gate serves' | 'probes' | 'metrics'): string;
}

let directory: string;
const running: ChildProcess[] = [];

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'app-'));
});

afterEach(async () => {
  for (const child of running.splice(0)) {
    if (child.exitCode !== null || child.signalCode !== null) continue;
    child.kill('SIGKILL');
    await once(child, 'close');
  }
  rmSync(directory, { recursive: true });
});

function launch(settings: Readonly<Record<string, string>>): Serving {
  const all = {
    'webhooks-port': '0',
    'health-port': '0',
    'metrics-port': '0',
    'metrics-plain': 'true',
    ...settings,
  };
  const flags = Object.entries(all).flatMap(([key, value]) => [`--${key}`, value]);
  const child = spawn(process.execPath, ['src/main.ts', 'serve', ...flags], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  running.push(child);
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => (output += text));
  }
  return {
    child,
    output: () => output,
    url(name) {
      const [, url = ''] = new RegExp(`^${name} +(https?://[^/\\s]+)`, 'm').exec(output) ?? [];
      return url;
    },
  };
}

async function serve(settings: Readonly<Record<string, string>>): Promise<Serving> {
  const serving = launch(settings);
  await until(
    'it serves',
    () => serving.url('pacto-gate serves') !== '' || serving.child.exitCode !== null,
    30_000,
  );
  await until(
    'it is ready',
    async () => (await ask(`${serving.url('probes')}/readyz`)).status === 200,
    30_000,
  );
  return serving;
}

const fromFiles = { 'cluster-directory': 'examples/cluster', 'identity-pod-lookup': 'always' };

describe('the server', () => {
  it('denies and allows, and counts what it did', async () => {
    const serving = await serve(fromFiles);
    const path = `${serving.url('pacto-gate serves')}/validate/node-identity?timeout=10s`;
    const headers = { 'content-type': 'application/json' };
    expect((await ask(path, { body: FOREIGN, headers })).json()).toMatchObject({
      response: { allowed: false },
    });
    expect((await ask(path, { body: OWN_BY_POD, headers })).json()).toMatchObject({
      response: { allowed: true, auditAnnotations: { proof: 'pod-lookup' } },
    });
    const metrics = (await ask(`${serving.url('metrics')}/metrics`)).text;
    expect(metrics).toContain(
      'pacto_gate_decisions_total{webhook="node-identity",operation="UPDATE",verdict="denied",code="NODE_NAME_MISMATCH"} 1',
    );
    expect(metrics).toMatch(/^pacto_gate_build_info\{version="\d+\.\d+\.\d+",/m);
    expect(metrics).toMatch(/^pacto_gate_tls_\w+\{listener="admission"\} \d{10}/m);
    expect((await ask(`${serving.url('probes')}/readyz?verbose`)).text).toBe(
      '[+]serving ok\n[+]certificate ok\n[+]sync ok\n[+]pactos ok\nok\n',
    );
  });

  it('denies an agent what is too large to be read, and counts and logs what it refuses by itself', async () => {
    const serving = await serve({ ...fromFiles, 'identity-failure-policy': 'Ignore' });
    const path = `${serving.url('pacto-gate serves')}/validate/node-identity?timeout=10s`;
    const headers = { 'content-type': 'application/json' };
    const review = JSON.parse(FOREIGN.toString()) as { request: { object: object } };
    Object.assign(review.request.object, { padding: '<'.repeat(9_000_000) });
    expect((await ask(path, { body: review, headers })).json()).toMatchObject({
      response: { allowed: false, status: { details: { causes: [{ reason: 'NODE_REVIEW_UNREADABLE' }] } } },
    });
    const refused = await ask(path, { body: Buffer.alloc(9_000_000), headers });
    expect(refused.refusal().code).toBe('GATE_REVIEW_TOO_LARGE');
    const metrics = (await ask(`${serving.url('metrics')}/metrics`)).text;
    expect(metrics).toContain('pacto_gate_refusals_total{code="GATE_REVIEW_TOO_LARGE"} 1');
    await until('it is logged', () => serving.output().includes('request refused'));
    expect(serving.output()).toMatch(/GATE_REVIEW_TOO_LARGE.*request refused/);
  });

  it('goes on serving after SIGTERM, not ready, with Connection: close, and then exits with 0', async () => {
    const serving = await serve({ ...fromFiles, 'webhooks-drain-seconds': '2' });
    serving.child.kill('SIGTERM');
    await until('readiness falls', async () => (await ask(`${serving.url('probes')}/readyz`)).status === 503);
    expect((await ask(`${serving.url('probes')}/livez`)).status).toBe(200);
    const answer = await ask(`${serving.url('pacto-gate serves')}/validate/node-identity`, {
      body: FOREIGN,
      headers: { 'content-type': 'application/json' },
    });
    expect([answer.status, answer.headers.connection]).toEqual([200, 'close']);
    expect(await once(serving.child, 'close')).toEqual([0, null]);
  });

  it('exits at once at the second signal', async () => {
    const serving = await serve({ ...fromFiles, 'webhooks-drain-seconds': '300' });
    serving.child.kill('SIGTERM');
    await until('it stops', () => serving.output().includes('"stopping"'));
    serving.child.kill('SIGTERM');
    const [code] = (await once(serving.child, 'close')) as [number];
    expect(code).toBe(0);
  });

  it('takes a new certificate while it runs and keeps the old one when the new pair does not match', async () => {
    const first = (await newTestTls()).pair;
    const files = { cert: join(directory, 'tls.crt'), key: join(directory, 'tls.key') };
    writeFileSync(files.cert, first.certPem);
    writeFileSync(files.key, first.keyPem);
    const serving = await serve({ ...fromFiles, 'tls-cert-file': files.cert, 'tls-key-file': files.key });
    expect(serving.output()).not.toContain('certificate not taken');
    const second = (await newTestTls()).pair;
    writeFileSync(files.cert, second.certPem);
    await until('the mismatch is told', () => serving.output().includes('certificate not taken'), 30_000);
    writeFileSync(files.key, second.keyPem);
    await until('the pair is taken', () => serving.output().includes('certificate replaced'), 30_000);
  });

  it.each([
    ['a port that is taken', 'port', 'GATE_CONFIG_INVALID'],
    ['a key that does not match its certificate', 'pair', 'GATE_TLS_PAIR'],
    ['a certificate file that is not there', 'missing', 'GATE_TLS_FILE'],
    ['a directory that is not there', 'directory', 'GATE_DIRECTORY'],
  ])('does not start with %s, and says why', async (_what, fault, code) => {
    const taken = createServer().listen(0, '127.0.0.1');
    await once(taken, 'listening');
    const { port } = taken.address() as { port: number };
    const one = (await newTestTls()).pair;
    const other = (await newTestTls()).pair;
    writeFileSync(join(directory, 'tls.crt'), one.certPem);
    writeFileSync(join(directory, 'tls.key'), other.keyPem);
    const settings: Readonly<Record<string, Record<string, string>>> = {
      port: { 'health-port': String(port) },
      pair: { 'tls-cert-file': join(directory, 'tls.crt'), 'tls-key-file': join(directory, 'tls.key') },
      missing: { 'tls-cert-file': join(directory, 'no.crt'), 'tls-key-file': join(directory, 'tls.key') },
      directory: { 'cluster-directory': join(directory, 'nowhere') },
    };
    const serving = launch({ ...fromFiles, ...settings[fault] });
    const [exit] = (await once(serving.child, 'close')) as [number];
    taken.close();
    expect(serving.output()).toContain(`[${code}]`);
    expect(serving.output()).not.toContain('    at ');
    expect([2, 3]).toContain(exit);
  });
});
