/** Types of what an admission expression finds declared (apiserver plugin/cel/compile.go). */
import type { CelType } from './cel-type.ts';
import { BOOL, DYN, INT, STRING, TIMESTAMP, listOf, mapOf } from './cel-type.ts';

function struct(
  name: string,
  fields: Readonly<Record<string, CelType>>,
): CelType & { readonly kind: 'struct' } {
  return { kind: 'struct', name, fields: new Map(Object.entries(fields)) };
}

const GROUP_VERSION_KIND = struct('kubernetes.GroupVersionKind', {
  group: STRING,
  version: STRING,
  kind: STRING,
});

const GROUP_VERSION_RESOURCE = struct('kubernetes.GroupVersionResource', {
  group: STRING,
  version: STRING,
  resource: STRING,
});

const USER_INFO = struct('kubernetes.UserInfo', {
  username: STRING,
  uid: STRING,
  groups: listOf(STRING),
  extra: mapOf(STRING, listOf(STRING)),
});

/** `request`: neither uid nor objects, which are variables of their own. */
export const REQUEST_TYPE = struct('kubernetes.AdmissionRequest', {
  kind: GROUP_VERSION_KIND,
  resource: GROUP_VERSION_RESOURCE,
  subResource: STRING,
  requestKind: GROUP_VERSION_KIND,
  requestResource: GROUP_VERSION_RESOURCE,
  requestSubResource: STRING,
  name: STRING,
  namespace: STRING,
  operation: STRING,
  userInfo: USER_INFO,
  dryRun: BOOL,
  options: DYN,
});

const NAMESPACE_CONDITION = struct('kubernetes.NamespaceCondition', {
  status: STRING,
  type: STRING,
  lastTransitionTime: TIMESTAMP,
  message: STRING,
  reason: STRING,
});

const NAMESPACE_METADATA = struct('kubernetes.NamespaceMetadata', {
  name: STRING,
  generateName: STRING,
  namespace: STRING,
  labels: mapOf(STRING, STRING),
  annotations: mapOf(STRING, STRING),
  // In capitals, as declared there.
  UID: STRING,
  creationTimestamp: TIMESTAMP,
  deletionGracePeriodSeconds: INT,
  deletionTimestamp: TIMESTAMP,
  generation: INT,
  resourceVersion: STRING,
  finalizers: listOf(STRING),
});

/** `namespaceObject`. */
export const NAMESPACE_TYPE = struct('kubernetes.Namespace', {
  metadata: NAMESPACE_METADATA,
  spec: struct('kubernetes.NamespaceSpec', { finalizers: listOf(STRING) }),
  status: struct('kubernetes.NamespaceStatus', { conditions: listOf(NAMESPACE_CONDITION), phase: STRING }),
});

/** `variables` of a policy: one field a variable. */
export function variablesType(fields: ReadonlyMap<string, CelType>): CelType & { readonly kind: 'struct' } {
  return { kind: 'struct', name: 'kubernetes.variables', fields };
}

const KEPT: ReadonlySet<CelType['kind']> = new Set([
  'any',
  'bool',
  'bytes',
  'double',
  'duration',
  'int',
  'null',
  'string',
  'timestamp',
  'uint',
]);

/**
 * Type of the field that a policy's variable becomes: scalars, lists and maps keep their types; everything else
 * (structs, optionals, types, what Kubernetes' libraries declare) is dyn, and so is a variable that does not compile.
 */
export function variableFieldType(type: CelType | undefined): CelType {
  if (type === undefined) return DYN;
  if (KEPT.has(type.kind)) return type;
  if (type.kind === 'list') return listOf(variableFieldType(type.element));
  if (type.kind === 'map') return mapOf(variableFieldType(type.key), variableFieldType(type.value));
  return DYN;
}
