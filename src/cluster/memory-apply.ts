/**
 * Server-side apply of memory.ts: what is applied replaces the fields of its manager and keeps those of others. It
 * knows no schemas (field-sets.ts says which lists are keyed), keeps ownership for appliers alone (a field that nobody
 * applied is somebody's all the same: changing it is a conflict), and converts nothing between versions.
 */
import { isDeepStrictEqual } from 'node:util';
import {
  appliedBy,
  fieldSetOf,
  isFields,
  itemPath,
  itemsByName,
  managedFieldsOf,
  memberPath,
  withoutChanged,
  type FieldSet,
  type ManagedFields,
} from './field-sets.ts';
import { conflict, setFieldsOf } from './memory-writes.ts';
import type { Kind } from './kinds.ts';
import type { KubeObject } from './objects.ts';

/** Said by whoever applies, owned by nobody. */
const IDENTITY = new Set([
  'name',
  'generateName',
  'namespace',
  'uid',
  'resourceVersion',
  'generation',
  'creationTimestamp',
  'deletionTimestamp',
  'managedFields',
]);

/**
 * @returns the object after the apply, with `metadata.managedFields`.
 * @throws GateError GATE_CLUSTER_CONFLICT where a field is somebody else's, unless forced.
 */
export function appliedTo(
  current: KubeObject | undefined,
  applied: KubeObject,
  { kind, key, manager, force }: { kind: Kind; key: string; manager: string; force: boolean },
): KubeObject {
  const wanted = ownPart(applied);
  const fields = fieldSetOf(wanted);
  const time = { manager, operation: 'Apply', apiVersion: applied.apiVersion, fieldsType: 'FieldsV1' };
  if (current === undefined) return withManaged(applied, [{ ...time, fieldsV1: fields }]);
  const before = appliedBy(current, manager) ?? {};
  const others = managedFieldsOf(current).filter((one) => one.manager !== manager);
  const merge = new Merge();
  const sets = others.map(({ fieldsV1 }) => fieldsV1 ?? {});
  const next = merge.value(current, wanted, before, sets, '') as KubeObject;
  const [first] = merge.conflicts;
  if (first !== undefined && !force)
    throw conflict('apply', kind, key, `${first} belongs to another field manager`);
  const kept = others.flatMap((one): ManagedFields[] => {
    const fieldsV1 = withoutChanged(one.fieldsV1 ?? {}, current, next);
    return fieldsV1 === undefined ? [] : [{ ...one, fieldsV1 }];
  });
  return withManaged(next, [...kept, { ...time, fieldsV1: fields }]);
}

/** After a PUT: what it changed is no longer its applier's. */
export function keepingManaged(current: KubeObject, next: KubeObject): KubeObject {
  const managed = managedFieldsOf(current);
  if (managed.length === 0) return next;
  return withManaged(
    next,
    managed.flatMap((one): ManagedFields[] => {
      const fieldsV1 = withoutChanged(one.fieldsV1 ?? {}, current, next);
      return fieldsV1 === undefined ? [] : [{ ...one, fieldsV1 }];
    }),
  );
}

function withManaged(object: KubeObject, managedFields: readonly ManagedFields[]): KubeObject {
  const metadata: KubeObject['metadata'] & { readonly managedFields: readonly ManagedFields[] } = {
    ...object.metadata,
    managedFields,
  };
  return { ...object, metadata };
}

function ownPart({
  apiVersion: _version,
  kind: _kind,
  metadata,
  status: _status,
  ...rest
}: KubeObject): object {
  const own = Object.fromEntries(
    Object.entries(setFieldsOf(metadata)).filter(([name]) => !IDENTITY.has(name)),
  );
  return { ...(Object.keys(own).length > 0 && { metadata: own }), ...rest };
}

type Members = ReadonlyMap<string, unknown>;

class Merge {
  /** Places that are somebody else's and would change. */
  readonly conflicts: string[] = [];

  /** @param before what the manager owns here; undefined: nothing. */
  value(
    current: unknown,
    wanted: unknown,
    before: FieldSet | undefined,
    others: readonly FieldSet[],
    at: string,
  ): unknown {
    const lists = keyedLists(current, wanted);
    if (lists !== undefined) return [...this.#members(...lists, itemPath, { before, others, at }).values()];
    if (isFields(current) && isFields(wanted)) {
      const members = (fields: object): Members => new Map(Object.entries(fields));
      const next = this.#members(members(current), members(wanted), memberPath, { before, others, at });
      return Object.fromEntries(next);
    }
    if (current !== undefined && before === undefined && !isDeepStrictEqual(current, wanted))
      this.conflicts.push(at);
    return wanted;
  }

  #members(
    current: Members,
    wanted: Members,
    pathOf: (key: string) => string,
    { before, others, at }: { before: FieldSet | undefined; others: readonly FieldSet[]; at: string },
  ): Members {
    const next = new Map<string, unknown>();
    for (const [key, value] of current) {
      const path = pathOf(key);
      const kept = wanted.has(key)
        ? this.value(value, wanted.get(key), before?.[path], below(others, path), `${at}.${key}`)
        : withoutOwned(value, before?.[path], below(others, path));
      if (kept !== undefined) next.set(key, kept);
    }
    for (const [key, value] of wanted) if (!current.has(key) && value !== undefined) next.set(key, value);
    return next;
  }
}

/** @returns both by name, where both are lists that have names; an empty one has any. */
function keyedLists(current: unknown, wanted: unknown): [Members, Members] | undefined {
  if (!Array.isArray(current) || !Array.isArray(wanted)) return undefined;
  const [known, items] = [itemsByName(current), itemsByName(wanted)];
  if (known === undefined && current.length > 0) return undefined;
  if (items === undefined && (wanted.length > 0 || known === undefined)) return undefined;
  return [known ?? new Map<string, unknown>(), items ?? new Map<string, unknown>()];
}

/** @returns what is left of a value that its manager applies no more: what others applied, and what it never owned. */
function withoutOwned(value: unknown, owned: FieldSet | undefined, others: readonly FieldSet[]): unknown {
  if (owned === undefined) return value;
  const isWhole = Object.keys(owned).length === 0 || Object.hasOwn(owned, '.');
  if (isWhole && others.length === 0) return undefined;
  if (Object.keys(owned).length === 0) return value;
  const items = itemsByName(value);
  if (items !== undefined) {
    const left = [...items].map(([name, item]) =>
      withoutOwned(item, owned[itemPath(name)], below(others, itemPath(name))),
    );
    return left.filter((item) => item !== undefined);
  }
  if (!isFields(value)) return value;
  const left = Object.entries(value).flatMap(([key, member]): [string, unknown][] => {
    const kept = withoutOwned(member, owned[memberPath(key)], below(others, memberPath(key)));
    return kept === undefined ? [] : [[key, kept]];
  });
  return left.length === 0 ? undefined : Object.fromEntries(left);
}

function below(sets: readonly FieldSet[], path: string): readonly FieldSet[] {
  return sets.flatMap((set) => {
    const part = set[path];
    return part === undefined ? [] : [part];
  });
}
