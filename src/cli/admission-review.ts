/** From a manifest to the AdmissionReview that an API server would send about it. */
import {
  CONFIG_MAP,
  DAEMON_SET,
  LEASE,
  NAMESPACE,
  NODE,
  NODE_RUNTIME_OBSERVATION,
  POD,
  SERVICE_ACCOUNT,
  type Kind,
} from '../cluster/kinds.ts';
import type {
  AdmissionRequest,
  GroupVersionKind,
  KubeObject,
  ObjectMeta,
  Operation,
  UserInfo,
} from '../cluster/objects.ts';
import { isBoxedDouble } from '../json.ts';

/** What the command line says about every document. */
export interface RequestOptions {
  /** Undefined: UPDATE where there is an old object, CREATE otherwise. */
  readonly operation: Operation | undefined;
  readonly user: UserInfo;
  readonly name: string | undefined;
  readonly namespace: string | undefined;
  readonly subresource: string | undefined;
  readonly dryRun: boolean;
  /** Kinds of custom resources, whose resource and scope are a guess otherwise. */
  readonly customKinds?: readonly Kind[];
}

const KNOWN: readonly Kind[] = [
  CONFIG_MAP,
  DAEMON_SET,
  LEASE,
  NAMESPACE,
  NODE,
  NODE_RUNTIME_OBSERVATION,
  POD,
  SERVICE_ACCOUNT,
];

/** Built-in kinds without a namespace (`kubectl api-resources --namespaced=false`). */
const CLUSTER_SCOPED: ReadonlySet<string> = new Set([
  'APIService',
  'CertificateSigningRequest',
  'ClusterRole',
  'ClusterRoleBinding',
  'CSIDriver',
  'CSINode',
  'CustomResourceDefinition',
  'DeviceClass',
  'FlowSchema',
  'IngressClass',
  'MutatingAdmissionPolicy',
  'MutatingAdmissionPolicyBinding',
  'MutatingWebhookConfiguration',
  'Namespace',
  'Node',
  'PersistentVolume',
  'PriorityClass',
  'PriorityLevelConfiguration',
  'ResourceSlice',
  'RuntimeClass',
  'StorageClass',
  'SubjectAccessReview',
  'TokenReview',
  'ValidatingAdmissionPolicy',
  'ValidatingAdmissionPolicyBinding',
  'ValidatingWebhookConfiguration',
  'VolumeAttachment',
]);

interface Target {
  /** Of the resource that is addressed; for a subresource with a kind of its own, that of its parent. */
  readonly kind: Kind;
  readonly subresource: string | undefined;
}

/** Kinds that are written to a subresource of another kind. */
const SUBRESOURCE_KINDS: Readonly<Record<string, Target>> = {
  'authentication.k8s.io/TokenRequest': { kind: SERVICE_ACCOUNT, subresource: 'token' },
  'policy/Eviction': { kind: POD, subresource: 'eviction' },
  '/Binding': { kind: POD, subresource: 'binding' },
};

function groupVersionKindOf(object: KubeObject): GroupVersionKind {
  const slash = object.apiVersion.indexOf('/');
  return {
    group: slash === -1 ? '' : object.apiVersion.slice(0, slash),
    version: object.apiVersion.slice(slash + 1),
    kind: object.kind,
  };
}

/** Where a manifest is written to. The resource of an unknown kind is guessed from its name, as kubectl does. */
export function targetOf(
  object: KubeObject,
  { subresource, customKinds = [] }: Pick<RequestOptions, 'subresource' | 'customKinds'>,
): Target {
  const { group, version, kind } = groupVersionKindOf(object);
  const own = SUBRESOURCE_KINDS[`${group}/${kind}`];
  if (own !== undefined) return own;
  const known = [...KNOWN, ...customKinds].find((one) => one.group === group && one.kind === kind);
  return {
    kind:
      known === undefined
        ? { group, version, kind, resource: pluralOf(kind), namespaced: !CLUSTER_SCOPED.has(kind) }
        : { ...known, version },
    subresource,
  };
}

/** As `meta.UnsafeGuessKindToResource` of apimachinery guesses. */
function pluralOf(kind: string): string {
  const singular = kind.toLowerCase();
  if (singular.endsWith('endpoints')) return singular;
  if (singular.endsWith('s')) return `${singular}es`;
  return singular.endsWith('y') ? `${singular.slice(0, -1)}ies` : `${singular}s`;
}

/** Name and namespace that the request is about. */
export function addressOf(
  object: KubeObject,
  target: Target,
  options: Pick<RequestOptions, 'name' | 'namespace'>,
): { readonly name: string; readonly namespace: string | undefined } {
  const { name, generateName, namespace } = object.metadata;
  return {
    name: options.name ?? name ?? (generateName === undefined ? '' : `${generateName}${GENERATED_END}`),
    namespace: target.kind.namespaced ? (namespace ?? options.namespace ?? 'default') : undefined,
  };
}

/** An API server puts five random letters there. The same input shall give the same review. */
const GENERATED_END = 'xxxxx';

/**
 * Builds the request. What an API server fills in before it asks webhooks is filled in: name, namespace, uid and
 * times; defaults of a kind's own fields are not.
 * @param old the object before an UPDATE; of a DELETE, where the manifest itself is not to stand for it.
 * @param number makes the uid of the review, so that the same input gives the same review.
 */
export function buildRequest(
  object: KubeObject,
  old: KubeObject | undefined,
  options: RequestOptions,
  number: number,
): AdmissionRequest {
  const target = targetOf(object, options);
  const { name, namespace } = addressOf(object, target, options);
  const operation = options.operation ?? (old === undefined ? 'CREATE' : 'UPDATE');
  const { group, version, resource } = target.kind;
  const kind = groupVersionKindOf(object);
  const subresource = target.subresource === undefined ? {} : { subResource: target.subresource };
  const requested = target.subresource === undefined ? {} : { requestSubResource: target.subresource };
  return {
    uid: reviewUid(number),
    kind,
    resource: { group, version, resource },
    ...subresource,
    requestKind: kind,
    requestResource: { group, version, resource },
    ...requested,
    name,
    ...namespaceOf(target.kind, name, namespace),
    operation,
    userInfo: options.user,
    ...objectsOf(operation, completed(object, old, { name, namespace, number }), old, target.subresource),
    dryRun: options.dryRun,
    options: {
      kind: OPTIONS_KINDS[operation],
      apiVersion: 'meta.k8s.io/v1',
      ...(options.dryRun ? { dryRun: ['All'] } : {}),
    },
  };
}

/** A Namespace is cluster-scoped, and its requests name it as their namespace all the same. */
function namespaceOf(kind: Kind, name: string, namespace: string | undefined): { namespace?: string } {
  if (kind.group === '' && kind.resource === 'namespaces') return { namespace: name };
  return namespace === undefined ? {} : { namespace };
}

const OPTIONS_KINDS: Readonly<Record<Operation, string>> = {
  CREATE: 'CreateOptions',
  UPDATE: 'UpdateOptions',
  DELETE: 'DeleteOptions',
  CONNECT: 'ConnectOptions',
};

function objectsOf(
  operation: Operation,
  object: KubeObject,
  old: KubeObject | undefined,
  subresource: string | undefined,
): { object: unknown; oldObject: unknown } {
  if (operation === 'DELETE') return { object: null, oldObject: old ?? object };
  if (operation !== 'UPDATE') return { object, oldObject: null };
  const before = old ?? object;
  // A write to `status` changes nothing else, and a write to the main resource does not change `status`.
  if (subresource === 'status') return { object: withStatus(before, object['status']), oldObject: before };
  const keepsStatus = subresource === undefined && Object.hasOwn(before, 'status');
  return { object: keepsStatus ? withStatus(object, before['status']) : object, oldObject: before };
}

function withStatus(object: KubeObject, status: unknown): KubeObject {
  return { ...object, ...(status === undefined ? {} : { status }) };
}

/** Wall-clock time does not matter to any rule, and the same input shall give the same review. */
const CREATED = '2026-01-01T00:00:00Z';

function completed(
  object: KubeObject,
  old: KubeObject | undefined,
  of: { readonly name: string; readonly namespace: string | undefined; readonly number: number },
): KubeObject {
  const before: ObjectMeta = old?.metadata ?? {};
  const { resourceVersion = before.resourceVersion, generation = before.generation } = object.metadata;
  return {
    ...object,
    metadata: {
      ...object.metadata,
      name: of.name,
      ...(of.namespace === undefined ? {} : { namespace: of.namespace }),
      uid: object.metadata.uid ?? before.uid ?? objectUid(of.number),
      creationTimestamp: object.metadata.creationTimestamp ?? before.creationTimestamp ?? CREATED,
      ...(resourceVersion === undefined ? {} : { resourceVersion }),
      ...(generation === undefined ? {} : { generation }),
    },
  };
}

/**
 * What `kubectl apply` makes of a manifest and the object in the cluster: what the manifest names is set, the rest
 * stays; lists are replaced as a whole. Fields that an earlier apply set and this one leaves out are not removed:
 * nobody knows here which those are.
 */
export function merged(manifest: KubeObject, old: KubeObject): KubeObject {
  return mergedValue(manifest, old) as KubeObject;
}

function mergedValue(wanted: unknown, old: unknown): unknown {
  if (!isPlainObject(wanted) || !isPlainObject(old)) return wanted;
  const entries = new Map(Object.entries(old));
  for (const [key, value] of Object.entries(wanted)) entries.set(key, mergedValue(value, entries.get(key)));
  // Defines every key as data, `__proto__` too.
  return Object.fromEntries(entries);
}

function isPlainObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !isBoxedDouble(value);
}

const reviewUid = (number: number): string => `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`;
const objectUid = (number: number): string => `00000000-0000-4000-9000-${String(number).padStart(12, '0')}`;

/** Who asks where nobody is named: the first administrator of a kubeadm cluster. */
export const DEFAULT_USER = 'kubernetes-admin';
const ADMINISTRATOR: UserInfo = {
  username: DEFAULT_USER,
  groups: ['kubeadm:cluster-admins', 'system:authenticated'],
};

/**
 * The user as an API server makes it of impersonation headers: ServiceAccounts get their groups, everybody but the
 * anonymous user is authenticated, and extra keys are lower-cased (node-identity.md NI29).
 */
export function impersonatedUser(of: {
  readonly username: string | undefined;
  readonly groups: readonly string[];
  readonly uid: string | undefined;
  readonly extra: readonly (readonly [key: string, value: string])[];
}): UserInfo {
  if (of.username === undefined) return ADMINISTRATOR;
  const groups = [...of.groups];
  const [, namespace] = /^system:serviceaccount:([^:]+):[^:]+$/.exec(of.username) ?? [];
  if (namespace !== undefined && of.groups.length === 0)
    groups.push('system:serviceaccounts', `system:serviceaccounts:${namespace}`);
  const last = of.username === 'system:anonymous' ? 'system:unauthenticated' : 'system:authenticated';
  if (!groups.includes(last)) groups.push(last);
  const extra = new Map<string, string[]>();
  for (const [key, value] of of.extra) {
    const name = key.toLowerCase();
    extra.set(name, [...(extra.get(name) ?? []), value]);
  }
  return {
    username: of.username,
    ...(of.uid === undefined ? {} : { uid: of.uid }),
    groups,
    ...(extra.size === 0 ? {} : { extra: Object.fromEntries(extra) }),
  };
}
