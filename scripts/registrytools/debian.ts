/**
 * Programs out of Debian packages without installing them: `apt-get download` checks each package against the signed
 * lists, `dpkg-deb -x` unpacks it into a folder of ours. Neither needs root.
 */
import { spawn } from 'node:child_process';
import { copyFileSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { BuildError } from '../controlplane/go-build.ts';

/** Lines of a command's own words kept for the error message. */
const ERROR_LINES = 12;

/** Takes `libgpgme.so`, `libgpgme.so.11` and `libgpgme.so.11.28.0`. */
const SHARED_LIBRARY = /\.so(\.\d+)*$/;

/**
 * Puts each package's program of the same name into `target`, and the shared libraries that this machine lacks for
 * them into `target/lib`.
 *
 * @param say called with each line of progress.
 * @throws BuildError where there is no apt, no such package, or nothing to download it from.
 */
export async function unpackPrograms(
  packages: readonly string[],
  target: string,
  say: (line: string) => void,
): Promise<void> {
  const work = join(target, 'debian');
  const downloads = join(work, 'downloads');
  mkdirSync(downloads, { recursive: true });
  await requireApt();
  await download(packages, work, downloads, say);
  const tree = join(work, 'tree');
  const archives = readdirSync(downloads).filter((name) => name.endsWith('.deb'));
  for (const archive of archives) await run('dpkg-deb', ['-x', join(downloads, archive), tree], work);
  say(`unpacked ${archives.join(', ')}`);
  for (const name of packages) renameSync(join(tree, 'usr', 'bin', name), join(target, name));
  collectLibraries(tree, join(target, 'lib'));
  rmSync(work, { recursive: true });
}

async function requireApt(): Promise<void> {
  for (const program of ['apt-get', 'dpkg-deb']) {
    try {
      await run(program, ['--version'], '/');
    } catch (error) {
      throw new BuildError(
        `${program} cannot be run (${(error as Error).message}): the registry and skopeo come from Debian packages, so run this on Debian or a system made from it`,
      );
    }
  }
}

/** The machine's own lists first; where they are empty or older than the archive, fresh ones in a folder of ours. */
async function download(
  packages: readonly string[],
  work: string,
  downloads: string,
  say: (line: string) => void,
): Promise<void> {
  try {
    await downloadWith([], packages, downloads, say);
    return;
  } catch (error) {
    if (!(error instanceof BuildError)) throw error;
    say(`the machine's package lists did not serve: fetching fresh ones (${firstLine(error.message)})`);
  }
  const lists = join(work, 'lists');
  const cache = join(work, 'cache');
  for (const folder of [lists, cache]) mkdirSync(join(folder, 'partial'), { recursive: true });
  mkdirSync(join(cache, 'archives', 'partial'), { recursive: true });
  const options = [
    '-o',
    `Dir::State::Lists=${lists}`,
    '-o',
    `Dir::Cache=${cache}`,
    '-o',
    'Debug::NoLocking=1',
  ];
  await run('apt-get', [...options, 'update'], work);
  await downloadWith(options, packages, downloads, say);
}

async function downloadWith(
  options: readonly string[],
  packages: readonly string[],
  downloads: string,
  say: (line: string) => void,
): Promise<void> {
  const simulation = await run(
    'apt-get',
    [...options, '--simulate', 'install', '--no-install-recommends', ...packages],
    downloads,
  );
  const names = [...new Set([...packages, ...missingLibraries(simulation)])];
  say(`downloading ${names.join(', ')}`);
  await run('apt-get', [...options, 'download', ...names], downloads);
}

/** Packages that an installation would bring: of these the libraries are needed to run the programs. */
function missingLibraries(simulation: string): string[] {
  return [...simulation.matchAll(/^Inst (lib\S+) /gm)].map(([, name]) => name ?? '');
}

/** Copies each library, under each of its names, to one flat folder. */
function collectLibraries(tree: string, target: string): void {
  mkdirSync(target, { recursive: true });
  for (const entry of readdirSync(tree, { recursive: true, withFileTypes: true })) {
    if (entry.isDirectory() || !SHARED_LIBRARY.test(entry.name)) continue;
    copyFileSync(join(entry.parentPath, entry.name), join(target, basename(entry.name)));
  }
}

/**
 * Runs a command to its end.
 *
 * @returns what it wrote to its standard output.
 * @throws BuildError with the last lines it wrote.
 */
async function run(program: string, args: readonly string[], directory: string): Promise<string> {
  const child = spawn(program, args, {
    cwd: directory,
    env: { ...process.env, LC_ALL: 'C', DEBIAN_FRONTEND: 'noninteractive' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  let words = '';
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => (output += chunk));
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => (words += chunk));
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', (error) => reject(new BuildError(error.message)));
    child.once('close', resolve);
  });
  if (code === 0) return output;
  const tail = (words === '' ? output : words).trimEnd().split('\n').slice(-ERROR_LINES).join('\n');
  throw new BuildError(`"${program} ${args.join(' ')}" ended with status ${String(code)}:\n${tail}`);
}

function firstLine(message: string): string {
  return message.split('\n').slice(1, 2).join('') || message;
}
