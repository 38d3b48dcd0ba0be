/** Policies and bindings out of the objects of some files, as the API server would hold them. */
import type { KubeObject } from '../../cluster/objects.ts';
import { OWN_GROUP } from './entry-name.ts';
import { readBinding, readPolicy, type Read } from './read.ts';
import type { Binding, Policy } from './types.ts';

/** Groups whose policies are the same but for the group (design decision 17). */
const GROUPS: ReadonlySet<string> = new Set(['admissionregistration.k8s.io', OWN_GROUP]);

export type PolicyKind = 'ValidatingAdmissionPolicy' | 'ValidatingAdmissionPolicyBinding';

/** An object that takes part in nothing, and why. */
export interface Unreadable {
  readonly kind: PolicyKind;
  /** Empty where it has none. */
  readonly name: string;
  readonly fault: string;
}

export interface PolicyObjects {
  readonly policies: readonly Policy[];
  readonly bindings: readonly Binding[];
  readonly unreadable: readonly Unreadable[];
  /** What is neither. */
  readonly others: readonly KubeObject[];
}

/** @returns undefined for an object that is neither */
export function policyKindOf({
  apiVersion,
  kind,
}: Pick<KubeObject, 'apiVersion' | 'kind'>): PolicyKind | undefined {
  if (kind !== 'ValidatingAdmissionPolicy' && kind !== 'ValidatingAdmissionPolicyBinding') return undefined;
  return GROUPS.has(groupOf(apiVersion)) ? kind : undefined;
}

export function groupOf(apiVersion: string): string {
  return apiVersion.slice(0, Math.max(0, apiVersion.indexOf('/')));
}

/** Minor of a release such as `1.36`. */
export function minorOf(version: string): number {
  return Number(version.slice(version.indexOf('.') + 1));
}

/** The kind is that of `policyKindOf`. */
export function readOf(kind: PolicyKind, object: KubeObject): Read<Policy> | Read<Binding> {
  return kind === 'ValidatingAdmissionPolicy' ? readPolicy(object) : readBinding(object);
}

/** Of several objects with one name, which no API server could hold, the first counts. */
export function policyObjectsOf(objects: readonly KubeObject[]): PolicyObjects {
  const policies = new Map<string, Policy>();
  const bindings = new Map<string, Binding>();
  const unreadable: Unreadable[] = [];
  const others: KubeObject[] = [];
  const take = <T>(kind: PolicyKind, object: KubeObject, read: Read<T>, into: Map<string, T>): void => {
    const { name = '' } = object.metadata;
    if (!read.ok) unreadable.push({ kind, name, fault: read.fault });
    else if (into.has(read.metadata.name))
      unreadable.push({ kind, name, fault: 'there is another of this name' });
    else into.set(read.metadata.name, read.value);
  };
  for (const object of objects) {
    const kind = policyKindOf(object);
    if (kind === undefined) others.push(object);
    else if (kind === 'ValidatingAdmissionPolicy') take(kind, object, readPolicy(object), policies);
    else take(kind, object, readBinding(object), bindings);
  }
  return { policies: [...policies.values()], bindings: [...bindings.values()], unreadable, others };
}
