/** Roles and their bindings, from what the roles of the program ask of the API server. */
import { installerRights } from './installer-rights.ts';
import { reconcilerRights } from './reconciler-rights.ts';
import { webhookRights, type Account, type PolicyRule, type Rights } from './rights.ts';
import type { Config } from '../config.ts';

const RBAC_GROUP = 'rbac.authorization.k8s.io';

const RIGHTS = {
  webhooks: webhookRights,
  reconciler: reconcilerRights,
  installer: installerRights,
} as const satisfies Record<Config['roles'][number], (config: Config, account: Account) => Rights>;

/** Roles and bindings for the ServiceAccount that these roles of the program run under; stable for the same input. */
export function rbacObjects(config: Config, account: Account): readonly object[] {
  const roles = new Set(config.roles);
  const rights = together([...roles].map((role) => RIGHTS[role](config, account)));
  const [only = 'server'] = roles;
  const labels = {
    'app.kubernetes.io/name': 'pacto-gate',
    'app.kubernetes.io/component': roles.size > 1 ? 'server' : only,
  };
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

/** What several roles of the program ask, in one process under one account: each rule once. */
function together(all: readonly Rights[]): Rights {
  const namespaces = new Set(all.flatMap((rights) => [...rights.namespaces.keys()]));
  return {
    cluster: distinct(all.flatMap(({ cluster }) => cluster)),
    namespaces: new Map(
      [...namespaces].map((name) => [
        name,
        distinct(all.flatMap((rights) => rights.namespaces.get(name) ?? [])),
      ]),
    ),
  };
}

function distinct(rules: readonly PolicyRule[]): readonly PolicyRule[] {
  return [...new Map(rules.map((rule) => [JSON.stringify(rule), rule])).values()];
}
