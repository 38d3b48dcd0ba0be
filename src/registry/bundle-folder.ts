/** A bundle from a folder on disk, under the limits of an archive (contract.md §11.3), without following a link. */
import type { Dirent } from 'node:fs';
import { opendir } from 'node:fs/promises';
import { join, resolve } from 'node:path';

import { GateError, quote } from '../errors.ts';
import {
  BUNDLE_CONTRACT,
  BundleBudget,
  bundleName,
  invalidBundle,
  withoutContract,
} from './bundle-limits.ts';
import { IGNORE_FILE, type IgnoreRule } from './pactoignore.ts';
import { readWholeFile, systemCode } from './whole-files.ts';

/** Most often it is what the bundle does not need: `node_modules`, a socket of a tool, a link to a folder beside. */
const ADVICE = `: leave it out in ${IGNORE_FILE}`;

interface Walk {
  readonly root: string;
  readonly isIgnored: IgnoreRule;
  readonly budget: BundleBudget;
  readonly files: Map<string, Uint8Array>;
}

/**
 * @param folder that holds `pacto.yaml`.
 * @param isIgnored asked for each path inside it, of directories with `/` at the end; none of what it names is opened.
 * @returns the files by their path inside, with `/`.
 * @throws GateError GATE_BUNDLE_INVALID for what no bundle can hold; GATE_INPUT_FILE where something cannot be read.
 */
export async function readBundleFolder(
  folder: string,
  isIgnored: IgnoreRule = () => false,
): Promise<Map<string, Uint8Array>> {
  const walk: Walk = { root: folder, isIgnored, budget: new BundleBudget(ADVICE), files: new Map() };
  // Directories that wait, not calls: depth is bounded by the entries.
  const waiting = [''];
  for (let inside = waiting.pop(); inside !== undefined; inside = waiting.pop())
    waiting.push(...(await readDirectory(walk, inside)));
  if (!walk.files.has(BUNDLE_CONTRACT))
    throw withoutContract(walk.files.keys(), `folder ${quote(resolve(folder))}`);
  return walk.files;
}

/** @returns the directories in it. */
async function readDirectory(walk: Walk, inside: string): Promise<readonly string[]> {
  const directories: string[] = [];
  const directory = await opendir(join(walk.root, inside)).catch((error: unknown) => {
    throw inside === ''
      ? unreadable(walk.root, error, '')
      : unreadable(inside, error, `, or leave it out in ${IGNORE_FILE}`);
  });
  for await (const entry of directory) {
    const path = inside === '' ? entry.name : `${inside}/${entry.name}`;
    if (walk.isIgnored(entry.isDirectory() ? `${path}/` : path)) continue;
    walk.budget.addEntry(path);
    if (bundleName(path, 'file') !== path)
      throw invalidBundle(`entry ${quote(path)} has a name of its own kind${ADVICE}`);
    if (entry.isDirectory()) directories.push(path);
    else if (entry.isFile()) walk.files.set(path, await readOne(walk, path));
    else throw invalidBundle(`entry ${quote(path)} is ${kindOf(entry)}${adviceOn(path)}`);
  }
  return directories;
}

function kindOf(entry: Dirent): string {
  if (entry.isSymbolicLink()) return 'a link, and links are not followed';
  if (entry.isFIFO()) return 'a named pipe';
  if (entry.isSocket()) return 'a socket';
  if (entry.isBlockDevice() || entry.isCharacterDevice()) return 'a device';
  return 'no file and no directory';
}

/** The contract cannot be left out. */
function adviceOn(path: string): string {
  return path === BUNDLE_CONTRACT ? ': need a file' : ADVICE;
}

async function readOne({ root, budget }: Walk, path: string): Promise<Uint8Array> {
  // Between listing and opening, a file can become a link or a pipe.
  return readWholeFile(join(root, path), path, (sizeBytes) => budget.addFile(path, sizeBytes)).catch(
    (error: unknown) => {
      if (!(error instanceof GateError) || error.code !== 'GATE_INPUT_FILE' || path === BUNDLE_CONTRACT)
        throw error;
      throw new GateError('GATE_INPUT_FILE', `${error.message}, or leave it out in ${IGNORE_FILE}`, {
        cause: error.cause,
      });
    },
  );
}

function unreadable(path: string, error: unknown, otherwise: string): GateError {
  return new GateError(
    'GATE_INPUT_FILE',
    `${quote(path)} cannot be read (${systemCode(error)}): check that it is there and may be read${otherwise}`,
    { cause: error },
  );
}
