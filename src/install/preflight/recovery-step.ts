/** What a step of recovery is: a request that must pass for the gate, or the cluster below it, to come back. */
import type {
  AdmissionRequest,
  GroupVersionKind,
  KubeObject,
  Operation,
  OwnerReference,
  UserInfo,
} from '../../cluster/objects.ts';
import type { Kind } from '../../cluster/kinds.ts';
import { apiVersionOf } from '../../cluster/kinds.ts';

/**
 * - `necessary`: without it the gate does not come back, or what locks it out cannot be taken away.
 * - `comfort`: slower or by other means without it: a reinstallation, a drain, what GitOps would have done.
 */
export type Need = 'necessary' | 'comfort';

/** What a step belongs to, in the order of the report. */
export type StepGroup = 'gate' | 'nodes' | 'system' | 'cure' | 'reinstall' | 'gitops' | 'storage' | 'access';

export interface RecoveryStep {
  /** The same at every run, for scripts: `gate-pod-create`. */
  readonly id: string;
  readonly group: StepGroup;
  /** Who does what: `the ReplicaSet controller creates a Pod of the gate`. */
  readonly title: string;
  readonly need: Need;
  readonly kind: Kind;
  readonly request: AdmissionRequest;
}

/** What is known of the gate in this cluster; the steps are about these names and labels. */
export interface RecoverySite {
  /** Undefined where the gate runs outside the cluster. */
  readonly namespace?: string;
  /** Name of its Deployment, its Service, its ServiceAccount and its roles. */
  readonly name: string;
  /** Of its Deployment, and of the Pods. */
  readonly labels: Readonly<Record<string, string>>;
  readonly podLabels: Readonly<Record<string, string>>;
  /** Labels of the gate's Namespace. */
  readonly namespaceLabels: Readonly<Record<string, string>>;
  /** Namespaces whose ConfigMaps hold policies. */
  readonly policyNamespaces: readonly string[];
  /** What deploys the gate, as far as its objects tell. */
  readonly pointers: readonly Pointer[];
}

/** A gate that runs in the cluster. */
export type HousedSite = RecoverySite & { readonly namespace: string };

export function isHoused(site: RecoverySite): site is HousedSite {
  return site.namespace !== undefined;
}

/** An object of a GitOps tool that deploys the gate. */
export interface Pointer {
  readonly kind: Kind;
  readonly namespace: string;
  readonly name: string;
  /** As read; empty where it could not be. */
  readonly labels: Readonly<Record<string, string>>;
}

export interface StepDraft {
  readonly id: string;
  readonly title: string;
  readonly need: Need;
  readonly kind: Kind;
  readonly operation: Operation;
  readonly user: UserInfo;
  readonly namespace?: string;
  /** Left out for reviews, which have none. */
  readonly name?: string;
  readonly subResource?: string;
  /** Where the body is of another kind than the resource: Binding, Eviction, TokenRequest, Scale. */
  readonly bodyKind?: GroupVersionKind;
  readonly labels?: Readonly<Record<string, string>>;
  readonly owner?: OwnerReference;
  /** Top-level fields beside the envelope. */
  readonly fields?: Readonly<Record<string, unknown>>;
}

/** @returns what makes a draft about `subject`; `over` is what differs from it. */
export function about(
  subject: Omit<StepDraft, 'id' | 'operation' | 'title' | 'user'>,
): (
  id: string,
  operation: 'CREATE' | 'UPDATE' | 'DELETE',
  user: UserInfo,
  title: string,
  over?: Partial<StepDraft>,
) => StepDraft {
  return (id, operation, user, title, over) => ({ ...subject, id, operation, user, title, ...over });
}

const OPTIONS = { CREATE: 'CreateOptions', UPDATE: 'UpdateOptions', DELETE: 'DeleteOptions' } as const;

/** The request as an API server would put it before a webhook. */
export function stepOf(group: StepGroup, draft: StepDraft): RecoveryStep {
  const { id, title, need, kind, operation, user, namespace, name, subResource } = draft;
  const body = draft.bodyKind ?? { group: kind.group, version: kind.version, kind: kind.kind };
  const resource = { group: kind.group, version: kind.version, resource: kind.resource };
  const object = objectOf(draft, body);
  const options =
    operation === 'CONNECT'
      ? undefined
      : { apiVersion: 'meta.k8s.io/v1', kind: OPTIONS[operation], dryRun: ['All'] };
  return {
    id,
    group,
    title,
    need,
    kind,
    request: {
      uid: `preflight-${id}`,
      kind: body,
      resource,
      ...(subResource !== undefined && { subResource, requestSubResource: subResource }),
      requestKind: body,
      requestResource: resource,
      ...(name !== undefined && { name }),
      ...requestNamespace(kind, namespace, name),
      operation,
      userInfo: user,
      object: operation === 'DELETE' ? null : object,
      oldObject: operation === 'CREATE' ? null : object,
      dryRun: true,
      ...(options !== undefined && { options }),
    },
  };
}

/** Requests about a Namespace name it as their namespace. */
function requestNamespace(
  kind: Kind,
  namespace: string | undefined,
  name: string | undefined,
): { readonly namespace?: string } {
  const found = kind.group === '' && kind.resource === 'namespaces' ? name : namespace;
  return found === undefined ? {} : { namespace: found };
}

function objectOf(draft: StepDraft, body: GroupVersionKind): KubeObject {
  const { name, namespace, labels, owner, fields } = draft;
  return {
    apiVersion: apiVersionOf(body),
    kind: body.kind,
    metadata: {
      ...(name !== undefined && { name }),
      ...(namespace !== undefined && { namespace }),
      ...(labels !== undefined && { labels }),
      ...(owner !== undefined && { ownerReferences: [owner] }),
    },
    ...fields,
  };
}
