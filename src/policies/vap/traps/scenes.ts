/** The kinds of request that a policy is asked about, as far as its rules tell. */
import type { GroupVersionKind } from '../../../cluster/objects.ts';
import { kindText, type OpenApiTypes, type ServedResource } from '../openapi-schema.ts';
import type { NamedRule, ParamKind, Policy } from '../types.ts';

export type Operation = 'CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT';

/** One of them. */
export interface Scene {
  readonly operation: Operation;
  /** Of `object`, or of `oldObject`; undefined where it is not known. */
  readonly kind: GroupVersionKind | undefined;
  /** Plural, without subresource; undefined where it is not known. */
  readonly resource: string | undefined;
  /** Undefined where there may be one or none. */
  readonly subresource: string | undefined;
  /** Undefined where it is not known. */
  readonly namespaced: boolean | undefined;
}

const OPERATIONS: readonly Operation[] = ['CREATE', 'UPDATE', 'DELETE', 'CONNECT'];
/** Whose requests are of the kind of the resource itself. */
const SAME_KIND = new Set(['', 'status', 'ephemeralcontainers', 'resize', 'approval', 'finalize']);
/** What is done with a subresource, of those that one thing alone is done with. */
const DONE_WITH: ReadonlyMap<string, Operation> = new Map<string, Operation>([
  ...(['approval', 'ephemeralcontainers', 'finalize', 'resize', 'scale', 'status'] as const).map(
    (name) => [name, 'UPDATE'] as const,
  ),
  ...(['binding', 'eviction', 'token'] as const).map((name) => [name, 'CREATE'] as const),
  ...(['attach', 'exec', 'portforward', 'proxy'] as const).map((name) => [name, 'CONNECT'] as const),
]);
/** More say nothing new, and each is gone through. */
const MAX_KINDS = 24;

/** @returns at least one, where the policy has a rule */
export function scenesOf(policy: Policy, types: OpenApiTypes): readonly Scene[] {
  const scenes = new Map<string, Scene>();
  const kinds = new Set<string>();
  for (const rule of policy.matchConstraints?.resourceRules ?? []) {
    for (const scene of scenesOfRule(rule, types)) {
      const kind = scene.kind === undefined ? '' : kindText(scene.kind);
      if (kinds.size >= MAX_KINDS && !kinds.has(kind)) continue;
      kinds.add(kind);
      scenes.set(`${scene.operation} ${kind} ${scene.subresource ?? '*'}`, scene);
    }
  }
  return [...scenes.values()];
}

function* scenesOfRule(rule: NamedRule, types: OpenApiTypes): Generator<Scene> {
  const operations = rule.operations.includes('*')
    ? OPERATIONS
    : OPERATIONS.filter((operation) => rule.operations.includes(operation));
  for (const pattern of rule.resources) {
    const [resource = '', sub = ''] = pattern.split('/');
    const served = resource === '*' ? [] : servedBy(rule, resource, types);
    for (const operation of operations) {
      const done = DONE_WITH.get(sub);
      if (done !== undefined && done !== operation) continue;
      // Only a subresource is connected to.
      if (operation === 'CONNECT' && sub === '') continue;
      const scene = { operation, subresource: sub === '*' ? undefined : sub, namespaced: undefined };
      const isSame = SAME_KIND.has(sub) || sub === '*';
      if (served.length === 0 || operation === 'CONNECT' || !isSame)
        yield { ...scene, kind: undefined, resource: resource === '*' ? undefined : resource };
      else {
        for (const one of served) {
          const kind = { group: one.group, version: one.version, kind: one.kind };
          yield { ...scene, kind, resource, namespaced: one.namespaced };
        }
      }
    }
  }
}

function servedBy(
  { apiGroups, apiVersions, scope }: NamedRule,
  resource: string,
  { resources }: OpenApiTypes,
): readonly ServedResource[] {
  const fits = (names: readonly string[], name: string): boolean =>
    names.includes('*') || names.includes(name);
  return resources.filter(
    (one) =>
      one.resource === resource &&
      fits(apiGroups, one.group) &&
      fits(apiVersions, one.version) &&
      (scope === '*' || one.namespaced === undefined || one.namespaced === (scope === 'Namespaced')),
  );
}

export function paramsKindOf({ apiVersion, kind }: ParamKind): GroupVersionKind {
  const [version = '', group = ''] = apiVersion.split('/').toReversed();
  return { group, version, kind };
}
