/** A bundle from a folder on disk, under the limits of an archive (contract.md §11.3), without following a link. */
import { opendir } from 'node:fs/promises';
import { join } from 'node:path';

import { GateError, quote } from '../errors.ts';
import { BUNDLE_CONTRACT, BundleBudget, bundleName, invalidBundle } from './bundle-limits.ts';
import type { IgnoreRule } from './pactoignore.ts';
import { readWholeFile, systemCode } from './whole-files.ts';

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
  const walk: Walk = { root: folder, isIgnored, budget: new BundleBudget(), files: new Map() };
  // Directories that wait, not calls: depth is bounded by the entries.
  const waiting = [''];
  for (let inside = waiting.pop(); inside !== undefined; inside = waiting.pop())
    waiting.push(...(await readDirectory(walk, inside)));
  if (!walk.files.has(BUNDLE_CONTRACT)) throw invalidBundle(`it has no ${BUNDLE_CONTRACT}`);
  return walk.files;
}

/** @returns the directories in it. */
async function readDirectory(walk: Walk, inside: string): Promise<readonly string[]> {
  const directories: string[] = [];
  const directory = await opendir(join(walk.root, inside)).catch((error: unknown) => {
    throw unreadable(inside === '' ? walk.root : inside, error);
  });
  for await (const entry of directory) {
    const path = inside === '' ? entry.name : `${inside}/${entry.name}`;
    if (walk.isIgnored(entry.isDirectory() ? `${path}/` : path)) continue;
    walk.budget.addEntry();
    if (bundleName(path, 'file') !== path)
      throw invalidBundle(`entry ${quote(path)} has a name of its own kind`);
    if (entry.isDirectory()) directories.push(path);
    else if (entry.isFile()) walk.files.set(path, await readOne(walk, path));
    else throw invalidBundle(`entry ${quote(path)} is no file and no directory: links are not followed`);
  }
  return directories;
}

async function readOne({ root, budget }: Walk, path: string): Promise<Uint8Array> {
  // Between listing and opening, a file can become a link or a pipe.
  return readWholeFile(join(root, path), path, (sizeBytes) => budget.addFile(path, sizeBytes));
}

function unreadable(path: string, error: unknown): GateError {
  return new GateError(
    'GATE_INPUT_FILE',
    `${quote(path)} cannot be read (${systemCode(error)}): check that it is there`,
    { cause: error },
  );
}
