import { ENDPOINT_SLICE } from '../../cluster/kinds.ts';
import { relatedTo, serviceText } from '../read-keys.ts';
import { isRecord, listOf, pick, textsOf, type Trigger } from './trigger.ts';

/** discovery.k8s.io/v1, LabelServiceName. */
export const SERVICE_NAME_LABEL = 'kubernetes.io/service-name';

export const ENDPOINT_SLICES: Trigger = {
  kind: ENDPOINT_SLICE,
  scope: 'watched',
  optional: false,
  keepsMetadata: ({ labels }) => ({ labels: textsOf(labels, (key) => key === SERVICE_NAME_LABEL) }),
  keep: (slice) => ({
    ports: listOf(slice['ports']).map((port) => pick(port, ['name', 'port', 'protocol'])),
    endpoints: listOf(slice['endpoints']).map(endpointOf),
  }),
  relations({ metadata }) {
    const name = metadata.labels?.[SERVICE_NAME_LABEL];
    const namespace = metadata.namespace ?? '';
    return name === undefined ? [] : [relatedTo(ENDPOINT_SLICE, serviceText({ namespace, name }))];
  },
  essence: ({ ports, endpoints }) => [ports, endpoints],
};

/** Neither zone nor hints, nor whether it serves while it ends: nobody reads those. */
function endpointOf(endpoint: Readonly<Record<string, unknown>>): object {
  return {
    ...pick(endpoint, ['addresses', 'nodeName']),
    conditions: pick(endpoint['conditions'], ['ready']),
    ...(isRecord(endpoint['targetRef']) && { targetRef: pick(endpoint['targetRef'], ['kind', 'uid']) }),
  };
}
