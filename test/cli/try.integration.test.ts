import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { run } from '../../src/cli/program.ts';
import { systemClock } from '../../src/clock.ts';
import { issueAuthority } from '../../src/http/issue.ts';
import { until } from '../support/conditions.ts';
import { fakeTerminal, type FakeTerminal } from './run-command.ts';

let directory: string;
let terminal: FakeTerminal;
let stopped: Promise<number>;
let url: string;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'pacto-gate-try-'));
  terminal = fakeTerminal({ clock: systemClock });
  const ports = ['--webhooks-port', '0', '--health-port', '0', '--metrics-port', '0'];
  const more = ['--tls-ca-out-file', join(directory, 'ca.crt'), '--webhooks-drain-seconds', '0'];
  const argv = ['serve', '--config', 'examples/pacto-gate.yaml', '--log-level', 'silent', '-o', 'json'];
  stopped = run([...argv, ...ports, ...more], terminal.around);
  await until('the server says where it listens', () => terminal.written.out.endsWith('}\n'));
  url = (JSON.parse(terminal.written.out) as { urls: { admission: string } }).urls.admission;
});
afterAll(async () => {
  terminal.signal('SIGTERM');
  await stopped;
  await rm(directory, { recursive: true });
});

function tryIt(...argv: string[]): Promise<{ code: unknown; out: string; err: string }> {
  return new Promise((resolve) => {
    execFile(process.execPath, ['scripts/try.ts', ...argv], (error, out, err) => {
      resolve({ code: error === null ? 0 : error.code, out, err });
    });
  });
}

describe('npm run try', () => {
  it('shows request, verdict and message of every example', async () => {
    const { code, out, err } = await tryIt('--url', url, '--ca-file', join(directory, 'ca.crt'));
    expect({ code, err }).toEqual({ code: 0, err: '' });
    const lines = out.split('\n');
    expect(lines[0]).toMatch(/^REQUEST +VERDICT +MESSAGE$/);
    const verdicts = lines.flatMap((line) => /^\d\d-\S+ +(\S+)/.exec(line)?.[1] ?? []);
    expect(verdicts.join(' ')).toBe(
      'allowed denied allowed denied denied allowed denied denied denied denied denied allowed allowed allowed denied allowed denied',
    );
    expect(out).toMatch(/02-foreign-lease-renewed +denied +metadata\.name: .*"worker-b"/);
  });

  it('says with code 3 what to do where no server is, or another one', async () => {
    const none = await tryIt('--url', 'https://127.0.0.1:1', '--ca-file', join(directory, 'ca.crt'));
    expect(none).toMatchObject({ code: 3, out: '' });
    expect(none.err).toContain('npm start');
    const nothing = await tryIt('--url', url, '--ca-file', join(directory, 'none.crt'));
    expect(nothing.code).toBe(3);
    expect(nothing.err).toContain('npm start');
    const other = await issueAuthority({ nowMs: systemClock.now() });
    await writeFile(join(directory, 'other.crt'), other.certPem);
    const wrong = await tryIt('--url', url, '--ca-file', join(directory, 'other.crt'));
    expect(wrong.code).toBe(3);
    expect(wrong.err).toContain('--ca-file');
  });

  it('explains itself, and refuses what it does not know', async () => {
    expect((await tryIt('--help')).out).toContain('Usage: npm run try');
    expect((await tryIt('--nonsense')).code).toBe(2);
  });
});
