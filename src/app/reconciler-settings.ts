/** What the reconciler needs of the configuration, worked out. */
import type { Config } from '../config.ts';
import type { ObserveSettings } from '../reconcile/observe/dimension.ts';

/** Where upstream's chart is installed (operator.md §10). */
const UPSTREAM_NAMESPACE = 'pacto-operator-system';
const MINUTE_MS = 60_000;

/** Of the Lease by which one reconciler of several writes. */
export function leaseNamespaceOf({
  reconciler,
  environment,
}: Pick<Config, 'reconciler' | 'environment'>): string {
  return reconciler.namespace ?? environment.podNamespace ?? UPSTREAM_NAMESPACE;
}

export function observeSettings({ reconciler }: Pick<Config, 'reconciler'>): ObserveSettings {
  const { probing, metricsObservation, nameMatchDiscovery, nodeAgentNamespace, connectionMinutes } =
    reconciler;
  return {
    probing,
    metrics: metricsObservation,
    nameMatch: nameMatchDiscovery,
    nodeAgent:
      nodeAgentNamespace === undefined
        ? undefined
        : { namespace: nodeAgentNamespace, connectionMs: connectionMinutes * MINUTE_MS },
  };
}
