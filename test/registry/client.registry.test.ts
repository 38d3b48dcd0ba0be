/**
 * Our client at each door of a real registry: what it reads is what oras pushed and skopeo finds, byte for byte
 * (platform.md §1.2).
 */
import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Credential } from '../../src/registry/credential.ts';
import type { RegistryClient } from '../../src/registry/client.ts';
import {
  ARTIFACT_TYPE,
  HELLO,
  REPOSITORY,
  SIGNATURE_TYPE,
  pushArtifacts,
  readManifest,
  type Artifacts,
} from '../support/registry/artifacts.ts';
import { USER } from '../support/registry/docker-registry.ts';
import { BASIC, failureOf, gateClient, whole } from '../support/registry/gate-client.ts';
import { registrySuite } from '../support/registry/registry-suite.ts';
import {
  DOORS,
  openRegistryWorld,
  type Door,
  type RegistryWorld,
} from '../support/registry/registry-world.ts';

const digestOf = (bytes: Uint8Array): string => `sha256:${createHash('sha256').update(bytes).digest('hex')}`;

registrySuite('our client at a real registry', () => {
  let world: RegistryWorld;
  let stored: Artifacts;

  beforeAll(async () => {
    world = await openRegistryWorld();
    stored = await pushArtifacts(world);
  });

  afterAll(async () => {
    await world?.close();
  });

  describe.each(DOORS)('%s', (name) => {
    let door: Door;
    let client: RegistryClient;
    const at = (tag: string): { registry: string; repository: string; tag: string } => ({
      registry: door.host,
      repository: REPOSITORY,
      tag,
    });
    const exactly = (digest: string): { registry: string; repository: string; digest: string } => ({
      registry: door.host,
      repository: REPOSITORY,
      digest,
    });
    const open = (credential?: Credential): RegistryClient =>
      gateClient(door, world.tls.ca, credential, { limits: { attempts: 1 } });

    beforeAll(() => {
      door = world.door(name);
      client = gateClient(door, world.tls.ca, door.user ? BASIC : undefined);
    });

    afterAll(async () => {
      await client?.close();
    });

    it.each(['image', 'empty', 'index'] as const)('reads the %s by its tag', async (kind) => {
      const tag = kind === 'image' ? '1.0.0' : kind;
      const { digest, bytes, content } = stored[kind];
      expect(await client.resolveTag(at(tag))).toBe(digest);
      const manifest = await client.manifest(at(tag));
      expect(manifest).toMatchObject({ digest, mediaType: content.mediaType });
      expect(Buffer.from(manifest.bytes).equals(bytes)).toBe(true);
    });

    it('reads a manifest by its digest', async () => {
      const manifest = await client.manifest(exactly(stored.image.digest));
      expect(Buffer.from(manifest.bytes).equals(stored.image.bytes)).toBe(true);
    });

    it('reads each blob that a manifest names', async () => {
      const layers = stored.image.content.layers ?? [];
      const read = await Promise.all(
        layers.map((layer) => whole(client.blob(exactly(stored.image.digest), layer))),
      );
      expect(read.map(digestOf)).toEqual(layers.map(({ digest }) => digest));
      expect(read[0]).toEqual(HELLO);
      const [empty] = stored.empty.content.layers ?? [];
      expect(String(await whole(client.blob(exactly(stored.empty.digest), empty!)))).toBe('{}');
    });

    it('lists the tags', async () => {
      const tags = await client.tags(at(''));
      expect(tags.filter((tag) => !tag.startsWith('sha256-')).toSorted()).toEqual(stored.tags.toSorted());
    });

    it('finds what oras attached, where the registry has no referrers API', async () => {
      const found = await client.referrers(exactly(stored.image.digest), SIGNATURE_TYPE);
      expect(found.map(({ digest }) => digest)).toEqual([stored.signature.digest]);
      expect(await client.referrers(exactly(stored.image.digest), ARTIFACT_TYPE)).toEqual([]);
    });

    it('pushes what skopeo reads, digest for digest', async () => {
      const pushed = { registry: door.host, repository: `pushed/${door.slug}` };
      const layer = Buffer.from(`a layer pushed through the door ${name}`);
      const config = Buffer.from('{}');
      const manifest = Buffer.from(
        JSON.stringify({
          schemaVersion: 2,
          mediaType: 'application/vnd.oci.image.manifest.v1+json',
          config: {
            mediaType: 'application/vnd.oci.empty.v1+json',
            size: config.length,
            digest: digestOf(config),
          },
          layers: [{ mediaType: 'text/plain', size: layer.length, digest: digestOf(layer) }],
        }),
      );
      expect(await client.hasBlob(pushed, digestOf(layer))).toBe(false);
      for (const blob of [layer, config]) expect(await client.pushBlob(pushed, blob)).toBe(digestOf(blob));
      expect(await client.hasBlob(pushed, digestOf(layer))).toBe(true);
      const mediaType = 'application/vnd.oci.image.manifest.v1+json';
      expect(await client.pushManifest({ ...pushed, tag: '1.0.0' }, manifest, mediaType)).toBe(
        digestOf(manifest),
      );
      const access = { secure: door.secure, ...(door.user ? { user: door.user } : {}) };
      const found = await readManifest(world, access, `${door.host}/${pushed.repository}:1.0.0`);
      expect(found.bytes.equals(manifest)).toBe(true);
      const blob = await world.clients.oras([
        'blob',
        'fetch',
        '--output',
        '-',
        ...world.clients.orasAccess(access),
        `${door.host}/${pushed.repository}@${digestOf(layer)}`,
      ]);
      expect(blob).toBe(layer.toString());
    });

    it('says that there is no such tag, or repository', async () => {
      expect((await failureOf(client.manifest(at('9.9.9')))).code).toBe('GATE_REGISTRY_NOT_FOUND');
      expect((await failureOf(client.resolveTag(at('9.9.9')))).code).toBe('GATE_REGISTRY_NOT_FOUND');
      const nowhere = { registry: door.host, repository: 'matrix/nothing' };
      expect((await failureOf(client.tags(nowhere))).code).toBe('GATE_REGISTRY_NOT_FOUND');
    });

    it('sees that a tag was moved, and that a manifest was deleted', async () => {
      const access = world.clients.orasAccess({
        secure: door.secure,
        ...(door.user ? { user: door.user } : {}),
      });
      const moving = { registry: door.host, repository: `moving/${door.slug}`, tag: 'latest' };
      const named = `${door.host}/${moving.repository}`;
      const push = (type: string): Promise<string> =>
        world.clients.oras(['push', ...access, '--artifact-type', type, `${named}:latest`]);
      await push('application/vnd.example.first');
      const first = await client.resolveTag(moving);
      expect(await client.resolveTag(moving, undefined, first)).toBe(first);
      await push('application/vnd.example.second');
      const second = await client.resolveTag(moving, undefined, first);
      expect(second).not.toBe(first);
      expect((await client.manifest({ ...moving, digest: first })).digest).toBe(first);
      await world.clients.oras(['manifest', 'delete', '--force', ...access, `${named}@${second}`]);
      expect((await failureOf(client.resolveTag(moving))).code).toBe('GATE_REGISTRY_NOT_FOUND');
    });

    if (!name.startsWith('anonymous')) {
      it('is denied with a wrong password, and without, and says neither', async () => {
        for (const credential of [{ ...BASIC, password: 'not-the-password' } as Credential, undefined]) {
          const denied = open(credential);
          const { code, message } = await failureOf(denied.manifest(at('1.0.0')));
          expect(code).toBe('GATE_REGISTRY_AUTHENTICATION');
          expect(message).not.toContain('not-the-password');
          expect(message).not.toContain(USER.password);
          await denied.close();
        }
      });
    }

    if (name.startsWith('token')) {
      it('comes in with a token of its own', async () => {
        const token = door.tokens!.issue(REPOSITORY, ['pull']);
        const asked = door.tokens!.requests.length;
        const holder = open({ kind: 'bearer', token });
        expect(await holder.resolveTag(at('1.0.0'))).toBe(stored.image.digest);
        expect(door.tokens!.requests.length).toBe(asked);
        await holder.close();
      });

      it('comes in with an identity token', async () => {
        const asked = door.tokens!.requests.length;
        const holder = open({ kind: 'identity', token: door.tokens!.identityToken });
        expect(await holder.resolveTag(at('1.0.0'))).toBe(stored.image.digest);
        expect(door.tokens!.requests.slice(asked)).toEqual([
          {
            method: 'POST',
            service: door.tokens!.service,
            scopes: [`repository:${REPOSITORY}:pull`],
            by: 'identity token',
            granted: true,
          },
        ]);
        await holder.close();
      });

      it('asks for one token for many calls, and no more rights', async () => {
        const asked = door.tokens!.requests.length;
        const holder = open(BASIC);
        await Promise.all([holder.manifest(at('1.0.0')), holder.tags(at('')), holder.manifest(at('index'))]);
        await holder.resolveTag(at('1.1.0'));
        expect(door.tokens!.requests.slice(asked).map(({ scopes }) => scopes)).toEqual([
          [`repository:${REPOSITORY}:pull`],
        ]);
        await holder.close();
      });
    }

    if (name.endsWith('over TLS')) {
      it('does not speak to a server that nobody vouches for', async () => {
        const stranger = gateClient(door, world.tls.ca, BASIC, { certificateAuthorities: new Map() });
        const { code, message } = await failureOf(stranger.manifest(at('1.0.0')));
        expect(code).toBe('GATE_REGISTRY_UNREACHABLE');
        expect(message).toContain('registry.certificateAuthorities');
        await stranger.close();
      });
    }

    if (!name.endsWith('over TLS')) {
      it('does not do without TLS unless it is told to', async () => {
        const strict = gateClient(door, world.tls.ca, BASIC, { insecure: [], limits: { attempts: 1 } });
        expect((await failureOf(strict.manifest(at('1.0.0')))).code).toBe('GATE_REGISTRY_UNREACHABLE');
        await strict.close();
      });
    }

    it('does not go to this machine unless it is told to', async () => {
      const guarded = gateClient(door, world.tls.ca, BASIC, { allowAddresses: [] });
      expect((await failureOf(guarded.manifest(at('1.0.0')))).code).toBe('GATE_REGISTRY_REFUSED');
      await guarded.close();
    });
  });
});
