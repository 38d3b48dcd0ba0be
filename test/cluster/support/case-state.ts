/** What recorded cases need in a cluster before their requests: rights, namespaces, parameters and earlier objects. */
import type { RbacObject } from '../../conformance/rbac.ts';
import type { ApiClient } from './api-client.ts';
import { earlierObjects, namespaceObjects, paramObjects, type Prepared } from './case-objects.ts';
import { namespaceOf, type PolicyCase } from './policy-cases.ts';

const RBAC = '/apis/rbac.authorization.k8s.io/v1';

/** Puts everything in place that the cases have before their requests. */
export async function prepare(api: ApiClient, cases: readonly PolicyCase[]): Promise<void> {
  const create = ({ path, body }: Prepared): Promise<unknown> => api.demand({ method: 'POST', path, body });
  await Promise.all(roleObjects(cases).map(create));
  await Promise.all(cases.flatMap(namespaceObjects).map(create));
  await Promise.all(cases.flatMap((one) => [...paramObjects(one), ...earlierObjects(one)]).map(create));
}

/** Everybody may do what they do, and an authorizer that is asked answers as it was recorded. */
function roleObjects(cases: readonly PolicyCase[]): readonly Prepared[] {
  const objects = new Map<string, RbacObject>();
  for (const object of cases.flatMap((one) => one.rbac ?? [])) {
    const { kind, metadata } = object;
    // Those are there already.
    if (metadata.name.startsWith('system:') || metadata.name === 'cluster-admin') continue;
    objects.set(`${kind} ${metadata.name}`, object);
  }
  const own = cases.map((one) => `system:serviceaccounts:${namespaceOf(one)}`);
  const known = ['platform:admins', 'pacto-node-agent', 'pacto-node-agent-2', 'flux-system'];
  const groups = [known[0]!, ...known.slice(1).map((name) => `system:serviceaccounts:${name}`), ...own];
  const apiGroup = 'rbac.authorization.k8s.io';
  objects.set('ClusterRoleBinding platform-admins', {
    kind: 'ClusterRoleBinding',
    metadata: { name: 'platform-admins' },
    roleRef: { name: 'cluster-admin' },
    subjects: groups.map((name) => ({ kind: 'Group', apiGroup, name })),
  });
  return [...objects.values()].map(({ kind, metadata, roleRef, subjects, rules }) => ({
    path: `${RBAC}/${kind.toLowerCase()}s`,
    body: {
      apiVersion: `${apiGroup}/v1`,
      kind,
      metadata: { name: metadata.name },
      ...(rules !== undefined && { rules }),
      ...(subjects !== undefined && { subjects }),
      ...(roleRef !== undefined && { roleRef: { apiGroup, kind: 'ClusterRole', name: roleRef.name } }),
    },
  }));
}
