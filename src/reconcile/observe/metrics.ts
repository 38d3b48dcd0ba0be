/** Whether the metrics capability is there (operator.md §5.7). It is confirmed or not known, and never denied. */
import type { Capability } from '../../policies/contract/contract.ts';
import type { Observation } from '../../policies/observation.ts';
import { capabilityPort, probePath } from './capability-port.ts';
import { COLLECTOR, type Surveyed } from './dimension.ts';
import { isExposition } from './exposition.ts';
import { findMetrics } from './metrics-target.ts';
import { Sightings } from './sighting.ts';

const METRICS = 'metrics';
/** What is read of an answer (prober.ts). */
const BODY_BYTES = 4_096;

export async function observeMetrics(surveyed: Surveyed): Promise<readonly Observation[]> {
  const capability = surveyed.contract.capabilities.find(({ type }) => type === METRICS);
  return capability === undefined ? [] : [await observe(surveyed, capability)];
}

async function observe(surveyed: Surveyed, capability: Capability): Promise<Observation> {
  const sightings = new Sightings(surveyed, 'CapabilityObserved', { kind: 'capability', name: METRICS });
  const { settings, target, view, prober, signal } = surveyed;
  if (!settings.metrics) return sightings.unsupported();
  const at = await capabilityPort(surveyed, capability);
  if (at.found === 'nothing') return sightings.unsupported();
  if (at.found === 'failure') return sightings.failed(at.error);
  const { namespace, workload, service = '' } = target;
  const found = await findMetrics({
    view,
    namespace,
    workload,
    service: at.service,
    port: at.port,
    path: capability.binding?.path,
  });
  if (found === undefined) return sightings.unsupported();
  const answer = await prober.get({ service, namespace, port: found.port }, probePath(found.path), signal);
  if (!answer.answered) return sightings.failed(`no answer: ${answer.reason}`);
  const isCut = answer.body.length >= BODY_BYTES;
  if (answer.status !== 200 || !isExposition(answer.contentType, answer.body, isCut))
    return sightings.insufficient();
  return sightings.observed({ present: true }, `${COLLECTOR}/metrics:${found.method}`);
}
