/** Whether the workload is of the declared type (operator.md §5.8). */
import { CRON_JOB, JOB, type Kind } from '../../cluster/kinds.ts';
import type { Observation } from '../../policies/observation.ts';
import type { Surveyed } from './dimension.ts';
import { attempt, Sightings } from './sighting.ts';

export async function observeWorkload(surveyed: Surveyed): Promise<readonly Observation[]> {
  const { contract, target, view, signal } = surveyed;
  if (contract.workload === undefined || contract.workload === '') return [];
  const subject = { kind: 'service', name: contract.service.name };
  const sightings = new Sightings(surveyed, 'WorkloadObserved', subject);
  const { kind, name, explicit } = target.workload;
  if (name === '') return [];
  const read = await attempt(() => view.workload(kind, { namespace: target.namespace, name }), signal);
  if (!read.ok) return [sightings.failed(read.error)];
  if (read.value === undefined) return [];
  const type = typeOf(kind);
  // A kind that nobody wrote down contradicts nothing.
  if (type !== contract.workload && !explicit) return [sightings.insufficient()];
  return [sightings.observed({ type })];
}

function typeOf(kind: Kind): string {
  return kind === JOB ? 'job' : kind === CRON_JOB ? 'scheduled' : 'service';
}
