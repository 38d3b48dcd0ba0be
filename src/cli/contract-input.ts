/** The one contract that a command is about, from wherever the user says that it lies. */
import { open, stat } from 'node:fs/promises';
import { basename, dirname, resolve } from 'node:path';
import { readContract } from '../app/contract-reader.ts';
import { readAtMost, readStreamAtMost } from '../bounded-file.ts';
import { GateError, quote } from '../errors.ts';
import { CONTRACT_FILE, type BundleFiles } from '../policies/contract/bundle-files.ts';
import { readBundleArchive } from '../registry/bundle-archive.ts';
import { readBundleFolder } from '../registry/bundle-folder.ts';
import { isLayout, readLayoutBundle } from '../registry/layout.ts';
import { IGNORE_FILE, ignoreRule } from '../registry/pactoignore.ts';
import { unreadable } from './input-file.ts';
import type { Surroundings } from './surroundings.ts';

/** As large as a contract may be (`load` refuses more); one byte more is read to tell. */
const MAX_CONTRACT_BYTES = 1024 * 1024 + 1;
/** All files of a bundle together have at most 50 MiB (contract.md §11.3): what is larger packed is none. */
const MAX_ARCHIVE_BYTES = 64 * 1024 * 1024;
const ARCHIVE_NAME = /\.(?:tgz|tar|tar\.gz)$/i;
/** `FOLDER@DIGEST` or `FOLDER:TAG`. */
const LAYOUT_NAME = /^(.+?)(?:@(sha\d+:[0-9a-f]+)|:([^:/]+))$/s;

export interface GivenContract {
  /** As the user wrote it. */
  readonly name: string;
  readonly text: Uint8Array;
  /** Undefined for a contract alone, of which nothing that needs other files is checked. */
  readonly files: BundleFiles | undefined;
  /** The folder that relative references start from; undefined where the contract may not name a local path. */
  readonly base: string | undefined;
  /** What results should point at: the contract's file where there is one. */
  readonly file: string;
  /** Of a registry or a layout. */
  readonly digest?: string;
  /** Of a registry: the reference with the tag that was chosen. */
  readonly reference?: string;
}

/** A bundle from a registry. */
export interface Pulled {
  readonly files: BundleFiles;
  readonly digest: string;
  readonly reference: string;
}

export type Pull = (reference: string) => Promise<Pulled>;

/**
 * @param pull for what begins with `oci://`.
 * @throws GateError GATE_INPUT_FILE, GATE_BUNDLE_INVALID, or as `pull`.
 */
export async function readGivenContract(
  name: string,
  around: Pick<Surroundings, 'stdin'>,
  pull: Pull,
): Promise<GivenContract> {
  if (name === '-') return alone(name, await readStreamAtMost(around.stdin, MAX_CONTRACT_BYTES), undefined);
  if (name.startsWith('oci://')) {
    const { files, ...origin } = await pull(name);
    return { ...bundle(name, files, undefined), ...origin };
  }
  const path = name.startsWith('file://') ? name.slice('file://'.length) : name;
  const kind = await kindOf(path);
  switch (kind) {
    case 'folder':
      return await readFolder(name, path);
    case 'layout tag':
      return await readLayout(name, path);
    case 'archive': {
      const files = await readBundleArchive(await readFile(path, MAX_ARCHIVE_BYTES));
      return { ...bundle(name, files, undefined), file: path };
    }
    case 'contract':
      return basename(path) === CONTRACT_FILE
        ? await readFolder(name, dirname(path))
        : alone(name, await readFile(path, MAX_CONTRACT_BYTES), dirname(resolve(path)));
  }
}

/**
 * A folder as a bundle: an image layout with one artifact, or the contract and what is below it, without what
 * `.pactoignore` names.
 */
async function readFolder(name: string, path: string): Promise<GivenContract> {
  if (await isLayout(path)) return await readLayout(name, path);
  const rules = await readAtMost(`${path}/${IGNORE_FILE}`, MAX_CONTRACT_BYTES).catch((error: unknown) => {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw unreadable(`${path}/${IGNORE_FILE}`, error);
  });
  const files = await readBundleFolder(path, ignoreRule(rules?.toString('utf8')));
  return {
    ...bundle(name, files, resolve(path)),
    file: path === '.' ? CONTRACT_FILE : `${path.replace(/\/+$/, '')}/${CONTRACT_FILE}`,
  };
}

/** `FOLDER`, `FOLDER:TAG` or `FOLDER@DIGEST`. */
async function readLayout(name: string, path: string): Promise<GivenContract> {
  const [, folder = path, digest, tag] = (await isLayout(path)) ? [] : (LAYOUT_NAME.exec(path) ?? []);
  const read = await readLayoutBundle(folder, digest ?? tag, readContract);
  return { ...bundle(name, read.files, undefined), digest: read.digest };
}

function bundle(name: string, files: BundleFiles, base: string | undefined): GivenContract {
  const text = files.get(CONTRACT_FILE);
  if (text === undefined) {
    throw new GateError('GATE_BUNDLE_INVALID', `${quote(name)}: it has no ${CONTRACT_FILE}: add one`);
  }
  return { name, text, files, base, file: CONTRACT_FILE };
}

function alone(name: string, text: Uint8Array, base: string | undefined): GivenContract {
  return { name, text, files: undefined, base, file: name === '-' ? CONTRACT_FILE : name };
}

type Kind = 'folder' | 'layout tag' | 'archive' | 'contract';

async function kindOf(path: string): Promise<Kind> {
  const found = await stat(path).catch(async (error: unknown) => {
    const [, folder] = LAYOUT_NAME.exec(path) ?? [];
    if (folder !== undefined && (await isLayout(folder))) return 'layout tag' as const;
    throw unreadable(path, error);
  });
  if (found === 'layout tag') return found;
  if (found.isDirectory()) return 'folder';
  if (await isArchive(path)) return 'archive';
  // Read as YAML it would be refused for a reason that leads nowhere.
  if (ARCHIVE_NAME.test(path))
    throw new GateError(
      'GATE_BUNDLE_INVALID',
      `file ${quote(path)} ${found.isFile() && found.size === 0 ? 'is empty' : 'is neither gzip nor tar'}, and its name is that of an archive: pack the bundle again`,
    );
  return 'contract';
}

/** By what is in it, not by its name: gzip (RFC 1952) or tar (POSIX `ustar` at 257). */
async function isArchive(path: string): Promise<boolean> {
  const head = Buffer.alloc(512);
  try {
    const handle = await open(path);
    try {
      const { bytesRead } = await handle.read(head, 0, head.length, 0);
      const start = head.subarray(0, bytesRead);
      return (
        (start[0] === 0x1f && start[1] === 0x8b) || start.subarray(257, 262).toString('latin1') === 'ustar'
      );
    } finally {
      await handle.close();
    }
  } catch (error) {
    // A pipe has no places to read at: it holds a contract.
    if (error instanceof Error && 'code' in error && error.code === 'ESPIPE') return false;
    throw unreadable(path, error);
  }
}

async function readFile(path: string, maxBytes: number): Promise<Buffer> {
  return await readAtMost(path, maxBytes).catch((error: unknown) => {
    throw unreadable(path, error);
  });
}
