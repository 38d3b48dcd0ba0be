/** What memory.ts keeps of one kind: the objects, what changed lately, and who watches. */
import type { MemoryWatch } from './memory-watch.ts';
import type { KubeObject } from './objects.ts';

export interface Change {
  /** The cluster's resourceVersion after this change. */
  readonly version: number;
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly key: string;
  /** After the change; of a deletion, the last state under the version of the deletion. */
  readonly object: KubeObject;
  /** Before the change. */
  readonly previous?: KubeObject;
}

/** Objects of one kind at one version, by key, and the keys in the API server's order. */
export interface Snapshot {
  readonly objects: ReadonlyMap<string, KubeObject>;
  readonly keys: readonly string[];
}

/** `namespace/name`: sorted by it, objects are in the order of the API server's storage. */
export function keyOf(namespace: string | undefined, name: string): string {
  return `${namespace ?? ''}/${name}`;
}

export class KindStore {
  readonly watches = new Set<MemoryWatch>();
  readonly #objects = new Map<string, KubeObject>();
  readonly #historyLength: number;
  #changes: Change[] = [];
  /** Changes up to this version are forgotten. */
  #forgotten: number;
  #sortedKeys: readonly string[] | undefined;

  /**
   * @param historyLength changes that are remembered for watches and pages.
   * @param forgotten the version up to which nothing is known.
   */
  constructor(historyLength: number, forgotten: number) {
    this.#historyLength = historyLength;
    this.#forgotten = forgotten;
  }

  get(key: string): KubeObject | undefined {
    return this.#objects.get(key);
  }

  /** Stores a change and tells everybody who watches. */
  apply(change: Change): void {
    if (change.type === 'DELETED') this.#objects.delete(change.key);
    else this.#objects.set(change.key, change.object);
    if (change.type !== 'MODIFIED') this.#sortedKeys = undefined;
    this.#changes.push(change);
    if (this.#changes.length > this.#historyLength) {
      const oldest = this.#changes.shift();
      if (oldest !== undefined) this.#forgotten = oldest.version;
    }
    for (const watch of this.watches) watch.offer(change);
  }

  forgetUpTo(version: number): void {
    this.#changes = this.#changes.filter((change) => change.version > version);
    this.#forgotten = Math.max(this.#forgotten, version);
  }

  /** @returns undefined where some of these changes are forgotten. */
  changesAfter(version: number): readonly Change[] | undefined {
    if (version < this.#forgotten) return undefined;
    const first = this.#changes.findIndex((change) => change.version > version);
    return first === -1 ? [] : this.#changes.slice(first);
  }

  now(): Snapshot {
    this.#sortedKeys ??= [...this.#objects.keys()].sort(inByteOrder);
    return { objects: this.#objects, keys: this.#sortedKeys };
  }

  /** @returns everything as it was at a version, undefined where that is forgotten. */
  at(version: number): Snapshot | undefined {
    const changes = this.changesAfter(version);
    if (changes === undefined) return undefined;
    if (changes.length === 0) return this.now();
    const objects = new Map(this.#objects);
    for (const change of changes.toReversed()) {
      if (change.previous === undefined) objects.delete(change.key);
      else objects.set(change.key, change.previous);
    }
    return { objects, keys: [...objects.keys()].sort(inByteOrder) };
  }
}

/** Names are ASCII, so the order of UTF-16 units is that of bytes. */
function inByteOrder(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
