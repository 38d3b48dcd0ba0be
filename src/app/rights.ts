/**
 * All that the role webhooks asks of the API server under a given configuration, as RBAC: the other side of state.ts,
 * which makes the calls. The cluster tests hold the audit log against it.
 */
import { isNamespace, paramKindsOf, policyNamespaces, wantsPolicies } from './policy-settings.ts';
import {
  APPROVAL,
  CONFIG_MAP,
  DAEMON_SET,
  GATE_POLICY,
  GATE_POLICY_BINDING,
  GIT_REPOSITORY,
  HELM_RELEASE,
  KUSTOMIZATION,
  NAMESPACE,
  NODE,
  OCI_REPOSITORY,
  OPERATION,
  PACTO,
  POD,
  STAGE,
  type Kind,
} from '../cluster/kinds.ts';
import { SUBJECT_ACCESS_REVIEW, TOKEN_REVIEW } from '../cluster/reviews.ts';
import type { Config } from '../config.ts';
import { IDENTITY_POLICY } from '../policies/delivery/names.ts';
import { identitySettings } from '../policies/identity/settings.ts';
import { paramKindOf } from '../webhooks/param-kinds.ts';

export interface PolicyRule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly verbs: readonly string[];
}

export interface Account {
  readonly namespace: string;
  readonly name: string;
}

export interface Rights {
  readonly cluster: readonly PolicyRule[];
  readonly namespaces: ReadonlyMap<string, readonly PolicyRule[]>;
}

/** Of the role webhooks; nothing of it is a write. */
export function webhookRights(config: Config, { namespace: ownNamespace }: Account): Rights {
  const { identity, metrics, webhooks } = config;
  const read = config.state === 'live' ? ['get'] : ['get', 'list', 'watch'];
  const cluster: PolicyRule[] = [];
  const namespaces = new Map<string, PolicyRule[]>();
  const inNamespacesOf = (named: readonly { namespace: string }[], rule: PolicyRule): void => {
    for (const namespace of new Set(named.map((one) => one.namespace)))
      namespaces.set(namespace, [...(namespaces.get(namespace) ?? []), rule]);
  };
  if (identity.enabled) {
    const { agents, pods } = identitySettings(identity);
    if (identity.podLookup !== 'never') inNamespacesOf(agents, ruleFor(POD, read));
    if (identity.pods.enabled) inNamespacesOf(pods.daemonSets, ruleFor(DAEMON_SET, ['get']));
    if (identity.requireNodeUid) cluster.push(ruleFor(NODE, read));
    // After a Pod look-up: the uid of the Node, for an ownerReference to it.
    else if (identity.podLookup !== 'never') cluster.push(ruleFor(NODE, ['get']));
  }
  // A default of the machine that the roles are made on says nothing of the one that they are for.
  const scrapersProve = metrics.enabled && (!metrics.plain || metrics.isPlainByDefault);
  if (scrapersProve || webhooks.auth === 'bearer') cluster.push(ruleFor(TOKEN_REVIEW, ['create']));
  if (scrapersProve) cluster.push(ruleFor(SUBJECT_ACCESS_REVIEW, ['create']));
  cluster.push(...policyRules(config, scrapersProve));
  if (config.delivery.enabled) {
    const asks = scrapersProve || wantsPolicies(config);
    cluster.push(...deliveryRules(config), ...(asks ? [] : [ruleFor(SUBJECT_ACCESS_REVIEW, ['create'])]));
    inNamespacesOf([config.delivery], {
      ...ruleFor(CONFIG_MAP, read),
      resourceNames: [IDENTITY_POLICY.configMap],
    });
  }
  const policyMaps = policyNamespaces({
    ...config,
    environment: { ...config.environment, podNamespace: ownNamespace },
  });
  inNamespacesOf(
    policyMaps.map((namespace) => ({ namespace })),
    ruleFor(CONFIG_MAP, followVerbs(config)),
  );
  return { cluster, namespaces };
}

/** What policies look up, and where they come from; nothing of it is written. */
function policyRules(config: Config, reviewsAccess: boolean): readonly PolicyRule[] {
  if (!wantsPolicies(config)) return [];
  const { sources, paramKinds } = config.policies;
  const follow = followVerbs(config);
  const selectsNamespaces = paramKinds.map(paramKindOf).some(isNamespace);
  return [
    ruleFor(NAMESPACE, selectsNamespaces || config.state === 'cached' ? ['get', ...follow] : ['get']),
    // By name, and by labels where a binding selects.
    ...paramKindsOf(paramKinds).map((kind) => ruleFor(kind, ['get', ...follow])),
    ...(sources.includes('customResources')
      ? [
          // By name for whoever writes a binding: what its policy asks of them.
          ruleFor(GATE_POLICY, ['get', ...follow]),
          ruleFor(GATE_POLICY_BINDING, follow),
        ]
      : []),
    ...(reviewsAccess ? [] : [ruleFor(SUBJECT_ACCESS_REVIEW, ['create'])]),
  ];
}

/** What the delivery gate looks up: its own kinds and verdicts, and by exact name what Flux has. */
function deliveryRules(config: Config): readonly PolicyRule[] {
  const follow = followVerbs(config);
  return [
    ...[STAGE, OPERATION, APPROVAL].map((kind) => ruleFor(kind, ['get', ...follow])),
    ruleFor(PACTO, config.state === 'live' ? ['get'] : ['get', ...follow]),
    ...[OCI_REPOSITORY, GIT_REPOSITORY, KUSTOMIZATION, HELM_RELEASE].map((kind) => ruleFor(kind, ['get'])),
    // Whether it is going away.
    ruleFor(NAMESPACE, ['get']),
  ];
}

/** Without watches a list is all there is. */
function followVerbs({ state }: Pick<Config, 'state'>): readonly string[] {
  return state === 'live' ? ['list'] : ['list', 'watch'];
}

function ruleFor(kind: Pick<Kind, 'group' | 'resource'>, verbs: readonly string[]): PolicyRule {
  return { apiGroups: [kind.group], resources: [kind.resource], verbs };
}
