/**
 * Where built binaries are kept: outside the checkout, one folder a Kubernetes minor and content key. A folder gets
 * its final name only when everything in it is built (one atomic rename), so whoever finds it may trust it.
 */
import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { homedir, hostname } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { GoModule, Recipe } from './recipes.ts';

/** Written last into a folder under construction: names what was built. Its presence means complete. */
const MARKER_FILE = 'complete.json';

/** The lock's owner renews it this often, so that a lock whose owner died on another machine can be told. */
const LOCK_RENEW_MS = 10_000;
/** Six missed renewals: nobody holds it any more. */
const LOCK_STALE_MS = 6 * LOCK_RENEW_MS;
/** How often a waiting build looks again. */
const LOCK_POLL_MS = 250;

/**
 * The cache folder: `$PACTO_GATE_CACHE`, else `$XDG_CACHE_HOME/pacto-gate`, else `~/.cache/pacto-gate`. Empty
 * variables count as unset (XDG Base Directory Specification). In it, `what` is the folder of one kind of binaries.
 */
export function cacheDirectory(env: NodeJS.ProcessEnv = process.env, what = 'controlplane'): string {
  const own = env['PACTO_GATE_CACHE'];
  if (own !== undefined && own !== '') return join(own, what);
  const xdg = env['XDG_CACHE_HOME'];
  const base = xdg !== undefined && xdg !== '' ? xdg : join(homedir(), '.cache');
  return join(base, 'pacto-gate', what);
}

/** Everything that changes the result of a build, as 16 hexadecimal digits. */
export function contentKey(recipe: GoModule): string {
  const hash = createHash('sha256');
  for (const file of ['go.mod', 'go.sum', ...(recipe.sources ?? [])])
    hash.update(readFileSync(join(recipe.moduleDirectory, file))).update('\0');
  hash.update(JSON.stringify([recipe.buildFlags, recipe.binaries, process.platform, process.arch]));
  return hash.digest('hex').slice(0, 16);
}

/** The folder that holds, or will hold, the binaries of a recipe. */
export function binariesDirectory(recipe: Recipe, cache = cacheDirectory()): string {
  return join(cache, `v${recipe.version}-${contentKey(recipe)}`);
}

/** True when the folder was completed and none of its binaries was removed since. */
export function isComplete(recipe: GoModule, directory: string): boolean {
  return (
    existsSync(join(directory, MARKER_FILE)) &&
    recipe.binaries.every(({ name }) => existsSync(join(directory, name)))
  );
}

/** Makes an empty folder beside the final one and removes those that interrupted builds left. */
export function beginFolder(directory: string): string {
  const parent = dirname(directory);
  mkdirSync(parent, { recursive: true });
  const prefix = `${basename(directory)}.building-`;
  for (const name of readdirSync(parent)) {
    // Two builds can meet here when both took over one stale lock: the other's folder is left alone.
    const isLeft = name.startsWith(prefix) && !isAlive(Number(name.slice(prefix.length)));
    if (isLeft) rmSync(join(parent, name), { recursive: true, force: true });
  }
  const building = `${directory}.building-${process.pid}`;
  rmSync(building, { recursive: true, force: true });
  mkdirSync(building);
  return building;
}

/**
 * Writes the marker and gives the folder its final name. An incomplete folder of that name is replaced; a complete
 * one, which tests may be running from, stays and ours is dropped.
 */
export function completeFolder(
  recipe: GoModule,
  building: string,
  directory: string,
  built: Readonly<Record<string, unknown>>,
): void {
  writeFileSync(join(building, MARKER_FILE), `${JSON.stringify(built, null, 2)}\n`);
  if (isComplete(recipe, directory)) {
    rmSync(building, { recursive: true });
    return;
  }
  rmSync(directory, { recursive: true, force: true });
  renameSync(building, directory);
}

interface LockOwner {
  readonly host: string;
  readonly pid: number;
}

/**
 * Holds `<directory>.lock` until the returned function is called. A second build of the same key waits instead of
 * doing the same work on the same cores; the lock saves work and is not what makes the result whole (the rename is).
 *
 * @param onWait called once when another build holds the lock.
 */
export async function acquireLock(directory: string, onWait: (owner: string) => void): Promise<() => void> {
  const file = `${directory}.lock`;
  const owner: LockOwner = { host: hostname(), pid: process.pid };
  mkdirSync(dirname(directory), { recursive: true });
  let told = false;
  while (!tryCreate(file, owner)) {
    if (isStale(file)) {
      rmSync(file, { force: true });
      continue;
    }
    if (!told) onWait(describeOwner(file));
    told = true;
    await delay(LOCK_POLL_MS);
  }
  const renewal = setInterval(() => renew(file), LOCK_RENEW_MS);
  renewal.unref();
  return () => {
    clearInterval(renewal);
    rmSync(file, { force: true });
  };
}

function tryCreate(file: string, owner: LockOwner): boolean {
  try {
    writeFileSync(file, JSON.stringify(owner), { flag: 'wx' });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

function renew(file: string): void {
  const now = new Date();
  // A lock that somebody removed by hand is not an error: the build goes on, only unprotected against double work.
  if (existsSync(file)) utimesSync(file, now, now);
}

function readOwner(file: string): LockOwner | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as LockOwner;
  } catch {
    // Removed meanwhile, or being written at this moment.
    return undefined;
  }
}

function describeOwner(file: string): string {
  const owner = readOwner(file);
  return owner === undefined ? 'another build' : `process ${owner.pid} on ${owner.host}`;
}

function isStale(file: string): boolean {
  const owner = readOwner(file);
  const age = statSync(file, { throwIfNoEntry: false });
  if (age === undefined) return false;
  if (Date.now() - age.mtimeMs > LOCK_STALE_MS) return true;
  return owner !== undefined && owner.host === hostname() && !isAlive(owner.pid);
}

/** Signal 0 only asks; EPERM means that the process exists and belongs to somebody else. */
function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
