/** Waits until something that suites were read from has changed. */
import { stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { DirectoryWatch } from '../cluster/directory-watch.ts';
import { filesBelow } from './object-files.ts';
import type { Surroundings } from './surroundings.ts';

export interface SourceWatch {
  /** Notes how files and directories are now; of those that were noted before, how they were then still counts. */
  note(sources: readonly string[]): Promise<void>;
  /** @returns true once something that was noted has changed, false when somebody ends the program. */
  change(): Promise<boolean>;
  close(): void;
}

export function watchSources({ clock, onSignal }: Pick<Surroundings, 'clock' | 'onSignal'>): SourceWatch {
  let wake: () => void = () => undefined;
  let ended = false;
  const watch = new DirectoryWatch(clock, () => wake());
  const stop = onSignal(() => {
    ended = true;
    wake();
  });
  const stamps = new Map<string, string>();
  const hasChanged = async (): Promise<boolean> => {
    let changed = false;
    for (const [source, before] of stamps) {
      const now = await stampOf(source);
      changed ||= now !== before;
      stamps.set(source, now);
    }
    return changed;
  };
  return {
    async note(sources) {
      for (const source of sources) if (!stamps.has(source)) stamps.set(source, await stampOf(source));
      watch.follow(await directoriesOf([...stamps.keys()]));
    },
    async change() {
      for (;;) {
        const { promise, resolve } = Promise.withResolvers<void>();
        // Before looking: what comes while we look wakes us again.
        wake = resolve;
        if (ended) return false;
        if (await hasChanged()) return true;
        await promise;
      }
    },
    close() {
      stop();
      watch.close();
    },
  };
}

/** Files are watched by their directories: editors put a new file in the place of the old one. */
async function directoriesOf(sources: readonly string[]): Promise<readonly string[]> {
  const found = await Promise.all(
    sources.map(async (source) => {
      const below = await filesBelow(source).catch(() => undefined);
      return below === undefined || below.directories.length === 0 ? [dirname(source)] : below.directories;
    }),
  );
  return [...new Set(found.flat())];
}

async function stampOf(source: string): Promise<string> {
  const facts = await stat(source, { bigint: true }).catch(() => undefined);
  if (facts === undefined) return 'gone';
  if (!facts.isDirectory()) return `${String(facts.size)} ${String(facts.mtimeNs)} ${String(facts.ino)}`;
  return (await filesBelow(source).catch(() => undefined))?.stamp ?? 'unread';
}
