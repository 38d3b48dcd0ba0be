import { X509Certificate } from 'node:crypto';
import { mkdir, mkdtemp, readFile, readdir, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FakeClock } from '../support/fake-clock.ts';
import { runCommand, type Ran } from './run-command.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
let directory: string;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'pacto-gate-certs-'));
});
afterEach(async () => {
  await rm(directory, { recursive: true, force: true });
});

const at = (name: string): string => join(directory, name);
const issue = (...more: string[]): Promise<Ran> =>
  runCommand(['certs', 'issue', '--dns', 'gate.example', '--out', directory, ...more]);

describe('certs issue', () => {
  it('writes a leaf and a CA that only their owner can read', async () => {
    const ran = await issue('--dns', 'a.example,b.example', '--ip', '10.0.0.7', '-o', 'json');
    expect(ran).toMatchObject({ code: 0, err: '' });
    const result = JSON.parse(ran.out) as Record<string, unknown>;
    expect(result).toMatchObject({
      files: ['tls.crt', 'tls.key', 'ca.crt', 'ca.key'].map(at),
      dnsNames: ['gate.example', 'a.example', 'b.example'],
      ipAddresses: ['10.0.0.7'],
    });
    expect((await readdir(directory)).toSorted()).toEqual(['ca.crt', 'ca.key', 'tls.crt', 'tls.key']);
    for (const name of await readdir(directory)) expect((await stat(at(name))).mode & 0o777).toBe(0o600);
    const ca = await readFile(at('ca.crt'), 'utf8');
    expect(Buffer.from(String(result['caBundle']), 'base64').toString()).toBe(ca);
    const leaf = new X509Certificate(await readFile(at('tls.crt')));
    expect(leaf.verify(new X509Certificate(ca).publicKey)).toBe(true);
    expect(ran.out).not.toContain('PRIVATE');
  });

  it('never overwrites, and leaves nothing behind when it refuses', async () => {
    await writeFile(at('ca.crt'), 'mine');
    const ran = await issue();
    expect(ran).toMatchObject({ code: 2, out: '' });
    expect(ran.err).toMatch(/already there: give another --out, or --force \[GATE_INPUT_FILE\]\n$/);
    expect(await readdir(directory)).toEqual(['ca.crt']);
    expect(await readFile(at('ca.crt'), 'utf8')).toBe('mine');
  });

  it('replaces files with --force, and a link rather than what it leads to', async () => {
    const elsewhere = await mkdtemp(join(tmpdir(), 'pacto-gate-other-'));
    await writeFile(join(elsewhere, 'file'), 'untouched');
    await symlink(join(elsewhere, 'file'), at('tls.key'));
    expect((await issue('--force')).code).toBe(0);
    expect(await readFile(join(elsewhere, 'file'), 'utf8')).toBe('untouched');
    expect(await readFile(at('tls.key'), 'utf8')).toContain('PRIVATE KEY');
    await rm(elsewhere, { recursive: true });
  });

  it.each(['tls.crt', 'tls.key', 'ca.crt', 'ca.key'])(
    'refuses with --force where %s is a directory, and replaces nothing',
    async (name) => {
      expect((await issue()).code).toBe(0);
      await rm(at(name));
      await mkdir(at(name));
      const others = (await readdir(directory)).filter((other) => other !== name);
      const read = (): Promise<string[]> => Promise.all(others.map((other) => readFile(at(other), 'utf8')));
      const before = await read();
      const ran = await issue('--force');
      expect(ran).toMatchObject({ code: 2, out: '' });
      expect(ran.err).toContain(`${name} is a directory`);
      expect(await read()).toEqual(before);
      expect((await readdir(directory)).toSorted()).toEqual([...others, name].toSorted());
    },
  );

  it('refuses an address with a zone, which a certificate cannot hold', async () => {
    const ran = await issue('--ip', 'fe80::1%eth0');
    expect(ran).toMatchObject({ code: 2, out: '' });
    expect(ran.err).toContain('--ip: need IP addresses, found "fe80::1%eth0" with a zone');
    expect(await readdir(directory)).toEqual([]);
  });

  it('uses a CA that is given and writes no new one', async () => {
    await issue();
    const out = at('next');
    const ran = await issue('--out', out, '--ca-cert', at('ca.crt'), '--ca-key', at('ca.key'), '--days', '3');
    expect(ran.code).toBe(0);
    expect((await readdir(out)).toSorted()).toEqual(['tls.crt', 'tls.key']);
    const check = await runCommand([
      'certs',
      'inspect',
      join(out, 'tls.crt'),
      '--ca',
      at('ca.crt'),
      '--key',
      join(out, 'tls.key'),
    ]);
    expect(check).toMatchObject({ code: 0, err: '' });
    expect(check.out).toContain('(3 days left)');
  });

  it.each([
    ['no name', ['--out', '.'], 'need --dns or --ip'],
    ['half a CA', ['--dns', 'a', '--ca-cert', 'x'], '--ca-cert and --ca-key: need both or neither'],
    ['a wrong address', ['--ip', '10.0.0'], '--ip: need IP addresses, found "10.0.0"'],
    ['several wrong things', ['--ip', 'x', '--ca-key', 'y'], 'see: pacto-gate certs issue --help'],
    ['a wrong name', ['--dns', 'not a name'], 'is no DNS name'],
    ['no days', ['--dns', 'a', '--days', '0'], 'need a whole number from 1 to 830'],
    [
      'a CA that is not there',
      ['--dns', 'a', '--ca-cert', '/nowhere/a', '--ca-key', '/nowhere/b'],
      '[GATE_INPUT_FILE]',
    ],
  ])('refuses %s with code 2', async (_name, argv, message) => {
    const ran = await runCommand(['certs', 'issue', ...argv, '--out', at('none')]);
    expect(ran).toMatchObject({ code: 2, out: '' });
    expect(ran.err).toContain(message);
    expect(await readdir(directory)).toEqual([]);
  });

  it('refuses to write below a file, with code 2', async () => {
    await writeFile(at('file'), '');
    for (const out of [at('file'), at('file/below')]) {
      const ran = await issue('--out', out);
      expect(ran).toMatchObject({ code: 2, out: '' });
      expect(ran.err).toContain(
        `directory ${out}: a file stands where a directory is needed: give another --out`,
      );
    }
  });

  it.runIf(process.platform === 'linux')('refuses at once to write where nothing can be made', async () => {
    const ran = await issue('--out', '/proc/nope/below');
    expect(ran).toMatchObject({ code: 2, out: '' });
    expect(ran.err).toContain('directory /proc/nope/below: cannot be written: ENOENT');
  });

  it('makes a directory with those above it', async () => {
    expect((await issue('--out', at('a/b/c'))).code).toBe(0);
    expect((await stat(at('a'))).mode & 0o777).toBe(0o700);
  });

  it('refuses a CA with the key of another', async () => {
    await issue();
    const ran = await issue('--out', at('next'), '--ca-cert', at('ca.crt'), '--ca-key', at('tls.key'));
    expect(ran.code).toBe(2);
    expect(ran.err).toContain('[GATE_TLS_PAIR]');
  });
});

describe('certs inspect', () => {
  it('answers no for a certificate that is expired or not valid yet', async () => {
    await issue('--days', '5');
    const late = new FakeClock();
    await late.advance(6 * DAY_MS);
    const expired = await runCommand(['certs', 'inspect', at('tls.crt')], { clock: late });
    expect(expired.code).toBe(1);
    expect(expired.out.match(/PROBLEM +expired at 2026-01-06T00:00:00.000Z/g)).toHaveLength(1);
    expect(expired.out).toContain('(expired 1 day ago)');
    expect(expired.err).toBe('');
    const early = await runCommand(['certs', 'inspect', at('tls.crt')], { clock: new FakeClock(0) });
    expect(early.code).toBe(1);
    expect(early.out).toContain('(not valid yet)');
    expect(early.out).toContain('PROBLEM      not valid before');
  });

  it('answers no for the key of another certificate, and for another CA', async () => {
    await issue();
    const wrong = ['--key', at('ca.key'), '--ca', at('tls.crt')];
    const ran = await runCommand(['certs', 'inspect', at('tls.crt'), ...wrong, '--output', 'yaml']);
    expect(ran.code).toBe(1);
    expect(ran.err).toBe('');
    expect(ran.out).toContain('problems:\n');
    expect(ran.out).toContain(`- ${at('ca.key')} is the key of another certificate`);
    expect(ran.out).toContain('- was issued by none of the given CAs');
  });

  it.each([
    [0, '90 days left'],
    [1, '90 days left'],
    [DAY_MS, '89 days left'],
    [89.5 * DAY_MS, 'less than 1 day left'],
    [90 * DAY_MS, 'expired less than 1 day ago'],
    [93 * DAY_MS, 'expired 3 days ago'],
  ])('counts days as people do: %d ms after it was made %s', async (passedMs, text) => {
    await issue();
    const clock = new FakeClock();
    await clock.advance(passedMs);
    const ran = await runCommand(['certs', 'inspect', at('tls.crt')], { clock });
    expect(ran.out).toContain(`(${text})`);
  });

  it.each([
    ['is cut off', (pem: string) => pem.slice(0, 200)],
    ['has no end', (pem: string) => pem.replace(/-----END.*/, '')],
    ['is no certificate within', () => '-----BEGIN CERTIFICATE-----\naGVsbG8=\n-----END CERTIFICATE-----\n'],
    ['has no beginning', (pem: string) => pem.replace(/-----BEGIN.*/, '')],
  ])('refuses a chain of which the second block %s, with code 2', async (_name, broken) => {
    await issue();
    const leaf = await readFile(at('tls.crt'), 'utf8');
    const chain = at('chain.crt');
    await writeFile(chain, leaf + broken(await readFile(at('ca.crt'), 'utf8')));
    const ran = await runCommand(['certs', 'inspect', chain]);
    expect(ran).toMatchObject({ code: 2, out: '' });
    expect(ran.err).toMatch(/chain\.crt: .*\[GATE_/);
  });

  it('reads every certificate of every file', async () => {
    await issue();
    const chain = at('chain.pem');
    await writeFile(chain, (await readFile(at('tls.crt'), 'utf8')) + (await readFile(at('ca.crt'), 'utf8')));
    const ran = await runCommand(['certs', 'inspect', chain, at('ca.crt'), '--output', 'json']);
    expect(ran.code).toBe(0);
    const list = JSON.parse(ran.out) as { subject: string; isCA: boolean }[];
    expect(list.map((one) => one.isCA)).toEqual([false, true, true]);
  });

  it.each([
    ['is not there', undefined, 'cannot be read: there is no such file'],
    ['holds none', 'hello', 'holds no PEM certificate'],
    [
      'holds a broken one',
      '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n',
      'certificate 1 of 1 cannot be read',
    ],
  ])('refuses a file that %s with code 2', async (_name, content, message) => {
    if (content !== undefined) await writeFile(at('x.crt'), content);
    const ran = await runCommand(['certs', 'inspect', at('x.crt')]);
    expect(ran).toMatchObject({ code: 2, out: '' });
    expect(ran.err).toContain(message);
  });
});
