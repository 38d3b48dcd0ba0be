/** The objects of one kind that a reflector keeps, by namespace and name. */
import type { ObjectName } from './cluster.ts';
import type { KubeObject } from './objects.ts';

/** What readers see; it always is the state of one moment, also while a new list is on its way. */
export interface Store {
  readonly size: number;
  get(name: ObjectName): KubeObject | undefined;
  /** All, or those of one namespace. */
  values(namespace?: string): IterableIterator<KubeObject>;
}

export class ObjectStore implements Store {
  #objects = new Map<string, KubeObject>();

  get size(): number {
    return this.#objects.size;
  }

  get(name: ObjectName): KubeObject | undefined {
    return this.#objects.get(storeKey(name));
  }

  *values(namespace?: string): IterableIterator<KubeObject> {
    for (const object of this.#objects.values())
      if (namespace === undefined || object.metadata.namespace === namespace) yield object;
  }

  /** @returns what was there before. */
  set(key: string, object: KubeObject): KubeObject | undefined {
    const before = this.#objects.get(key);
    this.#objects.set(key, object);
    return before;
  }

  /** @returns what was there before. */
  delete(key: string): KubeObject | undefined {
    const before = this.#objects.get(key);
    this.#objects.delete(key);
    return before;
  }

  /** Exchanges everything at once. @returns what was there before. */
  swap(objects: Map<string, KubeObject>): ReadonlyMap<string, KubeObject> {
    const before = this.#objects;
    this.#objects = objects;
    return before;
  }
}

/** Names hold no slash (rest.ts refuses them), so that the key is one to one. */
export function storeKey({
  namespace,
  name,
}: {
  readonly namespace?: string;
  readonly name?: string;
}): string {
  return `${namespace ?? ''}/${name ?? ''}`;
}
