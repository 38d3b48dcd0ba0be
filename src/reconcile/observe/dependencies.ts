/** Whether what a service depends on can be reached, and in which version it runs (operator.md §5.4, §13.4). */
import type { KubeObject } from '../../cluster/objects.ts';
import { parseConstraint } from '../../policies/contract/constraint.ts';
import type { Dependency } from '../../policies/contract/contract.ts';
import { parseVersion } from '../../policies/contract/version.ts';
import type { Observation } from '../../policies/observation.ts';
import { repositoryOf } from './dependency-repository.ts';
import type { Surveyed } from './dimension.ts';
import { isExternalName, readyEndpoints, servicePorts, specOf, type Endpoint } from './endpoints.ts';
import { callsTo } from './node-agent.ts';
import { attempt, Sightings } from './sighting.ts';

export async function observeDependencies(surveyed: Surveyed): Promise<readonly Observation[]> {
  const found = await Promise.all(
    surveyed.contract.dependencies.map((dependency) => observe(surveyed, dependency)),
  );
  return found.flat();
}

interface Sibling {
  readonly namespace: string;
  /** Undefined where it has no Service. */
  readonly service: string | undefined;
  /** Empty where it is not known. */
  readonly version: string;
}

async function observe(surveyed: Surveyed, dependency: Dependency): Promise<readonly Observation[]> {
  const { view, signal } = surveyed;
  const subject = { kind: 'dependency', name: dependency.name };
  const reachable = new Sightings(surveyed, 'DependencyReachable', subject);
  const versions = new Sightings(surveyed, 'DependencyVersionObserved', subject);
  const read = await attempt(() => view.siblings(repositoryOf(dependency.ref)), signal);
  if (!read.ok) return [reachable.failed(read.error)];
  const siblings = read.value.flatMap((pacto) => siblingOf(pacto) ?? []);
  if (siblings.length === 0) return [reachable.unsupported()];
  const fitting = siblings.filter(({ version }) => fits(dependency, version));
  const meant = fitting.length > 0 ? fitting : siblings;
  const observed = versions.observed({ versions: [...new Set(meant.map(({ version }) => version))].sort() });
  return [await reach(surveyed, { name: dependency.name, siblings: meant }, reachable), observed];
}

async function reach(
  surveyed: Surveyed,
  { name, siblings }: { readonly name: string; readonly siblings: readonly Sibling[] },
  sightings: Sightings,
): Promise<Observation> {
  const targets = new Set(siblings.map(({ namespace, service = '' }) => `${namespace}/${service}`));
  const [first] = siblings;
  if (targets.size > 1 || first?.service === undefined) return sightings.insufficient();
  const { view, windows, signal } = surveyed;
  const at = { namespace: first.namespace, name: first.service };
  const absent = (): Observation =>
    windows.negative('dependency', name)
      ? sightings.observed({ reachable: false })
      : sightings.insufficient();
  const service = await attempt(() => view.service(at), signal);
  if (!service.ok) return sightings.failed(service.error);
  if (service.value === undefined) return absent();
  if (isExternalName(service.value)) return sightings.unsupported();
  const slices = await attempt(() => view.endpointSlices(at), signal);
  if (!slices.ok) return sightings.failed(slices.error);
  const ready = readyEndpoints(slices.value, undefined);
  const calls = await callsOf(surveyed, service.value, slices.value);
  if (!calls.ok) return sightings.failed(calls.error);
  // A success that was is no proof against a provider that has nothing ready now.
  if (ready.length === 0) return calls.value === 'success' ? sightings.insufficient() : absent();
  if (calls.value === 'failure') return absent();
  windows.positive('dependency', name);
  return sightings.observed({ reachable: true });
}

/** What our own Pods were seen to get from the provider. */
async function callsOf(
  surveyed: Surveyed,
  provider: KubeObject,
  slices: readonly KubeObject[],
): ReturnType<typeof attempt<Awaited<ReturnType<typeof callsTo>>>> {
  return await attempt(async () => {
    const { settings, target, view } = surveyed;
    if (settings.nodeAgent === undefined || target.service === undefined) return 'none';
    const own = { namespace: target.namespace, name: target.service };
    const callers = readyEndpoints(await view.endpointSlices(own), undefined);
    const endpoints = allEndpoints(slices);
    return await callsTo(surveyed, callers, {
      addresses: new Set([...clusterAddresses(provider), ...endpoints.flatMap(({ addresses }) => addresses)]),
      ports: new Set([...servicePorts(provider).map(({ port }) => port), ...portsOf(slices)]),
    });
  }, surveyed.signal);
}

/** Ready or not: a connection to one that is not ready any more was one to the provider. */
function allEndpoints(slices: readonly KubeObject[]): readonly Pick<Endpoint, 'addresses'>[] {
  return slices.flatMap(({ endpoints }) =>
    Array.isArray(endpoints)
      ? (endpoints as readonly { addresses?: unknown }[]).map(({ addresses }) => ({
          addresses: Array.isArray(addresses) ? (addresses as readonly string[]) : [],
        }))
      : [],
  );
}

function portsOf(slices: readonly KubeObject[]): readonly number[] {
  return slices.flatMap(({ ports }) =>
    Array.isArray(ports)
      ? (ports as readonly { port?: unknown }[]).flatMap(({ port }) =>
          typeof port === 'number' ? [port] : [],
        )
      : [],
  );
}

function clusterAddresses(service: KubeObject): readonly string[] {
  const { clusterIP, clusterIPs } = specOf(service);
  const all = [clusterIP, ...(Array.isArray(clusterIPs) ? (clusterIPs as readonly unknown[]) : [])];
  return all.filter((one): one is string => typeof one === 'string' && one !== '' && one !== 'None');
}

function siblingOf({ metadata, spec, status }: KubeObject): Sibling | undefined {
  const { contract } = (status ?? {}) as { contract?: { version?: unknown } };
  if (contract === undefined || contract === null) return undefined;
  const { target } = (spec ?? {}) as { target?: { serviceName?: unknown } };
  const service = target?.serviceName;
  return {
    namespace: metadata.namespace ?? '',
    service: typeof service === 'string' && service !== '' ? service : undefined,
    version: typeof contract.version === 'string' ? contract.version : '',
  };
}

/** A range that cannot be read, and a version that is not known, decide nothing. */
function fits({ compatibility }: Dependency, version: string): boolean {
  const range = parseConstraint(compatibility);
  const parsed = parseVersion(version);
  return range.ok && parsed !== undefined && range.constraint.matches(parsed);
}
