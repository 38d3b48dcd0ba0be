/** `request` and `namespaceObject` as the expressions see them (vap.md D08 to D10). */
import type { GroupVersionKind, GroupVersionResource, KubeObject } from '../../cluster/objects.ts';
import type { JsonMap, Value } from '../cel/values.ts';
import type { Attributes } from './attributes.ts';
import { member } from './label-selector.ts';

/**
 * The members of an admission request. What is empty is left out, as Go does with it; `uid`, `object` and `oldObject`
 * can be reached only through `dyn(request)`, and are empty.
 *
 * @param resource and kind in which the policy sees the request; matchConditions see its own resource (vap.md C04)
 */
export function requestValue(
  attributes: Attributes,
  resource: GroupVersionResource,
  kind: GroupVersionKind,
): Value {
  const { request, subresource, name, namespace, operation } = attributes;
  const { username = '', uid = '', groups = [], extra = {} } = request.userInfo;
  return {
    uid: '',
    kind: kindValue(kind),
    resource: resourceValue(resource),
    ...(subresource === '' ? {} : { subResource: subresource }),
    requestKind: kindValue(attributes.kind),
    requestResource: resourceValue(attributes.resource),
    ...(subresource === '' ? {} : { requestSubResource: subresource }),
    ...(name === '' ? {} : { name }),
    ...(namespace === '' ? {} : { namespace }),
    operation,
    userInfo: {
      ...(username === '' ? {} : { username }),
      ...(uid === '' ? {} : { uid }),
      ...(groups.length === 0 ? {} : { groups }),
      ...(Object.keys(extra).length === 0 ? {} : { extra }),
    },
    object: null,
    oldObject: null,
    dryRun: request.dryRun ?? false,
    options: (request.options ?? null) as Value,
  };
}

function kindValue({ group, version, kind }: GroupVersionKind): Value {
  return { group, version, kind };
}

function resourceValue({ group, version, resource }: GroupVersionResource): Value {
  return { group, version, resource };
}

/** Members of metadata that expressions see, in all phases but that of audit annotations. */
const METADATA: readonly string[] = [
  'name',
  'generateName',
  'namespace',
  'uid',
  'resourceVersion',
  'generation',
  'creationTimestamp',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
  'labels',
  'annotations',
  'finalizers',
];
/** Minor from which on a missing creationTimestamp is missing; before, it is null (vap.md D03). */
const OMITS_CREATION_TIMESTAMP = 34;

/** @param minor of the API server that is imitated */
export function namespaceValue(namespace: KubeObject | null, minor: number): Value {
  if (namespace === null) return null;
  const metadata: Record<string, Value> = {};
  for (const key of METADATA) {
    const value = member(namespace.metadata, key);
    if (value !== undefined) metadata[key] = value as Value;
  }
  if (minor < OMITS_CREATION_TIMESTAMP) metadata['creationTimestamp'] ??= null;
  return withParts(namespace, metadata);
}

/** The same for audit annotations, which see all of its metadata. */
export function wholeNamespaceValue(namespace: KubeObject | null): Value {
  return namespace === null ? null : withParts(namespace, namespace.metadata as JsonMap);
}

function withParts(namespace: KubeObject, metadata: JsonMap): Value {
  const part = (key: string): Value => (member(namespace, key) ?? {}) as Value;
  return { metadata, spec: part('spec'), status: part('status') };
}
