/**
 * The registry and the two foreign clients that the registry tests run with: what they are, and where they lie. They
 * are put there by `npm run registrytools` (README.md beside this file).
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { cacheDirectory, contentKey, isComplete } from '../controlplane/cache.ts';
import type { GoModule } from '../controlplane/recipes.ts';

/** Equals the `require` line of `oras/go.mod`. */
export const ORAS_VERSION = '1.3.6';
/** The Go module is meant: the npm package of the same name is an unrelated placeholder. */
export const ORAS_PACKAGE = 'oras.land/oras/cmd/oras';

/** Debian packages, and the oldest version (major, minor) that the tests were written against. */
export const DEBIAN_PACKAGES = [
  { name: 'docker-registry', oldest: [2, 8] },
  { name: 'skopeo', oldest: [1, 9] },
] as const;

export const RECIPE: GoModule = {
  moduleDirectory: fileURLToPath(new URL('oras', import.meta.url)),
  binaries: [{ name: 'oras' }, ...DEBIAN_PACKAGES.map(({ name }) => ({ name }))],
  buildFlags: ['-trimpath', '-ldflags', '-s -w'],
};

/** Paths of the programs, whether or not they exist yet. */
export interface RegistryTools {
  readonly directory: string;
  readonly dockerRegistry: string;
  readonly oras: string;
  readonly skopeo: string;
  /** Shared libraries that skopeo needs and the machine may not have: goes into `LD_LIBRARY_PATH`. */
  readonly libraries: string;
  /** Why they cannot be used, in one sentence with the next step; undefined when all is there. */
  readonly problem: string | undefined;
}

/** Finds the programs. Reads the disk, starts nothing, never throws for missing files. */
export function findRegistryTools(env: NodeJS.ProcessEnv = process.env): RegistryTools {
  // Another release of the system has other shared libraries: a home folder may be shared by several.
  const directory = join(cacheDirectory(env, 'registrytools'), `${systemName()}-${contentKey(RECIPE)}`);
  return {
    directory,
    dockerRegistry: join(directory, 'docker-registry'),
    oras: join(directory, 'oras'),
    skopeo: join(directory, 'skopeo'),
    libraries: join(directory, 'lib'),
    problem: isComplete(RECIPE, directory)
      ? undefined
      : `the registry tools are not there (looked in ${directory}); run "npm run registrytools", which needs apt-get and Go`,
  };
}

/** For example `debian12`; the platform's name where there is no os-release (os-release(5)). */
function systemName(): string {
  let text: string;
  try {
    text = readFileSync('/etc/os-release', 'utf8');
  } catch {
    return process.platform;
  }
  const field = (name: string): string =>
    new RegExp(`^${name}="?([A-Za-z0-9._-]*)"?$`, 'm').exec(text)?.[1] ?? '';
  return `${field('ID')}${field('VERSION_ID')}` || process.platform;
}
