/** One watch on memory.ts: what an API server's watch connection does, without the connection. */
import type { Clock, Timer } from '../clock.ts';
import type { WatchEvent } from './cluster.ts';
import type { Change } from './memory-store.ts';
import type { KubeObject } from './objects.ts';
import type { Predicate } from './selectors.ts';

/** The API server sends a bookmark about once a minute (cacher.go, bookmark frequency). */
const BOOKMARK_INTERVAL_MS = 60_000;
/**
 * Events that wait for a reader before the watch is ended, as the API server ends the connection of a slow one. Above
 * what one directory load changes at once in a realistic cluster (10,000 objects), and small: the objects are shared.
 */
const QUEUE_LENGTH = 16_384;

export interface MemoryWatchParts {
  readonly clock: Clock;
  readonly signal?: AbortSignal;
  /** Namespace, labels and fields. */
  readonly accepts: Predicate;
  /** The object as this caller asked for it. */
  readonly present: (object: KubeObject) => KubeObject;
  /** The cluster's newest resourceVersion. */
  readonly version: () => number;
  /** Joins the store and hands over what happened before; throws where the watch cannot begin. */
  readonly open: (watch: MemoryWatch) => void;
  readonly closed: (watch: MemoryWatch) => void;
}

interface Reader {
  readonly resolve: (result: IteratorResult<WatchEvent>) => void;
  readonly reject: (reason: unknown) => void;
}

export class MemoryWatch implements AsyncIterableIterator<WatchEvent> {
  readonly #parts: MemoryWatchParts;
  readonly #onAbort = (): void => {
    this.#queue = [];
    this.finish({ error: this.#parts.signal?.reason });
  };
  #queue: WatchEvent[] = [];
  #readers: Reader[] = [];
  /** What exists when the watch begins is handed over in full, however much it is. */
  #room = Infinity;
  #started = false;
  #end: { readonly error?: unknown } | undefined;
  #bookmark: Timer | undefined;

  constructor(parts: MemoryWatchParts) {
    this.#parts = parts;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<IteratorResult<WatchEvent>> {
    if (!this.#started) this.#start();
    const event = this.#queue.shift();
    if (event !== undefined) return Promise.resolve({ done: false, value: event });
    if (this.#end !== undefined) return this.#ended();
    return new Promise((resolve, reject) => {
      this.#readers.push({ resolve, reject });
    });
  }

  /** The reader has seen enough. */
  return(): Promise<IteratorResult<WatchEvent>> {
    this.#started = true;
    this.#queue = [];
    this.finish({});
    return Promise.resolve({ done: true, value: undefined });
  }

  /** An object that enters the selection was added, as one that leaves it was deleted. */
  offer(change: Change): void {
    const { accepts, present } = this.#parts;
    const before = change.previous !== undefined && accepts(change.previous);
    const after = change.type !== 'DELETED' && accepts(change.object);
    if (after) {
      this.#push({ type: before ? 'MODIFIED' : 'ADDED', object: present(change.object) });
    } else if (before && change.previous !== undefined) {
      const resourceVersion = String(change.version);
      const metadata = Object.freeze({ ...change.previous.metadata, resourceVersion });
      const last = Object.freeze({ ...change.previous, metadata });
      this.#push({ type: 'DELETED', object: present(last) });
    }
  }

  /** Ends the watch once its waiting events are read: in peace, or with an error. */
  finish(end: { readonly error?: unknown }): void {
    if (this.#end !== undefined) return;
    this.#end = end;
    this.#bookmark?.cancel();
    this.#parts.signal?.removeEventListener('abort', this.#onAbort);
    this.#parts.closed(this);
    for (const reader of this.#readers.splice(0)) {
      if (Object.hasOwn(end, 'error')) {
        reader.reject(end.error);
        this.#end = {};
      } else {
        reader.resolve({ done: true, value: undefined });
      }
    }
  }

  #start(): void {
    this.#started = true;
    const { signal, open } = this.#parts;
    if (signal?.aborted === true) {
      this.#onAbort();
      return;
    }
    signal?.addEventListener('abort', this.#onAbort, { once: true });
    try {
      open(this);
      this.#room = this.#queue.length + QUEUE_LENGTH;
      this.#scheduleBookmark();
    } catch (error) {
      this.finish({ error });
    }
  }

  /** The error is thrown once; after it the watch is over. */
  #ended(): Promise<IteratorResult<WatchEvent>> {
    const end = this.#end;
    this.#end = {};
    if (end !== undefined && Object.hasOwn(end, 'error')) return Promise.reject(end.error);
    return Promise.resolve({ done: true, value: undefined });
  }

  #push(event: WatchEvent): void {
    if (this.#end !== undefined) return;
    const reader = this.#readers.shift();
    if (reader !== undefined) reader.resolve({ done: false, value: event });
    else if (this.#queue.length < this.#room) this.#queue.push(event);
    else this.finish({});
  }

  #scheduleBookmark(): void {
    if (this.#end !== undefined) return;
    this.#bookmark = this.#parts.clock.setTimer(BOOKMARK_INTERVAL_MS, () => {
      this.#push({ type: 'BOOKMARK', resourceVersion: String(this.#parts.version()) });
      this.#scheduleBookmark();
    });
  }
}
