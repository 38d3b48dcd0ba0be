/**
 * What pulls share: bundles by digest, in memory and on disk, and lists of tags. Not for pulls with credentials of their
 * own, such as a pull secret: what those may read others may not (operator.md §3.3).
 */
import type { Clock } from '../clock.ts';
import { GateError } from '../errors.ts';
import type { BlobDirectory } from './blob-directory.ts';
import { ExpiringCache, RESULT_TTL_MS, TAG_LIST_TTL_MS, WeightedCache } from './cache.ts';
import type { Repository } from './reference.ts';

export type Files = ReadonlyMap<string, Uint8Array>;

/** What a reference meant: the files are kept apart, by weight. */
export interface PullResult {
  readonly digest: string;
  readonly ref: string;
}

/** operator.md §3.3 sweeps at a hundred; a repository's list is some kilobytes, a result less. */
const MAX_ENTRIES = 1000;
/** A hostile list may have megabytes, and a registry as many repositories as it likes. */
const TAG_LISTS_BYTES = 16 * 1024 * 1024;
/** What V8 takes for a short text beside its characters, and for its place in a list. */
const TAG_OVERHEAD_BYTES = 32;

export class BundleCache {
  readonly #files: WeightedCache<Files>;
  readonly #tags: ExpiringCache<readonly string[]>;
  readonly #results: ExpiringCache<PullResult> | undefined;
  /** Manifests and layers as they came; undefined where nothing is kept on disk. */
  readonly blobs: BlobDirectory | undefined;

  /**
   * @param options.maxBytes of the files of all bundles in memory.
   * @param options.keepsResults what a reference meant, or why it could not be pulled, counts for half a minute: for
   *   who asks again and again.
   */
  constructor(options: {
    readonly clock: Clock;
    readonly maxBytes: number;
    readonly keepsResults?: boolean;
    readonly blobs?: BlobDirectory | undefined;
  }) {
    this.#files = new WeightedCache(options.maxBytes);
    const bounds = { clock: options.clock, maxEntries: MAX_ENTRIES };
    this.#tags = new ExpiringCache({
      ...bounds,
      ttlMs: TAG_LIST_TTL_MS,
      bound: { maxWeight: TAG_LISTS_BYTES, weightOf: bytesOf },
    });
    this.#results =
      options.keepsResults === true ? new ExpiringCache({ ...bounds, ttlMs: RESULT_TTL_MS }) : undefined;
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

  tags(
    repository: Repository,
    list: () => Promise<readonly string[]>,
    signal: AbortSignal | undefined,
  ): Promise<readonly string[]> {
    return this.#tags.get(nameOf(repository), list, { signal });
  }

  /** Somebody pushed there: what its references meant, and which tags it had, counts no more. Bundles by digest stay. */
  forget(repository: string): void {
    this.#tags.forget((key) => key === repository);
    this.#results?.forget((key) => key.startsWith(repository) && /^[:@ ]/.test(key.slice(repository.length)));
  }

  get keepsResults(): boolean {
    return this.#results !== undefined;
  }

  result(key: string, pull: () => Promise<PullResult>, signal: AbortSignal | undefined): Promise<PullResult> {
    return this.#results?.get(key, pull, { signal, keepsError: isAnswer }) ?? pull();
  }
}

/** What registry or bundle are at fault for, and not the one who asked. */
function isAnswer(error: unknown): boolean {
  return error instanceof GateError && /^GATE_(?:REGISTRY|BUNDLE)_/.test(error.code);
}

function bytesOf(tags: readonly string[]): number {
  return tags.reduce((bytes, tag) => bytes + tag.length + TAG_OVERHEAD_BYTES, 0);
}

function nameOf({ registry, repository }: Repository): string {
  return `${registry}/${repository}`;
}
