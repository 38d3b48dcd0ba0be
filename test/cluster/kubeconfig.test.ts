import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { loadConnection } from '../../src/cluster/kubeconfig.ts';
import { FakeClock } from '../support/fake-clock.ts';

let directory: string;
let clock: FakeClock;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'gate-kubeconfig-'));
  clock = new FakeClock();
});
afterEach(() => rm(directory, { recursive: true, force: true }));

async function file(name: string, content: string): Promise<string> {
  const path = join(directory, name);
  await writeFile(path, content);
  return path;
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64');
}

/** A kubeconfig with one cluster, user and context, all named `one`. */
function kubeconfig(cluster: object = {}, user: object | undefined = {}, context: object = {}): string {
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'one',
    clusters: [{ name: 'one', cluster: { server: 'https://api:6443', ...cluster } }],
    users: [{ name: 'one', user }],
    contexts: [{ name: 'one', context: { cluster: 'one', user: 'one', ...context } }],
  });
}

async function load(content: string, context?: string): ReturnType<typeof loadConnection> {
  const path = await file('config', content);
  return loadConnection({
    source: 'kubeconfig',
    paths: [path],
    clock,
    ...(context !== undefined && { context }),
  });
}

describe('a kubeconfig', () => {
  it('gives server, TLS, proxy, namespace and who we are', async () => {
    const connection = await load(
      kubeconfig(
        {
          'certificate-authority-data': base64('CA'),
          'tls-server-name': 'kubernetes',
          'proxy-url': 'http://proxy.test:3128',
        },
        { 'client-certificate-data': base64('CERT'), 'client-key-data': base64('KEY'), token: 'T' },
        { namespace: 'payments' },
      ),
    );
    expect(connection).toMatchObject({
      server: 'https://api:6443',
      origin: `${join(directory, 'config')} (context "one")`,
      tlsServerName: 'kubernetes',
      proxyUrl: 'http://proxy.test:3128',
      namespace: 'payments',
      warnings: [],
    });
    expect(await connection.credentials.current()).toEqual({
      authorization: 'Bearer T',
      ca: 'CA',
      certificate: 'CERT',
      key: 'KEY',
    });
  });

  it('reads files beside it, and reads them again after a minute', async () => {
    await file('ca.crt', 'CA');
    await file('token', 'first\n');
    const connection = await load(
      kubeconfig({ 'certificate-authority': 'ca.crt' }, { token: 'stale', tokenFile: 'token' }),
    );
    expect(await connection.credentials.current()).toEqual({ authorization: 'Bearer first', ca: 'CA' });
    await file('token', 'second\n');
    await clock.advance(59_999);
    expect(await connection.credentials.current()).toMatchObject({ authorization: 'Bearer first' });
    await clock.advance(1);
    expect(await connection.credentials.current()).toMatchObject({ authorization: 'Bearer second' });
    await file('token', 'third');
    const renewed = await connection.credentials.renew(await connection.credentials.current());
    expect(renewed).toMatchObject({ authorization: 'Bearer third' });
  });

  it('uses a token on when its file is empty or gone for a moment', async () => {
    const path = await file('token', 'first');
    const connection = await load(kubeconfig({}, { tokenFile: 'token' }));
    await writeFile(path, '');
    expect(await connection.credentials.renew({})).toEqual({ authorization: 'Bearer first' });
    await rm(path);
    expect(await connection.credentials.renew({})).toEqual({ authorization: 'Bearer first' });
  });

  it('takes user name and password, and a user that is left out', async () => {
    const basic = await load(kubeconfig({}, { username: 'u', password: 'p:w' }));
    expect(await basic.credentials.current()).toEqual({ authorization: `Basic ${base64('u:p:w')}` });
    const anonymous = await load(kubeconfig({}, {}, { user: '' }).replace(',"user":""', ''));
    expect(await anonymous.credentials.current()).toEqual({});
  });

  it('impersonates with groups, uid and extra', async () => {
    const connection = await load(
      kubeconfig({}, { as: 'jane', 'as-uid': 'u', 'as-groups': ['a'], 'as-user-extra': { k: ['v'] } }),
    );
    expect(connection.impersonate).toEqual({ user: 'jane', uid: 'u', groups: ['a'], extra: { k: ['v'] } });
  });

  it('warns of a certificate that nobody checks, and of plain HTTP', async () => {
    const insecure = await load(kubeconfig({ 'insecure-skip-tls-verify': true }));
    expect(insecure.insecureSkipTlsVerify).toBe(true);
    expect(insecure.warnings).toEqual([expect.stringContaining('insecure-skip-tls-verify is set')]);
    const plain = await load(kubeconfig({ server: 'http://127.0.0.1:8001' }));
    expect(plain.warnings).toEqual([expect.stringContaining('plain HTTP')]);
  });

  it('takes the context that is asked for', async () => {
    const content = JSON.parse(kubeconfig()) as { contexts: object[]; clusters: object[] };
    content.contexts.push({ name: 'two', context: { cluster: 'two' } });
    content.clusters.push({ name: 'two', cluster: { server: 'https://two:6443' } });
    expect(await load(JSON.stringify(content), 'two')).toMatchObject({ server: 'https://two:6443' });
  });

  it('merges files, the first that names a thing counts, one that is not there is left out', async () => {
    const first = await file('first', 'contexts: [{name: one, context: {cluster: one, namespace: first}}]');
    const second = await file('second', kubeconfig({}, {}, { namespace: 'second' }));
    const paths = [first, join(directory, 'missing'), second];
    expect(await loadConnection({ source: 'kubeconfig', paths, clock })).toMatchObject({
      server: 'https://api:6443',
      namespace: 'first',
    });
  });

  it.each([
    ['that is not YAML', 'a: [\n b: "secret"', /config: line \d is not YAML \(\w+\); mend the file$/],
    ['that is empty', '', /config: current-context is missing; set it, or name a context$/],
    ['that is a list', '[]', /config: it is not as it should be/],
    [
      'with the same key twice',
      'current-context: a\ncurrent-context: b\n',
      /line 2 is not YAML \(DUPLICATE_KEY\)/,
    ],
    [
      'whose context is missing',
      'current-context: nowhere\ncontexts: [{name: a, context: {cluster: a}}]',
      /context "nowhere" is missing \(found "a"\); add it or name another context$/,
    ],
    [
      'whose cluster is missing',
      'current-context: a\ncontexts: [{name: a, context: {cluster: b}}]',
      /cluster "b" is missing \(found none\)/,
    ],
    ['without a server', kubeconfig({ server: undefined }), /cluster "one": server is not as it should be/],
    [
      'with a server that is no address',
      kubeconfig({ server: 'api:6443' }),
      /server is not an address \(found "api:6443"/,
    ],
    [
      'with a password in the server',
      kubeconfig({ server: 'https://u:hunter2@api' }),
      /found "https:\/\/…@api"/,
    ],
    ['with a socks proxy', kubeconfig({ 'proxy-url': 'socks5://u:hunter2@p' }), /proxy-url is neither/],
    [
      'with a certificate without key',
      kubeconfig({}, { 'client-certificate-data': base64('C') }),
      /client-key is missing/,
    ],
    [
      'with a key without certificate',
      kubeconfig({}, { 'client-key-data': base64('K') }),
      /client-certificate is missing/,
    ],
    [
      'with a CA file that is missing',
      kubeconfig({ 'certificate-authority': 'gone' }),
      /gone: cannot be read \(ENOENT\)/,
    ],
    ['with groups but nobody to impersonate', kubeconfig({}, { 'as-groups': ['g'] }), /without as/],
    [
      'with a plugin that wants a person',
      kubeconfig({}, { exec: { command: 'c', interactiveMode: 'Always' } }),
      /interactiveMode is Always/,
    ],
    [
      'with a token that is a number',
      kubeconfig({}, { token: 12_345 }),
      /user "one": token is not as it should be/,
    ],
  ])('refuses one %s', async (_what, content, message) => {
    const refused = load(content);
    await expect(refused).rejects.toMatchObject({
      code: 'GATE_KUBECONFIG',
      message: expect.stringMatching(message),
    });
    await expect(refused).rejects.not.toThrow(/hunter2|secret|12345/);
  });

  it('refuses a file that cannot be read, files of which none exists, and no file', async () => {
    const gone = join(directory, 'gone');
    const attempt = (paths: string[]): Promise<unknown> =>
      loadConnection({ source: 'kubeconfig', paths, clock });
    await expect(attempt([gone])).rejects.toThrow(`${gone}: cannot be read (ENOENT)`);
    await expect(attempt([gone, gone])).rejects.toThrow('none of these files exists');
    await expect(attempt([])).rejects.toThrow('no file is named');
  });
});

describe('a mounted service account', () => {
  async function mount(): Promise<string> {
    const at = join(directory, 'serviceaccount');
    await mkdir(at);
    await writeFile(join(at, 'token'), 'T\n');
    await writeFile(join(at, 'ca.crt'), 'CA');
    await writeFile(join(at, 'namespace'), 'pacto\n');
    return at;
  }

  it('gives server, token, CA and namespace', async () => {
    const at = await mount();
    const connection = await loadConnection({
      source: 'in-cluster',
      host: '10.0.0.1',
      port: '443',
      directory: at,
      clock,
    });
    expect(connection).toMatchObject({
      server: 'https://10.0.0.1:443',
      origin: 'in-cluster',
      namespace: 'pacto',
      warnings: [],
    });
    expect(await connection.credentials.current()).toEqual({ authorization: 'Bearer T', ca: 'CA' });
  });

  it('writes an IPv6 address in brackets', async () => {
    const at = await mount();
    expect(
      await loadConnection({ source: 'in-cluster', host: 'fd00::1', port: '443', directory: at, clock }),
    ).toMatchObject({ server: 'https://[fd00::1]:443' });
  });

  it('refuses a Pod without the mount, and a process that is in no Pod', async () => {
    const options = { source: 'in-cluster', host: '10.0.0.1', port: '443', directory, clock } as const;
    await expect(loadConnection(options)).rejects.toMatchObject({
      code: 'GATE_KUBECONFIG',
      message: expect.stringContaining('cannot be read (ENOENT); check that it is mounted'),
    });
    await expect(loadConnection({ ...options, host: '' })).rejects.toThrow('do not name an API server');
  });
});
