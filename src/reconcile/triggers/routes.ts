import { HTTP_ROUTE, INGRESS } from '../../cluster/kinds.ts';
import { relatedTo, serviceText } from '../read-keys.ts';
import { listOf, pick, recordOf, type Trigger } from './trigger.ts';

/** What publishes a Service beside itself: Ingresses of its namespace, HTTPRoutes of any. */
export const ROUTES: readonly Trigger[] = [
  {
    kind: INGRESS,
    scope: 'watched',
    optional: true,
    keep: ({ spec, status }) => ({
      backends: [...backendsOf(recordOf(spec))],
      status: { loadBalancer: pick(recordOf(recordOf(status)['loadBalancer']), ['ingress']) },
    }),
    relations: ({ metadata, backends }) =>
      (backends as readonly string[]).map((name) =>
        relatedTo(INGRESS, serviceText({ namespace: metadata.namespace ?? '', name })),
      ),
    essence: ({ backends, status }) => ({ backends, status }),
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

/** Names of the Services of an Ingress. */
function backendsOf(spec: Readonly<Record<string, unknown>>): ReadonlySet<string> {
  const names = new Set<string>();
  const add = (backend: unknown): void => {
    const { name } = recordOf(recordOf(backend)['service']);
    if (typeof name === 'string') names.add(name);
  };
  add(spec['defaultBackend']);
  for (const rule of listOf(spec['rules']))
    for (const path of listOf(recordOf(rule['http'])['paths'])) add(path['backend']);
  return names;
}

/** Services of an HTTPRoute, with their namespaces. */
function routedTo(namespace: string, spec: Readonly<Record<string, unknown>>): ReadonlySet<string> {
  const services = new Set<string>();
  for (const rule of listOf(spec['rules'])) {
    for (const backend of listOf(rule['backendRefs'])) {
      const { kind = 'Service', group = '', name, namespace: own = namespace } = backend;
      if (kind !== 'Service' || group !== '') continue;
      if (typeof name === 'string' && typeof own === 'string')
        services.add(serviceText({ namespace: own, name }));
    }
  }
  return services;
}
