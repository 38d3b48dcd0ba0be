/**
 * Whether a public address leads to an interface (operator.md §5.3), judged by the port that it is bound to: an Ingress that
 * publishes one port of a Service says nothing of another. An interface without a binding may be on any port of the Service,
 * so that only what holds of all of them holds of it.
 */
import { isIP } from 'node:net';
import type { KubeObject } from '../../cluster/objects.ts';
import type { Exposure, Observation } from '../../policies/observation.ts';
import type { Surveyed } from './dimension.ts';
import { findPort, servicePorts, specOf, type ServicePort } from './endpoints.ts';
import { ingressBackends } from './ingress-backends.ts';
import { fieldsOf, listOf } from './pod-template.ts';
import { isPublicAddress } from './public-address.ts';
import { attempt, Sightings } from './sighting.ts';

/** One `InterfaceExposureObserved` of each interface; none where there is no Service. A failure hides no proof that there is. */
export async function observeExposure(surveyed: Surveyed): Promise<readonly Observation[]> {
  const { contract, target, view, signal } = surveyed;
  if (contract.interfaces.length === 0 || target.service === undefined) return [];
  const at = { namespace: target.namespace, name: target.service };
  const read = await attempt(() => view.service(at), signal);
  if (read.ok && read.value === undefined) return [];
  const { ways, failure } =
    read.ok && read.value !== undefined
      ? await waysTo(surveyed, read.value, at)
      : { ways: [], failure: read };
  return contract.interfaces.map(({ name }) => {
    const sightings = new Sightings(surveyed, 'InterfaceExposureObserved', { kind: 'interface', name });
    const service = read.ok ? read.value : undefined;
    const exposure = service === undefined ? 'unknown' : ofPorts(portsOf(surveyed, service, name), ways);
    if (exposure === 'external') return sightings.observed({ exposure });
    if (failure !== undefined && !failure.ok) return sightings.failed(failure.error);
    return exposure === 'unknown' ? sightings.insufficient() : sightings.observed({ exposure });
  });
}

/** What publishes ports of a Service, or may. */
interface Way {
  readonly exposure: Exposure | 'unknown';
  leadsTo(port: ServicePort): boolean;
}

type Failure = Extract<Awaited<ReturnType<typeof attempt<unknown>>>, { readonly ok: false }>;

async function waysTo(
  { view, signal }: Pick<Surveyed, 'view' | 'signal'>,
  service: KubeObject,
  at: { readonly namespace: string; readonly name: string },
): Promise<{ readonly ways: readonly Way[]; readonly failure: Failure | undefined }> {
  const { type } = specOf(service);
  const isAny = (): boolean => true;
  const ways: Way[] = [];
  if (type === 'LoadBalancer') ways.push({ exposure: publishedBy(service), leadsTo: isAny });
  // Addresses of nodes are not read.
  if (type === 'NodePort') ways.push({ exposure: 'unknown', leadsTo: isAny });
  const ingresses = await attempt(() => view.ingressesTo(at), signal);
  for (const ingress of ingresses.ok ? ingresses.value : []) {
    const backends = ingressBackends(ingress).filter((backend) => backend.service === at.name);
    ways.push({
      exposure: publishedBy(ingress),
      leadsTo: ({ port, name }) => backends.some((backend) => backend.port === port || backend.port === name),
    });
  }
  const routes = await attempt(() => view.routesTo(at), signal);
  // Nor are those of gateways.
  if (routes.ok && routes.value.length > 0) ways.push({ exposure: 'unknown', leadsTo: isAny });
  return { ways, failure: ingresses.ok ? (routes.ok ? undefined : routes) : ingresses };
}

function portsOf({ target }: Surveyed, service: KubeObject, name: string): readonly ServicePort[] {
  const binding = target.interfaces.get(name);
  if (binding === undefined) return servicePorts(service);
  const port = findPort(service, binding);
  return port === undefined ? [] : [port];
}

function ofPorts(ports: readonly ServicePort[], ways: readonly Way[]): Exposure | 'unknown' {
  const exposures = new Set(ports.map((port) => ofPort(port, ways)));
  const [only = 'unknown'] = exposures;
  return exposures.size === 1 ? only : 'unknown';
}

function ofPort(port: ServicePort, ways: readonly Way[]): Exposure | 'unknown' {
  const exposures = new Set(ways.filter((way) => way.leadsTo(port)).map(({ exposure }) => exposure));
  if (exposures.has('external')) return 'external';
  return exposures.has('unknown') ? 'unknown' : 'internal';
}

/** By `status.loadBalancer.ingress`. A name says nothing of where it leads: inner load balancers have names as well. */
function publishedBy({ status }: KubeObject): Exposure | 'unknown' {
  const { ingress } = fieldsOf(fieldsOf(status)['loadBalancer']);
  const addresses = listOf(ingress)
    .flatMap(({ ip, hostname }) => [ip, hostname])
    .filter((one): one is string => typeof one === 'string' && one !== '');
  if (addresses.some((one) => isPublicAddress(one))) return 'external';
  return addresses.some((one) => isIP(one) === 0) ? 'unknown' : 'internal';
}
