/** Whether what a service depends on can be reached, and in which version it runs (operator.md §5.4, §13.4). */
import type { KubeObject } from '../../cluster/objects.ts';
import { parseConstraint } from '../../policies/contract/constraint.ts';
import type { Dependency } from '../../policies/contract/contract.ts';
import { parseVersion } from '../../policies/contract/version.ts';
import type { Observation } from '../../policies/observation.ts';
import { repositoryOf } from './dependency-repository.ts';
import { socketsOf } from './dependency-sockets.ts';
import type { Surveyed } from './dimension.ts';
import { allEndpoints, isExternalName, readyEndpoints, specOf } from './endpoints.ts';
import { callsTo, type Calls } from './node-agent.ts';
import { fieldsOf } from './pod-template.ts';
import { attempt, Sightings } from './sighting.ts';

/**
 * One `DependencyReachable` of each dependency, and a `DependencyVersionObserved` where some Pacto serves it: the versions of
 * those that fit the wanted range, or of all where none does.
 */
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
  const sockets = socketsOf(service.value, slices.value);
  const calls = await attempt(() => callsOf(surveyed, sockets), signal);
  if (!calls.ok) return sightings.failed(calls.error);
  // A success that was is no proof against a provider that has nothing ready now.
  if (readyEndpoints(slices.value, undefined).length === 0)
    return calls.value === 'success' ? sightings.insufficient() : absent();
  if (calls.value === 'failure') return absent();
  windows.positive('dependency', name);
  return sightings.observed({ reachable: true });
}

/**
 * What our own Pods were seen to get from the provider. Those that are not ready count: it may be for want of just this
 * dependency.
 */
async function callsOf(surveyed: Surveyed, sockets: ReadonlySet<string>): Promise<Calls> {
  const { settings, target, view } = surveyed;
  if (settings.nodeAgent === undefined || target.service === undefined) return 'none';
  const own = { namespace: target.namespace, name: target.service };
  return await callsTo(surveyed, allEndpoints(await view.endpointSlices(own)), sockets);
}

/** Undefined where nothing is known of its contract. */
function siblingOf(pacto: KubeObject): Sibling | undefined {
  const { contract } = fieldsOf(pacto['status']);
  if (contract === undefined || contract === null) return undefined;
  const { version } = fieldsOf(contract);
  const { serviceName } = fieldsOf(specOf(pacto)['target']);
  return {
    namespace: pacto.metadata.namespace ?? '',
    service: typeof serviceName === 'string' && serviceName !== '' ? serviceName : undefined,
    version: typeof version === 'string' ? version : '',
  };
}

/** A range that cannot be read, and a version that is not known, decide nothing. */
function fits({ compatibility }: Dependency, version: string): boolean {
  const range = parseConstraint(compatibility);
  const parsed = parseVersion(version);
  return range.ok && parsed !== undefined && range.constraint.matches(parsed);
}
