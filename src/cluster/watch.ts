/**
 * The reflector: keeps a copy of one kind's objects by a list and watches, for good. It survives resets, refusals and
 * expired versions, and never stops by itself (platform.md §2.3, §2.5).
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { type Clock, sleep } from '../clock.ts';
import { GateError, type ErrorCode } from '../errors.ts';
import type { Cluster, SelectOptions, WatchEvent } from './cluster.ts';
import type { Kind } from './kinds.ts';
import type { KubeObject } from './objects.ts';
import { ObjectStore, type Store, storeKey } from './store.ts';

/** Bookmarks come each minute: two are missing, with time for a third (design decision 12). */
export const STALE_AFTER_MS = 150_000;
/**
 * A watch that ends in good order ends with a bookmark, 2 s before (cacher.go, nextBookmarkTime). Without one the API
 * server has none to give: where its etcd reports no progress, a kind that nobody writes gets none for ten minutes
 * (measured on 1.29.6). A list then shows what the store is worth, before it counts as stale.
 */
const QUIET_MS = 30_000;

/**
 * Measured with 10,000 pods of 11 KB: 250 a page is a third faster, but peaks near 250 MiB and stalls the loop twice as
 * long as 100 (platform.md §2.2 has the same picture).
 */
const PAGE_SIZE = 100;
/** Where a list keeps expiring midway, pages grow up to twice what client-go asks for (500). */
const LARGEST_PAGE = 1000;

/** First delay after a failure; doubled for each further one. */
const BACKOFF_LEAST_MS = 250;
/** No longer than that, so that a store is fresh again well before it counts as stale. */
const BACKOFF_MOST_MS = 10_000;
/** A watch that stood for that long without a word was healthy; a shorter one that ends at once is not asked again at once. */
const HEALTHY_WATCH_MS = 1_000;
/** Answers that make no sense, in a row, after which the version itself is suspected and everything listed anew. */
const SENSELESS_ANSWERS = 3;

const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';

export interface Change {
  readonly type: 'added' | 'modified' | 'deleted';
  /** As it is kept; of a deleted one its last state. */
  readonly object: KubeObject;
  /** As it was kept before a modification. */
  readonly before?: KubeObject;
}

export type ReflectorReport =
  /** A list is complete and in the store. */
  | { readonly type: 'listed'; readonly objects: number; readonly tookMs: number }
  /** It is tried again after `retryMs`; the store stays as it is. */
  | {
      readonly type: 'failed';
      readonly during: 'list' | 'watch';
      readonly error: unknown;
      readonly retryMs: number;
    }
  /** The version is too old, or its answers make no sense: everything is listed anew. */
  | { readonly type: 'expired'; readonly code: ErrorCode }
  /** `project` or `onChange` threw: our own fault, which must not end the watch. */
  | { readonly type: 'consumer-failed'; readonly error: unknown };

export interface ReflectorOptions {
  readonly cluster: Pick<Cluster, 'list' | 'watch'>;
  readonly kind: Kind;
  readonly select?: Pick<SelectOptions, 'namespace' | 'labelSelector' | 'fieldSelector'>;
  /**
   * What to keep of an object, applied before it is stored; must keep `metadata` with name, namespace, uid and
   * resourceVersion. managedFields and the last applied configuration are dropped in any case but `whole`.
   */
  readonly project?: (object: KubeObject) => KubeObject;
  readonly metadataOnly?: boolean;
  /** Keeps everything, every number exact, for expressions that may read any of it; without `project` then. */
  readonly whole?: boolean;
  /** Objects a page; 250 for kinds with small objects or where metadata is enough. */
  readonly pageSize?: number;
  readonly clock: Clock;
  /** From 0 up to 1, for back-off. */
  readonly random: () => number;
  /** Called after the store has changed; puts a key in a queue and returns. */
  readonly onChange?: (change: Change) => void;
  readonly report: (report: ReflectorReport) => void;
}

export interface Reflector {
  readonly kind: Kind;
  readonly namespace: string | undefined;
  readonly metadataOnly: boolean;
  /** The store keeps everything of each object. */
  readonly whole: boolean;
  /** A label or field selector leaves objects out, so that the store is no list of them. */
  readonly selective: boolean;
  readonly store: Store;
  /** Once; further calls do nothing. */
  start(): void;
  /** Resolves when nothing of it runs any more. It cannot be started again. */
  stop(): Promise<void>;
  /** A whole list is in the store. */
  synced(): boolean;
  /** Milliseconds since the API server last gave a sign of life (list, event or bookmark); Infinity before the first. */
  freshnessMs(): number;
  /** Whether decisions may stand on the store: synced, and heard of within 150 s. */
  usable(): boolean;
  /** An object as the store would hold it. */
  reduce(object: KubeObject): KubeObject;
}

export function createReflector(options: ReflectorOptions): Reflector {
  return new ListWatchReflector(options);
}

class ListWatchReflector implements Reflector {
  readonly kind: Kind;
  readonly namespace: string | undefined;
  readonly metadataOnly: boolean;
  readonly whole: boolean;
  readonly selective: boolean;
  readonly #options: ReflectorOptions;
  readonly #clock: Clock;
  readonly #store = new ObjectStore();
  readonly #stopping = new AbortController();
  #running: Promise<void> | undefined;
  #isSynced = false;
  #lastSignMs: number | undefined;
  /** Where the next watch starts; undefined: list first. */
  #version: string | undefined;
  #pageSize: number;
  #failures = 0;
  #senseless = 0;

  constructor(options: ReflectorOptions) {
    this.#options = options;
    this.#clock = options.clock;
    this.kind = options.kind;
    this.namespace = options.select?.namespace;
    this.metadataOnly = options.metadataOnly === true;
    this.whole = options.whole === true;
    this.selective = (options.select?.labelSelector ?? options.select?.fieldSelector) !== undefined;
    this.#pageSize = options.pageSize ?? PAGE_SIZE;
  }

  get store(): Store {
    return this.#store;
  }

  start(): void {
    if (this.#stopping.signal.aborted) return;
    this.#running ??= this.#run();
  }

  async stop(): Promise<void> {
    this.#stopping.abort(new Error('the reflector is stopped'));
    await this.#running;
  }

  synced(): boolean {
    return this.#isSynced;
  }

  freshnessMs(): number {
    return this.#lastSignMs === undefined ? Infinity : this.#clock.monotonic() - this.#lastSignMs;
  }

  usable(): boolean {
    return this.#isSynced && this.freshnessMs() <= STALE_AFTER_MS;
  }

  reduce(object: KubeObject): KubeObject {
    if (this.whole) return object;
    const lean = withoutBallast(object);
    const { project } = this.#options;
    if (project === undefined) return lean;
    try {
      return project(lean);
    } catch (error) {
      this.#report({ type: 'consumer-failed', error });
      // More than asked for is never a wrong answer.
      return lean;
    }
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      // A list tells the state at once; a watch from so old a version only with its first bookmark, up to a minute later.
      if (this.freshnessMs() > STALE_AFTER_MS) this.#version = undefined;
      const during = this.#version === undefined ? 'list' : 'watch';
      try {
        if (this.#version === undefined) this.#version = await this.#list();
        else await this.#follow(this.#version);
      } catch (error) {
        if (signal.aborted) return;
        const retryMs = this.#afterFailure(error, during);
        if (retryMs > 0) await sleep(this.#clock, retryMs, signal).catch(() => undefined);
      }
    }
  }

  /** @returns milliseconds until the next try. */
  #afterFailure(error: unknown, during: 'list' | 'watch'): number {
    const code = error instanceof GateError ? error.code : 'GATE_INTERNAL';
    const isGone = code === 'GATE_CLUSTER_GONE';
    if (during === 'watch' && (isGone || this.#isSenseless(error))) {
      this.#version = undefined;
      this.#senseless = 0;
      this.#report({ type: 'expired', code });
      // The first time at once: the list is what the server itself asks for.
      if (isGone && this.#failures === 0) {
        this.#failures = 1;
        return 0;
      }
    }
    // The list took longer than the server keeps its snapshot: fewer, larger pages.
    if (during === 'list' && isGone) this.#pageSize = Math.min(this.#pageSize * 2, LARGEST_PAGE);
    // A page of large objects may be more than one answer may hold: smaller pages.
    if (during === 'list' && code === 'GATE_CLUSTER_ANSWER')
      this.#pageSize = Math.max(1, Math.floor(this.#pageSize / 4));
    const retryMs = Math.max(this.#backoffMs(), retryAfterMsOf(error));
    this.#failures++;
    this.#report({ type: 'failed', during, error, retryMs });
    return retryMs;
  }

  /**
   * A version of which nothing sensible comes three times in a row may never work: an event that is too long for us, or
   * a version from before etcd was restored (the server then answers Timeout for ever).
   */
  #isSenseless(error: unknown): boolean {
    if (!(error instanceof GateError)) return false;
    const isSuspect =
      error.code === 'GATE_CLUSTER_ANSWER' ||
      error.code === 'GATE_CLUSTER_INVALID' ||
      error.fields['reason'] === 'Timeout';
    this.#senseless = isSuspect ? this.#senseless + 1 : 0;
    return this.#senseless >= SENSELESS_ANSWERS;
  }

  /** Between half and the whole of the doubled delay, so that replicas do not come back together. */
  #backoffMs(): number {
    const fullMs = Math.min(BACKOFF_LEAST_MS * 2 ** Math.min(this.#failures, 16), BACKOFF_MOST_MS);
    return fullMs * (0.5 + this.#options.random() / 2);
  }

  /** Lists all pages, then exchanges the store at once. @returns the version that the watch starts at. */
  async #list(): Promise<string> {
    const { cluster, kind, select } = this.#options;
    const startMs = this.#clock.monotonic();
    const objects = new Map<string, KubeObject>();
    let continueToken: string | undefined;
    for (;;) {
      const page = await cluster.list(kind, {
        ...select,
        ...this.#asked(),
        limit: this.#pageSize,
        ...(continueToken !== undefined && { continueToken }),
        signal: this.#stopping.signal,
      });
      this.#stopping.signal.throwIfAborted();
      for (const object of page.items) objects.set(storeKey(object.metadata), this.reduce(object));
      ({ continueToken } = page);
      if (continueToken === undefined) {
        this.#exchange(objects);
        // The list shows the moment at which it was begun.
        this.#lastSignMs = startMs;
        this.#isSynced = true;
        this.#pageSize = this.#options.pageSize ?? PAGE_SIZE;
        const tookMs = this.#clock.monotonic() - startMs;
        this.#report({ type: 'listed', objects: objects.size, tookMs });
        return page.resourceVersion;
      }
      // Requests, and their deadlines, wait while a page is parsed: let them pass before the next.
      await nextTurn();
    }
  }

  #asked(): Pick<SelectOptions, 'metadataOnly' | 'exact'> {
    return { ...(this.metadataOnly && { metadataOnly: true }), ...(this.whole && { exact: true }) };
  }

  #exchange(objects: Map<string, KubeObject>): void {
    const changes: Change[] = [];
    const before = this.#store.swap(objects);
    for (const [key, object] of before) if (!objects.has(key)) changes.push({ type: 'deleted', object });
    for (const [key, object] of objects) {
      const old = before.get(key);
      if (old === undefined) changes.push({ type: 'added', object });
      else if (!isSameVersion(old, object)) changes.push({ type: 'modified', object, before: old });
    }
    for (const change of changes) this.#tell(change);
  }

  /** One watch connection; returns when the server ends it in good order. */
  async #follow(version: string): Promise<void> {
    const { cluster, kind, select } = this.#options;
    const startMs = this.#clock.monotonic();
    let isHealthy = false;
    try {
      const events = cluster.watch(kind, {
        ...select,
        ...this.#asked(),
        resourceVersion: version,
        signal: this.#stopping.signal,
      });
      for await (const event of events) {
        this.#stopping.signal.throwIfAborted();
        isHealthy = true;
        this.#failures = 0;
        this.#senseless = 0;
        this.#lastSignMs = this.#clock.monotonic();
        this.#apply(event);
      }
    } finally {
      if (this.#clock.monotonic() - startMs >= HEALTHY_WATCH_MS) {
        isHealthy = true;
        this.#failures = 0;
      }
    }
    if (this.freshnessMs() > QUIET_MS) this.#version = undefined;
    if (!isHealthy)
      throw new GateError(
        'GATE_CLUSTER_UNREACHABLE',
        `cannot watch ${kind.resource}: the API server ends the watch as soon as it has begun; check its log and any proxy on the way`,
      );
  }

  #apply(event: WatchEvent): void {
    if (event.type === 'BOOKMARK') {
      this.#version = event.resourceVersion;
      return;
    }
    const { type, object } = event;
    const key = storeKey(object.metadata);
    this.#version = object.metadata.resourceVersion ?? this.#version;
    const kept = this.reduce(object);
    if (type === 'DELETED') {
      this.#store.delete(key);
      this.#tell({ type: 'deleted', object: kept });
      return;
    }
    const before = this.#store.set(key, kept);
    if (before === undefined) this.#tell({ type: 'added', object: kept });
    else this.#tell({ type: 'modified', object: kept, before });
  }

  #tell(change: Change): void {
    try {
      this.#options.onChange?.(change);
    } catch (error) {
      this.#report({ type: 'consumer-failed', error });
    }
  }

  #report(report: ReflectorReport): void {
    try {
      this.#options.report(report);
    } catch {
      // The one who would be told is the one who failed; the watch goes on.
    }
  }
}

/** Without what Kubernetes and kubectl write for themselves: a third of a pod, and never part of a decision. */
function withoutBallast(object: KubeObject): KubeObject {
  const {
    managedFields: _managed,
    annotations,
    ...metadata
  } = object.metadata as KubeObject['metadata'] & {
    managedFields?: unknown;
  };
  if (annotations === undefined || !Object.hasOwn(annotations, LAST_APPLIED))
    return { ...object, metadata: { ...metadata, ...(annotations !== undefined && { annotations }) } };
  const { [LAST_APPLIED]: _applied, ...others } = annotations;
  return { ...object, metadata: { ...metadata, annotations: others } };
}

function isSameVersion(a: KubeObject, b: KubeObject): boolean {
  const { uid, resourceVersion } = a.metadata;
  return (
    resourceVersion !== undefined && resourceVersion === b.metadata.resourceVersion && uid === b.metadata.uid
  );
}

function retryAfterMsOf(error: unknown): number {
  const seconds = error instanceof GateError ? error.fields['retryAfterSeconds'] : undefined;
  return typeof seconds === 'number' ? Math.min(seconds * 1000, BACKOFF_MOST_MS) : 0;
}
