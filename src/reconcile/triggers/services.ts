import { SERVICE } from '../../cluster/kinds.ts';
import { pick, recordOf, type Trigger } from './trigger.ts';

const SPEC = ['type', 'selector', 'ports', 'externalName', 'clusterIP', 'clusterIPs'];

/** By which a Service says where its metrics are (operator.md §5.7); no other annotation is read. */
const SCRAPE_PREFIX = 'prometheus.io/';

export const SERVICES: Trigger = {
  kind: SERVICE,
  scope: 'watched',
  optional: false,
  keepsMetadata: ({ labels = {}, annotations = {} }) => ({
    labels,
    annotations: Object.fromEntries(
      Object.entries(annotations).filter(([key]) => key.startsWith(SCRAPE_PREFIX)),
    ),
  }),
  keep(service) {
    const { loadBalancer } = recordOf(service['status']);
    return {
      spec: pick(service['spec'], SPEC),
      ...(loadBalancer !== undefined && { status: { loadBalancer } }),
    };
  },
  relations: () => [],
  essence: ({ metadata, spec, status }) => ({
    annotations: metadata.annotations,
    labels: metadata.labels,
    spec,
    status,
  }),
};
