/**
 * OCI image layouts: a folder with `oci-layout`, `index.json` and `blobs/<algorithm>/<hex>` (OCI image specification 1.1,
 * image-layout.md), as skopeo and oras read and write them. A folder that came from elsewhere is hostile: sizes are
 * bounded, digests are checked, and no link is followed.
 */
import { lstat } from 'node:fs/promises';
import { join } from 'node:path';

import { GateError, quote } from '../errors.ts';
import { makeDirectory } from '../make-directory.ts';
import { readBundleArchive } from './bundle-archive.ts';
import { invalidBundle } from './bundle-limits.ts';
import {
  childOf,
  identityOf,
  layerOf,
  readDescriptor,
  readManifest,
  type Descriptor,
} from './bundle-manifest.ts';
import { digestOf } from './digests.ts';
import { field } from './failures.ts';
import { REGISTRY_LIMITS } from './options.ts';
import type { PackedBundle, ReadContract } from './pack.ts';
import { readWholeFile, systemCode, writeWholeFile } from './whole-files.ts';

const LAYOUT_FILE = 'oci-layout';
const LAYOUT_TEXT = '{"imageLayoutVersion":"1.0.0"}';
const INDEX_FILE = 'index.json';
const INDEX_TYPE = 'application/vnd.oci.image.index.v1+json';
const TAG_ANNOTATION = 'org.opencontainers.image.ref.name';

export interface LayoutBundle {
  readonly files: ReadonlyMap<string, Uint8Array>;
  /** Of what the index names. */
  readonly digest: string;
}

/**
 * @param name a tag or a digest; undefined where the layout holds one artifact alone.
 * @throws GateError GATE_REGISTRY_NOT_FOUND where it does not hold that; GATE_BUNDLE_INVALID; GATE_INPUT_FILE.
 */
export async function readLayoutBundle(
  folder: string,
  name: string | undefined,
  readContract: ReadContract,
): Promise<LayoutBundle> {
  const root = chosen(await readIndex(folder), name, folder);
  let manifest = readManifest(await readBlob(folder, root, REGISTRY_LIMITS.manifestBytes));
  const child = childOf(manifest, root.mediaType);
  if (child !== undefined)
    manifest = readManifest(await readBlob(folder, child, REGISTRY_LIMITS.manifestBytes));
  const layer = await readBlob(folder, layerOf(manifest), REGISTRY_LIMITS.blobBytes);
  const files = await readBundleArchive(layer);
  identityOf(files, readContract);
  return { files, digest: root.digest };
}

/** Whether a folder says that it is an image layout. */
export async function isLayout(folder: string): Promise<boolean> {
  return lstat(join(folder, LAYOUT_FILE)).then(
    (found) => found.isFile(),
    () => false,
  );
}

/**
 * Adds a packed bundle to a layout, which is made where there is none. What had the tag before keeps its digest and
 * loses its name.
 * @throws GateError GATE_INPUT_FILE where something cannot be written, or a file there is no index.
 */
export async function writeLayoutBundle(folder: string, packed: PackedBundle, tag: string): Promise<void> {
  try {
    await makeDirectory(join(folder, 'blobs', 'sha256'));
    await checkBlobFolder(folder, 'sha256');
    const index = (await isLayout(folder)) ? await readIndex(folder) : [];
    for (const { digest, bytes } of [packed.layer, packed.config, packed.manifest])
      await writeWholeFile(join(folder, 'blobs', ...digest.split(':')), bytes, { mode: 0o644 });
    const { mediaType, digest, bytes } = packed.manifest;
    const added = { mediaType, digest, size: bytes.length, annotations: { [TAG_ANNOTATION]: tag } };
    const manifests = [
      ...index.filter((entry) => !isReplaced(entry, digest, tag)).map(withoutTag(tag)),
      added,
    ];
    const text = JSON.stringify({ schemaVersion: 2, mediaType: INDEX_TYPE, manifests });
    await writeWholeFile(join(folder, INDEX_FILE), Buffer.from(text), { mode: 0o644 });
    // Last: a folder with this file is a whole layout.
    await writeWholeFile(join(folder, LAYOUT_FILE), Buffer.from(LAYOUT_TEXT), { mode: 0o644 });
  } catch (error) {
    if (error instanceof GateError) throw error;
    throw new GateError(
      'GATE_INPUT_FILE',
      `${quote(folder)} cannot be written (${systemCode(error)}): choose another folder`,
      { cause: error },
    );
  }
}

interface IndexEntry {
  readonly descriptor: Descriptor;
  readonly tag: string | undefined;
  /** With what other tools wrote into it. */
  readonly raw: object;
}

function isReplaced({ descriptor, tag: itsTag }: IndexEntry, digest: string, tag: string): boolean {
  return descriptor.digest === digest && (itsTag === undefined || itsTag === tag);
}

function withoutTag(tag: string): (entry: IndexEntry) => object {
  return ({ raw, tag: itsTag }) => {
    if (itsTag !== tag) return raw;
    const annotations = Object.entries(field(raw, 'annotations') as object);
    return { ...raw, annotations: Object.fromEntries(annotations.filter(([key]) => key !== TAG_ANNOTATION)) };
  };
}

async function readIndex(folder: string): Promise<readonly IndexEntry[]> {
  const index = readManifest(await readPlain(join(folder, INDEX_FILE), REGISTRY_LIMITS.manifestBytes));
  const manifests = field(index, 'manifests');
  if (!Array.isArray(manifests)) throw invalidBundle(`${INDEX_FILE} of the layout has no list of manifests`);
  return (manifests as readonly unknown[]).map((entry) => {
    const tag = field(field(entry, 'annotations'), TAG_ANNOTATION);
    const descriptor = readDescriptor(entry);
    return { descriptor, tag: typeof tag === 'string' ? tag : undefined, raw: entry as object };
  });
}

function chosen(index: readonly IndexEntry[], name: string | undefined, folder: string): Descriptor {
  const fitting =
    name === undefined
      ? index
      : index.filter(({ tag, descriptor }) => tag === name || descriptor.digest === name);
  // The later entry of a tag is the newer one.
  const found = fitting.at(-1)?.descriptor;
  const isClear = name !== undefined || new Set(index.map(({ descriptor }) => descriptor.digest)).size === 1;
  if (found !== undefined && isClear) return found;
  const tags = index.flatMap(({ tag }) => (tag === undefined ? [] : [quote(tag)])).slice(0, 10);
  const held = tags.length === 0 ? 'it names no tag' : `it has ${tags.join(', ')}`;
  throw new GateError(
    'GATE_REGISTRY_NOT_FOUND',
    found === undefined
      ? `layout ${quote(folder)} does not hold ${name === undefined ? 'an artifact' : quote(name)}: ${held}`
      : `layout ${quote(folder)} holds several artifacts: name one, ${held}`,
  );
}

async function readBlob(folder: string, { digest, size }: Descriptor, maxBytes: number): Promise<Uint8Array> {
  if (size > maxBytes) throw invalidBundle(`a blob of it is larger than ${String(maxBytes)} bytes`);
  const [algorithm = '', hex = ''] = digest.split(':');
  await checkBlobFolder(folder, algorithm);
  const bytes = await readPlain(join(folder, 'blobs', algorithm, hex), size);
  if (bytes.length !== size || digestOf(bytes, digest) !== digest)
    throw invalidBundle(`blob ${digest} of the layout holds something else`);
  return bytes;
}

/** @throws GateError GATE_BUNDLE_INVALID unless both folders are there and no links. */
async function checkBlobFolder(folder: string, algorithm: string): Promise<void> {
  for (const part of [join(folder, 'blobs'), join(folder, 'blobs', algorithm)]) {
    const found = await lstat(part).catch(() => undefined);
    if (found?.isDirectory() !== true) throw invalidBundle(`the layout has no folder for ${algorithm}`);
  }
}

async function readPlain(path: string, maxBytes: number): Promise<Uint8Array> {
  return readWholeFile(path, path, (sizeBytes) => {
    if (sizeBytes > maxBytes) throw invalidBundle(`${quote(path)} is larger than ${String(maxBytes)} bytes`);
  });
}
