/** Whether the health capability is there (operator.md §5.5). */
import type { Capability } from '../../policies/contract/contract.ts';
import type { Observation } from '../../policies/observation.ts';
import { capabilityPort, probePath } from './capability-port.ts';
import type { Surveyed } from './dimension.ts';
import { isExternalName, readyEndpoints, type ServicePort } from './endpoints.ts';
import { podTemplateOf, type Container } from './pod-template.ts';
import type { HttpAnswer } from './prober.ts';
import { attempt, Sightings } from './sighting.ts';

const HEALTH = 'health';

/**
 * With probing it is asked for, and what nobody answers, or may not be asked, is judged by what Kubernetes asks itself. HTTP
 * alone is spoken: a Service behind TLS answers 400 or nothing, which proves nothing (operator.md §20, T19).
 */
export async function observeHealth(surveyed: Surveyed): Promise<readonly Observation[]> {
  const capability = surveyed.contract.capabilities.find(({ type }) => type === HEALTH);
  return capability === undefined ? [] : [await observe(surveyed, capability)];
}

async function observe(surveyed: Surveyed, capability: Capability): Promise<Observation> {
  const sightings = new Sightings(surveyed, 'CapabilityObserved', { kind: 'capability', name: HEALTH });
  const at = await capabilityPort(surveyed, capability);
  if (at.found === 'nothing') return sightings.unsupported();
  if (at.found === 'failure') return sightings.failed(at.error);
  const { settings, target, prober, signal } = surveyed;
  // The name of an ExternalName Service leads to a host that its author chose, out of the cluster: it is not asked.
  if (settings.probing && !isExternalName(at.service)) {
    const probe = { service: target.service ?? '', namespace: target.namespace, port: at.port.port };
    const answer = await prober.get(probe, probePath(capability.binding?.path), signal);
    if (answer.answered) return judge(surveyed, sightings, answer);
  }
  return await passive(surveyed, at.port, sightings);
}

function judge(
  { windows }: Surveyed,
  sightings: Sightings,
  { status }: Extract<HttpAnswer, { answered: true }>,
): Observation {
  if (status === 404) {
    return windows.negative('capability', HEALTH)
      ? sightings.observed({ present: false })
      : sightings.insufficient();
  }
  // Any other refusal is of something that is there, or of a server that is broken.
  if (status < 200 || status >= 400) return sightings.insufficient();
  windows.positive('capability', HEALTH);
  return sightings.observed({ present: true });
}

/** By what Kubernetes asks itself: it can confirm health, and never contradict it. */
async function passive(surveyed: Surveyed, port: ServicePort, sightings: Sightings): Promise<Observation> {
  const { target, view, windows, signal } = surveyed;
  const { kind, name } = target.workload;
  if (name === '') return sightings.insufficient();
  const read = await attempt(() => view.workload(kind, { namespace: target.namespace, name }), signal);
  if (!read.ok || read.value === undefined) return sightings.insufficient();
  const { containers } = podTemplateOf(kind, read.value);
  if (!isAsked(containers, port)) return sightings.insufficient();
  const at = { namespace: target.namespace, name: target.service ?? '' };
  const slices = await attempt(() => view.endpointSlices(at), signal);
  if (!slices.ok) return sightings.failed(slices.error);
  if (readyEndpoints(slices.value, port).length === 0)
    return sightings.failed('its readiness probe lets no endpoint be ready');
  windows.positive('capability', HEALTH);
  return sightings.observed({ present: true });
}

/** A container that declares this very port has a readiness probe over HTTP: a ready sidecar says nothing of it. */
function isAsked(containers: readonly Container[], { targetPort }: ServicePort): boolean {
  return containers.some(({ ports, readinessProbe }) => {
    const isBehind = ports.some(({ name, port }) =>
      typeof targetPort === 'number' ? port === targetPort : targetPort !== '' && name === targetPort,
    );
    const question = readinessProbe?.['httpGet'];
    return isBehind && typeof question === 'object' && question !== null;
  });
}
