import { describe, expect, it } from 'vitest';
import { parseRegistryReference } from '../../src/registry/reference.ts';
import type { Credential, CredentialSource } from '../../src/registry/credential.ts';
import { FakeClock } from '../support/fake-clock.ts';
import {
  answer,
  type Answering,
  guarded,
  manifestAnswer,
  type ScriptedRegistry,
  sha256,
} from '../support/registry/scripted-registry.ts';
import {
  at,
  clientOfTest,
  everythingOf,
  has,
  NAME,
  registryOfTest,
} from '../support/registry/scripted-client.ts';

const MANIFEST = Buffer.from('{"schemaVersion":2}');
const INSIDE = manifestAnswer(MANIFEST);
const BASIC: Credential = { kind: 'basic', username: 'robot', password: 'pa:ss wörd' };
const BASIC_HEADER = `Basic ${Buffer.from('robot:pa:ss wörd').toString('base64')}`;
const WRONG: Credential = { kind: 'basic', username: 'robot', password: 'wrong' };

/** Everything of the registry behind one guard. */
function behind(registry: ScriptedRegistry, guard: (inside: Answering) => Answering): void {
  registry.on('GET /v2/', guard(answer(200, '{}')));
  registry.on(`GET /v2/${NAME}/manifests/1.0`, guard(INSIDE));
  registry.on(`HEAD /v2/${NAME}/manifests/1.0`, guard(INSIDE));
}

const lines = (registry: ScriptedRegistry): readonly string[] =>
  registry.asked.map(({ method, path, headers }) => `${method} ${path} ${headers.authorization ?? 'bare'}`);

describe('a registry with a password', () => {
  it('is told the credentials only after it asked', async () => {
    const registry = await registryOfTest();
    behind(registry, (inside) => guarded(BASIC_HEADER, 'Basic realm="x"', inside));
    const client = clientOfTest(registry, { sources: [has(BASIC)] });
    expect((await client.manifest(at(registry))).digest).toBe(sha256(MANIFEST));
    await client.resolveTag(at(registry));
    expect(lines(registry)).toEqual([
      'GET /v2/ bare',
      `GET /v2/${NAME}/manifests/1.0 ${BASIC_HEADER}`,
      `HEAD /v2/${NAME}/manifests/1.0 ${BASIC_HEADER}`,
    ]);
  });

  it('refuses who has none, and is told nothing', async () => {
    const registry = await registryOfTest();
    behind(registry, (inside) => guarded(BASIC_HEADER, 'Basic realm="x"', inside));
    await expect(clientOfTest(registry).manifest(at(registry))).rejects.toMatchObject({
      code: 'GATE_REGISTRY_AUTHENTICATION',
    });
    expect(lines(registry)).toEqual([`GET /v2/${NAME}/manifests/1.0 bare`]);
  });

  it('is tried with the next source after 401 and 403, and anonymously only where no source has any', async () => {
    const registry = await registryOfTest();
    registry.on('GET /v2/', answer(401, '', { 'www-authenticate': 'Basic realm="x"' }));
    registry.on(`GET /v2/${NAME}/manifests/1.0`, (asked, response) => {
      const { authorization } = asked.headers;
      if (authorization === BASIC_HEADER) INSIDE(asked, response);
      else answer(authorization === undefined ? 200 : 403)(asked, response);
    });
    const nothing = { name: 'nothing', for: () => Promise.resolve(undefined) };
    const sources = [nothing, has(WRONG, 'first'), has(BASIC, 'second')];
    expect((await clientOfTest(registry, { sources }).manifest(at(registry))).digest).toBe(sha256(MANIFEST));
    await expect(
      clientOfTest(registry, { sources: [nothing, has(WRONG, 'first')] }).manifest(at(registry)),
    ).rejects.toMatchObject({
      code: 'GATE_REGISTRY_AUTHENTICATION',
      message: expect.stringContaining('tried and refused: first;'),
    });
    expect(lines(registry).filter((line) => line.endsWith('bare'))).toEqual([
      'GET /v2/ bare',
      'GET /v2/ bare',
    ]);
  });

  it('says which credentials it refused, which were left aside and why, and where nothing was', async () => {
    const registry = await registryOfTest();
    behind(registry, (inside) => guarded(BASIC_HEADER, 'Basic realm="x"', inside));
    const nothing = { name: 'nothing', for: () => Promise.resolve(undefined) };
    const aside = { ...nothing, name: 'aside', unused: () => Promise.resolve('it is for others') };
    const broken = { ...nothing, name: 'broken', unused: () => Promise.reject(new Error('s3cret')) };
    const heard = async (sources: readonly CredentialSource[]): Promise<string> => {
      const error: unknown = await clientOfTest(registry, { sources })
        .manifest(at(registry))
        .catch((failure: unknown) => failure);
      expect(error).toMatchObject({ code: 'GATE_REGISTRY_AUTHENTICATION' });
      expect(everythingOf(error)).not.toMatch(/s3cret|wrong/);
      return (error as Error).message;
    };
    const lead = `${registry.host}/${NAME}:1.0: the registry does not let us have the manifest; tried and refused: `;
    const end = '; check the credentials and what they may read';
    expect(await heard([has(WRONG, 'first'), aside, nothing, broken])).toBe(
      `${lead}first; there and not used: aside (it is for others); nothing for it in: nothing, broken${end}`,
    );
    expect(await heard([aside])).toBe(`${lead}anonymous; there and not used: aside (it is for others)${end}`);
    expect(await heard([])).toBe(`${lead}anonymous${end}`);
  });

  it('is not tried with the next source after any other answer', async () => {
    const registry = await registryOfTest();
    registry.on('GET /v2/', answer(401, '', { 'www-authenticate': 'Basic realm="x"' }));
    const sources = [has(WRONG, 'first'), has(BASIC, 'second')];
    await expect(clientOfTest(registry, { sources }).manifest(at(registry))).rejects.toMatchObject({
      code: 'GATE_REGISTRY_NOT_FOUND',
    });
    expect(registry.asked).toHaveLength(2);
  });

  it('is asked bare where it has one door open and the next one shut', async () => {
    const registry = await registryOfTest();
    registry.on(`GET /v2/${NAME}/manifests/shut`, answer(401, '', { 'www-authenticate': 'Basic realm="x"' }));
    registry.on(`GET /v2/${NAME}/manifests/open`, INSIDE);
    const client = clientOfTest(registry);
    await expect(client.manifest(at(registry, 'shut'))).rejects.toMatchObject({
      code: 'GATE_REGISTRY_AUTHENTICATION',
    });
    expect((await client.manifest(at(registry, 'open'))).digest).toBe(sha256(MANIFEST));
  });

  it('stops where a source fails, and what the source said is not repeated', async () => {
    const registry = await registryOfTest();
    const failing = { name: 'broken store', for: () => Promise.reject(new Error('unexpected "s3cret"')) };
    const failure = await clientOfTest(registry, { sources: [failing] })
      .manifest(at(registry))
      .catch((error: unknown) => error);
    expect(failure).toMatchObject({
      code: 'GATE_REGISTRY_AUTHENTICATION',
      message: expect.stringContaining('broken store'),
    });
    expect(Object.hasOwn(failure as object, 'cause')).toBe(false);
    expect(registry.asked).toEqual([]);
  });

  it('hands each client of one transport its own credentials', async () => {
    const registry = await registryOfTest();
    behind(registry, (inside) => guarded(BASIC_HEADER, 'Basic realm="x"', inside));
    const client = clientOfTest(registry, { sources: [has(BASIC)] });
    await client.manifest(at(registry));
    await expect(client.withSources([]).manifest(at(registry))).rejects.toMatchObject({
      code: 'GATE_REGISTRY_AUTHENTICATION',
    });
  });
});

describe('a registry with a token server', () => {
  interface Issued {
    readonly registry: ScriptedRegistry;
    readonly challengeOf: (realm: string) => string;
    /** What it takes at the moment. */
    current: string;
  }

  async function withTokens(
    options: { readonly challenge?: (realm: string) => string; readonly expiresIn?: number } = {},
  ): Promise<Issued> {
    const registry = await registryOfTest();
    const challengeOf =
      options.challenge ??
      ((realm: string) => `Bearer realm="${realm}",service="the registry",scope="registry:catalog:*"`);
    const issued: Issued = { registry, challengeOf, current: 'token-1' };
    behind(
      registry,
      (inside) => (asked, response) =>
        guarded(
          `Bearer ${issued.current}`,
          challengeOf(`${registry.origin}/token?x=1`),
          inside,
        )(asked, response),
    );
    registry.on('GET /token', (asked, response) =>
      answer(200, JSON.stringify({ token: issued.current, expires_in: options.expiresIn }))(asked, response),
    );
    return issued;
  }

  const tokens = (registry: ScriptedRegistry): number =>
    registry.asked.filter(({ path }) => path === '/token').length;

  it.each([
    ['as the specification writes it', undefined],
    ['in lower case, without quotes', (realm: string) => `bearer realm=${realm}, service=the-registry`],
    [
      'after another challenge in the same header',
      (realm: string) => `Basic realm="a, b", Bearer realm="${realm}"`,
    ],
    ['with spaces around everything', (realm: string) => `  BEARER   Realm = "${realm}" ,, Service = "x"  `],
  ])('is understood %s, anonymously', async (_what, challenge) => {
    const { registry } = await withTokens(challenge === undefined ? {} : { challenge });
    expect((await clientOfTest(registry).manifest(at(registry))).digest).toBe(sha256(MANIFEST));
    const asked = registry.asked.find(({ path }) => path === '/token');
    expect([asked?.headers.authorization, asked?.query.get('scope'), asked?.query.get('x')]).toEqual([
      undefined,
      `repository:${NAME}:pull`,
      '1',
    ]);
  });

  it('is told the password at the token server only, and asks for no more than reading', async () => {
    const { registry } = await withTokens();
    await clientOfTest(registry, { sources: [has(BASIC)] }).manifest(at(registry));
    expect(lines(registry)).toEqual([
      'GET /v2/ bare',
      `GET /token ${BASIC_HEADER}`,
      `GET /v2/${NAME}/manifests/1.0 Bearer token-1`,
    ]);
    expect(registry.asked[1]?.query.get('service')).toBe('the registry');
    expect(registry.asked[1]?.query.get('scope')).toBe(`repository:${NAME}:pull`);
  });

  it('is asked for one token by all who need it at once, and again only when it ends', async () => {
    const { registry } = await withTokens({ expiresIn: 30 });
    const clock = new FakeClock();
    const client = clientOfTest(registry, { clock, sources: [has(BASIC)] });
    await Promise.all([1, 2, 3].map(() => client.manifest(at(registry))));
    expect(tokens(registry)).toBe(1);
    await clock.advance(19_999);
    await client.manifest(at(registry));
    expect(tokens(registry)).toBe(1);
    await clock.advance(1);
    await client.manifest(at(registry));
    expect(tokens(registry)).toBe(2);
  });

  it('is asked for a new token once where it does not take the old one any more', async () => {
    const issued = await withTokens({ expiresIn: 300 });
    const { registry } = issued;
    const client = clientOfTest(registry, { sources: [has(BASIC)] });
    await client.manifest(at(registry));
    issued.current = 'token-2';
    await client.manifest(at(registry));
    expect(tokens(registry)).toBe(2);
  });

  it('that takes no token at all is asked for two and given up', async () => {
    const { registry, challengeOf } = await withTokens();
    registry.on(
      `GET /v2/${NAME}/manifests/1.0`,
      answer(401, '', { 'www-authenticate': challengeOf(`${registry.origin}/token`) }),
    );
    await expect(
      clientOfTest(registry, { sources: [has(BASIC)] }).manifest(at(registry)),
    ).rejects.toMatchObject({ code: 'GATE_REGISTRY_AUTHENTICATION' });
    expect(tokens(registry)).toBe(2);
  });

  it('gives each its own token: one of somebody else is never reused', async () => {
    const { registry } = await withTokens({ expiresIn: 300 });
    registry.on('GET /token', (asked, response) =>
      asked.headers.authorization === BASIC_HEADER
        ? answer(200, '{"token":"token-1"}')(asked, response)
        : answer(401)(asked, response),
    );
    const client = clientOfTest(registry, { sources: [has(BASIC)] });
    await client.manifest(at(registry));
    for (const sources of [[], [has(WRONG)]])
      await expect(client.withSources(sources).manifest(at(registry))).rejects.toMatchObject({
        code: 'GATE_REGISTRY_AUTHENTICATION',
      });
  });

  it('is sent an identity token as a form, and nowhere else', async () => {
    const { registry } = await withTokens();
    registry.on('POST /token', answer(200, '{"access_token":"token-1"}'));
    const identity: Credential = { kind: 'identity', token: 'refresh&me' };
    await clientOfTest(registry, { sources: [has(identity)] }).manifest(at(registry));
    const [, asked] = registry.asked;
    expect(asked?.headers['content-type']).toBe('application/x-www-form-urlencoded');
    expect(Object.fromEntries(new URLSearchParams(asked?.body.toString()))).toEqual({
      grant_type: 'refresh_token',
      service: 'the registry',
      client_id: 'pacto-gate',
      scope: `repository:${NAME}:pull`,
      refresh_token: 'refresh&me',
    });
    expect(registry.asked.filter(({ headers }) => JSON.stringify(headers).includes('refresh'))).toEqual([]);
  });

  it('is sent a token of its own as it is, without a question before', async () => {
    const { registry } = await withTokens();
    const given: Credential = { kind: 'bearer', token: 'token-1' };
    await clientOfTest(registry, { sources: [has(given)] }).manifest(at(registry));
    expect(lines(registry)).toEqual([`GET /v2/${NAME}/manifests/1.0 Bearer token-1`]);
  });

  it.each([
    ['a refused identity token', 400, '{"error":"invalid_grant"}', 'GATE_REGISTRY_AUTHENTICATION'],
    ['an answer without a token', 200, '{}', 'GATE_REGISTRY_ANSWER'],
    ['an answer that is no JSON', 200, 's3cret', 'GATE_REGISTRY_ANSWER'],
    ['a token that would break a header', 200, '{"token":"a\\r\\nX-Evil: 1"}', 'GATE_REGISTRY_ANSWER'],
    [
      'a token beyond all measure',
      200,
      JSON.stringify({ token: 'x'.repeat(20_000) }),
      'GATE_REGISTRY_ANSWER',
    ],
    ['an answer beyond all measure', 200, 'x'.repeat(70_000), 'GATE_REGISTRY_ANSWER'],
    ['a redirect', 302, '', 'GATE_REGISTRY_REFUSED'],
    ['a token server that is not there', 404, '', 'GATE_REGISTRY_UNREACHABLE'],
    ['a token server that is down', 503, '', 'GATE_REGISTRY_UNREACHABLE'],
  ])('is given up for %s', async (_what, status, body, code) => {
    const { registry } = await withTokens();
    registry.on('GET /token', answer(status, body, { location: '/elsewhere' }));
    registry.on('POST /token', answer(status, body));
    const credential: Credential = status === 400 ? { kind: 'identity', token: 'refresh' } : BASIC;
    const failure = await clientOfTest(registry, { sources: [has(credential)] })
      .manifest(at(registry))
      .catch((error: unknown) => error);
    expect(failure).toMatchObject({ name: 'GateError', code });
    expect(String(failure)).not.toContain('s3cret');
  });

  it('is not sent a token that would break a header', async () => {
    const { registry } = await withTokens();
    const given: Credential = { kind: 'bearer', token: 'a\r\nX-Evil: 1' };
    await expect(
      clientOfTest(registry, { sources: [has(given)] }).manifest(at(registry)),
    ).rejects.toMatchObject({ code: 'GATE_REGISTRY_AUTHENTICATION' });
    expect(registry.asked).toEqual([]);
  });
});

describe('a source', () => {
  it('is asked with the host as references spell it, and the one name of Docker Hub', async () => {
    const asked: string[] = [];
    const source = {
      name: 'spy',
      for: (host: string, repository: string) => {
        asked.push(`${host} ${repository}`);
        return Promise.reject(new Error('enough'));
      },
    };
    const client = clientOfTest('registry.test:5000', { sources: [source] });
    for (const reference of ['REGISTRY.test:05000/a/b:1', 'alpine:3', 'docker.io/acme/shop:1'])
      await client.manifest(parseRegistryReference(reference)).catch(() => undefined);
    expect(asked).toEqual([
      'registry.test:5000 a/b',
      'index.docker.io library/alpine',
      'index.docker.io acme/shop',
    ]);
  });
});
