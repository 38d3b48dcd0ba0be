/**
 * What entries that are generated from policies never reach (webhook-operations.md R1, design decision 20): what a
 * cluster needs to recover while the gate is down, and what the gate needs for its own cure.
 */
import { EXEMPT_GROUP, EXEMPT_RESOURCES } from '../entry-reach.ts';
import { OWN_GROUP } from './entry-name.ts';
import type { NamedRule } from './types.ts';

/** A resource with all of its subresources, in every version. */
export interface Family {
  readonly group: string;
  /** `*`: every resource of the group. */
  readonly resource: string;
  /** `*` where not all of it is the same. */
  readonly scope: 'Cluster' | 'Namespaced' | '*';
  /** Whether the API server's own policies are about it: if not, nothing is lost (vap.md O03). */
  readonly isLost: boolean;
}

export const LEASE_GROUP = 'coordination.k8s.io';
export const LEASES = 'leases';
/** Where kubelets renew the Leases by which nodes count as alive. */
export const KUBELET_NAMESPACE = 'kube-node-lease';

const cluster = (group: string, resource: string, isLost = true): Family => ({
  group,
  resource,
  scope: 'Cluster',
  isLost,
});

/** By group and resource; an API server takes the two kinds of events for versions of each other. */
export const NEVER_REACHED: readonly Family[] = [
  { group: '', resource: 'events', scope: 'Namespaced', isLost: true },
  cluster('', 'nodes'),
  cluster('authentication.k8s.io', 'selfsubjectreviews', false),
  cluster('authentication.k8s.io', 'tokenreviews', false),
  {
    group: 'authorization.k8s.io',
    resource: 'localsubjectaccessreviews',
    scope: 'Namespaced',
    isLost: false,
  },
  cluster('authorization.k8s.io', 'selfsubjectaccessreviews', false),
  cluster('authorization.k8s.io', 'selfsubjectrulesreviews', false),
  cluster('authorization.k8s.io', 'subjectaccessreviews', false),
  cluster('certificates.k8s.io', 'certificatesigningrequests'),
  { group: 'events.k8s.io', resource: 'events', scope: 'Namespaced', isLost: true },
  { group: OWN_GROUP, resource: '*', scope: '*', isLost: true },
];

/** About these no webhook is asked, whatever an entry says (vap.md F5, webhook-operations.md W10). */
export const NEVER_ASKED: readonly Family[] = [...EXEMPT_RESOURCES]
  .toSorted()
  .map((resource) => cluster(EXEMPT_GROUP, resource, resource.endsWith('webhookconfigurations')));

/**
 * What an API server writes by itself, as system:apiserver, while it starts and as long as it runs. One that cannot write
 * its roles or its priority classes ends 30 s after its start (`rbac/bootstrap-roles`,
 * `scheduling/bootstrap-system-priority-classes` of kube-apiserver), one that cannot register a group is never ready, and
 * Pods look for API servers at the addresses of the Service `kubernetes`.
 */
export const WRITTEN_BY_API_SERVER: readonly Pick<Family, 'group' | 'resource'>[] = [
  { group: '', resource: 'endpoints' },
  { group: '', resource: 'namespaces' },
  { group: '', resource: 'services' },
  { group: 'apiextensions.k8s.io', resource: 'customresourcedefinitions' },
  { group: 'apiregistration.k8s.io', resource: 'apiservices' },
  { group: 'discovery.k8s.io', resource: 'endpointslices' },
  { group: 'flowcontrol.apiserver.k8s.io', resource: 'flowschemas' },
  { group: 'flowcontrol.apiserver.k8s.io', resource: 'prioritylevelconfigurations' },
  { group: 'internal.apiserver.k8s.io', resource: 'storageversions' },
  { group: 'networking.k8s.io', resource: 'ipaddresses' },
  { group: 'networking.k8s.io', resource: 'servicecidrs' },
  { group: 'rbac.authorization.k8s.io', resource: 'clusterrolebindings' },
  { group: 'rbac.authorization.k8s.io', resource: 'clusterroles' },
  { group: 'rbac.authorization.k8s.io', resource: 'rolebindings' },
  { group: 'rbac.authorization.k8s.io', resource: 'roles' },
  { group: 'scheduling.k8s.io', resource: 'priorityclasses' },
];

/**
 * For entries and native policies about some of that: of the API server itself by its group too, which only
 * administrators can impersonate. Cannot fail: name and groups may be missing.
 */
export const NO_API_SERVER =
  "!(has(request.userInfo.username) && request.userInfo.username == 'system:apiserver' && has(request.userInfo.groups) && 'system:masters' in request.userInfo.groups)";

/** Resources of Kubernetes itself that lie in no namespace, as `group/resource`: where nobody tells what is served. */
export const CLUSTER_SCOPED: ReadonlySet<string> = new Set([
  '/componentstatuses',
  '/namespaces',
  '/nodes',
  '/persistentvolumes',
  ...NEVER_ASKED.map(({ group, resource }) => `${group}/${resource}`),
  'apiextensions.k8s.io/customresourcedefinitions',
  'apiregistration.k8s.io/apiservices',
  'authentication.k8s.io/selfsubjectreviews',
  'authentication.k8s.io/tokenreviews',
  'authorization.k8s.io/selfsubjectaccessreviews',
  'authorization.k8s.io/selfsubjectrulesreviews',
  'authorization.k8s.io/subjectaccessreviews',
  'certificates.k8s.io/certificatesigningrequests',
  'certificates.k8s.io/clustertrustbundles',
  'flowcontrol.apiserver.k8s.io/flowschemas',
  'flowcontrol.apiserver.k8s.io/prioritylevelconfigurations',
  'networking.k8s.io/ingressclasses',
  'networking.k8s.io/ipaddresses',
  'networking.k8s.io/servicecidrs',
  'node.k8s.io/runtimeclasses',
  'rbac.authorization.k8s.io/clusterrolebindings',
  'rbac.authorization.k8s.io/clusterroles',
  'resource.k8s.io/deviceclasses',
  'resource.k8s.io/resourceslices',
  'scheduling.k8s.io/priorityclasses',
  'storage.k8s.io/csidrivers',
  'storage.k8s.io/csinodes',
  'storage.k8s.io/storageclasses',
  'storage.k8s.io/volumeattachments',
  'storage.k8s.io/volumeattributesclasses',
]);

/** The resource of a pattern, without its subresource. */
export function mainOf(pattern: string): string {
  const slash = pattern.indexOf('/');
  return slash === -1 ? pattern : pattern.slice(0, slash);
}

/** Whether a pair of a rule is about some of the family; scope is not looked at. */
export function meets(group: string, pattern: string, family: Pick<Family, 'group' | 'resource'>): boolean {
  const main = mainOf(pattern);
  return (
    (group === '*' || group === family.group) &&
    (family.resource === '*' || main === '*' || main === family.resource)
  );
}

/** Whether some pair of these rules is about some of the families; scope is not looked at. */
export function reachesSome(
  rules: readonly Pick<NamedRule, 'apiGroups' | 'resources'>[],
  families: readonly Pick<Family, 'group' | 'resource'>[],
): boolean {
  return rules.some(({ apiGroups, resources }) =>
    apiGroups.some((group) =>
      resources.some((pattern) => families.some((family) => meets(group, pattern, family))),
    ),
  );
}

/** Whether it is about nothing else. */
export function liesIn(group: string, pattern: string, family: Pick<Family, 'group' | 'resource'>): boolean {
  return group === family.group && (family.resource === '*' || mainOf(pattern) === family.resource);
}

/** A rule for one of the two groups of events matches events of the other, too. */
export function withEquivalents(families: readonly Family[]): readonly Family[] {
  const hasEvents = families.some(({ resource }) => resource === 'events');
  return NEVER_REACHED.filter(
    (family) => families.includes(family) || (hasEvents && family.resource === 'events'),
  );
}
