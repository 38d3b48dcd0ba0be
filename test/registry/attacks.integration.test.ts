/** What a registry, or who stands in its place, may try; each attempt must fail without anything having been sent. */
import { beforeAll, describe, expect, it } from 'vitest';
import type { Credential } from '../../src/registry/credential.ts';
import type { RegistryOptions } from '../../src/registry/options.ts';
import {
  answer,
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
  lookupOf,
  NAME,
  registryOfTest,
  wholeOf,
} from '../support/registry/scripted-client.ts';
import { newTestTls, serverPair, type TestTls } from '../support/tls.ts';

const BLOB = Buffer.from('a blob of a bundle');
const DIGEST = sha256(BLOB);
const BLOB_PATH = `GET /v2/${NAME}/blobs/${DIGEST}`;
const MANIFEST = Buffer.from('{}');
const MANIFEST_PATH = `GET /v2/${NAME}/manifests/1.0`;
const PASSWORD = 'hunter-s3cret';
const BASIC: Credential = { kind: 'basic', username: 'robot', password: PASSWORD };
const ENCODED = Buffer.from(`robot:${PASSWORD}`).toString('base64');
const HEADER = `Basic ${ENCODED}`;
/** Another host of this machine. */
const ELSEWHERE = { address: '127.0.0.2' };

/** The blob of a registry with a password. */
function blobOf(registry: ScriptedRegistry, options: RegistryOptions = {}): Promise<Buffer> {
  const client = clientOfTest(registry, { sources: [has(BASIC)], ...options });
  return wholeOf(client.blob(at(registry), { digest: DIGEST, size: BLOB.length }));
}

async function withPassword(location?: string): Promise<ScriptedRegistry> {
  const registry = await registryOfTest();
  registry.on('GET /v2/', answer(401, '', { 'www-authenticate': 'Basic realm="x"' }));
  if (location !== undefined) registry.on(BLOB_PATH, guarded(HEADER, 'Basic', answer(307, '', { location })));
  return registry;
}

const authorizations = (registry: ScriptedRegistry): readonly (string | undefined)[] =>
  registry.asked.map(({ headers }) => headers.authorization);

describe('a redirect', () => {
  it('to another host is followed without credentials, for good', async () => {
    const other = await registryOfTest(ELSEWHERE);
    const registry = await withPassword(`${other.origin}/storage?signature=x`);
    other.on('GET /storage', answer(302, '', { location: `${registry.origin}/back` }));
    registry.on('GET /back', answer(200, BLOB));
    const read = await blobOf(registry, { insecure: [registry.host, other.host] });
    expect(read).toEqual(BLOB);
    expect(authorizations(other)).toEqual([undefined]);
    expect(authorizations(registry)).toEqual([undefined, HEADER, undefined]);
  });

  it('to another port is another origin', async () => {
    const other = await registryOfTest();
    const registry = await withPassword(`${other.origin}/storage`);
    other.on('GET /storage', answer(200, BLOB));
    expect(await blobOf(registry)).toEqual(BLOB);
    expect(authorizations(other)).toEqual([undefined]);
  });

  it('within the registry keeps them', async () => {
    const registry = await withPassword('/storage');
    registry.on('GET /storage', guarded(HEADER, 'Basic', answer(200, BLOB)));
    expect(await blobOf(registry)).toEqual(BLOB);
  });

  it('to a host that says 401 is no reason to tell it anything', async () => {
    const other = await registryOfTest(ELSEWHERE);
    const registry = await withPassword(`${other.origin}/storage`);
    other.on('GET /storage', answer(401, '', { 'www-authenticate': 'Basic realm="tell me"' }));
    await expect(blobOf(registry, { insecure: [registry.host, other.host] })).rejects.toMatchObject({
      code: 'GATE_REGISTRY_UNREACHABLE',
    });
    expect(authorizations(other)).toEqual([undefined]);
  });

  it('without end is followed five times', async () => {
    const registry = await withPassword('/loop');
    registry.on('GET /loop', answer(302, '', { location: '/loop' }));
    await expect(blobOf(registry)).rejects.toMatchObject({ code: 'GATE_REGISTRY_REFUSED' });
    expect(registry.asked.filter(({ path }) => path === '/loop')).toHaveLength(5);
  });

  it.each([
    ['a metadata service', 'http://169.254.169.254/latest/meta-data/'],
    ['a metadata service with TLS', 'https://169.254.169.254/'],
    ['it in hexadecimal', 'http://0xa9fea9fe/'],
    ['it in the clothes of IPv6', 'http://[::ffff:169.254.169.254]/'],
    ['it behind a translator', 'http://[64:ff9b::a9fe:a9fe]/'],
    ['the metadata service of AWS in IPv6', 'http://[fd00:ec2::254]/'],
    ['loopback', 'http://127.0.0.2/'],
    ['loopback in the clothes of IPv6', 'http://[::ffff:7f00:2]/'],
    ['loopback in IPv6', 'http://[::1]/'],
    ['no address at all', 'http://0.0.0.0/'],
    ['no address at all in IPv6', 'http://[::]/'],
    ['the link', 'http://[fe80::1]/'],
  ])('to %s is refused', async (_what, location) => {
    const { protocol, hostname } = new URL(location);
    const registry = await withPassword(location);
    await expect(
      blobOf(registry, {
        allowAddresses: ['127.0.0.1'],
        insecure: [registry.host, ...(protocol === 'http:' ? [hostname] : [])],
      }),
    ).rejects.toMatchObject({
      code: 'GATE_REGISTRY_REFUSED',
      message: expect.stringContaining('of this machine, its link or a metadata service'),
    });
  });

  it.each([
    ['nowhere', ''],
    ['something that is no URL', 'http://'],
    ['a file', 'file:///etc/passwd'],
    ['a host with a user name of its own', 'http://robot@127.0.0.1/'],
  ])('to %s is refused', async (_what, location) => {
    const registry = await withPassword(location === '' ? undefined : location);
    if (location === '') registry.on(BLOB_PATH, answer(302));
    await expect(blobOf(registry)).rejects.toMatchObject({
      code: expect.stringMatching(/^GATE_REGISTRY_(REFUSED|ANSWER)$/),
    });
    expect(registry.asked).toHaveLength(2);
  });
});

describe('a registry with TLS', () => {
  let tls: TestTls;
  beforeAll(async () => {
    tls = await newTestTls();
  });

  async function secure(): Promise<ScriptedRegistry> {
    return registryOfTest({ tls: tls.pair });
  }

  const trusting = (...insecure: readonly string[]): RegistryOptions => ({
    insecure,
    certificateAuthorities: new Map([['127.0.0.1', tls.ca]]),
  });

  it('may not lead to a host without, even one that is listed', async () => {
    const plain = await registryOfTest(ELSEWHERE);
    plain.on('GET /storage', answer(200, BLOB));
    const registry = await secure();
    registry.on(BLOB_PATH, answer(307, '', { location: `${plain.origin}/storage` }));
    await expect(blobOf(registry, trusting(plain.host))).rejects.toMatchObject({
      code: 'GATE_REGISTRY_REFUSED',
      message: expect.stringContaining('without TLS'),
    });
    expect(plain.asked).toEqual([]);
  });

  it('may not have a token server without', async () => {
    const plain = await registryOfTest();
    const registry = await secure();
    registry.on('GET /v2/', answer(401, '', { 'www-authenticate': `Bearer realm="${plain.origin}/token"` }));
    await expect(blobOf(registry, { ...trusting(plain.host), realms: [plain.host] })).rejects.toMatchObject({
      code: 'GATE_REGISTRY_REFUSED',
    });
    expect(plain.asked).toEqual([]);
  });

  it('is known by the CA of its own host alone', async () => {
    const foreign = await registryOfTest({
      ...ELSEWHERE,
      tls: await serverPair(tls.authority, { ipAddresses: ['127.0.0.2'] }),
    });
    foreign.on(MANIFEST_PATH, manifestAnswer(MANIFEST));
    await expect(clientOfTest(foreign, trusting()).manifest(at(foreign))).rejects.toMatchObject({
      code: 'GATE_REGISTRY_UNREACHABLE',
      message: expect.stringContaining('certificate'),
    });
    expect(foreign.asked).toEqual([]);
  });

  it('is told nothing where it does not speak TLS, and the key that allows it is named', async () => {
    const registry = await registryOfTest();
    await expect(clientOfTest(registry, { insecure: [] }).manifest(at(registry))).rejects.toMatchObject({
      code: 'GATE_REGISTRY_UNREACHABLE',
      message: expect.stringContaining('registry.insecure'),
    });
    expect(registry.asked).toEqual([]);
  });

  it('must have a certificate of its name', async () => {
    const registry = await registryOfTest({
      tls: await serverPair(tls.authority, { ipAddresses: ['127.0.0.9'] }),
    });
    await expect(clientOfTest(registry, trusting()).manifest(at(registry))).rejects.toMatchObject({
      code: 'GATE_REGISTRY_UNREACHABLE',
      message: expect.stringContaining('ERR_TLS_CERT_ALTNAME_INVALID'),
    });
    expect(registry.asked).toEqual([]);
  });
});

describe('a token server', () => {
  async function challenged(realm: string): Promise<ScriptedRegistry> {
    const registry = await registryOfTest();
    registry.on('GET /v2/', answer(401, '', { 'www-authenticate': `Bearer realm="${realm}"` }));
    registry.on(MANIFEST_PATH, guarded('Bearer t', `Bearer realm="${realm}"`, manifestAnswer(MANIFEST)));
    return registry;
  }

  it('on another host is told nothing, not even that somebody asks', async () => {
    const other = await registryOfTest(ELSEWHERE);
    const registry = await challenged(`${other.origin}/token`);
    for (const sources of [[has(BASIC)], [has({ kind: 'identity', token: PASSWORD } as const)], []])
      await expect(
        clientOfTest(registry, { sources, insecure: [registry.host, other.host] }).manifest(at(registry)),
      ).rejects.toMatchObject({
        code: 'GATE_REGISTRY_REFUSED',
        message: expect.stringContaining('registry.realms'),
      });
    expect(other.asked).toEqual([]);
  });

  it('on another host is asked where the operator lists it', async () => {
    const other = await registryOfTest(ELSEWHERE);
    const registry = await challenged(`${other.origin}/token`);
    other.on('GET /token', answer(200, '{"token":"t"}'));
    const client = clientOfTest(registry, {
      sources: [has(BASIC)],
      realms: [other.host],
      insecure: [registry.host, other.host],
    });
    expect((await client.manifest(at(registry))).digest).toBe(sha256(MANIFEST));
  });

  it.each(['http://169.254.169.254/token', 'http://robot:x@127.0.0.1/token', 'ftp://127.0.0.1/', 'nonsense'])(
    'at %s is refused',
    async (realm) => {
      const registry = await challenged(realm);
      await expect(
        clientOfTest(registry, { sources: [has(BASIC)], realms: ['169.254.169.254'] }).manifest(at(registry)),
      ).rejects.toMatchObject({ code: expect.stringMatching(/^GATE_REGISTRY_(REFUSED|ANSWER)$/) });
    },
  );
});

describe('a name', () => {
  async function named(
    names: Readonly<Record<string, readonly string[]>>,
    options: RegistryOptions = {},
  ): Promise<{ readonly registry: ScriptedRegistry; readonly manifest: () => Promise<unknown> }> {
    const registry = await registryOfTest();
    registry.on(MANIFEST_PATH, manifestAnswer(MANIFEST, { connection: 'close' }));
    const host = `registry.test:${registry.port}`;
    const client = clientOfTest(host, { allowAddresses: [], lookup: lookupOf(names), ...options });
    return { registry, manifest: () => client.manifest(at(host)) };
  }

  it.each([
    ['this machine', ['127.0.0.1']],
    ['this machine in the clothes of IPv6', ['::ffff:127.0.0.1']],
    ['this machine, among others', ['192.0.66.1', '127.0.0.1']],
    ['a metadata service', ['169.254.169.254']],
  ])('that leads to %s is refused', async (_what, addresses) => {
    const { registry, manifest } = await named({ 'registry.test': addresses });
    await expect(manifest()).rejects.toMatchObject({ code: 'GATE_REGISTRY_REFUSED' });
    expect(registry.asked).toEqual([]);
  });

  it.each([
    ['its address', ['127.0.0.1']],
    ['its network', ['127.0.0.0/8']],
    ['its name', ['registry.test']],
  ])('that leads to this machine is let through where %s is listed', async (_what, allowAddresses) => {
    const { manifest } = await named({ 'registry.test': ['127.0.0.1'] }, { allowAddresses });
    expect(await manifest()).toMatchObject({ digest: sha256(MANIFEST) });
  });

  it('that leads elsewhere the second time is refused the second time', async () => {
    const names = { 'registry.test': ['127.0.0.1'] };
    const inner = await registryOfTest(ELSEWHERE);
    const { manifest } = await named(names, { allowAddresses: ['127.0.0.1'] });
    await manifest();
    names['registry.test'] = ['127.0.0.2'];
    await expect(manifest()).rejects.toMatchObject({ code: 'GATE_REGISTRY_REFUSED' });
    expect(inner.asked).toEqual([]);
  });

  it('that leads nowhere is not found, and not tried again', async () => {
    const { manifest } = await named({}, { limits: { attempts: 4 } });
    await expect(manifest()).rejects.toMatchObject({
      code: 'GATE_REGISTRY_UNREACHABLE',
      message: expect.stringContaining('ENOTFOUND'),
    });
  });

  it.each([['REGISTRY.test'], ['*.test'], ['registry.test', 'other.test']])(
    'is let through where registry.allow has it: %s',
    async (...allow) => {
      const { manifest } = await named(
        { 'registry.test': ['127.0.0.1'] },
        { allow, allowAddresses: ['127.0.0.1'] },
      );
      expect(await manifest()).toMatchObject({ digest: sha256(MANIFEST) });
    },
  );

  it.each([['other.test'], ['*.registry.test'], ['registry.test:1'], [''], []])(
    'is refused where registry.allow does not have it: %s',
    async (...allow) => {
      const { registry, manifest } = await named(
        { 'registry.test': ['127.0.0.1'] },
        { allow, allowAddresses: ['127.0.0.1'] },
      );
      await expect(manifest()).rejects.toMatchObject({ code: 'GATE_REGISTRY_REFUSED' });
      expect(registry.asked).toEqual([]);
    },
  );
});

describe('a list of tags', () => {
  it('does not go on at another host', async () => {
    const other = await registryOfTest(ELSEWHERE);
    const registry = await withPassword();
    registry.on(
      `GET /v2/${NAME}/tags/list`,
      answer(200, '{"tags":["1.0"]}', { link: `<${other.origin}/v2/${NAME}/tags/list>; rel="next"` }),
    );
    await expect(
      clientOfTest(registry, { sources: [has(BASIC)], insecure: [registry.host, other.host] }).tags(
        at(registry),
      ),
    ).rejects.toMatchObject({ code: 'GATE_REGISTRY_REFUSED' });
    expect(other.asked).toEqual([]);
  });
});

describe('an upload', () => {
  it('does not go to another host', async () => {
    const other = await registryOfTest(ELSEWHERE);
    const registry = await registryOfTest();
    registry.on(`POST /v2/${NAME}/blobs/uploads/`, answer(202, '', { location: `${other.origin}/take` }));
    await expect(
      clientOfTest(registry, { insecure: [registry.host, other.host] }).pushBlob(at(registry), BLOB),
    ).rejects.toMatchObject({ code: 'GATE_REGISTRY_REFUSED' });
    expect(other.asked).toEqual([]);
  });
});

describe('no error', () => {
  const tried: readonly (readonly [string, (registry: ScriptedRegistry) => void])[] = [
    ['refuses the password', (registry) => registry.on(MANIFEST_PATH, answer(403))],
    [
      'repeats it',
      (registry) =>
        registry.on(MANIFEST_PATH, (asked, response) =>
          answer(
            500,
            JSON.stringify({
              errors: [{ code: asked.headers.authorization, message: asked.headers.authorization }],
            }),
          )(asked, response),
        ),
    ],
    [
      'leads on with it',
      (registry) =>
        registry.on(MANIFEST_PATH, (asked, response) =>
          answer(302, '', { location: `http://${PASSWORD}@127.0.0.1/${ENCODED}?${PASSWORD}` })(
            asked,
            response,
          ),
        ),
    ],
    [
      'puts it into a header',
      (registry) =>
        registry.on(MANIFEST_PATH, (asked, response) =>
          answer(200, '{}', {
            'docker-content-digest': String(asked.headers.authorization),
            'content-type': PASSWORD,
          })(asked, response),
        ),
    ],
    [
      'speaks no HTTP',
      (registry) =>
        registry.on(
          MANIFEST_PATH,
          (asked, response) =>
            void response.socket?.end(`NOPE ${String(asked.headers.authorization)}\r\n\r\n`),
        ),
    ],
    ['breaks off', (registry) => registry.on(MANIFEST_PATH, (_asked, response) => void response.destroy())],
  ];

  it.each(tried)('holds the password where a registry %s', async (_what, script) => {
    const registry = await withPassword();
    script(registry);
    const failure = await clientOfTest(registry, { sources: [has(BASIC)] })
      .manifest(at(registry))
      .catch((error: unknown) => error);
    expect(failure).toMatchObject({ name: 'GateError' });
    expect(registry.asked.at(-1)?.headers.authorization).toBe(HEADER);
    for (const secret of [PASSWORD, ENCODED]) expect(everythingOf(failure)).not.toContain(secret);
  });
});
