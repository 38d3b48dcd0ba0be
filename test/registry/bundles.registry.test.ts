/**
 * Bundles between our own client and those of others, by way of a real registry: ours are read by skopeo, oras and tar,
 * theirs by us, digest for digest (contract.md §§11, 12).
 */
import { execFile } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readContract } from '../../src/app/contract-reader.ts';
import { bestTag } from '../../src/policies/contract/best-tag.ts';
import type { RegistryClient } from '../../src/registry/client.ts';
import { readLayoutBundle, writeLayoutBundle } from '../../src/registry/layout.ts';
import { packBundle } from '../../src/registry/pack.ts';
import { pullBundle, type PulledBundle } from '../../src/registry/pull.ts';
import { pushBundle } from '../../src/registry/push.ts';
import { readManifest } from '../support/registry/artifacts.ts';
import type { Access } from '../support/registry/foreign-clients.ts';
import { BASIC, failureOf, gateClient } from '../support/registry/gate-client.ts';
import { registrySuite } from '../support/registry/registry-suite.ts';
import {
  DOORS,
  openRegistryWorld,
  type Door,
  type RegistryWorld,
} from '../support/registry/registry-world.ts';

const run = promisify(execFile);

/** A bundle of one version. What is beside the contract is of any kind: deep, empty, and not text. */
function bundleOf(version: string): Map<string, Uint8Array> {
  const contract = `pactoVersion: "2.0"\nservice:\n  name: shop\n  version: ${version}\n`;
  return new Map([
    ['docs/deep/er/notes.md', Buffer.from('# notes\n')],
    ['docs/empty', Buffer.alloc(0)],
    ['logo.bin', Buffer.from(Array.from({ length: 70_000 }, (_, at) => (at * 31) % 256))],
    ['pacto.yaml', Buffer.from(contract)],
  ]);
}

const plain = (files: ReadonlyMap<string, Uint8Array>): Record<string, string> =>
  Object.fromEntries([...files].map(([name, bytes]) => [name, Buffer.from(bytes).toString('base64')]));

function writeFolder(folder: string, files: ReadonlyMap<string, Uint8Array>): void {
  for (const [name, bytes] of files) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), bytes);
  }
}

registrySuite('bundles between us and others', () => {
  let world: RegistryWorld;

  beforeAll(async () => {
    world = await openRegistryWorld();
  });

  afterAll(async () => {
    await world?.close();
  });

  describe.each(DOORS)('%s', (name) => {
    let door: Door;
    let client: RegistryClient;
    let access: Access;
    /** Of this door's own, for the test's files. */
    let folder: string;
    const repository = (what: string): string => `${door.host}/bundles/${door.slug}-${what}`;
    const pull = (reference: string): Promise<PulledBundle> =>
      pullBundle(client, reference, { readContract, chooseTag: (tags) => bestTag(tags) });

    beforeAll(() => {
      door = world.door(name);
      client = gateClient(door, world.tls.ca, door.user ? BASIC : undefined);
      access = { secure: door.secure, ...(door.user ? { user: door.user } : {}) };
      folder = join(world.directory, `bundles-${door.slug}`);
      mkdirSync(folder);
    });

    afterAll(async () => {
      await client?.close();
    });

    it('ours is read by skopeo, oras and tar', async () => {
      const files = bundleOf('1.0.0');
      const pushed = await pushBundle(client, `oci://${repository('ours')}`, files, {
        readContract,
        force: false,
      });
      expect(pushed).toEqual({
        digest: packBundle(files, readContract).digest,
        ref: `${repository('ours')}:1.0.0`,
        isNew: true,
      });
      const manifest = await readManifest(world, access, pushed.ref);
      expect(manifest.digest).toBe(pushed.digest);

      // skopeo checks the digests of what it copies, and keeps the manifest as it is.
      const layout = join(folder, 'by-skopeo');
      await world.clients.skopeo([
        'copy',
        '--preserve-digests',
        ...world.clients.skopeoAccess(access, 'src'),
        `docker://${pushed.ref}`,
        `oci:${layout}:1.0.0`,
      ]);
      const copied = await readLayoutBundle(layout, '1.0.0', readContract);
      expect(copied.digest).toBe(pushed.digest);
      expect(plain(copied.files)).toEqual(plain(files));

      const [layer] = manifest.content.layers ?? [];
      const archive = join(folder, 'layer.tar.gz');
      await world.clients.oras([
        'blob',
        'fetch',
        '--output',
        archive,
        ...world.clients.orasAccess(access),
        `${repository('ours')}@${layer!.digest}`,
      ]);
      const unpacked = join(folder, 'by-tar');
      mkdirSync(unpacked);
      await run('tar', ['-xzf', archive, '-C', unpacked]);
      const read = [...files.keys()].map((path) => [path, readFileSync(join(unpacked, path))] as const);
      expect(plain(new Map(read))).toEqual(plain(files));
    });

    it('ours is copied by oras to another repository and read there by us', async () => {
      const files = bundleOf('1.1.0');
      const { ref, digest } = await pushBundle(client, `oci://${repository('copied')}`, files, {
        readContract,
        force: false,
      });
      const layout = join(folder, 'by-oras');
      const who = world.clients.orasAccess(access);
      await world.clients.oras(['cp', ...withPrefix('from', who), '--to-oci-layout', ref, `${layout}:1.1.0`]);
      const target = `${repository('copy')}:1.1.0`;
      await world.clients.oras([
        'cp',
        '--from-oci-layout',
        ...withPrefix('to', who),
        `${layout}:1.1.0`,
        target,
      ]);
      const pulled = await pull(`oci://${target}`);
      expect(pulled.digest).toBe(digest);
      expect(plain(pulled.files)).toEqual(plain(files));
    });

    it('our layout folder is pushed by skopeo and read by us', async () => {
      const files = bundleOf('1.2.0');
      const packed = packBundle(files, readContract);
      const layout = join(folder, 'ours');
      await writeLayoutBundle(layout, packed, '1.2.0');
      await world.clients.skopeo([
        'copy',
        '--preserve-digests',
        ...world.clients.skopeoAccess(access, 'dest'),
        `oci:${layout}:1.2.0`,
        `docker://${repository('layout')}:1.2.0`,
      ]);
      const pulled = await pull(`oci://${repository('layout')}`);
      expect(pulled).toMatchObject({ digest: packed.digest, ref: `${repository('layout')}:1.2.0` });
      expect(plain(pulled.files)).toEqual(plain(files));
    });

    it('one that tar packed and oras pushed is read by us, and by way of an index', async () => {
      const files = bundleOf('1.3.0');
      const source = join(folder, 'theirs');
      writeFolder(source, files);
      await run('tar', ['-czf', join(folder, 'theirs.tar.gz'), '-C', source, '.']);
      const target = repository('theirs');
      const who = world.clients.orasAccess(access);
      await world.clients.oras(
        [
          'push',
          ...who,
          '--artifact-type',
          'application/vnd.example.bundle.v1',
          `${target}:1.3.0`,
          'theirs.tar.gz:application/vnd.pacto.bundle.layer.v1.tar+gzip',
        ],
        folder,
      );
      const stored = await readManifest(world, access, `${target}:1.3.0`);
      const pulled = await pull(`oci://${target}:1.3.0`);
      expect(pulled.digest).toBe(stored.digest);
      expect(plain(pulled.files)).toEqual(plain(files));

      await world.clients.oras(['manifest', 'index', 'create', ...who, `${target}:1.3.1`, '1.3.0']);
      const index = await readManifest(world, access, `${target}:1.3.1`);
      const throughIndex = await pull(`oci://${target}`);
      expect(throughIndex).toMatchObject({ digest: index.digest, ref: `${target}:1.3.1` });
      expect(plain(throughIndex.files)).toEqual(plain(files));

      // A tag is one of two things that can be asked for; the digest is the other.
      expect(plain((await pull(`oci://${target}@${stored.digest}`)).files)).toEqual(plain(files));
    });

    it('is denied where an artifact has two layers, or is no bundle', async () => {
      writeFileSync(join(folder, 'a.txt'), 'a');
      writeFileSync(join(folder, 'b.txt'), 'b');
      const who = world.clients.orasAccess(access);
      const target = repository('denied');
      await world.clients.oras(['push', ...who, `${target}:1.0.0`, 'a.txt', 'b.txt'], folder);
      await world.clients.oras(['push', ...who, `${target}:1.0.1`, 'a.txt'], folder);
      for (const tag of ['1.0.0', '1.0.1'])
        expect((await failureOf(pull(`oci://${target}:${tag}`))).code).toBe('GATE_BUNDLE_INVALID');
    });

    it('is not written over, unless it is the same or that is asked for', async () => {
      const target = `oci://${repository('once')}:1.0.0`;
      const push = (version: string, force: boolean): ReturnType<typeof pushBundle> =>
        pushBundle(client, target, bundleOf(version), { readContract, force });
      const first = await push('1.0.0', false);
      expect(await push('1.0.0', false)).toEqual({ ...first, isNew: false });
      expect((await failureOf(push('2.0.0', false))).code).toBe('GATE_REGISTRY_EXISTS');
      expect((await readManifest(world, access, first.ref)).digest).toBe(first.digest);
      const second = await push('2.0.0', true);
      expect((await readManifest(world, access, first.ref)).digest).toBe(second.digest);
    });
  });
});

/** oras copies between two registries, and wants to be told of which each option speaks. */
function withPrefix(side: 'from' | 'to', options: readonly string[]): string[] {
  return options.map((option) => option.replace(/^--/, `--${side}-`));
}
