/** Whether an interface is available: something is ready on its Service port (operator.md §5.1, §13.4). */
import type { KubeObject } from '../../cluster/objects.ts';
import type { Observation } from '../../policies/observation.ts';
import type { Surveyed } from './dimension.ts';
import { findPort, hasSelector, isExternalName, readyEndpoints, servicePorts } from './endpoints.ts';
import { interfaceOpinion } from './node-agent.ts';
import { attempt, Sightings } from './sighting.ts';

export async function observeInterfaces(surveyed: Surveyed): Promise<readonly Observation[]> {
  const found = await Promise.all(
    surveyed.contract.interfaces.map(({ name }) => {
      const binding = surveyed.target.interfaces.get(name);
      return binding === undefined ? unbound(surveyed, name) : bound(surveyed, name, binding);
    }),
  );
  return found.filter((one) => one !== undefined);
}

/** By its name alone a port can confirm an interface, and never deny it. */
async function unbound(surveyed: Surveyed, name: string): Promise<Observation> {
  const sightings = new Sightings(surveyed, 'InterfaceObserved', { kind: 'interface', name });
  const { settings, target, view, signal } = surveyed;
  if (!settings.nameMatch || target.service === undefined) return sightings.unsupported();
  const at = { namespace: target.namespace, name: target.service };
  const read = await attempt(async () => {
    const service = await view.service(at);
    const port = service && servicePorts(service).find((one) => one.name === name);
    return port !== undefined && readyEndpoints(await view.endpointSlices(at), port).length > 0;
  }, signal);
  if (!read.ok || !read.value) return sightings.unsupported();
  return sightings.observed({ type: typeOf(surveyed, name), present: true });
}

async function bound(
  surveyed: Surveyed,
  name: string,
  binding: string | number,
): Promise<Observation | undefined> {
  const sightings = new Sightings(surveyed, 'InterfaceObserved', { kind: 'interface', name });
  const { target, view, windows, signal } = surveyed;
  // Upstream asks for a Service without a name (operator.md §20, T15).
  if (target.service === undefined) return sightings.unsupported();
  const at = { namespace: target.namespace, name: target.service };
  const read = await attempt(() => view.service(at), signal);
  if (!read.ok) return sightings.failed(read.error);
  const service = read.value;
  if (service === undefined) return undefined;
  const port = portOf(service, binding);
  if (port === undefined) return sightings.insufficient();
  const slices = await attempt(() => view.endpointSlices(at), signal);
  if (!slices.ok) return sightings.failed(slices.error);
  const ready = readyEndpoints(slices.value, port);
  const opinion =
    ready.length === 0 ? 'absent' : await interfaceOpinion(surveyed, { port, endpoints: ready });
  const isFound = opinion === 'none' || opinion === 'present';
  if (isFound) {
    windows.positive('interface', name);
    return sightings.observed({ type: typeOf(surveyed, name), present: true });
  }
  if (opinion !== 'absent') {
    if (opinion.outcome === 'Stale') return sightings.stale(opinion.reason);
    return opinion.outcome === 'Failed' ? sightings.failed(opinion.reason) : sightings.insufficient();
  }
  return windows.negative('interface', name)
    ? sightings.observed({ type: typeOf(surveyed, name), present: false })
    : sightings.insufficient();
}

/** Undefined where nothing can be said of it: nobody selects Pods, or there is no such port. */
function portOf(service: KubeObject, binding: string | number): ReturnType<typeof findPort> {
  return isExternalName(service) || !hasSelector(service) ? undefined : findPort(service, binding);
}

/** The payload repeats what is declared (operator.md §5.1). */
function typeOf({ contract }: Surveyed, name: string): string {
  return contract.interfaces.find((one) => one.name === name)?.type ?? '';
}
