/** Policies in files that the configuration names: read once, at start. */
import { basename, dirname, join } from 'node:path';
import { readObjects } from '../cluster/directory-file.ts';
import { DIRECTORY_LIMITS, scanDirectory, type FoundFile, type Problem } from '../cluster/directory-scan.ts';
import { GateError } from '../errors.ts';
import type { SourcedObject } from '../policies/vap/sources.ts';

/**
 * @throws GateError GATE_POLICY_FILE for a file that cannot be read whole: to serve without it would be to allow what
 *   it forbids. A policy in it that is wrong is a problem of its own, and the others are enforced.
 */
export async function readPolicyFiles(
  files: readonly string[],
  directory: string | undefined,
): Promise<readonly SourcedObject[]> {
  const objects: SourcedObject[] = [];
  const read = async (found: FoundFile, below: string): Promise<void> => {
    const reading = await readObjects(found, DIRECTORY_LIMITS.fileBytes);
    refuseFirst(reading.problems, below);
    const source = { source: 'file', path: join(below, found.file) } as const;
    objects.push(...reading.objects.map(({ object }) => ({ object, source })));
  };
  for (const path of files) await read({ file: basename(path), path, stamp: '' }, dirname(path));
  if (directory === undefined) return objects;
  const scan = await scanDirectory(directory, DIRECTORY_LIMITS);
  refuseFirst(scan.problems, directory);
  for (const file of scan.files) await read(file, directory);
  return objects;
}

function refuseFirst([problem]: readonly Problem[], below: string): void {
  if (problem === undefined) return;
  const { file, line, column, message } = problem;
  const place = [join(below, file), line, column].filter((part) => part !== undefined).join(':');
  throw new GateError('GATE_POLICY_FILE', `${place}: ${message}`);
}
