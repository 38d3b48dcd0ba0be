/** Names of kept objects by the reads that they answer beside their own name: what a look would else search all for. */
import type { ObjectMeta } from '../cluster/objects.ts';
import { storeKey } from '../cluster/store.ts';
import type { NamespacedName } from './view.ts';

export class Relations {
  readonly #members = new Map<string, Map<string, NamespacedName>>();
  readonly #relations = new Map<string, readonly string[]>();

  /** @param relations of the object as it is now; none where it is gone. */
  set(kind: string, metadata: ObjectMeta, relations: readonly string[]): void {
    const key = `${kind} ${storeKey(metadata)}`;
    const { namespace = '', name = '' } = metadata;
    for (const relation of this.#relations.get(key) ?? []) {
      const members = this.#members.get(relation);
      members?.delete(key);
      if (members?.size === 0) this.#members.delete(relation);
    }
    if (relations.length === 0) this.#relations.delete(key);
    else this.#relations.set(key, relations);
    for (const relation of relations) {
      const members = this.#members.get(relation);
      if (members === undefined) this.#members.set(relation, new Map([[key, { namespace, name }]]));
      else members.set(key, { namespace, name });
    }
  }

  of(relation: string): Iterable<NamespacedName> {
    return this.#members.get(relation)?.values() ?? [];
  }
}
