/**
 * Which fields an applier owns: `metadata.managedFields[].fieldsV1` of Kubernetes, read and made. Lists whose every
 * item is an object with a name are keyed by it, as `webhooks` and `matchConditions` are by their schemas; every other
 * list is one value.
 */
import { isDeepStrictEqual } from 'node:util';
import type { KubeObject } from './objects.ts';

/** `f:name` for a member, `k:{"name":"x"}` for an item of a keyed list, `.` for the item itself. No members: a leaf. */
export interface FieldSet {
  readonly [path: string]: FieldSet;
}

/** One entry of `metadata.managedFields`. */
export interface ManagedFields {
  readonly manager?: string;
  readonly operation?: string;
  readonly subresource?: string;
  readonly fieldsV1?: FieldSet;
}

type Fields = Readonly<Record<string, unknown>>;

export function managedFieldsOf({ metadata }: Pick<KubeObject, 'metadata'>): readonly ManagedFields[] {
  const found = (metadata as { readonly managedFields?: unknown }).managedFields;
  return Array.isArray(found) ? (found as readonly ManagedFields[]) : [];
}

/** @returns what a field manager owns by having applied it; undefined where it has applied nothing. */
export function appliedBy(object: Pick<KubeObject, 'metadata'>, manager: string): FieldSet | undefined {
  return managedFieldsOf(object).find(
    (one) => one.manager === manager && one.operation === 'Apply' && (one.subresource ?? '') === '',
  )?.fieldsV1;
}

/** @returns names of the items of a keyed list at the top of an object, such as `webhooks`. */
export function ownedItems(set: FieldSet | undefined, list: string): readonly string[] {
  return Object.keys(set?.[`f:${list}`] ?? {}).flatMap((path) => {
    if (!path.startsWith('k:')) return [];
    const key: unknown = JSON.parse(path.slice(2));
    const name = isFields(key) ? key['name'] : undefined;
    return typeof name === 'string' ? [name] : [];
  });
}

export function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** @returns the items by name, in order; undefined where the list is one value. */
export function itemsByName(value: unknown): ReadonlyMap<string, Fields> | undefined {
  if (!Array.isArray(value) || value.length === 0) return undefined;
  const items = new Map<string, Fields>();
  for (const item of value as readonly unknown[]) {
    const name = isFields(item) ? item['name'] : undefined;
    if (!isFields(item) || typeof name !== 'string' || items.has(name)) return undefined;
    items.set(name, item);
  }
  return items;
}

export const memberPath = (key: string): string => `f:${key}`;
export const itemPath = (name: string): string => `k:${JSON.stringify({ name })}`;

/** What whoever applies this value owns. */
export function fieldSetOf(value: unknown): FieldSet {
  const items = itemsByName(value);
  if (items !== undefined)
    return Object.fromEntries(
      [...items].map(([name, item]) => [itemPath(name), { '.': {}, ...fieldSetOf(item) }]),
    );
  if (!isFields(value)) return {};
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, member]) => member !== undefined)
      .map(([key, member]) => [memberPath(key), fieldSetOf(member)]),
  );
}

/** @returns the set without the leaves at which two states differ: whoever changed them owns them now. */
export function withoutChanged(set: FieldSet, before: unknown, after: unknown): FieldSet | undefined {
  const paths = Object.keys(set);
  if (paths.length === 0) return isDeepStrictEqual(before, after) ? set : undefined;
  const kept = paths.flatMap((path): [string, FieldSet][] => {
    const part = set[path] ?? {};
    if (path === '.') return after === undefined ? [] : [[path, part]];
    const left = withoutChanged(part, valueAt(before, path), valueAt(after, path));
    return left === undefined ? [] : [[path, left]];
  });
  return kept.length === 0 ? undefined : Object.fromEntries(kept);
}

/** The value that a path of a set names, below another. */
function valueAt(value: unknown, path: string): unknown {
  if (path.startsWith('f:'))
    return isFields(value) && Object.hasOwn(value, path.slice(2)) ? value[path.slice(2)] : undefined;
  const items = itemsByName(value);
  const key: unknown = JSON.parse(path.slice(2));
  const name = isFields(key) ? key['name'] : undefined;
  return typeof name === 'string' ? items?.get(name) : undefined;
}
