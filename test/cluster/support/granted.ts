/** What our server may do on a control plane by the roles that were applied for it, and what it did. */
import type { ApiClient } from './api-client.ts';
import type { AuditEvent } from './audit-log.ts';
import { GATE_ACCOUNT } from './gate.ts';

const RBAC = '/apis/rbac.authorization.k8s.io/v1';

interface Rule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
}

/** `get apps/daemonsets`, `update apps/daemonsets/status`, or the path of what is no resource. */
export function deedOf({ verb, objectRef, requestURI }: AuditEvent): string {
  if (objectRef?.resource === undefined) return `${verb} ${requestURI}`;
  const { apiGroup = '', resource, subresource } = objectRef;
  return `${verb} ${apiGroup}/${resource}${subresource === undefined ? '' : `/${subresource}`}`;
}

/** What the roles allow, as `namespace: verb group/resource`; nothing before the colon for the whole cluster. */
export async function granted(
  api: Pick<ApiClient, 'demand'>,
  namespaces: readonly string[],
  account = GATE_ACCOUNT,
): Promise<Set<string>> {
  const paths = {
    '': `${RBAC}/clusterroles/${account}`,
    ...Object.fromEntries(namespaces.map((name) => [name, `${RBAC}/namespaces/${name}/roles/${account}`])),
  };
  const all = new Set<string>();
  for (const [namespace, path] of Object.entries(paths)) {
    const { rules } = (await api.demand({ method: 'GET', path })) as unknown as { rules: Rule[] };
    for (const { apiGroups, resources, verbs } of rules)
      for (const verb of verbs) all.add(`${namespace}: ${verb} ${apiGroups[0]}/${resources[0]}`);
  }
  return all;
}

/** Those that no role allows. */
export function beyond(events: readonly AuditEvent[], rights: ReadonlySet<string>): readonly AuditEvent[] {
  return events.filter((event) => {
    if (event.objectRef?.resource === undefined) return false;
    const deed = deedOf(event);
    return !rights.has(`: ${deed}`) && !rights.has(`${event.objectRef.namespace ?? ''}: ${deed}`);
  });
}
