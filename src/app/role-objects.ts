/** Roles and their bindings, from what the roles of the program ask of the API server. */
import { installerRights } from './installer-rights.ts';
import { webhookRights, type Account, type PolicyRule } from './rights.ts';
import type { Config } from '../config.ts';

const RBAC_GROUP = 'rbac.authorization.k8s.io';

/** Roles and bindings for the ServiceAccount that these roles of the program run under; stable for the same input. */
export function rbacObjects(config: Config, account: Account): readonly object[] {
  const isInstaller = config.roles.includes('installer');
  const rights = isInstaller ? installerRights(config, account) : webhookRights(config, account);
  const component = isInstaller ? 'installer' : 'webhooks';
  const labels = { 'app.kubernetes.io/name': 'pacto-gate', 'app.kubernetes.io/component': component };
  const subjects = [{ kind: 'ServiceAccount', name: account.name, namespace: account.namespace }];
  const bound = (
    kind: 'ClusterRole' | 'Role',
    rules: readonly PolicyRule[],
    namespace?: string,
  ): object[] => {
    const metadata = {
      name: account.name,
      ...(namespace === undefined ? {} : { namespace }),
      labels,
    };
    const apiVersion = `${RBAC_GROUP}/v1`;
    return [
      { apiVersion, kind, metadata, rules },
      {
        apiVersion,
        kind: `${kind}Binding`,
        metadata,
        roleRef: { apiGroup: RBAC_GROUP, kind, name: account.name },
        subjects,
      },
    ];
  };
  return [
    ...(rights.cluster.length === 0 ? [] : bound('ClusterRole', rights.cluster)),
    ...[...rights.namespaces.keys()]
      .toSorted()
      .flatMap((namespace) => bound('Role', rights.namespaces.get(namespace) ?? [], namespace)),
  ];
}
