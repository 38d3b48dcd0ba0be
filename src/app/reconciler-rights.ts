/**
 * All that the role reconciler asks of the API server, as RBAC: the other side of reconciler.ts. It writes Pacto's own
 * kinds, events and one Lease, and nothing that it watches.
 */
import type { Account, PolicyRule, Rights } from './rights.ts';
import { leaseNamespaceOf } from './reconciler-settings.ts';
import {
  APPROVAL,
  CONFIG_MAP,
  DEPLOYMENT,
  ENDPOINT_SLICE,
  EVENT,
  GIT_REPOSITORY,
  HELM_RELEASE,
  HTTP_ROUTE,
  INGRESS,
  KUSTOMIZATION,
  LEASE,
  NODE_RUNTIME_OBSERVATION,
  OCI_REPOSITORY,
  OPERATION,
  PACTO,
  PACTO_REVISION,
  POD_MONITOR,
  SECRET,
  SERVICE,
  SERVICE_MONITOR,
  STAGE,
  STATEFUL_SET,
  VALIDATING_WEBHOOK_CONFIGURATION,
  type Kind,
} from '../cluster/kinds.ts';
import { SUBJECT_ACCESS_REVIEW, TOKEN_REVIEW } from '../cluster/reviews.ts';
import type { Config } from '../config.ts';
import { DELIVERY_CONFIGURATION } from '../policies/delivery/entries.ts';
import { IDENTITY_POLICY } from '../policies/delivery/names.ts';
import { RECONCILER_LEASE } from '../reconcile/lease.ts';
import { WORKLOAD_KINDS } from '../reconcile/target.ts';

/** Of the role reconciler, for the ServiceAccount that it runs under. */
export function reconcilerRights(config: Config, account: Account): Rights {
  const namespaces = new Map<string, PolicyRule[]>();
  const within = (namespace: string, ...rules: readonly PolicyRule[]): void => {
    namespaces.set(namespace, [...(namespaces.get(namespace) ?? []), ...rules]);
  };
  const own = leaseNamespaceOf({
    ...config,
    environment: { ...config.environment, podNamespace: account.namespace },
  });
  within(
    own,
    // A creation has no name yet that RBAC could look at.
    rule(LEASE, ['create']),
    { ...rule(LEASE, ['get', 'update']), resourceNames: [RECONCILER_LEASE] },
  );
  const { namespaces: watched, nodeAgentNamespace } = config.reconciler;
  if (nodeAgentNamespace !== undefined)
    within(nodeAgentNamespace, rule(NODE_RUNTIME_OBSERVATION, read(config)), rule(LEASE, read(config)));
  for (const namespace of watched) within(namespace, ...watchedRules(config));
  const keeps = config.delivery.enabled && config.state === 'cached';
  if (keeps)
    within(config.delivery.namespace, {
      ...rule(CONFIG_MAP, ['list', 'watch']),
      resourceNames: [IDENTITY_POLICY.configMap],
    });
  return {
    cluster: [
      ...(watched.length === 0 ? watchedRules(config) : []),
      ...(keeps
        ? [
            {
              ...rule(VALIDATING_WEBHOOK_CONFIGURATION, ['list', 'watch']),
              resourceNames: [DELIVERY_CONFIGURATION],
            },
          ]
        : []),
      // Who scrapes and who calls the API is asked of the cluster.
      rule(TOKEN_REVIEW, ['create']),
      rule(SUBJECT_ACCESS_REVIEW, ['create']),
    ],
    namespaces,
  };
}

/** In every namespace whose Pactos count. */
function watchedRules(config: Config): readonly PolicyRule[] {
  const reads = read(config);
  const { metricsObservation } = config.reconciler;
  return [
    // Beside the watch: read anew after a conflict; annotated by a reconciler that does not lead.
    rule(PACTO, ['get', 'list', 'watch', 'patch']),
    { ...rule(PACTO, ['update']), resources: [`${PACTO.resource}/status`] },
    // For revisions that a Pacto owns, where the API server has OwnerReferencesPermissionEnforcement.
    { ...rule(PACTO, ['update']), resources: [`${PACTO.resource}/finalizers`] },
    rule(PACTO_REVISION, ['list', 'watch', 'create']),
    { ...rule(PACTO_REVISION, ['update']), resources: [`${PACTO_REVISION.resource}/status`] },
    rule(EVENT, ['create', 'patch']),
    rule(SERVICE, reads),
    rule(ENDPOINT_SLICE, reads),
    ...WORKLOAD_KINDS.map((kind) => rule(kind, reads)),
    rule(INGRESS, reads),
    rule(HTTP_ROUTE, reads),
    // Their metadata is watched; contents are read by name, of what a Pacto names.
    rule(CONFIG_MAP, ['get', 'list', 'watch']),
    rule(SECRET, ['get', 'list', 'watch']),
    ...(metricsObservation ? [rule(SERVICE_MONITOR, reads), rule(POD_MONITOR, reads)] : []),
    ...(config.delivery.enabled && config.state === 'cached' ? stageRules() : []),
  ];
}

/** Of the gate keeper: what it follows, and the statuses that it writes. */
function stageRules(): readonly PolicyRule[] {
  const follow = ['list', 'watch'];
  return [
    ...[STAGE, OPERATION, APPROVAL].map((kind) => rule(kind, follow)),
    ...[OCI_REPOSITORY, GIT_REPOSITORY, KUSTOMIZATION, HELM_RELEASE].map((kind) => rule(kind, follow)),
    // The template of the workload that a release runs, by name.
    ...[DEPLOYMENT, STATEFUL_SET].map((kind) => rule(kind, ['get'])),
    ...[STAGE, OPERATION].map(({ group, resource }) =>
      rule({ group, resource: `${resource}/status` }, ['update']),
    ),
  ];
}

function read({ state }: Config): readonly string[] {
  return state === 'live' ? ['get', 'list'] : ['list', 'watch'];
}

function rule({ group, resource }: Pick<Kind, 'group' | 'resource'>, verbs: readonly string[]): PolicyRule {
  return { apiGroups: [group], resources: [resource], verbs };
}
