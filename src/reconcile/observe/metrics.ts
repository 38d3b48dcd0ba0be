/** Whether the metrics capability is there (operator.md §5.7). It is confirmed or not known, and never denied. */
import type { Capability } from '../../policies/contract/contract.ts';
import type { Observation } from '../../policies/observation.ts';
import { capabilityPort, probePath } from './capability-port.ts';
import { COLLECTOR, type Surveyed } from './dimension.ts';
import { isExternalName } from './endpoints.ts';
import { isExposition } from './exposition.ts';
import { findMetrics } from './metrics-target.ts';
import { ANSWER_BYTES } from './prober.ts';
import { Sightings } from './sighting.ts';

const METRICS = 'metrics';

export async function observeMetrics(surveyed: Surveyed): Promise<readonly Observation[]> {
  const capability = surveyed.contract.capabilities.find(({ type }) => type === METRICS);
  return capability === undefined ? [] : [await observe(surveyed, capability)];
}

async function observe(surveyed: Surveyed, capability: Capability): Promise<Observation> {
  const sightings = new Sightings(surveyed, 'CapabilityObserved', { kind: 'capability', name: METRICS });
  const { settings, target, view, prober, signal } = surveyed;
  if (!settings.metrics) return sightings.unsupported();
  const at = await capabilityPort(surveyed, capability);
  if (at.found === 'failure') return sightings.failed(at.error);
  // The name of an ExternalName Service leads out of the cluster: it is not asked.
  if (at.found === 'nothing' || isExternalName(at.service)) return sightings.unsupported();
  const { namespace, workload, service = '' } = target;
  const found = await findMetrics({
    view,
    namespace,
    workload,
    service: at.service,
    port: at.port,
    path: capability.binding?.path,
  });
  signal.throwIfAborted();
  if (found === undefined) return sightings.unsupported();
  const answer = await prober.get({ service, namespace, port: found.port }, probePath(found.path), signal);
  if (!answer.answered) return sightings.failed(`no answer: ${answer.reason}`);
  const isCut = answer.body.length >= ANSWER_BYTES;
  if (answer.status !== 200 || !isExposition(answer.contentType, answer.body, isCut))
    return sightings.insufficient();
  return sightings.observed({ present: true }, `${COLLECTOR}/metrics:${found.method}`);
}
