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
  /** What of the metadata is kept beside name, namespace, uid and resourceVersion; left out: no more. */
  readonly keepsMetadata?: (metadata: ObjectMeta) => Partial<ObjectMeta>;
  /** What is kept of an object, `metadata` aside: nothing else is worth its memory. */
  keep(object: KubeObject): Readonly<Record<string, unknown>>;
  /** Reads that this object answers, its own name aside: the same for the same kept object. */
  relations(object: KubeObject): readonly string[];
  /**
   * What of the kept object decides whether a modification is one; left out: all of it. The same value before and after
   * wakes nobody.
   */
  essence?(object: KubeObject): unknown;
}

export function recordOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : {};
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
