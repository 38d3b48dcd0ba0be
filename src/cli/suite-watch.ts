/** Waits until something that suites were read from has changed. */
import { stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { DirectoryWatch } from '../cluster/directory-watch.ts';
import { filesBelow } from './object-files.ts';
import type { Surroundings } from './surroundings.ts';

export interface SourceWatch {
  /** @returns true after a change, false when somebody ends the program. */
  change(sources: readonly string[]): Promise<boolean>;
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
  // Of the first call what is there, of later ones what was there when the last run began.
  let known: string | undefined;
  return {
    async change(sources) {
      watch.follow(await directoriesOf(sources));
      known ??= await stampOf(sources);
      for (;;) {
        const { promise, resolve } = Promise.withResolvers<void>();
        wake = resolve;
        const stamp = await stampOf(sources);
        if (ended) return false;
        if (stamp !== known) {
          known = stamp;
          return true;
        }
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

async function stampOf(sources: readonly string[]): Promise<string> {
  const stamps = await Promise.all(
    sources.map(async (source) => {
      const facts = await stat(source, { bigint: true }).catch(() => undefined);
      if (facts === undefined) return 'gone';
      if (!facts.isDirectory()) return `${String(facts.size)} ${String(facts.mtimeNs)} ${String(facts.ino)}`;
      return (await filesBelow(source).catch(() => undefined))?.stamp ?? 'unread';
    }),
  );
  return stamps.join('\n\n');
}
