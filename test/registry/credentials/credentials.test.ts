import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';

import type { Credential } from '../../../src/registry/credential.ts';
import { credentialIn, dockerConfigCredentials } from '../../../src/registry/credentials/docker-config.ts';
import { environmentCredentials } from '../../../src/registry/credentials/environment.ts';
import { pactoStoreCredentials } from '../../../src/registry/credentials/pacto-store.ts';
import { pullSecretCredentials } from '../../../src/registry/credentials/pull-secret.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { failure } from '../../support/registry/bundles.ts';

const base64 = (text: string): string => Buffer.from(text).toString('base64');
const basic = (username: string, password: string): Credential => ({ kind: 'basic', username, password });

/** Stands in every password and token here: no message may hold it, nor its Base64. */
const POISON = 'p01son-of-the-credentials';
const expectClean = (message: string): void => {
  expect(message).not.toContain(POISON);
  expect(message).not.toContain(base64(POISON).slice(0, 12));
};

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'pacto-gate-credentials-'));
});
afterEach(async () => {
  await rm(directory, { recursive: true });
});
const file = async (name: string, content: unknown): Promise<string> => {
  const path = join(directory, name);
  await writeFile(path, typeof content === 'string' ? content : JSON.stringify(content));
  return path;
};

describe('credentials of the environment', () => {
  const login = { token: undefined, username: 'ann', password: POISON };

  test.each([
    ['gives them to a host that is named', ['ghcr.io'], 'ghcr.io', true],
    ['gives them to a host and port that are named', ['r.example:5000'], 'r.example:5000', true],
    ['gives those for Docker Hub under each of its names', ['docker.io'], 'index.docker.io', true],
    ['takes no difference between upper and lower case', ['GHCR.io'], 'ghcr.io', true],
    ['gives nothing where no host is named', [], 'ghcr.io', false],
    ['gives nothing to another host', ['ghcr.io'], 'evil.example', false],
    ['gives nothing to another port', ['ghcr.io'], 'ghcr.io:8443', false],
    ['gives nothing to a host below', ['ghcr.io'], 'x.ghcr.io', false],
    ['gives nothing to a host that ends alike', ['ghcr.io'], 'evilghcr.io', false],
  ])('%s', async (_what, hosts, host, isGiven) => {
    const found = await environmentCredentials(() => login, hosts).for(host, 'a/b');
    expect(found).toEqual(isGiven ? basic('ann', POISON) : undefined);
  });

  test('prefers the token, and needs user name and password together', async () => {
    const given = (each: object): Promise<Credential | undefined> =>
      environmentCredentials(() => each, ['h.example']).for('h.example', 'a');
    expect(await given({ ...login, token: 't' })).toEqual({ kind: 'bearer', token: 't' });
    expect(await given({ token: '', username: 'ann', password: 'x' })).toEqual(basic('ann', 'x'));
    expect(await given({ username: 'ann' })).toBeUndefined();
    expect(await given({ password: 'x' })).toBeUndefined();
  });

  const both = 'PACTO_REGISTRY_USERNAME and PACTO_REGISTRY_PASSWORD are set';
  test.each([
    [{}, [], undefined],
    [{ token: '', username: '', password: '' }, [], undefined],
    [login, ['r.example:5000'], undefined],
    [{ token: POISON, username: 'ann' }, ['R.example:5000'], undefined],
    [login, [], `${both}, and registry.credentialHosts does not name "r.example:5000"`],
    [
      login,
      ['r.example'],
      `${both}, and registry.credentialHosts does not name "r.example:5000", only "r.example"`,
    ],
    [
      { ...login, token: POISON },
      ['x.example'],
      'PACTO_REGISTRY_TOKEN is set, and registry.credentialHosts does not name "r.example:5000"',
    ],
    [
      { username: 'ann' },
      ['r.example:5000'],
      'PACTO_REGISTRY_USERNAME is set without PACTO_REGISTRY_PASSWORD',
    ],
    [
      { password: POISON },
      [],
      'PACTO_REGISTRY_PASSWORD is set without PACTO_REGISTRY_USERNAME, and registry.credentialHosts does not name "r.example:5000"',
    ],
  ])('say why %j is not used at r.example:5000 with the hosts %j', async (each, hosts, why) => {
    const source = environmentCredentials(() => each, hosts);
    expect(await source.unused?.('r.example:5000')).toBe(why);
  });

  test.each([
    ['a token with a line break', { token: `${POISON}\n` }],
    ['a password with a line break', { username: 'ann', password: `${POISON}\r\n` }],
    ['a user name with a colon', { username: 'ann:x', password: POISON }],
  ])('refuses %s without telling it', async (_what, each) => {
    const found = await failure(() =>
      environmentCredentials(() => each, ['h.example']).for('h.example', 'a'),
    );
    expect(found).toMatch(/^GATE_REGISTRY_AUTHENTICATION/);
    expectClean(found);
  });
});

describe('the store of pacto login', () => {
  test('gives what is filed under exactly the host, and follows changes', async () => {
    const path = await file('config.json', { auths: { 'ghcr.io': { auth: base64('ann:p:q') } } });
    const source = pactoStoreCredentials(path);
    expect(await source.for('ghcr.io', 'a/b')).toEqual(basic('ann', 'p:q'));
    expect(await source.for('x.ghcr.io', 'a/b')).toBeUndefined();
    await file('config.json', { auths: { 'docker.io': { auth: base64('bob:x') } } });
    expect(await source.for('ghcr.io', 'a/b')).toBeUndefined();
    expect(await source.for('index.docker.io', 'a/b')).toEqual(basic('bob', 'x'));
  });

  test.each([
    ['no file', undefined],
    ['no JSON', '{"auths":'],
    ['another shape', '[1]'],
    ['entries of another shape', { auths: { 'ghcr.io': 'x' } }],
    ['a key of the prototype', '{"auths":{"__proto__":{"ghcr.io":{"auth":"YTpi"}}}}'],
  ])('has no credentials in %s', async (_what, content) => {
    if (content !== undefined) await file('config.json', content);
    expect(await pactoStoreCredentials(join(directory, 'config.json')).for('ghcr.io', 'a')).toBeUndefined();
  });
});

describe('an entry of a docker config', () => {
  const entry = (name: string): object => ({ auth: base64(`${name}:x`) });

  test.each([
    ['the host', { 'r.example': entry('a') }, 'r.example', 'a'],
    ['a URL', { 'https://r.example/v1/': entry('a') }, 'r.example', 'a'],
    ['a URL of version 2', { 'https://r.example/v2': entry('a') }, 'r.example', 'a'],
    ['Docker Hub by its old URL', { 'https://index.docker.io/v1/': entry('a') }, 'index.docker.io', 'a'],
    ['Docker Hub by its name', { 'docker.io': entry('a') }, 'index.docker.io', 'a'],
    ['host and port', { 'r.example:5000': entry('a') }, 'r.example:5000', 'a'],
    ['not another port', { 'r.example:5000': entry('a') }, 'r.example', undefined],
    ['a path above', { 'r.example/acme': entry('a') }, 'r.example', 'a'],
    ['the whole path', { 'r.example/acme/shop': entry('a') }, 'r.example', 'a'],
    ['not a path that begins alike', { 'r.example/acm': entry('a') }, 'r.example', undefined],
    ['the longest', { 'r.example': entry('a'), 'r.example/acme': entry('b') }, 'r.example', 'b'],
    ['a pattern', { '*.example': entry('a') }, 'r.example', 'a'],
    ['a pattern within a label', { 'r*1-*x.example': entry('a') }, 'reg1-eu-x.example', 'a'],
    ['not one label for two', { '*.example': entry('a') }, 'a.b.example', undefined],
    ['not a pattern on another port', { '*.example': entry('a') }, 'r.example:5000', undefined],
    ['not what overlaps', { 'ab*ba.example': entry('a') }, 'aba.example', undefined],
    ['the host before a pattern', { '*.example': entry('a'), 'r.example': entry('b') }, 'r.example', 'b'],
    ['not an empty one before a pattern', { 'r.example': {}, '*.example': entry('a') }, 'r.example', 'a'],
    ['not another host', { 'evil.example': entry('a') }, 'r.example', undefined],
  ])('fits %s', (_what, auths, host, wanted) => {
    const found = credentialIn({ auths }, host, 'acme/shop', 'the docker config');
    expect(found).toEqual(wanted === undefined ? undefined : basic(wanted, 'x'));
  });

  test.each([
    ['auth at its first colon', { auth: base64('ann:p:q') }, basic('ann', 'p:q')],
    ['auth with NULs at its end', { auth: base64('ann:p\0\0') }, basic('ann', 'p')],
    [
      'user name and password before auth',
      { username: 'a', password: 'b', auth: base64('c:d') },
      basic('a', 'b'),
    ],
    ['an identity token', { identitytoken: 'i', auth: base64('a:b') }, { kind: 'identity', token: 'i' }],
    ['a registry token', { registrytoken: 'r', identitytoken: 'i' }, { kind: 'bearer', token: 'r' }],
    ['numbers as nothing', { username: 1, password: 2 }, undefined],
  ])('reads %s', (_what, one, wanted) => {
    expect(credentialIn({ auths: { 'r.example': one } }, 'r.example', 'a', 'x')).toEqual(wanted);
  });

  test.each([
    ['without a colon', { auth: base64(POISON) }],
    ['without a user name', { auth: base64(`:${POISON}`) }],
    ['with a control character', { auth: base64(`a:${POISON}\u0007`) }],
  ])('refuses auth %s without telling it', async (_what, one) => {
    const found = await failure(() => credentialIn({ auths: { 'r.example': one } }, 'r.example', 'a', 'x'));
    expect(found).toMatch(/^GATE_REGISTRY_AUTHENTICATION/);
    expectClean(found);
  });
});

describe('docker config files', () => {
  test('asks one after the other, and passes over those that are not there', async () => {
    const first = await file('a.json', { auths: { 'a.example': { auth: base64('a:x') } } });
    const second = await file('b.json', {
      auths: { 'a.example': { auth: base64('never:x') }, 'b.example': { auth: base64('b:x') } },
    });
    const paths = [join(directory, 'none.json'), first, second];
    const source = dockerConfigCredentials(
      paths.map((path) => ({ path, mustBeThere: false })),
      undefined,
    );
    expect(await source.for('a.example', 'x')).toEqual(basic('a', 'x'));
    expect(await source.for('b.example', 'x')).toEqual(basic('b', 'x'));
    expect(await source.for('c.example', 'x')).toBeUndefined();
  });

  test('refuses a configured file that is not there or no JSON, and tells nothing of it', async () => {
    const of = (path: string): Promise<string> =>
      failure(() => dockerConfigCredentials([{ path, mustBeThere: true }], undefined).for('a.example', 'x'));
    expect(await of(join(directory, 'none.json'))).toContain('ENOENT');
    const found = await of(await file('bad.json', `{"auths": ${POISON}}`));
    expect(found).toContain('is no JSON');
    expectClean(found);
  });

  test('starts no helper unless that is switched on', async () => {
    const path = await file('c.json', { credsStore: 'evil', credHelpers: { 'a.example': 'evil' } });
    const source = dockerConfigCredentials([{ path, mustBeThere: true }], undefined);
    expect(await source.for('a.example', 'x')).toBeUndefined();
  });

  test('say which helper is not asked for a host, and nothing where none is named', async () => {
    const path = await file('c.json', { credHelpers: { 'https://a.example': 'gcr' } });
    const general = await file('s.json', { credsStore: 'desktop' });
    const none = join(directory, 'none.json');
    const source = dockerConfigCredentials(
      [none, path].map((each) => ({ path: each, mustBeThere: false })),
      undefined,
    );
    expect(await source.unused?.('a.example')).toBe(
      `"${path}" names the credential helper "gcr", and registry.credentialHelpers is off`,
    );
    expect(await source.unused?.('b.example')).toBeUndefined();
    const stored = dockerConfigCredentials([{ path: general, mustBeThere: false }], undefined);
    expect(await stored.unused?.('b.example')).toContain('"desktop"');
    const asked = dockerConfigCredentials([{ path: general, mustBeThere: false }], {
      clock: new FakeClock(),
      timeoutMs: 1,
    });
    expect(await asked.unused?.('b.example')).toBeUndefined();
  });
});

describe('a pull secret', () => {
  const target = { registry: 'ghcr.io', repository: 'acme/shop' };
  const secretOf = (
    data: Readonly<Record<string, string>>,
    type?: string,
  ): Parameters<typeof pullSecretCredentials>[0] => ({
    namespace: 'shop',
    name: 'pull',
    type,
    data: Object.fromEntries(Object.entries(data).map(([key, text]) => [key, base64(text)])),
  });
  const DOCKER = 'kubernetes.io/dockerconfigjson';
  const dockerJson = (auths: object): Readonly<Record<string, string>> => ({
    '.dockerconfigjson': JSON.stringify({ auths }),
  });

  test.each([
    ['a token', { token: 't' }, 'Opaque', { kind: 'bearer', token: 't' }],
    [
      'a token before a password',
      { token: 't', username: 'a', password: 'b' },
      'Opaque',
      { kind: 'bearer', token: 't' },
    ],
    ['user name and password', { username: 'a', password: 'b' }, 'Opaque', basic('a', 'b')],
    ['no type', { username: 'a', password: 'b' }, undefined, basic('a', 'b')],
    ['the line break of echo', { username: 'a\n', password: 'b\n' }, 'Opaque', basic('a', 'b')],
    [
      'its own registry',
      { token: 't', registry: 'https://GHCR.io/' },
      'Opaque',
      { kind: 'bearer', token: 't' },
    ],
    [
      'a docker config',
      dockerJson({ 'https://ghcr.io/v2/': { auth: base64('a:b:c') } }),
      DOCKER,
      basic('a', 'b:c'),
    ],
  ])('accepts %s', async (_what, data, type, wanted) => {
    const source = pullSecretCredentials(secretOf(data, type), target);
    expect(source.name).toBe('pull secret shop/pull');
    expect(await source.for('ghcr.io', 'acme/shop')).toEqual(wanted);
  });

  test.each([
    ['without registry', { token: 't' }, 'Opaque'],
    ['with registry', { token: 't', registry: 'ghcr.io' }, 'Opaque'],
    [
      'with a docker config',
      dockerJson({ 'ghcr.io': { auth: base64('a:b') }, 'evil.example': { auth: base64('a:b') } }),
      DOCKER,
    ],
  ])('%s goes to no host but that of its reference', async (_what, data, type) => {
    const source = pullSecretCredentials(secretOf(data, type), target);
    for (const host of ['evil.example', 'ghcr.io:8443', 'ghcr.io.evil.example', ''])
      expect(await source.for(host, 'acme/shop')).toBeUndefined();
  });

  test('serves of a docker config each repository with its own entry, and another path with none', async () => {
    const auths = {
      'ghcr.io/acme': { auth: base64('a:broad') },
      'ghcr.io/acme/shop': { auth: base64('a:narrow') },
    };
    const source = pullSecretCredentials(secretOf(dockerJson(auths), DOCKER), target);
    expect(await source.for('ghcr.io', 'acme/shop')).toEqual(basic('a', 'narrow'));
    expect(await source.for('ghcr.io', 'acme/other')).toEqual(basic('a', 'broad'));
    expect(await source.for('ghcr.io', 'acme-evil/shop')).toBeUndefined();
  });

  test.each([
    ['nothing in it', {}, 'Opaque', 'need the key token'],
    ['a user name alone', { username: 'a' }, 'Opaque', 'need the key token'],
    ['an empty password', { username: 'a', password: '' }, 'Opaque', 'need the key token'],
    [
      'another registry',
      { token: POISON, registry: 'quay.io' },
      'Opaque',
      'it is for "quay.io", and the reference is on "ghcr.io"',
    ],
    ['another type', { token: POISON }, 'kubernetes.io/tls', 'is not supported'],
    ['no docker config', { token: POISON }, DOCKER, 'need the key .dockerconfigjson'],
    ['a docker config that is no JSON', { '.dockerconfigjson': `{${POISON}` }, DOCKER, 'is no JSON'],
    [
      'no entry for the host',
      dockerJson({ 'quay.io': { auth: base64(`a:${POISON}`) }, 'https://index.docker.io/v1/': {} }),
      DOCKER,
      'it has no entry for "ghcr.io", only for "quay.io", "index.docker.io"',
    ],
    ['a token that no header carries', { token: `${POISON}\nx` }, 'Opaque', 'no header can carry'],
  ])('refuses %s, and tells nothing of it', async (_what, data, type, why) => {
    const found = await failure(() => pullSecretCredentials(secretOf(data, type), target));
    expect(found).toMatch(/^GATE_REGISTRY_AUTHENTICATION: /);
    expect(found).toContain(why);
    expectClean(found);
  });
});
