/**
 * What pulls share: bundles by digest, in memory and on disk, and lists of tags. Not for pulls with credentials of their
 * own, such as a pull secret: what those may read others may not (operator.md §3.3).
 */
import type { Clock } from '../clock.ts';
import type { BlobDirectory } from './blob-directory.ts';
import { ExpiringCache, TAG_LIST_TTL_MS, WeightedCache } from './cache.ts';
import type { Repository } from './reference.ts';

export type Files = ReadonlyMap<string, Uint8Array>;

/** operator.md §3.3 sweeps at a hundred; a repository's list is some kilobytes. */
const MAX_TAG_LISTS = 1000;

export class BundleCache {
  readonly #files: WeightedCache<Files>;
  readonly #tags: ExpiringCache<readonly string[]>;
  /** Manifests and layers as they came; undefined where nothing is kept on disk. */
  readonly blobs: BlobDirectory | undefined;

  /** @param options.maxBytes of the files of all bundles in memory. */
  constructor(options: {
    readonly clock: Clock;
    readonly maxBytes: number;
    readonly blobs?: BlobDirectory | undefined;
  }) {
    this.#files = new WeightedCache(options.maxBytes);
    this.#tags = new ExpiringCache({
      clock: options.clock,
      ttlMs: TAG_LIST_TTL_MS,
      maxEntries: MAX_TAG_LISTS,
    });
    this.blobs = options.blobs;
  }

  files(repository: Repository, digest: string): Files | undefined {
    return this.#files.get(`${nameOf(repository)}@${digest}`);
  }

  keepFiles(repository: Repository, digest: string, files: Files): void {
    let bytes = 0;
    for (const [name, content] of files) bytes += name.length + content.length;
    this.#files.set(`${nameOf(repository)}@${digest}`, files, bytes);
  }

  tags(repository: Repository, list: () => Promise<readonly string[]>): Promise<readonly string[]> {
    return this.#tags.get(nameOf(repository), list);
  }
}

function nameOf({ registry, repository }: Repository): string {
  return `${registry}/${repository}`;
}
