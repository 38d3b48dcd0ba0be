/**
 * Whether a public address leads to an interface (operator.md §5.3): judged by its Service, which is the same for all
 * interfaces of a target, bound or not, as an Ingress names a Service and often no port of the contract.
 */
import type { KubeObject } from '../../cluster/objects.ts';
import type { Exposure, Observation } from '../../policies/observation.ts';
import type { Surveyed } from './dimension.ts';
import { specOf } from './endpoints.ts';
import { isPublicAddress } from './public-address.ts';
import { attempt, Sightings } from './sighting.ts';

export async function observeExposure(surveyed: Surveyed): Promise<readonly Observation[]> {
  const { contract, target, signal } = surveyed;
  if (contract.interfaces.length === 0 || target.service === undefined) return [];
  const at = { namespace: target.namespace, name: target.service };
  const read = await attempt(() => exposureOf(surveyed, at), signal);
  if (read.ok && read.value === undefined) return [];
  return contract.interfaces.map(({ name }) => {
    const sightings = new Sightings(surveyed, 'InterfaceExposureObserved', { kind: 'interface', name });
    if (!read.ok) return sightings.failed(read.error);
    return read.value === 'unknown' || read.value === undefined
      ? sightings.insufficient()
      : sightings.observed({ exposure: read.value });
  });
}

/** Undefined where there is no Service. */
async function exposureOf(
  { view }: Pick<Surveyed, 'view'>,
  at: { readonly namespace: string; readonly name: string },
): Promise<Exposure | 'unknown' | undefined> {
  const service = await view.service(at);
  if (service === undefined) return undefined;
  const { type } = specOf(service);
  const ingresses = await view.ingressesTo(at);
  const published = new Set([...(type === 'LoadBalancer' ? [service] : []), ...ingresses].map(publishedBy));
  if (published.has('external')) return 'external';
  // Addresses of nodes and gateways are not read.
  const isUnknown = published.has('unknown') || type === 'NodePort' || (await view.routesTo(at)).length > 0;
  return isUnknown ? 'unknown' : 'internal';
}

/** By `status.loadBalancer.ingress`. A name says nothing of where it leads: inner load balancers have names as well. */
function publishedBy({ status }: KubeObject): Exposure | 'unknown' {
  const { loadBalancer } = (status ?? {}) as { loadBalancer?: { ingress?: unknown } };
  const entries = Array.isArray(loadBalancer?.ingress) ? (loadBalancer.ingress as readonly unknown[]) : [];
  let isNamed = false;
  for (const entry of entries) {
    const { ip, hostname } = (entry ?? {}) as { ip?: unknown; hostname?: unknown };
    if (typeof ip === 'string' && isPublicAddress(ip)) return 'external';
    if (typeof hostname === 'string' && isPublicAddress(hostname)) return 'external';
    isNamed ||= typeof hostname === 'string' && hostname !== '';
  }
  return isNamed ? 'unknown' : 'internal';
}
