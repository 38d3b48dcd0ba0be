/**
 * Content on disk by its digest, for the command line: `XDG_CACHE_HOME/pacto-gate/registry`. Nothing in it is believed:
 * what is read is hashed again. Files appear whole or not at all, and the least recently used go first.
 */
import { createHash } from 'node:crypto';
import { readdir, rm, stat, utimes } from 'node:fs/promises';
import { join } from 'node:path';

import type { Clock } from '../clock.ts';
import { makeDirectory } from '../make-directory.ts';
import { digestOf } from './digests.ts';
import type { Repository } from './reference.ts';
import { readWholeFile, writeWholeFile } from './whole-files.ts';

/** What we name files, the unfinished too: a directory that somebody chose may hold more, which is not ours to remove. */
const OWN_FILE = /^[0-9a-f]{16}-sha(?:256-[0-9a-f]{64}|512-[0-9a-f]{128})(?:\.[0-9a-f-]{36}\.partial)?$/;

export class BlobDirectory {
  readonly #directory: string;
  readonly #maxBytes: number;
  readonly #clock: Clock;

  /** @param options.maxBytes of all files together; one larger than that is not kept. */
  constructor(options: { readonly directory: string; readonly maxBytes: number; readonly clock: Clock }) {
    this.#directory = options.directory;
    this.#maxBytes = options.maxBytes;
    this.#clock = options.clock;
  }

  /** @returns undefined where it is not there, or is not what its name says; then it is removed. */
  async get(repository: Repository, digest: string): Promise<Uint8Array | undefined> {
    const path = this.#pathOf(repository, digest);
    let bytes: Uint8Array;
    try {
      bytes = await readWholeFile(path, digest, (sizeBytes) => {
        if (sizeBytes > this.#maxBytes) throw new RangeError('larger than all there may be');
      });
    } catch {
      return undefined;
    }
    if (digestOf(bytes, digest) !== digest) {
      await rm(path, { force: true });
      return undefined;
    }
    const nowSeconds = this.#clock.now() / 1000;
    // A cache that only may be read is one all the same.
    await utimes(path, nowSeconds, nowSeconds).catch(() => undefined);
    return bytes;
  }

  /** A cache that cannot be written is no reason to fail: @returns whether it is kept. */
  async set(repository: Repository, digest: string, bytes: Uint8Array): Promise<boolean> {
    if (bytes.length > this.#maxBytes) return false;
    try {
      await makeDirectory(this.#directory, 0o700);
      await writeWholeFile(this.#pathOf(repository, digest), bytes, {
        mode: 0o600,
        timeSeconds: this.#clock.now() / 1000,
      });
      await this.#sweep();
      return true;
    } catch {
      return false;
    }
  }

  /** One repository's content is not another's answer, even where it is the same. */
  #pathOf({ registry, repository }: Repository, digest: string): string {
    const place = createHash('sha256').update(`${registry}/${repository}`).digest('hex').slice(0, 16);
    return join(this.#directory, `${place}-${digest.replace(':', '-')}`);
  }

  async #sweep(): Promise<void> {
    const files: { path: string; sizeBytes: number; usedAtMs: number }[] = [];
    for (const name of await readdir(this.#directory)) {
      if (!OWN_FILE.test(name)) continue;
      const path = join(this.#directory, name);
      // Another process may have removed it meanwhile.
      const found = await stat(path).catch(() => undefined);
      if (found?.isFile() === true) files.push({ path, sizeBytes: found.size, usedAtMs: found.mtimeMs });
    }
    let total = files.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
    for (const { path, sizeBytes } of files.toSorted((a, b) => a.usedAtMs - b.usedAtMs)) {
      if (total <= this.#maxBytes) return;
      await rm(path, { force: true });
      total -= sizeBytes;
    }
  }
}
