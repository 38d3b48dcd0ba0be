/** What the port of an interface speaks, where probing is on (operator.md §5.2). Uncertain is no observation at all. */
import type { Observation, WireProtocol } from '../../policies/observation.ts';
import type { Surveyed } from './dimension.ts';
import { findPort, isExternalName } from './endpoints.ts';
import { attempt, Sightings } from './sighting.ts';

/** The types that name a wire protocol; `asyncapi` names none. */
const DECLARED = new Map<string, WireProtocol>([
  ['openapi', 'http'],
  ['grpc', 'grpc'],
]);

export async function observeProtocols(surveyed: Surveyed): Promise<readonly Observation[]> {
  if (!surveyed.settings.probing) return [];
  const found = await Promise.all(
    surveyed.contract.interfaces.map(({ name, type }) => observe(surveyed, name, DECLARED.get(type))),
  );
  return found.filter((one) => one !== undefined);
}

async function observe(
  surveyed: Surveyed,
  name: string,
  declared: WireProtocol | undefined,
): Promise<Observation | undefined> {
  const { target, view, prober, signal } = surveyed;
  const binding = target.interfaces.get(name);
  if (declared === undefined || binding === undefined || target.service === undefined) return undefined;
  const at = { namespace: target.namespace, name: target.service };
  const read = await attempt(() => view.service(at), signal);
  // Whether it is there is another dimension's business.
  if (!read.ok || read.value === undefined || isExternalName(read.value)) return undefined;
  const port = findPort(read.value, binding);
  if (port === undefined || port.protocol !== 'TCP') return undefined;
  const probe = { service: at.name, namespace: at.namespace, port: port.port };
  const spoken = await prober.protocols(probe, signal);
  if (spoken.length === 0) return undefined;
  const [first] = spoken;
  const protocol = spoken.includes(declared) ? declared : first;
  const sightings = new Sightings(surveyed, 'InterfaceProtocolObserved', { kind: 'interface', name });
  return protocol === undefined ? undefined : sightings.observed({ protocol });
}
