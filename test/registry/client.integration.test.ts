import { describe, expect, it } from 'vitest';
import {
  answer,
  inTurn,
  manifestAnswer,
  OCI_MANIFEST,
  type ScriptedRegistry,
  sha256,
} from '../support/registry/scripted-registry.ts';
import { at, clientOfTest, NAME, registryOfTest, wholeOf } from '../support/registry/scripted-client.ts';
import { createHash, randomBytes } from 'node:crypto';
import { newTestTls } from '../support/tls.ts';

const MANIFEST = Buffer.from('{\n  "schemaVersion": 2 }\n');
const PATH = `/v2/${NAME}/manifests`;

const sha512 = (bytes: Uint8Array): string => `sha512:${createHash('sha512').update(bytes).digest('hex')}`;

async function withManifest(headers: Readonly<Record<string, string>> = {}): Promise<ScriptedRegistry> {
  const registry = await registryOfTest();
  for (const method of ['GET', 'HEAD'])
    for (const name of ['1.0', sha256(MANIFEST)])
      registry.on(`${method} ${PATH}/${name}`, manifestAnswer(MANIFEST, headers));
  return registry;
}

describe('a manifest', () => {
  it('is read by tag, byte for byte, with the digest of what came', async () => {
    const registry = await withManifest();
    expect(await clientOfTest(registry).manifest(at(registry))).toEqual({
      bytes: MANIFEST,
      mediaType: OCI_MANIFEST,
      digest: sha256(MANIFEST),
    });
  });

  it('is asked for with all four media types and any other, on HEAD too', async () => {
    const registry = await withManifest();
    const client = clientOfTest(registry);
    await client.manifest(at(registry));
    await client.resolveTag(at(registry));
    expect(registry.asked.map(({ method }) => method)).toEqual(['GET', 'HEAD']);
    for (const { headers } of registry.asked)
      expect(headers.accept).toMatch(/^(?:application\/vnd\.(?:oci|docker)[a-z0-9.+]+, ){4}\*\/\*$/);
  });

  it('is returned as it is where it is an index', async () => {
    const registry = await withManifest({
      'content-type': 'application/vnd.oci.image.index.v1+json; charset=utf-8',
    });
    const { mediaType, bytes } = await clientOfTest(registry).manifest(at(registry));
    expect([mediaType, bytes]).toEqual(['application/vnd.oci.image.index.v1+json', MANIFEST]);
  });

  it('is verified with sha512 where that is asked for', async () => {
    const registry = await registryOfTest();
    const digest = sha512(MANIFEST);
    registry.on(`GET ${PATH}/${digest}`, manifestAnswer(MANIFEST));
    expect((await clientOfTest(registry).manifest(at(registry, digest))).digest).toBe(digest);
  });

  it.each([
    ['a body that does not have the digest asked for', sha256(Buffer.from('other')), {}],
    [
      'a header whose digest is not that of the body',
      '1.0',
      { 'docker-content-digest': `sha256:${'0'.repeat(64)}` },
    ],
    ['a header that is no digest', '1.0', { 'docker-content-digest': 'sha256:../../x' }],
    ['no media type', '1.0', { 'content-type': 'x' }],
  ])('is refused: %s', async (_what, name, headers) => {
    const registry = await registryOfTest();
    registry.on(`GET ${PATH}/${name}`, manifestAnswer(MANIFEST, headers));
    await expect(clientOfTest(registry).manifest(at(registry, name))).rejects.toMatchObject({
      code: 'GATE_REGISTRY_ANSWER',
    });
  });

  it('is refused over 4 MiB, announced or not', async () => {
    const registry = await registryOfTest();
    const large = Buffer.alloc(4 * 1024 * 1024 + 1, ' ');
    registry.on(`GET ${PATH}/announced`, manifestAnswer(large, { 'content-length': String(large.length) }));
    registry.on(`GET ${PATH}/chunked`, manifestAnswer(large, { 'transfer-encoding': 'chunked' }));
    const client = clientOfTest(registry);
    for (const name of ['announced', 'chunked'])
      await expect(client.manifest(at(registry, name))).rejects.toMatchObject({
        code: 'GATE_REGISTRY_ANSWER',
        message: expect.stringContaining('4194304 bytes'),
      });
  });

  it('is not asked for without tag and digest', async () => {
    const registry = await withManifest();
    const { registry: host, repository } = at(registry);
    await expect(clientOfTest(registry).manifest({ registry: host, repository })).rejects.toMatchObject({
      code: 'GATE_REGISTRY_REFERENCE',
    });
    expect(registry.asked).toEqual([]);
  });
});

describe('a tag', () => {
  it('is resolved by one HEAD', async () => {
    const registry = await withManifest();
    expect(await clientOfTest(registry).resolveTag(at(registry))).toBe(sha256(MANIFEST));
    expect(registry.asked).toHaveLength(1);
  });

  it.each([
    ['the registry does not say the digest', answer(200, '', { 'content-type': OCI_MANIFEST })],
    ['the registry does not know HEAD', answer(405)],
  ])('is resolved by reading and hashing where %s', async (_what, head) => {
    const registry = await withManifest();
    registry.on(`HEAD ${PATH}/1.0`, head);
    expect(await clientOfTest(registry).resolveTag(at(registry))).toBe(sha256(MANIFEST));
  });

  it('is known to be the same by 304, which only counts where it was asked', async () => {
    const registry = await registryOfTest();
    registry.on(`HEAD ${PATH}/1.0`, answer(304));
    const client = clientOfTest(registry);
    expect(await client.resolveTag(at(registry), undefined, sha256(MANIFEST))).toBe(sha256(MANIFEST));
    expect(registry.asked[0]?.headers['if-none-match']).toBe(`"${sha256(MANIFEST)}"`);
    await expect(client.resolveTag(at(registry))).rejects.toMatchObject({ code: 'GATE_REGISTRY_ANSWER' });
  });

  it('is refused where a digest is asked for and another one answered', async () => {
    const registry = await registryOfTest();
    const digest = sha256(Buffer.from('other'));
    registry.on(`HEAD ${PATH}/${digest}`, manifestAnswer(MANIFEST));
    await expect(clientOfTest(registry).resolveTag(at(registry, digest))).rejects.toMatchObject({
      code: 'GATE_REGISTRY_ANSWER',
    });
  });

  it.each(['../../../_catalog?n=1#', 'a b', '1.0\r\nX-Evil: 1', '', 'x'.repeat(129), '-a'])(
    'is refused and nothing sent: %j',
    async (tag) => {
      const registry = await registryOfTest();
      const client = clientOfTest(registry);
      const reference = { registry: registry.host, repository: NAME, tag };
      for (const call of [client.manifest(reference), client.resolveTag(reference)])
        await expect(call).rejects.toMatchObject({ code: 'GATE_REGISTRY_REFERENCE' });
      expect(registry.asked).toEqual([]);
    },
  );
});

describe('a blob', () => {
  const blob = randomBytes(300_000);
  const digest = sha256(blob);

  async function withBlob(
    sent: Uint8Array,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<ScriptedRegistry> {
    const registry = await registryOfTest();
    registry.on(`GET /v2/${NAME}/blobs/${digest}`, answer(200, sent, headers));
    return registry;
  }

  it('is streamed and verified', async () => {
    const registry = await withBlob(blob);
    const read = await wholeOf(clientOfTest(registry).blob(at(registry), { digest, size: blob.length }));
    expect(sha256(read)).toBe(digest);
  });

  it('of no bytes is read', async () => {
    const registry = await registryOfTest();
    const empty = sha256(Buffer.alloc(0));
    registry.on(`GET /v2/${NAME}/blobs/${empty}`, answer(200));
    const read = await wholeOf(clientOfTest(registry).blob(at(registry), { digest: empty, size: 0 }));
    expect(read).toHaveLength(0);
  });

  it.each([
    ['too short', blob.subarray(1), {}],
    ['too short, without saying so', blob.subarray(1), { 'transfer-encoding': 'chunked' }],
    ['too long', Buffer.concat([blob, blob]), { 'transfer-encoding': 'chunked' }],
    ['too long, and saying so', Buffer.concat([blob, blob]), {}],
    ['tampered with', Buffer.concat([blob.subarray(1), blob.subarray(0, 1)]), {}],
  ])('is refused where it is %s, and never was whole', async (_what, sent, headers) => {
    const registry = await withBlob(sent, headers);
    let bytes = 0;
    const reading = async (): Promise<void> => {
      for await (const piece of clientOfTest(registry).blob(at(registry), { digest, size: blob.length }))
        bytes += piece.length;
    };
    await expect(reading()).rejects.toMatchObject({ code: 'GATE_REGISTRY_ANSWER' });
    expect(bytes).toBeLessThan(blob.length);
  });

  it('is stopped at the size of its descriptor, long before the end of what comes', async () => {
    const registry = await registryOfTest();
    let sent = 0;
    registry.on(`GET /v2/${NAME}/blobs/${digest}`, (_asked, response) => {
      response.writeHead(200);
      const piece = Buffer.alloc(64 * 1024);
      const more = (): void => {
        while (!response.destroyed && sent < 300 * 1024 * 1024) {
          sent += piece.length;
          if (!response.write(piece)) return void response.once('drain', more);
        }
      };
      more();
    });
    await expect(
      wholeOf(clientOfTest(registry).blob(at(registry), { digest, size: 20_000 })),
    ).rejects.toMatchObject({ code: 'GATE_REGISTRY_ANSWER' });
    expect(sent).toBeLessThan(10 * 1024 * 1024);
  });

  it.each([
    ['over the limit of the call', blob.length, { maxBytes: 1000 }, 'GATE_REGISTRY_ANSWER'],
    ['over the limit of the client', 64 * 1024 * 1024 + 1, {}, 'GATE_REGISTRY_ANSWER'],
    ['without a size', Number.NaN, {}, 'GATE_REGISTRY_REFERENCE'],
    ['of negative size', -1, {}, 'GATE_REGISTRY_REFERENCE'],
  ])('is not asked for where it is %s', async (_what, size, options, code) => {
    const registry = await withBlob(blob);
    await expect(
      wholeOf(clientOfTest(registry).blob(at(registry), { digest, size }, options)),
    ).rejects.toMatchObject({
      code,
    });
    expect(registry.asked).toEqual([]);
  });

  it('inside its descriptor is taken from there, and verified all the same', async () => {
    const registry = await registryOfTest();
    const client = clientOfTest(registry);
    const small = Buffer.from('{}');
    const descriptor = { digest: sha256(small), size: 2, data: small.toString('base64') };
    expect((await wholeOf(client.blob(at(registry), descriptor))).toString()).toBe('{}');
    for (const data of [Buffer.from('[]').toString('base64'), 'e', 'A'.repeat(1000)])
      await expect(wholeOf(client.blob(at(registry), { ...descriptor, data }))).rejects.toMatchObject({
        code: 'GATE_REGISTRY_ANSWER',
      });
    expect(registry.asked).toEqual([]);
  });

  it('that breaks off is an error that may pass', async () => {
    const registry = await registryOfTest();
    registry.on(`GET /v2/${NAME}/blobs/${digest}`, (_asked, response) => {
      response.writeHead(200, { 'content-length': String(blob.length) });
      response.write(blob.subarray(0, 100_000), () => response.destroy());
    });
    await expect(
      wholeOf(clientOfTest(registry).blob(at(registry), { digest, size: blob.length })),
    ).rejects.toMatchObject({ name: 'GateError', code: 'GATE_REGISTRY_UNREACHABLE' });
  });
});

describe('tags', () => {
  const LIST = `GET /v2/${NAME}/tags/list`;

  it('are read over all pages, by Link as it is written, each once, without what is no tag', async () => {
    const registry = await registryOfTest();
    const pages: Readonly<Record<string, readonly [unknown, string?]>> = {
      start: [['1.0', '../x', 7], `</v2/${NAME}/tags/list?next_page=b%2Bc&n=3>; rel="next"`],
      'b+c': [['1.0', '2.0'], `<${registry.origin}/v2/${NAME}/tags/list?next_page=d>; title="x"; rel=next`],
      d: [['v3'], '</elsewhere>; rel="prev"'],
    };
    registry.on(LIST, (asked, response) => {
      const [tags, link] = pages[asked.query.get('next_page') ?? 'start'] ?? [];
      answer(200, JSON.stringify({ name: NAME, tags }), link === undefined ? {} : { link })(asked, response);
    });
    expect(await clientOfTest(registry).tags(at(registry))).toEqual(['1.0', '2.0', 'v3']);
    expect(registry.asked.map(({ target }) => target.split('?')[1])).toEqual([
      'n=1000',
      'next_page=b%2Bc&n=3',
      'next_page=d',
    ]);
  });

  it('are read on where the next page is in the second of two Link headers', async () => {
    const registry = await registryOfTest();
    const link = ['</x>; rel="first"', `</v2/${NAME}/tags/list?last=a>; rel="next"`];
    registry.on(LIST, (asked, response) =>
      asked.query.has('last')
        ? answer(200, '{"tags":["b"]}')(asked, response)
        : answer(200, '{"tags":["a"]}', { link })(asked, response),
    );
    expect(await clientOfTest(registry).tags(at(registry))).toEqual(['a', 'b']);
  });

  it('are none where the registry says null', async () => {
    const registry = await registryOfTest();
    registry.on(LIST, answer(200, '{"tags":null}'));
    expect(await clientOfTest(registry).tags(at(registry))).toEqual([]);
  });

  it.each([
    ['go in a circle', () => `</v2/${NAME}/tags/list?n=1000>; rel="next"`, 'circle'],
    ['never end', (page: number) => `</v2/${NAME}/tags/list?last=${page}>; rel="next"`, 'more than 5 pages'],
  ])('are refused where pages %s', async (_what, linkOf, message) => {
    const registry = await registryOfTest();
    let page = 0;
    registry.on(LIST, (asked, response) =>
      answer(200, '{"tags":["a"]}', { link: linkOf((page += 1)) })(asked, response),
    );
    await expect(
      clientOfTest(registry, { limits: { tagPages: 5 } }).tags(at(registry)),
    ).rejects.toMatchObject({
      code: 'GATE_REGISTRY_ANSWER',
      message: expect.stringContaining(message),
    });
    expect(page).toBeLessThanOrEqual(5);
  });

  it.each([
    ['no JSON', '<html>'],
    ['no tags', '{"tags":{}}'],
    ['too many tags', JSON.stringify({ tags: ['a', 'b', 'c', 'd'] })],
    ['a page too large', JSON.stringify({ tags: ['x'.repeat(2000)] })],
  ])('are refused: %s', async (_what, body) => {
    const registry = await registryOfTest();
    registry.on(LIST, answer(200, body));
    const client = clientOfTest(registry, { limits: { tags: 3, tagPageBytes: 1000 } });
    await expect(client.tags(at(registry))).rejects.toMatchObject({ code: 'GATE_REGISTRY_ANSWER' });
  });
});

describe('referrers', () => {
  const of = sha256(MANIFEST);
  const entry = (artifactType: string): object => ({
    mediaType: OCI_MANIFEST,
    digest: sha256(Buffer.from(artifactType)),
    size: 7,
    artifactType,
  });
  const index = (...types: readonly string[]): string => JSON.stringify({ manifests: types.map(entry) });

  it('are read, filtered where the registry does not', async () => {
    const registry = await registryOfTest();
    registry.on(`GET /v2/${NAME}/referrers/${of}`, answer(200, index('a/b', 'c/d')));
    const client = clientOfTest(registry);
    expect(await client.referrers(at(registry, of))).toHaveLength(2);
    expect(await client.referrers(at(registry, of), 'c/d')).toEqual([entry('c/d')]);
  });

  it('are read by tag where the registry does not know the question, and are none without it', async () => {
    const registry = await registryOfTest();
    const client = clientOfTest(registry);
    expect(await client.referrers(at(registry, of))).toEqual([]);
    registry.on(`GET ${PATH}/${of.replace(':', '-')}`, answer(200, index('a/b')));
    expect(await client.referrers(at(registry, of), 'a/b')).toEqual([entry('a/b')]);
  });

  it('are refused where an entry is no descriptor', async () => {
    const registry = await registryOfTest();
    registry.on(`GET /v2/${NAME}/referrers/${of}`, answer(200, '{"manifests":[{"digest":"../x","size":1}]}'));
    await expect(clientOfTest(registry).referrers(at(registry, of))).rejects.toMatchObject({
      code: 'GATE_REGISTRY_ANSWER',
    });
  });

  it('are of a digest only', async () => {
    const registry = await registryOfTest();
    await expect(clientOfTest(registry).referrers(at(registry))).rejects.toMatchObject({
      code: 'GATE_REGISTRY_REFERENCE',
    });
  });
});

describe('what the registry says instead', () => {
  it.each([
    [
      404,
      '{"errors":[{"code":"MANIFEST_UNKNOWN","message":"secret"}]}',
      'GATE_REGISTRY_NOT_FOUND',
      'MANIFEST_UNKNOWN',
    ],
    [500, '<html><b>secret</b></html>', 'GATE_REGISTRY_UNREACHABLE', 'HTTP 500'],
    [401, 'secret', 'GATE_REGISTRY_AUTHENTICATION', 'anonymous'],
    [403, 'secret', 'GATE_REGISTRY_AUTHENTICATION', 'anonymous'],
    [418, '{"errors":[{"code":"secret"}]}', 'GATE_REGISTRY_UNREACHABLE', 'HTTP 418'],
  ])('%s is typed, and its own words are not repeated', async (status, body, code, message) => {
    const registry = await registryOfTest();
    registry.on(`GET ${PATH}/1.0`, answer(status, body));
    const failure = await clientOfTest(registry)
      .manifest(at(registry))
      .catch((error: unknown) => error);
    expect(failure).toMatchObject({ code, message: expect.stringContaining(message) });
    expect(String(failure)).not.toContain('secret');
  });

  it('429 and 503 are tried again, as long as the registry asks for', async () => {
    const registry = await registryOfTest();
    registry.on(
      `GET ${PATH}/1.0`,
      inTurn(answer(429, '', { 'retry-after': '0' }), answer(503), manifestAnswer(MANIFEST)),
    );
    const client = clientOfTest(registry, { limits: { attempts: 3 } });
    expect((await client.manifest(at(registry))).digest).toBe(sha256(MANIFEST));
  });

  it('a connection that breaks is tried again', async () => {
    const registry = await registryOfTest();
    registry.on(
      `GET ${PATH}/1.0`,
      inTurn((_asked, response) => void response.destroy(), manifestAnswer(MANIFEST)),
    );
    const client = clientOfTest(registry, { limits: { attempts: 2 } });
    expect((await client.manifest(at(registry))).digest).toBe(sha256(MANIFEST));
  });

  it('a certificate of a foreign CA is refused at once, and one of a given CA is taken', async () => {
    const tls = await newTestTls();
    const registry = await registryOfTest({ tls: tls.pair });
    registry.on(`GET ${PATH}/1.0`, manifestAnswer(MANIFEST));
    let waits = 0;
    const strict = clientOfTest(registry, {
      insecure: [],
      limits: { attempts: 4 },
      random: () => (waits += 1),
    });
    await expect(strict.manifest(at(registry))).rejects.toMatchObject({
      code: 'GATE_REGISTRY_UNREACHABLE',
      message: expect.stringContaining('certificate'),
    });
    expect(waits).toBe(0);
    for (const host of ['127.0.0.1', registry.host]) {
      const client = clientOfTest(registry, {
        insecure: [],
        certificateAuthorities: new Map([[host, tls.ca]]),
      });
      expect((await client.manifest(at(registry))).digest).toBe(sha256(MANIFEST));
    }
  });

  it('plain http is spoken to no host that is not listed', async () => {
    const registry = await withManifest();
    await expect(clientOfTest(registry, { insecure: [] }).manifest(at(registry))).rejects.toMatchObject({
      code: 'GATE_REGISTRY_UNREACHABLE',
    });
    expect(registry.asked).toEqual([]);
  });
});
