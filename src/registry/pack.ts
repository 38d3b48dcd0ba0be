/** Packing a bundle as upstream does (contract.md §§11.1, 11.2): one layer, an image config with labels, a manifest. */
import { gzipSync } from 'node:zlib';

import { BundleBudget, bundleName, invalidBundle } from './bundle-limits.ts';
import { identityOf } from './bundle-manifest.ts';
import { digestOf } from './digests.ts';
import { BLOCK_BYTES, paddingBytes, writeTarHeader } from './tar-headers.ts';

const MANIFEST_TYPE = 'application/vnd.oci.image.manifest.v1+json';
const CONFIG_TYPE = 'application/vnd.docker.container.image.v1+json';
const LAYER_TYPE = 'application/vnd.pacto.bundle.layer.v1.tar+gzip';
/** zlib's default; its own bytes depend on the zlib of the Node release, as upstream's on Go's. */
const GZIP_LEVEL = 6;
/** RFC 1952: what made it is unknown. Node would name the system it runs on. */
const GZIP_UNKNOWN_OS = 255;

/**
 * What of a bundle's contract the registry needs, done elsewhere: the loader belongs to the rules.
 * @returns the identity that goes into the labels, or why the text does not load (contract.md §2).
 */
export type ReadContract = (
  text: Uint8Array,
) =>
  | { readonly ok: true; readonly name: string; readonly version: string; readonly pactoVersion: string }
  | { readonly ok: false; readonly reason: string };

export interface PackedBlob {
  readonly bytes: Uint8Array;
  readonly mediaType: string;
  readonly digest: string;
}

export interface PackedBundle {
  /** The archive, as `pack` writes it to a file. */
  readonly layer: PackedBlob;
  readonly config: PackedBlob;
  readonly manifest: PackedBlob;
  /** That of the manifest: what a reference by digest names. */
  readonly digest: string;
}

/**
 * Same files, same bytes: nothing depends on time, machine or order of the map.
 * @throws GateError GATE_BUNDLE_INVALID where reading it again would be refused, or the contract does not load.
 */
export function packBundle(files: ReadonlyMap<string, Uint8Array>, readContract: ReadContract): PackedBundle {
  const identity = identityOf(files, readContract);
  const tar = tarOf(files);
  const layer = blob(gzip(tar), LAYER_TYPE);
  const config = blob(
    json({
      architecture: '',
      created: '0001-01-01T00:00:00Z',
      history: [{ created: '0001-01-01T00:00:00Z' }],
      os: '',
      rootfs: { type: 'layers', diff_ids: [digestOf(tar)] },
      config: {
        Labels: {
          'io.pacto.name': identity.name,
          'io.pacto.pactoVersion': identity.pactoVersion,
          'io.pacto.version': identity.version,
        },
      },
    }),
    CONFIG_TYPE,
  );
  const manifest = blob(
    json({
      schemaVersion: 2,
      mediaType: MANIFEST_TYPE,
      config: descriptorOf(config),
      layers: [descriptorOf(layer)],
    }),
    MANIFEST_TYPE,
  );
  return { layer, config, manifest, digest: manifest.digest };
}

function blob(bytes: Uint8Array, mediaType: string): PackedBlob {
  return { bytes, mediaType, digest: digestOf(bytes) };
}

function descriptorOf({ bytes, mediaType, digest }: PackedBlob): object {
  return { mediaType, size: bytes.length, digest };
}

/** As Go's encoding/json writes it: `<`, `>`, `&` and the two line separators are escaped. */
function json(value: object): Uint8Array {
  const text = JSON.stringify(value).replace(
    /[<>&\u2028\u2029]/g,
    (mark) => `\\u${mark.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
  return Buffer.from(text, 'utf8');
}

function gzip(bytes: Uint8Array): Uint8Array {
  const zipped = gzipSync(bytes, { level: GZIP_LEVEL });
  // RFC 1952 §2.3.1: MTIME, XFL and OS.
  zipped.fill(0, 4, 9);
  zipped[9] = GZIP_UNKNOWN_OS;
  return zipped;
}

function tarOf(files: ReadonlyMap<string, Uint8Array>): Uint8Array {
  const budget = new BundleBudget();
  const parts: Uint8Array[] = [];
  for (const [name, bytes] of entriesOf(files)) {
    budget.addEntry(name);
    budget.addFile(name, bytes?.length ?? 0);
    parts.push(writeTarHeader(name, bytes === undefined ? 'directory' : 'file', bytes?.length ?? 0));
    if (bytes !== undefined) parts.push(bytes, new Uint8Array(paddingBytes(bytes.length)));
  }
  // Two empty blocks end it.
  return Buffer.concat([...parts, new Uint8Array(2 * BLOCK_BYTES)]);
}

/** Files and the directories above them (without content) as a lexical walk meets them. */
function entriesOf(
  files: ReadonlyMap<string, Uint8Array>,
): readonly (readonly [name: string, bytes: Uint8Array | undefined])[] {
  const entries = new Map<string, Uint8Array | undefined>();
  for (const [name, bytes] of files) {
    if (bundleName(name, 'file') !== name) throw invalidBundle('a name in it begins with a dot and a slash');
    entries.set(name, bytes);
  }
  for (const name of files.keys()) {
    for (let at = name.lastIndexOf('/'); at !== -1; at = name.lastIndexOf('/', at - 1)) {
      const directory = name.slice(0, at);
      if (files.has(directory)) throw invalidBundle('one of its names is a file and a directory');
      if (entries.has(directory)) break;
      entries.set(directory, undefined);
    }
  }
  // A directory's content follows it, before a sibling such as `d-x`: compare `/` below every other byte.
  const keyed = [...entries].map((entry) => ({ entry, key: Buffer.from(entry[0].replaceAll('/', '\0')) }));
  return keyed.toSorted((a, b) => Buffer.compare(a.key, b.key)).map(({ entry }) => entry);
}
