import { POD_MONITOR, SERVICE_MONITOR } from '../../cluster/kinds.ts';
import { relatedTo } from '../read-keys.ts';
import { listOf, pick, recordOf, type Trigger } from './trigger.ts';

/** Where the Prometheus Operator finds metrics. What they authenticate with is not kept (operator.md §5.7). */
export const MONITORS: readonly Trigger[] = [
  { kind: SERVICE_MONITOR, endpoints: 'endpoints' },
  { kind: POD_MONITOR, endpoints: 'podMetricsEndpoints' },
].map(({ kind, endpoints }) => ({
  kind,
  scope: 'watched',
  optional: true,
  keep: ({ spec }) => ({
    spec: {
      selector: pick(recordOf(spec)['selector'], ['matchLabels', 'matchExpressions']),
      [endpoints]: listOf(recordOf(spec)[endpoints], 1_000).map((endpoint) =>
        pick(endpoint, ['port', 'targetPort', 'portNumber', 'path']),
      ),
    },
  }),
  relations: ({ metadata }) => [relatedTo(kind, metadata.namespace ?? '')],
  essence: ({ spec }) => spec,
}));
