/**
 * Builds the control planes that the cluster tests run against (`npm run controlplane`), once per content of their Go
 * modules, into a cache outside the checkout. See README.md beside this file.
 */
import { spawnSync } from 'node:child_process';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { envtestDirectory, findAssets, type Assets } from './assets.ts';
import {
  acquireLock,
  beginFolder,
  binariesDirectory,
  cacheDirectory,
  completeFolder,
  isComplete,
} from './cache.ts';
import { BuildError, buildBinary, elapsed, requireGo } from './go-build.ts';
import { KUBERNETES_VERSIONS, RECIPES, type KubernetesVersion, type Recipe } from './recipes.ts';

const USAGE = `Usage: npm run controlplane [-- OPTIONS]

Builds etcd, kubectl, kube-apiserver and kube-controller-manager of Kubernetes ${RECIPES['1.36'].release}, and kube-apiserver
${RECIPES['1.29'].release}, from Go modules. Does nothing when they are already there. Needs Go 1.26 or newer.

Options:
  --only VERSION   only this Kubernetes minor: ${KUBERNETES_VERSIONS.join(' or ')} (1.29 also needs 1.36 to run)
  --print          build nothing, print the resolved paths as JSON
  --help           print this text

Environment:
  PACTO_GATE_CACHE     cache folder (else $XDG_CACHE_HOME/pacto-gate, else ~/.cache/pacto-gate)
  KUBEBUILDER_ASSETS   folder with ready kube-apiserver, etcd and kubectl: used for 1.36, which is then not built

Exit code: 0 all is there; 2 wrong usage; 3 something is missing or could not be built.
`;

/** The project's exit codes, where they apply here: 2 usage or input, 3 could not find out. */
const EXIT_OK = 0;
const EXIT_USAGE = 2;
const EXIT_UNKNOWN = 3;

interface Options {
  readonly versions: readonly KubernetesVersion[];
  readonly print: boolean;
  readonly help: boolean;
}

/** @throws Error with a sentence for the user when the arguments are wrong. */
function readOptions(args: readonly string[]): Options {
  const { values } = parseArgs({
    args: [...args],
    options: { only: { type: 'string' }, print: { type: 'boolean' }, help: { type: 'boolean', short: 'h' } },
  });
  const versions = KUBERNETES_VERSIONS.filter(
    (version) => values.only === undefined || version === values.only,
  );
  if (versions.length === 0) {
    throw new Error(`--only must be ${KUBERNETES_VERSIONS.join(' or ')} (found "${values.only}")`);
  }
  return { versions, print: values.print === true, help: values.help === true };
}

function printPaths(versions: readonly KubernetesVersion[]): number {
  const assets = versions.map((version) => findAssets(version));
  const described = Object.fromEntries(
    assets.map(({ version, problem, ...paths }) => [
      version,
      { ready: problem === undefined, problem, ...paths },
    ]),
  );
  process.stdout.write(`${JSON.stringify({ cache: cacheDirectory(), versions: described }, null, 2)}\n`);
  return assets.every(({ problem }) => problem === undefined) ? EXIT_OK : EXIT_UNKNOWN;
}

/**
 * Checks binaries that somebody else put there: a wrong minor would fail the tests in ways that explain nothing.
 *
 * @throws BuildError when one is missing or of another minor.
 */
function checkGiven(assets: Assets): void {
  if (assets.problem !== undefined) throw new BuildError(assets.problem);
  const { stdout, error } = spawnSync(assets.kubeApiserver, ['--version'], { encoding: 'utf8' });
  const reported = error === undefined ? stdout.trim() : error.message;
  if (!reported.startsWith(`Kubernetes v${assets.version}.`)) {
    throw new BuildError(
      `KUBEBUILDER_ASSETS is set to ${assets.directory}, whose kube-apiserver is not a Kubernetes ${assets.version} (it says "${reported}")`,
    );
  }
  console.log(`${assets.version}: using ${assets.directory} (KUBEBUILDER_ASSETS)`);
  if (assets.kubeControllerManager === undefined) {
    console.log('  without kube-controller-manager: the tests that need one are left out');
  }
}

async function ensureBuilt(recipe: Recipe): Promise<void> {
  const directory = binariesDirectory(recipe);
  if (isComplete(recipe, directory)) {
    console.log(`${recipe.version}: already built in ${directory}`);
    return;
  }
  const goVersion = requireGo();
  const release = await acquireLock(directory, (owner) => {
    console.log(`${recipe.version}: waiting for ${owner}, which is building the same`);
  });
  try {
    // Whoever held the lock before may have built it.
    if (!isComplete(recipe, directory)) await build(recipe, directory, goVersion);
  } finally {
    release();
  }
}

async function build(recipe: Recipe, directory: string, goVersion: string): Promise<void> {
  const started = performance.now();
  console.log(`${recipe.version}: building Kubernetes ${recipe.release} with ${goVersion} into ${directory}`);
  const building = beginFolder(directory);
  const sizesBytes: Record<string, number> = {};
  for (const [index, binary] of recipe.binaries.entries()) {
    const began = performance.now();
    console.log(`  ${binary.name} (${index + 1} of ${recipe.binaries.length}) ...`);
    const output = join(building, binary.name);
    await buildBinary(recipe, binary, output, (line) => console.log(`  ${line}`));
    sizesBytes[binary.name] = statSync(output).size;
    console.log(`  ${binary.name} done in ${elapsed(began)}, ${megabytes(sizesBytes[binary.name] ?? 0)}`);
  }
  completeFolder(recipe, building, directory, { release: recipe.release, goVersion, sizesBytes });
  console.log(`${recipe.version}: complete after ${elapsed(started)}`);
}

function megabytes(bytes: number): string {
  return `${Math.round(bytes / 1e6)} MB`;
}

async function main(args: readonly string[]): Promise<number> {
  let options: Options;
  try {
    options = readOptions(args);
  } catch (error) {
    console.error(`controlplane: ${(error as Error).message}\n\n${USAGE}`);
    return EXIT_USAGE;
  }
  if (options.help) {
    process.stdout.write(USAGE);
    return EXIT_OK;
  }
  if (options.print) return printPaths(options.versions);
  try {
    for (const version of options.versions) {
      if (version === '1.36' && envtestDirectory() !== undefined) checkGiven(findAssets(version));
      else await ensureBuilt(RECIPES[version]);
    }
    return EXIT_OK;
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    console.error(
      `controlplane: ${error instanceof BuildError ? error.message : (error.stack ?? error.message)}`,
    );
    return EXIT_UNKNOWN;
  }
}

process.exitCode = await main(process.argv.slice(2));
