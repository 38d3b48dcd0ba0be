/** Kept objects by the reads that they answer beside their own name. */
import type { KubeObject } from '../cluster/objects.ts';
import { storeKey } from '../cluster/store.ts';

export class Relations {
  readonly #members = new Map<string, Map<string, KubeObject>>();
  readonly #relations = new Map<string, readonly string[]>();

  /** @param relations of the object as it is now; none where it is gone. */
  set(kind: string, object: KubeObject, relations: readonly string[]): void {
    const key = `${kind} ${storeKey(object.metadata)}`;
    for (const relation of this.#relations.get(key) ?? []) {
      const members = this.#members.get(relation);
      members?.delete(key);
      if (members?.size === 0) this.#members.delete(relation);
    }
    if (relations.length === 0) this.#relations.delete(key);
    else this.#relations.set(key, relations);
    for (const relation of relations) {
      const members = this.#members.get(relation);
      if (members === undefined) this.#members.set(relation, new Map([[key, object]]));
      else members.set(key, object);
    }
  }

  of(relation: string): readonly KubeObject[] {
    return [...(this.#members.get(relation)?.values() ?? [])];
  }
}
