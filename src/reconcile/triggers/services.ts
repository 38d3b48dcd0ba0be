import { SERVICE } from '../../cluster/kinds.ts';
import { listOf, pick, recordOf, textsOf, type Trigger } from './trigger.ts';

const SPEC = ['type', 'selector', 'clusterIP', 'clusterIPs'];

/** By which a Service says where its metrics are (operator.md §5.7); no other annotation is read. */
const SCRAPE_PREFIX = 'prometheus.io/';

export const SERVICES: Trigger = {
  kind: SERVICE,
  scope: 'watched',
  optional: false,
  keepsMetadata: ({ labels, annotations }) => ({
    labels: textsOf(labels, () => true),
    annotations: textsOf(annotations, (key) => key.startsWith(SCRAPE_PREFIX)),
  }),
  keep: ({ spec, status }) => ({
    spec: {
      ...pick(spec, SPEC),
      ports: listOf(recordOf(spec)['ports'], 1_000).map((port) =>
        pick(port, ['name', 'port', 'protocol', 'targetPort']),
      ),
    },
    status: {
      loadBalancer: {
        ingress: listOf(recordOf(recordOf(status)['loadBalancer'])['ingress'], 1_000).map((entry) =>
          pick(entry, ['ip', 'hostname']),
        ),
      },
    },
  }),
  relations: () => [],
  // Any write of it counts: to annotate its Service is how people have a Pacto looked at anew.
  essence: ({ metadata }) => metadata.resourceVersion,
};
