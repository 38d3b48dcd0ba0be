import { HTTP_ROUTE, INGRESS } from '../../cluster/kinds.ts';
import type { KubeObject } from '../../cluster/objects.ts';
import { ingressBackends, type IngressBackend } from '../observe/ingress-backends.ts';
import { relatedTo, serviceText } from '../read-keys.ts';
import { listOf, pick, recordOf, type Trigger } from './trigger.ts';

/** What publishes a Service beside itself: Ingresses of its namespace, HTTPRoutes of any. */
export const ROUTES: readonly Trigger[] = [
  {
    kind: INGRESS,
    scope: 'watched',
    optional: true,
    keep: (ingress) => ({
      spec: leadingTo(ingressBackends(ingress)),
      status: { loadBalancer: { ingress: publishedAt(ingress) } },
    }),
    relations: (ingress) =>
      servicesOf(ingress).map((name) =>
        relatedTo(INGRESS, serviceText({ namespace: ingress.metadata.namespace ?? '', name })),
      ),
    essence: ({ spec, status }) => [spec, status],
  },
  {
    kind: HTTP_ROUTE,
    scope: 'watched',
    optional: true,
    keep: ({ metadata, spec }) => ({ backends: [...routedTo(metadata.namespace ?? '', recordOf(spec))] }),
    relations: ({ backends }) =>
      (backends as readonly string[]).map((service) => relatedTo(HTTP_ROUTE, service)),
    essence: ({ backends }) => backends,
  },
];

/** Its addresses, without the ports that some controllers list beside them. */
function publishedAt({ status }: KubeObject): readonly object[] {
  const { ingress } = recordOf(recordOf(status)['loadBalancer']);
  return listOf(ingress, 1_000).map((entry) => pick(entry, ['ip', 'hostname']));
}

function servicesOf(ingress: KubeObject): readonly string[] {
  return [...new Set(ingressBackends(ingress).map(({ service }) => service))];
}

/** Each backend once, whatever hosts and paths lead to it. */
function leadingTo(backends: readonly IngressBackend[]): object {
  const distinct = new Map(backends.map((backend) => [JSON.stringify(backend), backend]));
  const paths = [...distinct.values()].map(({ service, port }) => ({
    backend: {
      service: { name: service, port: typeof port === 'number' ? { number: port } : { name: port } },
    },
  }));
  return { rules: [{ http: { paths } }] };
}

/** Services of an HTTPRoute, with their namespaces. */
function routedTo(namespace: string, spec: Readonly<Record<string, unknown>>): ReadonlySet<string> {
  const services = new Set<string>();
  for (const rule of listOf(spec['rules'])) {
    for (const backend of listOf(rule['backendRefs'])) {
      const { kind, group, name, namespace: own } = backend;
      if ((kind ?? 'Service') !== 'Service' || (group ?? '') !== '' || typeof name !== 'string') continue;
      services.add(serviceText({ namespace: typeof own === 'string' ? own : namespace, name }));
    }
  }
  return services;
}
