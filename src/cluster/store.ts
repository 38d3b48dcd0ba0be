/** The objects of one kind that a reflector keeps, by namespace and name. */
import type { ObjectName } from './cluster.ts';
import type { KubeObject } from './objects.ts';

/** What readers see; it always is the state of one moment, also while a new list is on its way. */
export interface Store {
  readonly size: number;
  /** Another number after each change. */
  readonly changes: number;
  get(name: ObjectName): KubeObject | undefined;
  /** All, or those of one namespace. */
  values(namespace?: string): IterableIterator<KubeObject>;
}

export class ObjectStore implements Store {
  #objects = new Map<string, KubeObject>();
  /** The same by namespace; kept from the first time on that one namespace alone was asked for. */
  #byNamespace: Map<string, Map<string, KubeObject>> | undefined;

  #changes = 0;

  get changes(): number {
    return this.#changes;
  }

  get size(): number {
    return this.#objects.size;
  }

  get(name: ObjectName): KubeObject | undefined {
    return this.#objects.get(storeKey(name));
  }

  values(namespace?: string): IterableIterator<KubeObject> {
    if (namespace === undefined) return this.#objects.values();
    this.#byNamespace ??= byNamespace(this.#objects);
    return (this.#byNamespace.get(namespace) ?? new Map<string, KubeObject>()).values();
  }

  /** @returns what was there before. */
  set(key: string, object: KubeObject): KubeObject | undefined {
    const before = this.#objects.get(key);
    this.#changes++;
    this.#objects.set(key, object);
    if (this.#byNamespace !== undefined) place(this.#byNamespace, key, object);
    return before;
  }

  /** @returns what was there before. */
  delete(key: string): KubeObject | undefined {
    const before = this.#objects.get(key);
    this.#changes++;
    this.#objects.delete(key);
    const namespace = before?.metadata.namespace ?? '';
    const among = this.#byNamespace?.get(namespace);
    among?.delete(key);
    if (among?.size === 0) this.#byNamespace?.delete(namespace);
    return before;
  }

  /** Exchanges everything at once. @returns what was there before. */
  swap(objects: Map<string, KubeObject>): ReadonlyMap<string, KubeObject> {
    const before = this.#objects;
    this.#changes++;
    this.#objects = objects;
    this.#byNamespace = undefined;
    return before;
  }
}

function byNamespace(objects: ReadonlyMap<string, KubeObject>): Map<string, Map<string, KubeObject>> {
  const places = new Map<string, Map<string, KubeObject>>();
  for (const [key, object] of objects) place(places, key, object);
  return places;
}

function place(places: Map<string, Map<string, KubeObject>>, key: string, object: KubeObject): void {
  const namespace = object.metadata.namespace ?? '';
  const among = places.get(namespace);
  if (among === undefined) places.set(namespace, new Map([[key, object]]));
  else among.set(key, object);
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
