import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { systemClock, type Clock } from '../../src/clock.ts';
import type { TlsPair } from '../../src/http/certificate.ts';
import { issueLeaf } from '../../src/http/issue.ts';
import { createListener, type Listener } from '../../src/http/server.ts';
import { tlsFromFiles, type TlsSource } from '../../src/http/tls.ts';
import { until } from '../support/conditions.ts';
import { ask, openTls } from '../support/http-client.ts';
import { clientPair, fingerprintOf, newTestTls, serverPair, type TestTls } from '../support/tls.ts';

const DAY_MS = 24 * 60 * 60_000;

let tls: TestTls;
let directory: string;
let errors: Error[];
let reloads: number;
const opened: { close(): Promise<void> }[] = [];

beforeAll(async () => {
  tls = await newTestTls();
});
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'pacto-gate-tls-'));
  errors = [];
  reloads = 0;
});
afterEach(async () => {
  await Promise.all(opened.splice(0).map((part) => part.close()));
  await rm(directory, { recursive: true, force: true });
});

async function put(pair: TlsPair, into = directory): Promise<void> {
  await writeFile(join(into, 'tls.crt'), pair.certPem);
  await writeFile(join(into, 'tls.key'), pair.keyPem);
  await writeFile(join(into, 'ca.crt'), tls.ca);
}

/** Puts a generation as a kubelet does: a new directory, then `..data` renamed over the old link at one stroke. */
async function mount(generation: string, pair: TlsPair): Promise<void> {
  await mkdir(join(directory, generation));
  await put(pair, join(directory, generation));
  await symlink(generation, join(directory, '..data_tmp'));
  await rename(join(directory, '..data_tmp'), join(directory, '..data'));
  if (existsSync(join(directory, 'tls.crt'))) return;
  for (const name of ['tls.crt', 'tls.key', 'ca.crt']) await symlink(`..data/${name}`, join(directory, name));
}

/** Looks again at once where the real one would wait a second, and counts how often the pair was judged. */
let judged = 0;
const hasty: Clock = {
  now: () => {
    judged++;
    return systemClock.now();
  },
  monotonic: () => systemClock.monotonic(),
  setTimer: (delayMs, run) => systemClock.setTimer(Math.min(delayMs, 20), run),
};

async function source(clock: Clock = hasty): Promise<TlsSource> {
  const made = await tlsFromFiles({
    certFile: join(directory, 'tls.crt'),
    keyFile: join(directory, 'tls.key'),
    caFile: join(directory, 'ca.crt'),
    clock,
    onError: (error) => errors.push(error as Error),
    onReload: () => reloads++,
  });
  opened.push({ close: () => Promise.resolve(made.close()) });
  return made;
}

async function serve(
  from: TlsSource,
  clientCaFile?: string,
): Promise<{ url: string; port: number; listener: Listener }> {
  const listener = await createListener({
    name: 'test',
    host: '127.0.0.1',
    port: 0,
    tls: from,
    ...(clientCaFile === undefined ? {} : { clientCaFile }),
    clock: systemClock,
    closeGraceMs: 100,
    onError: (error) => errors.push(error as Error),
  });
  listener.app.get('/', () => 'served');
  opened.push(listener);
  return { ...(await listener.listen()), listener };
}

async function servedFingerprint(port: number): Promise<string> {
  const { socket } = await openTls(port, { ca: tls.ca });
  const { fingerprint256 } = socket.getPeerCertificate();
  socket.destroy();
  return fingerprint256;
}

describe('a certificate from files', () => {
  it('is swapped through the symlinks of a Kubernetes mount, for new connections, without ending the old', async () => {
    const second = await serverPair(tls.authority);
    await mount('..2026_01', tls.pair);
    const { port } = await serve(await source(systemClock));
    const old = await openTls(port, { ca: tls.ca });
    expect(await servedFingerprint(port)).toBe(fingerprintOf(tls.pair.certPem));
    await mount('..2026_02', second);
    await rm(join(directory, '..2026_01'), { recursive: true });
    await until(
      'the new one is served',
      async () => (await servedFingerprint(port)) === fingerprintOf(second.certPem),
    );
    old.socket.write('GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n');
    expect(await old.closed).toMatch(/^HTTP\/1\.1 200 OK/);
    // Sooner than the next look that nothing has asked for, 10 s on.
    await mount('..2026_03', tls.pair);
    await until('the change is seen by the watch', () => reloads === 2, 5_000);
    expect(errors).toEqual([]);
  });

  it('is swapped by polling where nothing reports the change', async () => {
    const second = await serverPair(tls.authority);
    // The watched directory holds links into another one: a change there raises no event here.
    const elsewhere = join(directory, 'elsewhere');
    await mkdir(elsewhere);
    await put(tls.pair, elsewhere);
    for (const name of ['tls.crt', 'tls.key', 'ca.crt'])
      await symlink(join(elsewhere, name), join(directory, name));
    const made = await source();
    await put(second, elsewhere);
    await until('the new one is current', () => reloads > 0);
    expect(made.current()).toEqual(second);
  });

  it('is denied at the start when the key belongs to another certificate', async () => {
    const other = await serverPair(tls.authority);
    await put({ certPem: tls.pair.certPem, keyPem: other.keyPem });
    await expect(source()).rejects.toMatchObject({
      code: 'GATE_TLS_PAIR',
      message: `${join(directory, 'tls.crt')} and ${join(directory, 'tls.key')}: the private key belongs to another certificate: need the key that CN=localhost was issued for`,
    });
  });

  it('is denied at the start when it has expired, is not valid yet, or is not there', async () => {
    const nowMs = systemClock.now();
    const names = { dnsNames: ['localhost'], ipAddresses: [] };
    const old = await newAuthorityAt(nowMs - 20 * DAY_MS);
    await put(await issueLeaf(old, { ...names, nowMs: nowMs - 10 * DAY_MS, validDays: 1 }));
    await expect(source()).rejects.toMatchObject({
      code: 'GATE_TLS_PAIR',
      message: expect.stringMatching(/: the certificate expired at .*: renew it$/) as string,
    });
    await put(await issueLeaf(tls.authority, { ...names, nowMs: nowMs + 10 * DAY_MS }));
    await expect(source()).rejects.toMatchObject({
      code: 'GATE_TLS_PAIR',
      message: expect.stringMatching(/: the certificate is not valid before .* and it is /) as string,
    });
    await rm(join(directory, 'tls.key'));
    await expect(source()).rejects.toMatchObject({
      code: 'GATE_TLS_FILE',
      message: expect.stringMatching(/tls\.key: cannot be read: ENOENT/) as string,
    });
  });

  it('is kept, with its expiry and health, on a reload of a chain that is half broken', async () => {
    await put(tls.pair);
    const made = await source();
    const { port } = await serve(made);
    const { notAfterMs, health } = { notAfterMs: made.notAfterMs(), health: made.health() };
    const next = await serverPair(tls.authority, { validDays: 300 });
    await put({ ...next, certPem: `${next.certPem}${tls.ca.replace(/^M.*$/m, 'AAAA')}` });
    await until('the refusal is reported', () =>
      errors.some(({ message }) => message.includes('certificate 2 of 2')),
    );
    expect([made.notAfterMs(), made.health()]).toEqual([notAfterMs, health]);
    expect(await servedFingerprint(port)).toBe(fingerprintOf(tls.pair.certPem));
    await put(tls.pair);
    const before = judged;
    await put(next);
    await until('the whole chain is taken', () => judged > before && made.notAfterMs() > notAfterMs);
    expect(await servedFingerprint(port)).toBe(fingerprintOf(next.certPem));
  });

  it('is denied at once for a named pipe, at the start and at a reload, which goes on afterwards', async () => {
    execFileSync('mkfifo', [join(directory, 'pipe')]);
    await put(tls.pair);
    await rm(join(directory, 'tls.key'));
    await symlink('pipe', join(directory, 'tls.key'));
    await expect(source()).rejects.toMatchObject({
      code: 'GATE_TLS_FILE',
      message: expect.stringContaining('it is no regular file') as string,
    });
    await rm(join(directory, 'tls.key'));
    await put(tls.pair);
    const made = await source();
    await rm(join(directory, 'tls.key'));
    await symlink('pipe', join(directory, 'tls.key'));
    await until('the refusal is reported', () =>
      errors.some(({ message }) => message.includes('no regular file')),
    );
    const next = await serverPair(tls.authority);
    await rm(join(directory, 'tls.key'));
    await put(next);
    await until('the next pair is taken', () => made.current().keyPem === next.keyPem);
  });

  it.each([
    [
      'a key of another certificate',
      'the private key belongs to another certificate',
      async () => (await serverPair(tls.authority)).keyPem,
      undefined,
    ],
    ['an expired one', 'the certificate expired at', undefined, -10],
    ['one that is not valid yet', 'the certificate is not valid before', undefined, 10],
  ])(
    'is kept on a reload of %s, the cause is reported once, and the right one is taken afterwards',
    async (_what, cause, key, days) => {
      await mount('..2026_01', tls.pair);
      const made = await source();
      const { port } = await serve(made);
      const bad = days === undefined ? { ...(await serverPair(tls.authority)) } : await issueAt(days);
      await mount('..2026_02', {
        certPem: bad.certPem,
        keyPem: key === undefined ? bad.keyPem : await key(),
      });
      await until('the refusal is reported', () => errors.some((error) => error.message.includes(cause)));
      expect(await servedFingerprint(port)).toBe(fingerprintOf(tls.pair.certPem));
      expect(made.health()).toEqual({ ok: true });
      const before = judged;
      await until('it was looked at again and again', () => judged > before + 5);
      const reported = errors.filter((error) => error.message.includes(cause)).length;
      expect(reported).toBe(1);
      const right = await serverPair(tls.authority);
      await mount('..2026_03', right);
      await until(
        'the right one is served',
        async () => (await servedFingerprint(port)) === fingerprintOf(right.certPem),
      );
    },
  );

  it('is not healthy while the published CA does not vouch for it', async () => {
    await put(tls.pair);
    await writeFile(join(directory, 'ca.crt'), (await newTestTls()).ca);
    expect((await source()).health()).toEqual({
      ok: false,
      reason: 'the published CA bundle does not vouch for the serving certificate',
    });
  });

  async function issueAt(days: number): Promise<TlsPair> {
    const nowMs = systemClock.now() + days * DAY_MS;
    const authority = await newAuthorityAt(nowMs - DAY_MS);
    return issueLeaf(authority, { nowMs, dnsNames: ['localhost'], ipAddresses: [], validDays: 1 });
  }
});

async function newAuthorityAt(nowMs: number): Promise<TlsPair> {
  const { issueAuthority } = await import('../../src/http/issue.ts');
  return issueAuthority({ nowMs });
}

describe('client certificates', () => {
  it.each(['TLSv1.2', 'TLSv1.3'] as const)(
    'allow a caller of the given CA and deny one without or with a foreign one, over %s',
    async (version) => {
      const callers = await newTestTls('callers');
      const foreign = await newTestTls('callers');
      const caFile = join(directory, 'clients.crt');
      await writeFile(caFile, callers.ca);
      const { port, listener } = await serve(tls.source, caFile);
      const attempt = async (pair?: TlsPair): Promise<string> => {
        const limits = { ca: tls.ca, minVersion: version, maxVersion: version };
        try {
          const wire = await openTls(
            port,
            pair === undefined ? limits : { ...limits, cert: pair.certPem, key: pair.keyPem },
          );
          wire.socket.write('GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n');
          return (await wire.closed).split('\r\n', 1)[0] ?? '';
        } catch {
          return 'refused';
        }
      };
      expect(await attempt(await clientPair(callers.authority, 'apiserver'))).toBe('HTTP/1.1 200 OK');
      // With TLS 1.3 the client has finished its handshake when the server refuses: it reads nothing.
      const refused = version === 'TLSv1.3' ? '' : 'refused';
      expect(await attempt()).toBe(refused);
      expect(await attempt(await clientPair(foreign.authority, 'apiserver'))).toBe(refused);
      expect(listener.stats().failedHandshakes).toBe(2);
    },
  );

  it('follow a new CA file', async () => {
    const before = await newTestTls('callers');
    const after = await newTestTls('callers');
    const caFile = join(directory, 'clients.crt');
    await writeFile(caFile, before.ca);
    const { url } = await serve(tls.source, caFile);
    const client = await clientPair(after.authority, 'apiserver');
    const credentials = { ca: tls.ca, cert: client.certPem, key: client.keyPem };
    await expect(ask(url, credentials)).rejects.toMatchObject({
      code: expect.stringMatching(/^E/) as string,
    });
    await writeFile(caFile, after.ca);
    await until('the new CA is trusted', async () => {
      try {
        return (await ask(url, credentials)).status === 200;
      } catch {
        return false;
      }
    });
  });
});
