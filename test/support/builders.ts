/**
 * Objects and reviews for tests. A builder takes what the test is about and fills in the rest as a real API server
 * would, the same at every call: a uid follows from kind, namespace and name.
 */
import { createHash } from 'node:crypto';

import type { Kind } from '../../src/cluster/kinds.ts';
import * as kinds from '../../src/cluster/kinds.ts';
import type {
  AdmissionRequest,
  GroupVersionKind,
  KubeObject,
  ObjectMeta,
  Operation,
  UserInfo,
} from '../../src/cluster/objects.ts';

/** Namespace and name of the agents' ServiceAccount wherever a test does not choose others. */
export const AGENT_NAMESPACE = 'pacto-node-agent';
export const AGENT_ACCOUNT = 'pacto-node-agent';

/** When everything built here was created: the start of FakeClock. */
const CREATED = '2026-01-01T00:00:00Z';

/** The uid that a built object of this name has. */
export function uidOf(kind: string, name: string, namespace = ''): string {
  const hex = createHash('sha256').update(`${kind}/${namespace}/${name}`).digest('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

/** `metadata` in its parts, and whatever else the test wants to have on top of the object. */
export interface ObjectOptions extends ObjectMeta {
  /** Whole top-level fields (`spec`, `status`, `data`, …) in place of the ones that would be built. */
  readonly with?: Readonly<Record<string, unknown>>;
}

/** @returns an object of any kind with full metadata; `fields` are its top-level fields. */
export function anObject(
  kind: Kind,
  options: ObjectOptions,
  fields: Readonly<Record<string, unknown>> = {},
): KubeObject {
  const { with: instead, ...given } = options;
  const name = given.name ?? (given.generateName === undefined ? 'web' : undefined);
  const namespace = kind.namespaced ? (given.namespace ?? 'default') : undefined;
  const metadata: ObjectMeta = {
    ...(name !== undefined && { name, uid: uidOf(kind.kind, name, namespace) }),
    ...(namespace !== undefined && { namespace }),
    creationTimestamp: CREATED,
    ...given,
  };
  return { apiVersion: kinds.apiVersionOf(kind), kind: kind.kind, metadata, ...fields, ...instead };
}

export interface NodeOptions extends ObjectOptions {
  readonly ready?: boolean;
}

/** @returns a Node, by default `node-a` and ready. */
export function aNode({ ready = true, ...options }: NodeOptions = {}): KubeObject {
  const name = options.name ?? 'node-a';
  return anObject(
    kinds.NODE,
    { ...options, name, labels: { 'kubernetes.io/hostname': name, ...options.labels } },
    { spec: {}, status: { conditions: [{ type: 'Ready', status: ready ? 'True' : 'False' }] } },
  );
}

export interface ConfigMapOptions extends ObjectOptions {
  readonly data?: Readonly<Record<string, string>>;
}

export function aConfigMap({ data = {}, ...options }: ConfigMapOptions = {}): KubeObject {
  return anObject(kinds.CONFIG_MAP, options, { data });
}

export interface PodOptions extends ObjectOptions {
  /** `spec.nodeName`; left out: not scheduled. */
  readonly node?: string;
  readonly serviceAccount?: string;
  readonly image?: string;
  readonly phase?: string;
  /** Becomes the controller owner, such as `aDaemonSet()`. */
  readonly controller?: KubeObject;
}

/** @returns a Pod of one container, by default `web` in `default` with its default account and no node. */
export function aPod(options: PodOptions = {}): KubeObject {
  const {
    node,
    serviceAccount = 'default',
    image = 'registry.example/web:1',
    phase,
    controller,
    ...rest
  } = options;
  const owners = controller === undefined ? undefined : [ownerReferenceTo(controller)];
  return anObject(
    kinds.POD,
    { ...(owners !== undefined && { ownerReferences: owners }), ...rest },
    {
      spec: {
        serviceAccountName: serviceAccount,
        ...(node !== undefined && { nodeName: node }),
        containers: [{ name: 'main', image }],
      },
      status: { phase: phase ?? (node === undefined ? 'Pending' : 'Running') },
    },
  );
}

/** @returns the Pod of the node agent on a node: `agent-<node>`, owned by the agents' DaemonSet. */
export function anAgentPod({ node = 'node-a', ...options }: PodOptions = {}): KubeObject {
  return aPod({
    name: `agent-${node}`,
    namespace: AGENT_NAMESPACE,
    serviceAccount: AGENT_ACCOUNT,
    controller: aDaemonSet(),
    node,
    ...options,
  });
}

/** @returns a DaemonSet, by default the agents'. */
export function aDaemonSet(options: ObjectOptions = {}): KubeObject {
  const name = options.name ?? AGENT_ACCOUNT;
  const labels = { app: name };
  return anObject(
    kinds.DAEMON_SET,
    { namespace: AGENT_NAMESPACE, ...options, name },
    {
      spec: {
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: { serviceAccountName: AGENT_ACCOUNT } },
      },
    },
  );
}

/** @returns the reference by which `owner` controls another object. */
export function ownerReferenceTo(owner: KubeObject): NonNullable<ObjectMeta['ownerReferences']>[number] {
  const { name, uid } = owner.metadata;
  return {
    apiVersion: owner.apiVersion,
    kind: owner.kind,
    ...(name !== undefined && { name }),
    ...(uid !== undefined && { uid }),
    controller: true,
  };
}

export interface LeaseOptions extends ObjectOptions {
  /** `spec.holderIdentity`, by default the name; null: not set. */
  readonly holder?: string | null;
  readonly renewTime?: string;
}

/** @returns a Lease, by default of `node-a` in the agents' namespace, held by its name. */
export function aLease({ holder, renewTime, ...options }: LeaseOptions = {}): KubeObject {
  const name = options.name ?? (options.generateName === undefined ? 'node-a' : undefined);
  const identity = holder === undefined ? name : holder;
  return anObject(
    kinds.LEASE,
    { namespace: AGENT_NAMESPACE, ...options, ...(name !== undefined && { name }) },
    {
      spec: {
        ...(identity !== undefined && identity !== null && { holderIdentity: identity }),
        leaseDurationSeconds: 40,
        renewTime: renewTime ?? '2026-01-01T00:00:00.000000Z',
      },
    },
  );
}

export interface ObservationOptions extends ObjectOptions {
  /** `spec.nodeName`, by default the name. */
  readonly node?: string;
  /** `status.nodeName`; left out: no status. */
  readonly statusNode?: string;
}

/** @returns a NodeRuntimeObservation, by default of `node-a` in the agents' namespace. */
export function anObservation({ node, statusNode, ...options }: ObservationOptions = {}): KubeObject {
  const name = options.name ?? (options.generateName === undefined ? 'node-a' : undefined);
  return anObject(
    kinds.NODE_RUNTIME_OBSERVATION,
    { namespace: AGENT_NAMESPACE, ...options, ...(name !== undefined && { name }) },
    {
      spec: { nodeName: node ?? name ?? 'node-a' },
      ...(statusNode !== undefined && { status: { nodeName: statusNode } }),
    },
  );
}

export interface TokenRequestOptions {
  readonly audiences?: readonly string[];
  readonly boundTo?: { readonly kind: string; readonly name: string; readonly uid?: string };
}

/** @returns the body of a POST to `serviceaccounts/token`, as an admission review carries it. */
export function aTokenRequest({ audiences = [], boundTo }: TokenRequestOptions = {}): KubeObject {
  return {
    apiVersion: 'authentication.k8s.io/v1',
    kind: 'TokenRequest',
    metadata: { creationTimestamp: CREATED },
    spec: {
      audiences,
      expirationSeconds: 3607,
      boundObjectRef: boundTo === undefined ? null : { apiVersion: 'v1', ...boundTo },
    },
    status: { token: '', expirationTimestamp: null },
  };
}

/** @returns a person or component as the API server describes one after a client certificate. */
export function aUser(options: UserInfo = {}): UserInfo {
  return { username: 'alice', groups: ['system:authenticated'], ...options };
}

export interface ServiceAccountUserOptions {
  readonly namespace?: string;
  readonly name?: string;
  /** On top of the rest; `extra` replaces what would be built. */
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

/** @returns a ServiceAccount as a user, without any claim. */
export function aServiceAccountUser(options: ServiceAccountUserOptions = {}): UserInfo {
  const { namespace = AGENT_NAMESPACE, name = AGENT_ACCOUNT, extra } = options;
  return {
    username: `system:serviceaccount:${namespace}:${name}`,
    uid: uidOf('ServiceAccount', name, namespace),
    groups: ['system:serviceaccounts', `system:serviceaccounts:${namespace}`, 'system:authenticated'],
    ...(extra !== undefined && { extra }),
  };
}

export interface AgentOptions extends ServiceAccountUserOptions {
  /** The node of the token, by default `node-a`; null: the API server puts no node into tokens (before 1.30). */
  readonly node?: string | null;
  /** By default the uid of `aNode({ name: node })`; null: the Node was missing when the token was issued. */
  readonly nodeUid?: string | null;
  /** By default `anAgentPod({ node })`; null: the token is bound to the Node itself. */
  readonly pod?: KubeObject | null;
}

/** @returns a node agent as the API server describes it after a token bound to its Pod (node-identity.md §3.1). */
export function anAgent(options: AgentOptions = {}): UserInfo {
  const { node = 'node-a', nodeUid, pod, ...account } = options;
  const boundPod = pod === undefined ? anAgentPod({ node: node ?? 'node-a' }) : pod;
  const wantNodeUid = nodeUid === undefined ? uidOf('Node', node ?? '') : nodeUid;
  const claims = {
    'authentication.kubernetes.io/credential-id': ['JTI=86faa192-e400-4a89-b5fd-a8a611df924f'],
    ...(node !== null && { 'authentication.kubernetes.io/node-name': [node] }),
    ...(node !== null && wantNodeUid !== null && { 'authentication.kubernetes.io/node-uid': [wantNodeUid] }),
    ...(boundPod !== null && {
      'authentication.kubernetes.io/pod-name': [boundPod.metadata.name ?? ''],
      'authentication.kubernetes.io/pod-uid': [boundPod.metadata.uid ?? ''],
    }),
  };
  return aServiceAccountUser({ extra: claims, ...account });
}

/** @returns a kubelet as a user. */
export function aKubelet(node = 'node-a'): UserInfo {
  return { username: `system:node:${node}`, groups: ['system:nodes', 'system:authenticated'] };
}

export interface ReviewOptions {
  readonly uid?: string;
  /** By default UPDATE where there are two objects, DELETE where only the old one is, else CREATE. */
  readonly operation?: Operation;
  /** Of the resource; by default found by the object's kind, else Lease. */
  readonly kind?: Kind;
  readonly subResource?: string;
  /** Where the body is of another kind than the resource (TokenRequest, Eviction); by default as `kind`. */
  readonly bodyKind?: GroupVersionKind;
  /** The version that the client used, where `matchPolicy: Equivalent` converted it. */
  readonly requestVersion?: string;
  /** By default the object's; empty: left out, as in a delete collection. */
  readonly name?: string;
  readonly namespace?: string;
  readonly user?: UserInfo;
  /** Replaces `extra` of the user. */
  readonly extra?: Readonly<Record<string, readonly string[]>>;
  readonly object?: KubeObject | null;
  readonly oldObject?: KubeObject | null;
  readonly dryRun?: boolean;
  readonly options?: Readonly<Record<string, unknown>>;
  /** Last of all, over the fields of `request`; undefined removes one. */
  readonly with?: Readonly<Record<string, unknown>>;
  /** By default v1. */
  readonly version?: 'v1' | 'v1beta1';
}

export interface AdmissionReview {
  readonly kind: 'AdmissionReview';
  readonly apiVersion: string;
  readonly request: AdmissionRequest;
}

/** @returns an AdmissionReview with all fields that the API server sends, in its order. */
export function aReview(options: ReviewOptions = {}): AdmissionReview {
  const { user = aUser(), dryRun = false, object = null, oldObject = null, subResource, extra } = options;
  const operation = options.operation ?? operationOf(object, oldObject);
  const { kind, name, namespace } = subjectOf(options, object ?? oldObject);
  const body = options.bodyKind ?? { group: kind.group, version: kind.version, kind: kind.kind };
  const resource = { group: kind.group, version: kind.version, resource: kind.resource };
  const asked = options.requestVersion === undefined ? {} : { version: options.requestVersion };
  const request = {
    uid: options.uid ?? uidOf('AdmissionReview', `${operation}/${kind.resource}/${namespace}/${name}`),
    kind: body,
    resource,
    subResource,
    requestKind: { ...body, ...asked },
    requestResource: { ...resource, ...asked },
    requestSubResource: subResource,
    name: name === '' ? undefined : name,
    namespace: namespace === '' ? undefined : namespace,
    operation,
    userInfo: extra === undefined ? user : { ...user, extra },
    object,
    oldObject,
    dryRun,
    options: options.options ?? optionsOf(operation, dryRun),
    ...options.with,
  };
  return {
    kind: 'AdmissionReview',
    apiVersion: `admission.k8s.io/${options.version ?? 'v1'}`,
    request: withoutUndefined(request) as AdmissionRequest,
  };
}

/** @returns `request` of `aReview`. */
export function anAdmissionRequest(options: ReviewOptions = {}): AdmissionRequest {
  return aReview(options).request;
}

function operationOf(object: KubeObject | null, oldObject: KubeObject | null): Operation {
  if (oldObject === null) return 'CREATE';
  return object === null ? 'DELETE' : 'UPDATE';
}

function subjectOf(
  options: ReviewOptions,
  subject: KubeObject | null,
): { kind: Kind; name: string; namespace: string } {
  return {
    kind: options.kind ?? kindOf(subject) ?? kinds.LEASE,
    name: options.name ?? subject?.metadata.name ?? '',
    namespace: options.namespace ?? subject?.metadata.namespace ?? '',
  };
}

function kindOf(object: KubeObject | null): Kind | undefined {
  const all = Object.values(kinds).filter((value): value is Kind => typeof value === 'object');
  return all.find((k) => k.kind === object?.kind && kinds.apiVersionOf(k) === object.apiVersion);
}

function optionsOf(operation: Operation, dryRun: boolean): Readonly<Record<string, unknown>> {
  const word = { CREATE: 'Create', UPDATE: 'Update', DELETE: 'Delete', CONNECT: undefined }[operation];
  if (word === undefined) return { kind: 'PodExecOptions', apiVersion: 'v1' };
  return { kind: `${word}Options`, apiVersion: 'meta.k8s.io/v1', ...(dryRun && { dryRun: ['All'] }) };
}

function withoutUndefined(fields: object): object {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}
