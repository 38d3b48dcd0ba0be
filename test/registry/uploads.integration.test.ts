import { describe, expect, it } from 'vitest';
import { digestOf } from '../../src/registry/digests.ts';
import {
  answer,
  inTurn,
  OCI_MANIFEST,
  type ScriptedRegistry,
  sha256,
} from '../support/registry/scripted-registry.ts';
import { at, clientOfTest, has, NAME, registryOfTest } from '../support/registry/scripted-client.ts';

const BLOB = Buffer.from('a blob of a bundle');
const DIGEST = sha256(BLOB);
const MANIFEST = Buffer.from('{"schemaVersion":2}');
const START = `POST /v2/${NAME}/blobs/uploads/`;
const HEAD = `HEAD /v2/${NAME}/blobs/${DIGEST}`;

async function taking(): Promise<ScriptedRegistry> {
  const registry = await registryOfTest();
  registry.on(START, answer(202, '', { location: `/v2/${NAME}/blobs/uploads/7?state=a%2Fb` }));
  registry.on(`PUT /v2/${NAME}/blobs/uploads/7`, answer(201));
  registry.on(`PUT /v2/${NAME}/manifests/1.0`, answer(201));
  return registry;
}

const lines = (registry: ScriptedRegistry): readonly string[] =>
  registry.asked.map(({ method, target }) => `${method} ${target}`);

describe('a blob', () => {
  it('is sent in one piece to where the registry says', async () => {
    const registry = await taking();
    expect(await clientOfTest(registry).pushBlob(at(registry), BLOB)).toBe(DIGEST);
    expect(lines(registry)).toEqual([
      START,
      `PUT /v2/${NAME}/blobs/uploads/7?state=a%2Fb&digest=${encodeURIComponent(DIGEST)}`,
    ]);
    expect(registry.asked[1]?.body).toEqual(BLOB);
  });

  it('is there or not', async () => {
    const registry = await taking();
    const client = clientOfTest(registry);
    expect(await client.hasBlob(at(registry), DIGEST)).toBe(false);
    registry.on(HEAD, answer(200));
    expect(await client.hasBlob(at(registry), DIGEST)).toBe(true);
  });

  it('whose upload breaks off is sent anew, or is there already', async () => {
    const PUT = `PUT /v2/${NAME}/blobs/uploads/7`;
    const registry = await taking();
    registry.on(
      PUT,
      inTurn((_asked, response) => void response.destroy(), answer(201)),
    );
    const client = clientOfTest(registry);
    expect(await client.pushBlob(at(registry), BLOB)).toBe(DIGEST);
    expect(lines(registry).map((line) => line.split(' ')[0])).toEqual(['POST', 'PUT', 'HEAD', 'POST', 'PUT']);
    registry.on(PUT, (_asked, response) => void response.destroy());
    registry.on(HEAD, answer(200));
    expect(await client.pushBlob(at(registry), BLOB)).toBe(DIGEST);
    registry.on(HEAD, answer(404));
    await expect(client.pushBlob(at(registry), BLOB)).rejects.toMatchObject({
      code: 'GATE_REGISTRY_UNREACHABLE',
    });
  });

  it.each([
    ['the registry does not say where to', START, answer(202), 'GATE_REGISTRY_ANSWER'],
    ['the registry refuses it', START, answer(403), 'GATE_REGISTRY_AUTHENTICATION'],
    ['the registry does not take its size', START, answer(413), 'GATE_REGISTRY_UNREACHABLE'],
    [
      'the registry has another digest then',
      `PUT /v2/${NAME}/blobs/uploads/7`,
      answer(201, '', { 'docker-content-digest': sha256(MANIFEST) }),
      'GATE_REGISTRY_ANSWER',
    ],
  ])('is not pushed where %s', async (_what, rule, answering, code) => {
    const registry = await taking();
    registry.on(rule, answering);
    await expect(clientOfTest(registry).pushBlob(at(registry), BLOB)).rejects.toMatchObject({ code });
  });

  it('is not sent under a digest that is not its own', async () => {
    const registry = await taking();
    await expect(clientOfTest(registry).pushBlob(at(registry), BLOB, sha256(MANIFEST))).rejects.toMatchObject(
      {
        code: 'GATE_REGISTRY_REFERENCE',
      },
    );
    expect(registry.asked).toEqual([]);
  });
});

describe('a manifest', () => {
  it('is sent as it is, under its tag', async () => {
    const registry = await taking();
    expect(await clientOfTest(registry).pushManifest(at(registry), MANIFEST, OCI_MANIFEST)).toBe(
      sha256(MANIFEST),
    );
    const [asked] = registry.asked;
    expect([asked?.headers['content-type'], asked?.body]).toEqual([OCI_MANIFEST, MANIFEST]);
  });

  it('is sent under its digest where it has no tag, in either algorithm', async () => {
    const registry = await taking();
    const client = clientOfTest(registry);
    for (const digest of [sha256(MANIFEST), digestOf(MANIFEST, 'sha512:')]) {
      registry.on(
        `PUT /v2/${NAME}/manifests/${digest}`,
        answer(201, '', { 'docker-content-digest': digest }),
      );
      expect(await client.pushManifest(at(registry, digest), MANIFEST, OCI_MANIFEST)).toBe(digest);
    }
    await expect(client.pushManifest(at(registry, DIGEST), MANIFEST, OCI_MANIFEST)).rejects.toMatchObject({
      code: 'GATE_REGISTRY_REFERENCE',
    });
  });

  it('needs a token to write, and reading does not ask for one', async () => {
    const registry = await taking();
    const challenge = { 'www-authenticate': `Bearer realm="${registry.origin}/token"` };
    registry.on('GET /v2/', answer(401, '', challenge));
    registry.on('GET /token', answer(200, '{"token":"t"}'));
    const client = clientOfTest(registry, {
      sources: [has({ kind: 'basic', username: 'u', password: 'p' })],
    });
    await client.pushManifest(at(registry), MANIFEST, OCI_MANIFEST);
    await client.manifest(at(registry)).catch(() => undefined);
    const scopes = registry.asked.map(({ query }) => query.get('scope')).filter((scope) => scope !== null);
    expect(scopes).toEqual([`repository:${NAME}:pull,push`, `repository:${NAME}:pull`]);
  });
});
