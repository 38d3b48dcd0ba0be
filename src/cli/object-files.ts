/** Objects from files and whole directories, as they are given on the command line or named in a suite. */
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { DIRECTORY_LIMITS, scanDirectory } from '../cluster/directory-scan.ts';
import { GateError } from '../errors.ts';
import { unreadable } from './input-file.ts';
import { readDocuments, type InputDocument } from './manifests.ts';
import type { Surroundings } from './surroundings.ts';

export interface ObjectFiles {
  readonly documents: readonly InputDocument[];
  /** Directories to watch for changes. */
  readonly directories: readonly string[];
}

/**
 * Reads each path: a file, `-`, or a directory with all `.yaml`, `.yml` and `.json` files below it.
 * @param wanted whether to read a file of a directory, by its path.
 * @throws GateError GATE_INPUT_FILE for the first that cannot be read whole.
 */
export async function readObjectFiles(
  paths: readonly string[],
  around: Pick<Surroundings, 'stdin'>,
  wanted: (file: string) => boolean = () => true,
): Promise<ObjectFiles> {
  const documents: InputDocument[] = [];
  const directories: string[] = [];
  for (const path of paths) {
    if (path === '-' || !(await isDirectory(path))) {
      documents.push(...(await readDocuments(path, around)));
      continue;
    }
    const found = await filesBelow(path);
    directories.push(...found.directories);
    for (const file of found.files.filter(wanted)) {
      documents.push(...(await readDocuments(file, around, { mayBeEmpty: true })));
    }
  }
  return { documents, directories };
}

/** @throws GateError GATE_INPUT_FILE */
export async function isDirectory(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isDirectory();
  } catch (error) {
    throw unreadable(path, error);
  }
}

export interface FilesBelow {
  /** In order, below the directory as it was given. */
  readonly files: readonly string[];
  readonly directories: readonly string[];
  /** Changes whenever something below may have changed. */
  readonly stamp: string;
}

/** @throws GateError GATE_INPUT_FILE where something below the directory cannot be looked at. */
export async function filesBelow(directory: string): Promise<FilesBelow> {
  const { files, directories, problems } = await scanDirectory(directory, DIRECTORY_LIMITS);
  const [problem] = problems;
  if (problem !== undefined) {
    throw new GateError('GATE_INPUT_FILE', `${join(directory, problem.file)}: ${problem.message}`);
  }
  return {
    files: files.map(({ file }) => join(directory, file)),
    directories,
    stamp: files.map(({ file, stamp }) => `${file} ${stamp}`).join('\n'),
  };
}
