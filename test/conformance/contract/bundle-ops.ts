/** `pack` and `extract`: bundles written, and archives read (test/golden/contract/README.md). */
import { createHash } from 'node:crypto';
import { gunzipSync, gzipSync } from 'node:zlib';

import { readContract } from '../../../src/app/contract-reader.ts';
import { GateError } from '../../../src/errors.ts';
import { readBundleArchive } from '../../../src/registry/bundle-archive.ts';
import { identityOf, layerOf } from '../../../src/registry/bundle-manifest.ts';
import { packBundle } from '../../../src/registry/pack.ts';
import { tarOf, type TarEntry } from '../../support/registry/tar.ts';
import type { Comparer, ContractCase } from './case.ts';

interface RecordedEntry {
  readonly name: string;
  readonly type?: string;
  readonly data?: string;
  readonly size?: number;
  readonly repeat?: number;
  readonly link?: string;
}

const TAR_TYPES: Readonly<Record<string, string>> = {
  file: '0',
  hardlink: '1',
  link: '1',
  symlink: '2',
  char: '3',
  block: '4',
  dir: '5',
  fifo: '6',
  cont: '7',
  sparse: 'S',
  global: 'g',
  pax: 'x',
};

export const comparers: Readonly<Record<string, Comparer>> = { extract: compareExtract, pack: comparePack };

async function compareExtract({ input, answer }: ContractCase): Promise<readonly string[]> {
  const recorded = answer as {
    readonly files?: readonly string[];
    readonly error?: string;
    service?: string;
  };
  const outcome = await extracted(input);
  if ('error' in outcome)
    return recorded.error === undefined ? [`refused, recorded as accepted: ${outcome.error}`] : [];
  if (recorded.error !== undefined) return [`accepted, recorded as refused: ${recorded.error}`];
  // Directories are told with a slash; they mean nothing to a reader of files.
  const files = (recorded.files ?? []).filter((name) => !name.endsWith('/'));
  const cut = files.at(-1)?.match(/^… (\d+) in all$/)?.[1];
  const wanted = cut === undefined ? files : files.slice(0, -1);
  const total = cut === undefined ? wanted.length : Number(cut);
  const names = [...outcome.files.keys()].toSorted();
  return [
    ...differs('files', names.slice(0, wanted.length), wanted),
    ...differs('number of files', names.length, total),
    ...differs('service', outcome.service, recorded.service),
  ];
}

async function extracted(
  input: ContractCase['input'],
): Promise<{ files: ReadonlyMap<string, Uint8Array>; service: string } | { error: string }> {
  try {
    const layers = (input['layers'] as number | undefined) ?? 1;
    const layer = {
      mediaType: (input['media'] as string | undefined) ?? 'x',
      digest: `sha256:${'0'.repeat(64)}`,
      size: 1,
    };
    layerOf({ layers: Array.from({ length: layers }, () => layer) });
    const files = await readBundleArchive(archiveOf(input));
    return { files, service: identityOf(files, readContract).name };
  } catch (error) {
    if (error instanceof GateError && error.code === 'GATE_BUNDLE_INVALID') return { error: error.message };
    throw error;
  }
}

function archiveOf(input: ContractCase['input']): Buffer {
  const entries = ((input['entries'] ?? []) as readonly RecordedEntry[]).flatMap(entryOf);
  const tar = tarOf(entries);
  const bytes = input['plainTar'] === true ? tar : gzipSync(tar);
  const corrupt: unknown = input['corrupt'];
  if (corrupt === undefined || corrupt === false) return bytes;
  // Whatever way: no gzip, or one that ends early.
  return corrupt === 'truncated' ? bytes.subarray(0, bytes.length / 2) : Buffer.from('not an archive');
}

function entryOf({ name, type = 'file', data, size, repeat, link }: RecordedEntry): readonly TarEntry[] {
  const tarType = TAR_TYPES[type] ?? type;
  const content = size === undefined ? (data ?? '') : Buffer.alloc(size, 'x');
  const named = (each: string): TarEntry => ({
    name: each,
    type: tarType,
    data: tarType === '0' ? content : '',
    ...(link !== undefined && { link }),
  });
  return repeat === undefined
    ? [named(name)]
    : Array.from({ length: repeat }, (_, at) => named(`${name}${String(at)}`));
}

interface RecordedPack {
  readonly error?: string;
  readonly configText?: string;
  readonly layerGzipBase64?: string;
  readonly manifest?: { readonly layers: readonly object[] };
  readonly manifestMediaType?: string;
}

function comparePack({ input, answer }: ContractCase): readonly string[] {
  const recorded = answer as RecordedPack;
  const given = Object.entries(input['files'] as Readonly<Record<string, string>>);
  const files = new Map(given.map(([name, text]) => [name, Buffer.from(text)] as const));
  let packed;
  try {
    packed = packBundle(files, readContract);
  } catch (error) {
    if (!(error instanceof GateError)) throw error;
    return recorded.error === undefined ? [`refused, recorded as packed: ${error.message}`] : [];
  }
  if (recorded.error !== undefined) return [`packed, recorded as refused: ${recorded.error}`];
  const tar = gunzipSync(packed.layer.bytes);
  const recordedTar = gunzipSync(Buffer.from(recorded.layerGzipBase64 ?? '', 'base64'));
  const manifest: unknown = JSON.parse(Buffer.from(packed.manifest.bytes).toString());
  return [
    ...differs('tar', sha256(tar), sha256(recordedTar)),
    ...differs('config', Buffer.from(packed.config.bytes).toString(), recorded.configText),
    ...differs('media type', packed.manifest.mediaType, recorded.manifestMediaType),
    ...differs('manifest', withoutLayer(manifest), withoutLayer(recorded.manifest)),
  ];
}

/** Size and digest of the layer depend on who compresses. */
function withoutLayer(manifest: unknown): unknown {
  const { layers, ...rest } = manifest as { readonly layers: readonly { readonly mediaType: string }[] };
  return { ...rest, layers: layers.map(({ mediaType }) => ({ mediaType })) };
}

function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

function differs(what: string, ours: unknown, theirs: unknown): readonly string[] {
  const [here, there] = [JSON.stringify(ours), JSON.stringify(theirs)];
  return here === there ? [] : [`${what}: ours ${here}, recorded ${there}`];
}
