/** Files that belong together, read as one and followed through the symlink swaps of a Kubernetes mount. */
import { constants, watch, type FSWatcher } from 'node:fs';
import { open, realpath } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { Clock, Timer } from '../clock.ts';
import { GateError, messageOf } from '../errors.ts';

/**
 * The directory watch answers within a moment where it works; some network and overlay file systems never report a
 * change, and there a changed Secret, which itself takes the kubelet up to a minute, is seen this much later.
 */
const POLL_MS = 10_000;
/** Files caught half-written are right a moment later (platform.md §3.4). */
const RETRY_MS = 1_000;
/** One swap reports several events. */
const SETTLE_MS = 50;
/** A certificate chain takes some KiB; what is larger than this is another file. */
const FILE_BYTES = 1024 * 1024;

/**
 * Reads files as one: where they lie in one Kubernetes mount, all come out of the directory that `..data` points to
 * at this moment, so that a swap between two reads cannot mix the old certificate with the new key.
 * @returns the contents, in the order of `paths`.
 * @throws GateError GATE_TLS_FILE.
 */
export async function readTogether(paths: readonly string[]): Promise<string[]> {
  const generations = new Map<string, string | undefined>();
  const contents: string[] = [];
  for (const path of paths) {
    const directory = dirname(path);
    if (!generations.has(directory)) generations.set(directory, await generationOf(directory));
    contents.push(await readOne(path, generations.get(directory)));
  }
  return contents;
}

async function generationOf(directory: string): Promise<string | undefined> {
  try {
    return await realpath(join(directory, '..data'));
  } catch {
    // No such link: ordinary files.
    return undefined;
  }
}

async function readOne(path: string, generation: string | undefined): Promise<string> {
  try {
    const source =
      generation !== undefined && (await leadsIntoMount(path, generation))
        ? join(generation, basename(path))
        : path;
    // A named pipe would keep us waiting for its writer, and with us every reload and the end of the process.
    const file = await open(source, constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      const facts = await file.stat();
      if (!facts.isFile()) throw new Error('it is no regular file');
      if (facts.size > FILE_BYTES) {
        throw new Error(`it has ${String(facts.size)} bytes, at most ${String(FILE_BYTES)} are read`);
      }
      return await file.readFile('utf8');
    } finally {
      await file.close();
    }
  } catch (error) {
    throw new GateError('GATE_TLS_FILE', `${path}: cannot be read: ${messageOf(error)}`, { cause: error });
  }
}

/** Tells a link of the mount from an ordinary file that lies beside its links. */
async function leadsIntoMount(path: string, generation: string): Promise<boolean> {
  return dirname(dirname(await realpath(path))) === dirname(generation);
}

export interface WatchFilesOptions {
  readonly paths: readonly string[];
  /** What was read and taken before the watch began. */
  readonly first: readonly string[];
  readonly directories: readonly string[];
  readonly clock: Clock;
  /** Takes new contents, or throws to refuse them. */
  readonly take: (contents: readonly string[]) => void;
  /** Told once for each cause; reading goes on every second until the contents are taken. */
  readonly onError: (error: unknown) => void;
}

/** Follows files until closed. */
export function watchFiles(options: WatchFilesOptions): { close(): void } {
  const { clock } = options;
  const watchers = new Map<string, FSWatcher>();
  let taken = options.first;
  let reported: string | undefined;
  let timer: Timer | undefined;
  let reading = false;
  let again = false;
  let closed = false;

  const schedule = (delayMs: number): void => {
    timer?.cancel();
    if (!closed) timer = clock.setTimer(delayMs, () => void check());
  };
  const hint = (): void => {
    if (reading) again = true;
    else schedule(SETTLE_MS);
  };
  const check = async (): Promise<void> => {
    reading = true;
    again = false;
    watchDirectories(options.directories, watchers, hint);
    let next = POLL_MS;
    let contents: string[] | undefined;
    try {
      contents = await readTogether(options.paths);
      if (closed) return;
      if (contents.some((content, index) => content !== taken[index])) {
        options.take(contents);
        taken = contents;
      }
      reported = undefined;
    } catch (error) {
      next = RETRY_MS;
      // The same contents are refused each time for what is one cause, though the message may hold the time.
      const cause = contents?.join('') ?? messageOf(error);
      if (!closed && cause !== reported) {
        reported = cause;
        options.onError(error);
      }
    } finally {
      reading = false;
      schedule(again ? SETTLE_MS : next);
    }
  };
  watchDirectories(options.directories, watchers, hint);
  // What changed between the first reading and the watch is seen now.
  schedule(SETTLE_MS);
  return {
    close() {
      closed = true;
      timer?.cancel();
      for (const watcher of watchers.values()) watcher.close();
    },
  };
}

function watchDirectories(
  directories: readonly string[],
  watchers: Map<string, FSWatcher>,
  onChange: () => void,
): void {
  for (const directory of directories) {
    if (watchers.has(directory)) continue;
    try {
      const watcher = watch(directory, { persistent: false }, onChange);
      // A watch that fails (deleted directory, no inotify handles left) is tried again at the next poll.
      watcher.on('error', () => {
        watcher.close();
        watchers.delete(directory);
      });
      watchers.set(directory, watcher);
    } catch {
      // Polling alone then.
    }
  }
}
