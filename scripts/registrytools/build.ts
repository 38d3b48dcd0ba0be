/**
 * Puts the programs that the registry tests run with into the cache (`npm run registrytools`). See README.md beside
 * this file.
 */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { acquireLock, beginFolder, completeFolder, isComplete } from '../controlplane/cache.ts';
import { BuildError, buildBinary, elapsed, requireGo } from '../controlplane/go-build.ts';
import { unpackPrograms } from './debian.ts';
import {
  DEBIAN_PACKAGES,
  ORAS_PACKAGE,
  ORAS_VERSION,
  RECIPE,
  findRegistryTools,
  type RegistryTools,
} from './tools.ts';

const USAGE = `Usage: npm run registrytools [-- OPTIONS]

Fetches docker-registry and skopeo from the Debian archive (downloaded and unpacked, not installed: no root is needed)
and builds oras ${ORAS_VERSION} from its Go module. Does nothing when they are already there. Needs apt-get, dpkg-deb and Go 1.26
or newer.

Options:
  --print          fetch and build nothing, print the resolved paths as JSON
  --help           print this text

Environment:
  PACTO_GATE_CACHE   cache folder (else $XDG_CACHE_HOME/pacto-gate, else ~/.cache/pacto-gate)

Exit code: 0 all is there; 2 wrong usage; 3 something is missing or could not be built.
`;

/** The project's exit codes, where they apply here: 2 usage or input, 3 could not find out. */
const EXIT_OK = 0;
const EXIT_USAGE = 2;
const EXIT_UNKNOWN = 3;

type Versions = Readonly<Record<'docker-registry' | 'skopeo' | 'oras', string>>;

async function ensureThere(): Promise<RegistryTools> {
  const tools = findRegistryTools();
  if (tools.problem === undefined) {
    console.log(`already in ${tools.directory}: ${describe(readVersions(tools.directory))}`);
    return tools;
  }
  const goVersion = requireGo('leave the registry tests out');
  const release = await acquireLock(tools.directory, (owner) => {
    console.log(`waiting for ${owner}, which fetches the same`);
  });
  try {
    // Whoever held the lock before may have done it.
    if (!isComplete(RECIPE, tools.directory)) await build(tools.directory, goVersion);
  } finally {
    release();
  }
  return tools;
}

async function build(directory: string, goVersion: string): Promise<void> {
  const started = performance.now();
  console.log(`fetching into ${directory}`);
  const building = beginFolder(directory);
  const say = (line: string): void => console.log(`  ${line}`);
  const names = DEBIAN_PACKAGES.map(({ name }) => name);
  console.log(`  Debian packages (1 of 2): ${names.join(', ')} ...`);
  await unpackPrograms(names, building, say);
  console.log(`  oras ${ORAS_VERSION} (2 of 2) with ${goVersion} ...`);
  await buildBinary(RECIPE, { goPackage: ORAS_PACKAGE }, join(building, 'oras'), say);
  const versions = readVersions(building);
  completeFolder(RECIPE, building, directory, { goVersion, versions });
  console.log(`complete after ${elapsed(started)}: ${describe(versions)}`);
}

/**
 * Starts each program once and asks it.
 *
 * @throws BuildError where one does not run, or is older than the tests need.
 */
function readVersions(directory: string): Versions {
  const versions = {
    'docker-registry': readVersion(directory, 'docker-registry', ['--version']),
    skopeo: readVersion(directory, 'skopeo', ['--version']),
    oras: readVersion(directory, 'oras', ['version']),
  };
  for (const { name, oldest } of DEBIAN_PACKAGES) {
    const [major = 0, minor = 0] = versions[name].split('.').map(Number);
    if (major < oldest[0] || (major === oldest[0] && minor < oldest[1])) {
      throw new BuildError(
        `${name} of this system's archive is ${versions[name]}, the tests need ${oldest.join('.')} or newer; use Debian 12 or newer`,
      );
    }
  }
  if (versions.oras !== ORAS_VERSION) {
    throw new BuildError(
      `oras says ${versions.oras} instead of ${ORAS_VERSION}; remove ${directory} and run this again`,
    );
  }
  return versions;
}

function readVersion(directory: string, name: string, args: readonly string[]): string {
  const { status, stdout, stderr, error } = spawnSync(join(directory, name), args, {
    encoding: 'utf8',
    env: { ...process.env, LD_LIBRARY_PATH: join(directory, 'lib') },
  });
  const version = /(?:^|\s)v?(\d+\.\d+\.\d+)/.exec(stdout)?.[1];
  if (error !== undefined || status !== 0 || version === undefined) {
    const words = (error?.message ?? stderr.trim()) || stdout.trim();
    throw new BuildError(`${name} does not run (${words}); remove ${directory} and run this again`);
  }
  return version;
}

function describe(versions: Versions): string {
  return Object.entries(versions)
    .map(([name, version]) => `${name} ${version}`)
    .join(', ');
}

async function main(args: readonly string[]): Promise<number> {
  let options: { readonly print?: boolean; readonly help?: boolean };
  try {
    options = parseArgs({
      args: [...args],
      options: { print: { type: 'boolean' }, help: { type: 'boolean', short: 'h' } },
    }).values;
  } catch (error) {
    console.error(`registrytools: ${(error as Error).message}\n\n${USAGE}`);
    return EXIT_USAGE;
  }
  if (options.help === true) {
    process.stdout.write(USAGE);
    return EXIT_OK;
  }
  try {
    const tools = options.print === true ? findRegistryTools() : await ensureThere();
    if (options.print === true) process.stdout.write(`${JSON.stringify(tools, null, 2)}\n`);
    return options.print === true && tools.problem !== undefined ? EXIT_UNKNOWN : EXIT_OK;
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    console.error(
      `registrytools: ${error instanceof BuildError ? error.message : (error.stack ?? error.message)}`,
    );
    return EXIT_UNKNOWN;
  }
}

process.exitCode = await main(process.argv.slice(2));
