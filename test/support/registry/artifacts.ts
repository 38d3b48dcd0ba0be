/** What lies in the registry of a test: pushed by oras, and named by the digests that skopeo finds. */
import { createHash } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Access } from './foreign-clients.ts';
import type { RegistryWorld } from './registry-world.ts';

export const REPOSITORY = 'matrix/artifacts';
export const ARTIFACT_TYPE = 'application/vnd.example.proof.v1';
export const SIGNATURE_TYPE = 'application/vnd.example.signature.v1';

/** A manifest as skopeo reads it, byte for byte. */
export interface StoredManifest {
  readonly digest: string;
  readonly bytes: Buffer;
  readonly content: {
    readonly mediaType: string;
    readonly artifactType?: string;
    readonly config?: StoredDescriptor;
    readonly layers?: readonly StoredDescriptor[];
    readonly manifests?: readonly StoredDescriptor[];
  };
}

interface StoredDescriptor {
  readonly mediaType: string;
  readonly digest: string;
  readonly size: number;
}

export interface Artifacts {
  /** Tag `1.0.0`: two layers and a config with content. */
  readonly image: StoredManifest;
  /** Tag `empty`: an artifact type, the empty config and the empty layer. */
  readonly empty: StoredManifest;
  /** Tag `index`: of the two above. */
  readonly index: StoredManifest;
  /** Says something about the image. */
  readonly signature: StoredManifest;
  /** All that the repository has, but for the tag that stands in for the referrers API. */
  readonly tags: readonly string[];
}

/** The content of the image's first layer. */
export const HELLO = Buffer.from('a layer that is read by its digest\n');

/** Pushes all through the anonymous door: every other door leads to the same blobs. */
export async function pushArtifacts(world: RegistryWorld): Promise<Artifacts> {
  const { clients } = world;
  const { host, secure } = world.door('anonymous');
  const access: Access = { secure };
  const folder = join(world.directory, 'artifacts');
  mkdirSync(folder);
  writeFileSync(join(folder, 'hello.txt'), HELLO);
  writeFileSync(join(folder, 'more.bin'), Buffer.alloc(100_000, 7));
  writeFileSync(join(folder, 'config.json'), '{"made":"by hand"}');
  writeFileSync(join(folder, 'signature.txt'), 'signed');
  const named = (tag: string): string => `${host}/${REPOSITORY}:${tag}`;
  const push = (...args: readonly string[]): Promise<string> =>
    clients.oras([args[0] ?? '', ...clients.orasAccess(access), ...args.slice(1)], folder);
  await push(
    'push',
    '--config',
    'config.json:application/vnd.example.config.v1+json',
    named('1.0.0,1.1.0,2.0.0-rc.1'),
    'hello.txt:text/plain',
    'more.bin:application/octet-stream',
  );
  await push('push', '--artifact-type', ARTIFACT_TYPE, named('empty'));
  const image = await readManifest(world, access, named('1.0.0'));
  const empty = await readManifest(world, access, named('empty'));
  await clients.oras(
    [
      'manifest',
      'index',
      'create',
      ...clients.orasAccess(access),
      named('index'),
      image.digest,
      empty.digest,
    ],
    folder,
  );
  await push('attach', '--artifact-type', SIGNATURE_TYPE, named('1.0.0'), 'signature.txt:text/plain');
  return {
    image,
    empty,
    index: await readManifest(world, access, named('index')),
    signature: await readSignature(world, access, `${host}/${REPOSITORY}`, image.digest),
    tags: ['1.0.0', '1.1.0', '2.0.0-rc.1', 'empty', 'index'],
  };
}

/** By skopeo, which checks nothing here: the digest is made of the bytes that came. */
export async function readManifest(
  world: RegistryWorld,
  access: Access,
  reference: string,
): Promise<StoredManifest> {
  const raw = await world.clients.skopeo([
    'inspect',
    '--raw',
    ...world.clients.skopeoAccess(access),
    `docker://${reference}`,
  ]);
  const bytes = Buffer.from(raw);
  return {
    digest: `sha256:${createHash('sha256').update(bytes).digest('hex')}`,
    bytes,
    content: JSON.parse(raw) as StoredManifest['content'],
  };
}

/** Where a registry has no referrers API, oras keeps an index below a tag made of the digest. */
async function readSignature(
  world: RegistryWorld,
  access: Access,
  repository: string,
  subject: string,
): Promise<StoredManifest> {
  const index = await readManifest(world, access, `${repository}:${subject.replace(':', '-')}`);
  const [first] = index.content.manifests ?? [];
  if (first === undefined) throw new Error('oras attached nothing');
  return readManifest(world, access, `${repository}@${first.digest}`);
}
