/** One watched kind: what is kept of its objects, and which reads each of them answers. One file a source beside this one. */
import type { Kind } from '../../cluster/kinds.ts';
import type { KubeObject, ObjectMeta } from '../../cluster/objects.ts';

export interface Trigger {
  readonly kind: Kind;
  /** Where: in the namespaces of the Pactos, or in that of the node agents. */
  readonly scope: 'watched' | 'agents';
  /** A cluster may do without the kind: then there is none of it. Else a kind that is not served is a failure. */
  readonly optional: boolean;
  readonly metadataOnly?: true;
  /** Objects a page of a list, so that none takes long to parse: some MB. Left out: 250, for small ones. */
  readonly pageSize?: number;
  /** Only this program writes them: a new one is what a look has just made, and tells it nothing. */
  readonly own?: true;
  /** What of the metadata is kept beside name, namespace, uid and resourceVersion; left out: no more. */
  readonly keepsMetadata?: (metadata: ObjectMeta) => Partial<ObjectMeta>;
  /** What is kept of an object, `metadata` aside: what some dimension reads, and nothing else, where it lies in the object. */
  keep(object: KubeObject): Readonly<Record<string, unknown>>;
  /** Reads that this object answers, its own name aside: the same for the same kept object, each once. */
  relations(object: KubeObject): readonly string[];
  /**
   * What of the kept object decides whether a modification is one: the same value before and after, both as of now, wakes
   * nobody.
   * @param nowMs wall clock
   */
  essence(object: KubeObject, nowMs: number): unknown;
}

export function recordOf(value: unknown): Readonly<Record<string, unknown>> {
  return isRecord(value) ? value : {};
}

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** At most `limit` entries of a list; nothing where it is none. */
export function listOf(value: unknown, limit = 10_000): readonly Readonly<Record<string, unknown>>[] {
  return Array.isArray(value) ? value.slice(0, limit).map(recordOf) : [];
}

/** Those of the fields that are there. */
export function pick(value: unknown, fields: readonly string[]): Readonly<Record<string, unknown>> {
  const record = recordOf(value);
  return Object.fromEntries(
    fields.filter((field) => record[field] !== undefined).map((field) => [field, record[field]]),
  );
}

/** Those of the members that are there and are texts. */
export function textsOf(value: unknown, isKept: (key: string) => boolean): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(recordOf(value)).filter(
      (entry): entry is [string, string] => isKept(entry[0]) && typeof entry[1] === 'string',
    ),
  );
}

/** An object as a store keeps it. */
export function keptOf(trigger: Trigger, object: KubeObject): KubeObject {
  const { apiVersion, kind, metadata } = object;
  const { name, namespace, uid, resourceVersion } = metadata;
  return {
    ...trigger.keep(object),
    apiVersion,
    kind,
    metadata: {
      ...(name !== undefined && { name }),
      ...(namespace !== undefined && { namespace }),
      ...(uid !== undefined && { uid }),
      ...(resourceVersion !== undefined && { resourceVersion }),
      ...trigger.keepsMetadata?.(metadata),
    },
  };
}
