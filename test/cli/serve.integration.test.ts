import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { Agent } from 'node:http';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { run } from '../../src/cli/program.ts';
import { systemClock } from '../../src/clock.ts';
import { until } from '../support/conditions.ts';
import { ask } from '../support/http-client.ts';
import { fakeTerminal, runCommand, type FakeTerminal } from './run-command.ts';

const PORTS = ['webhooks', 'health', 'metrics', 'api'].flatMap((listener) => [`--${listener}-port`, '0']);
const QUIET = ['--log-level', 'silent', '--cluster-directory', 'examples/cluster', ...PORTS];

const NO_CLUSTER = ['--log-level', 'silent', '--cluster-source', 'none', ...PORTS];

interface Facts {
  readonly urls: { readonly admission: string; readonly probes: string; readonly metrics: string };
  readonly cluster: string;
  readonly webhooks: readonly { readonly name: string; readonly path: string }[];
  readonly caBundle: string;
}

let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'pacto-gate-serve-'));
});
afterAll(async () => {
  await rm(directory, { recursive: true });
});

async function served(
  ...argv: string[]
): Promise<{ facts: Facts; terminal: FakeTerminal; code: Promise<number> }> {
  const terminal = fakeTerminal({ clock: systemClock });
  const code = run(['serve', ...QUIET, '--output', 'json', ...argv], terminal.around);
  await until('the server says where it listens', () => terminal.written.out.endsWith('}\n'));
  return { facts: JSON.parse(terminal.written.out) as Facts, terminal, code };
}

describe('serve', () => {
  it('says what it serves in one line of JSON, which no line of the log looks like', async () => {
    const { facts, terminal, code } = await served('--webhooks-drain-seconds', '0');
    const [line = '', ...more] = terminal.written.out.split('\n');
    expect(more).toEqual(['']);
    expect(JSON.parse(line)).toEqual(facts);
    expect(Object.keys(facts)).not.toContain('level');
    terminal.signal('SIGTERM');
    expect(await code).toBe(0);
  });

  it('answers reviews over HTTPS with the certificate it names, and stops with code 0', async () => {
    const { facts, terminal, code } = await served('--webhooks-drain-seconds', '0');
    const ca = Buffer.from(facts.caBundle, 'base64').toString();
    const body = await readFile('examples/reviews/02-foreign-lease-renewed.json');
    const [webhook] = facts.webhooks;
    const answer = await ask(`${facts.urls.admission}${webhook?.path ?? ''}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
      ca,
    });
    expect(answer.json()).toMatchObject({ response: { allowed: false, status: { code: 403 } } });
    expect((await ask(`${facts.urls.probes}/livez`)).status).toBe(200);
    terminal.signal('SIGTERM');
    expect(await code).toBe(0);
    await expect(ask(facts.urls.admission, { ca })).rejects.toThrow('ECONNREFUSED');
  });

  it('ends at once at the second signal, though it still drains', async () => {
    const { terminal, code } = await served('--webhooks-drain-seconds', '300');
    terminal.signal('SIGTERM');
    terminal.signal('SIGINT');
    expect(await code).toBe(0);
  });

  it('tells a person what is served, what is enforced and what to try', async () => {
    const caFile = join(directory, 'sub', 'ca.crt');
    const terminal = fakeTerminal({ clock: systemClock });
    const argv = ['serve', ...QUIET, '--tls-ca-out-file', caFile, '--webhooks-drain-seconds', '0'];
    const code = run(argv, terminal.around);
    await until('the banner is there', () => terminal.written.err.includes('try '));
    terminal.signal('SIGINT');
    expect(await code).toBe(0);
    const { out, err } = terminal.written;
    expect(out).toBe('');
    expect(err).toMatch(/^\npacto-gate serves {2}https:\/\/127\.0\.0\.1:\d+\n/);
    expect(err).toMatch(/^enforced +node-identity +\/validate\/node-identity$/m);
    expect(err).toContain(`curl --cacert ${caFile} `);
    expect(await readFile(caFile, 'utf8')).toMatch(/^-----BEGIN CERTIFICATE-----/);
  });

  it('says nothing to people in a Pod, and notes variables that nothing reads', async () => {
    const env = { KUBERNETES_SERVICE_HOST: '10.96.0.1', OPERATOR_DEPLOYMENT_NAME: 'poison' };
    const terminal = fakeTerminal({ clock: systemClock, env });
    const hosts = ['--webhooks-host', '127.0.0.1'];
    const code = run(['serve', ...QUIET, ...hosts, '--webhooks-drain-seconds', '0'], terminal.around);
    await until('it started', () => terminal.written.err !== '');
    terminal.signal('SIGTERM');
    expect(await code).toBe(0);
    expect(terminal.written.err).toBe(
      'pacto-gate: environment OPERATOR_DEPLOYMENT_NAME: not used: pacto-gate installs nothing that another object could own\n',
    );
  });

  it('names an address that is taken, with code 2', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const port = String((other.address() as AddressInfo).port);
    const ran = await runCommand(['serve', ...QUIET, '--webhooks-port', port], { clock: systemClock });
    expect(ran).toMatchObject({ code: 2, out: '' });
    expect(ran.err).toContain(
      `cannot listen on 127.0.0.1:${port}: the port is taken, perhaps by a pacto-gate that still runs: choose another by webhooks.port (--webhooks-port), 0 takes any free one`,
    );
    other.close();
  });

  it('names the setting of an address that is none of this machine, with code 2', async () => {
    const argv = ['serve', ...QUIET, '--health-host', '192.0.2.1'];
    const ran = await runCommand(argv, { clock: systemClock });
    expect(ran).toMatchObject({ code: 2, out: '' });
    expect(ran.err).toContain(
      'this machine has no such address: choose an address of this machine by health.host (--health-host)',
    );
  });

  it('answers no review without the role webhooks', async () => {
    const argv = ['--roles', 'reconciler', '--webhooks-drain-seconds', '0'];
    const { facts, terminal, code } = await served(...argv);
    expect(Object.keys(facts.urls).toSorted()).toEqual(['metrics', 'probes']);
    expect(facts.webhooks).toEqual([]);
    expect((await ask(`${facts.urls.probes}/readyz`)).status).toBe(200);
    terminal.signal('SIGTERM');
    expect(await code).toBe(0);
  });

  it('starts as its help says, with plain metrics on loopback', async () => {
    const help = (await runCommand(['serve', '--help'])).out;
    expect(help).toContain('pacto-gate serve --cluster-directory examples/cluster\n');
    const { facts, terminal, code } = await served('--webhooks-drain-seconds', '0');
    expect((await ask(`${facts.urls.metrics}/metrics`)).status).toBe(200);
    terminal.signal('SIGHUP');
    expect(await code).toBe(0);
  });

  it.each<[string, string[], string, string[]?]>([
    [
      'tokens for the admission listener',
      ['--webhooks-auth', 'bearer', '--webhooks-bearer-usernames', 'api'],
      'webhooks.auth bearer: needs a cluster that vouches for tokens, and files in a directory vouch for none; set webhooks.auth to clientCA or none',
    ],
    [
      'tokens for metrics',
      ['--metrics-plain', 'false'],
      'metrics over HTTPS: needs a cluster that vouches for tokens, and files in a directory vouch for none; set metrics.plain true',
    ],
    [
      'tokens where there is no cluster',
      ['--metrics-plain', 'false'],
      'there is no cluster; set metrics.plain true',
      NO_CLUSTER,
    ],
  ])('refuses %s that nobody could vouch for, with code 2', async (_name, argv, message, base = QUIET) => {
    const ran = await runCommand(['serve', ...base, ...argv], { clock: systemClock });
    expect(ran).toMatchObject({ code: 2, out: '' });
    expect(ran.err).toContain(message);
  });

  it('shows no call that cannot work: one with what callers must show', async () => {
    const ca = join(directory, 'client', 'ca.crt');
    await runCommand(['certs', 'issue', '--ip', '127.0.0.1', '--out', join(directory, 'client')], {
      clock: systemClock,
    });
    const terminal = fakeTerminal({ clock: systemClock });
    const code = run(
      [
        'serve',
        ...QUIET,
        '--tls-ca-out-file',
        join(directory, 'own.crt'),
        '--webhooks-drain-seconds',
        '0',
        '--webhooks-auth',
        'clientCA',
        '--webhooks-client-ca-file',
        ca,
      ],
      terminal.around,
    );
    await until('the banner is there', () => terminal.written.err.includes('try '));
    terminal.signal('SIGTERM');
    expect(await code).toBe(0);
    expect(terminal.written.err).toContain(' --cert client.crt --key client.key ');
    expect(terminal.written.err).toMatch(/^callers +with a client certificate below .*ca\.crt$/m);
  });

  it('tells whoever presses Ctrl-C how long it serves on, and how to end it', async () => {
    const { terminal, code } = await served('--webhooks-drain-seconds', '300');
    terminal.signal('SIGINT');
    await until('it is told', () => terminal.written.err !== '');
    expect(terminal.written.err).toContain('serving on for 300 s');
    terminal.signal('SIGINT');
    expect(await code).toBe(0);
  });

  it.each([
    [
      'a certificate that is not there',
      ['--tls-cert-file', '/nowhere/a', '--tls-key-file', '/nowhere/b'],
      'GATE_TLS_FILE',
    ],
    ['a kubeconfig that is not there', ['--kubeconfig', '/nowhere/k'], 'GATE_KUBECONFIG'],
  ])('refuses %s with code 2', async (_name, argv, code) => {
    const ran = await runCommand(['serve', '--log-level', 'silent', ...PORTS, ...argv], {
      clock: systemClock,
    });
    expect(ran).toMatchObject({ code: 2, out: '' });
    expect(ran.err).toContain(`[${code}]`);
  });
});

describe('the process', () => {
  const start = (...argv: string[]): ChildProcess =>
    spawn(process.execPath, ['src/main.ts', ...argv], {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { PATH: '/usr/bin' },
    });

  it('logs a file that cannot be read with its place and what is served, and when it is mended', async () => {
    const files = await mkdtemp(join(tmpdir(), 'pacto-gate-files-'));
    const bad = join(files, 'bad.yaml');
    await writeFile(bad, 'a: b: c\n');
    const child = start('serve', '--cluster-directory', files, ...PORTS, '--webhooks-drain-seconds', '0');
    let out = '';
    child.stdout?.on('data', (chunk: Buffer) => (out += chunk.toString()));
    await until('the file is told', () => out.includes('"message":"cluster file"'), 30_000);
    const line = out.split('\n').find((one) => one.includes('"message":"cluster file"')) ?? '';
    expect(JSON.parse(line)).toMatchObject({
      level: 'warn',
      file: bad,
      line: 1,
      column: 4,
      err: {
        code: 'GATE_DIRECTORY',
        message: expect.stringMatching(/^is not YAML: a second key .*; what it holds is unknown, /) as string,
      },
    });
    await writeFile(bad, '');
    await until('it is mended', () => out.includes('"message":"cluster file in order again"'), 30_000);
    child.kill('SIGTERM');
    await once(child, 'exit');
    await rm(files, { recursive: true });
  });

  it('ends with code 0 after SIGHUP, when what was under way is done', async () => {
    const child = start('serve', '--cluster-source', 'none', ...PORTS, '--webhooks-drain-seconds', '0');
    let out = '';
    child.stdout?.on('data', (chunk: Buffer) => (out += chunk.toString()));
    await until('it listens', () => out.includes('"metrics"'), 30_000);
    child.kill('SIGHUP');
    expect(await once(child, 'exit')).toEqual([0, null]);
    expect(out).toMatch(
      /"signal":"SIGHUP","message":"stopping"\}\n.*"signal":"SIGHUP","message":"stopped"\}\n$/,
    );
  });

  it('ends with code 0 after SIGTERM, its last line in the log, although a caller keeps its connection', async () => {
    const child = start('serve', '--cluster-source', 'none', ...PORTS, '--webhooks-drain-seconds', '0');
    let out = '';
    child.stdout?.on('data', (chunk: Buffer) => (out += chunk.toString()));
    await until('it listens', () => out.includes('"metrics"'), 30_000);
    const [, metrics = ''] = /"url":"(http:[^"]+)","message":"listening"\}\s*$/.exec(out) ?? [];
    const agent = new Agent({ keepAlive: true });
    expect((await ask(`${metrics}/metrics`, { agent })).status).toBe(200);
    child.kill('SIGTERM');
    expect(await once(child, 'exit')).toEqual([0, null]);
    agent.destroy();
    expect(out.trimEnd().split('\n').at(-1)).toContain('"signal":"SIGTERM"');
  });

  it('keeps its exit code when nobody reads what it says', async () => {
    const child = start('generate', 'webhooks', '--service', 'a/b', '--output', 'json');
    child.stdout?.destroy();
    child.stderr?.destroy();
    expect(await once(child, 'exit')).toEqual([0, null]);
  });

  it('exits with the code of the answer', async () => {
    const codeOf = async (...argv: string[]): Promise<unknown> => (await once(start(...argv), 'exit'))[0];
    expect(await codeOf('version')).toBe(0);
    expect(await codeOf('review', 'examples/reviews/02-foreign-lease-renewed.json')).toBe(1);
    expect(await codeOf('vresion')).toBe(2);
  });
});
