/** Making a directory with those above it. */
import { mkdir, stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';

/**
 * As `mkdir -p`. Node's own recursive mkdir never ends where the directory above exists and nothing can be made in it,
 * as in `/proc`: it goes up, finds that one, and tries again.
 * @param mode of those that are made.
 * @throws NodeJS.ErrnoException; ENOTDIR where something else is in the way.
 */
export async function makeDirectory(path: string, mode = 0o777): Promise<void> {
  const missing: string[] = [];
  let at = resolve(path);
  while (!(await isDirectory(at))) {
    missing.push(at);
    at = dirname(at);
  }
  for (const directory of missing.toReversed()) {
    try {
      await mkdir(directory, { mode });
    } catch (error) {
      // Somebody else may have made it meanwhile; a link to nothing is in the way as well.
      if (codeOf(error) !== 'EEXIST') throw error;
      if (!(await isDirectory(directory))) throw notADirectory(directory);
    }
  }
}

async function isDirectory(path: string): Promise<boolean> {
  try {
    if ((await stat(path)).isDirectory()) return true;
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return false;
    throw error;
  }
  throw notADirectory(path);
}

function notADirectory(path: string): Error {
  return Object.assign(new Error(`ENOTDIR: not a directory: ${path}`), { code: 'ENOTDIR' });
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined;
}
