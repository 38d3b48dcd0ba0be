/**
 * All that the role installer asks of the API server, as RBAC: the other side of installer.ts. It alone may write
 * (design decision 18), and no more than it writes: named objects where RBAC can name them.
 */
import { paramKindsOf, policyNamespaces } from './policy-settings.ts';
import type { Account, PolicyRule, Rights } from './rights.ts';
import { gateNamespaceOf } from './target.ts';
import { API_SERVER_NAMESPACE, ENDPOINT_SLICE } from '../cluster/api-servers.ts';
import {
  CONFIG_MAP,
  GATE_POLICY,
  GATE_POLICY_BINDING,
  LEASE,
  NATIVE_POLICY,
  NATIVE_POLICY_BINDING,
  VALIDATING_WEBHOOK_CONFIGURATION,
  type Kind,
} from '../cluster/kinds.ts';
import { SUBJECT_ACCESS_REVIEW, TOKEN_REVIEW } from '../cluster/reviews.ts';
import type { Config } from '../config.ts';
import { INSTALLER_LEASE } from '../install/names.ts';
import { IDENTITY_CONFIGURATION } from '../policies/identity/entries.ts';
import { POLICIES_CONFIGURATION } from '../policies/vap/entries.ts';

export function installerRights(config: Config, account: Account): Rights {
  const settings = { ...config, environment: { ...config.environment, podNamespace: account.namespace } };
  const namespaces = new Map<string, PolicyRule[]>();
  const within = (namespace: string, ...rules: readonly PolicyRule[]): void => {
    namespaces.set(namespace, [...(namespaces.get(namespace) ?? []), ...rules]);
  };
  const own = gateNamespaceOf(settings) ?? account.namespace;
  within(
    own,
    // A creation has no name yet that RBAC could look at.
    rule(LEASE, ['create']),
    { ...rule(LEASE, ['get', 'update']), resourceNames: [INSTALLER_LEASE] },
    // For the canary's, which is a dry run.
    rule(CONFIG_MAP, ['create']),
  );
  within(API_SERVER_NAMESPACE, rule(ENDPOINT_SLICE, ['list']));
  for (const namespace of policyNamespaces(settings)) within(namespace, rule(CONFIG_MAP, follow(config)));
  return { cluster: clusterRules(config), namespaces };
}

function clusterRules(config: Config): readonly PolicyRule[] {
  const { metrics, policies } = config;
  const scrapersProve = metrics.enabled && (!metrics.plain || metrics.isPlainByDefault);
  const writesNative = policies.enforcement !== 'webhooks';
  return [
    {
      // Listed and watched by name, which is what RBAC allows then.
      ...rule(VALIDATING_WEBHOOK_CONFIGURATION, ['get', 'list', 'watch', 'patch']),
      resourceNames: [POLICIES_CONFIGURATION, IDENTITY_CONFIGURATION],
    },
    // What was written before is removed whatever is configured now.
    ...[NATIVE_POLICY, NATIVE_POLICY_BINDING].map((kind) =>
      rule(kind, [...(writesNative ? ['create', 'get', 'update'] : []), 'list', 'watch', 'delete']),
    ),
    // The API server asks it of whoever writes a native policy with a paramKind (vap.md F10).
    ...(writesNative ? paramKindsOf(policies.paramKinds).map((kind) => rule(kind, ['get'])) : []),
    ...(policies.sources.includes('customResources')
      ? [
          rule(GATE_POLICY, ['get', ...follow(config)]),
          rule(GATE_POLICY_BINDING, follow(config)),
          { ...rule(GATE_POLICY, ['update']), resources: [`${GATE_POLICY.resource}/status`] },
        ]
      : []),
    ...(scrapersProve ? [rule(TOKEN_REVIEW, ['create']), rule(SUBJECT_ACCESS_REVIEW, ['create'])] : []),
  ];
}

function follow({ state }: Config): readonly string[] {
  return state === 'live' ? ['list'] : ['list', 'watch'];
}

function rule({ group, resource }: Pick<Kind, 'group' | 'resource'>, verbs: readonly string[]): PolicyRule {
  return { apiGroups: [group], resources: [resource], verbs };
}
