/** Whether what is declared persistent has storage that outlives a Pod (operator.md §5.9). */
import type { Observation } from '../../policies/observation.ts';
import type { Surveyed } from './dimension.ts';
import { podTemplateOf, type PodTemplate } from './pod-template.ts';
import { attempt, Sightings } from './sighting.ts';

/** Volumes that end with their Pod; of every other that is no claim nobody can tell. */
const EPHEMERAL: ReadonlySet<string> = new Set([
  'emptyDir',
  'projected',
  'configMap',
  'secret',
  'downwardAPI',
]);

export async function observePersistence(surveyed: Surveyed): Promise<readonly Observation[]> {
  const { contract, target, view, signal } = surveyed;
  if (contract.state?.persistence.durability !== 'persistent') return [];
  const subject = { kind: 'service', name: contract.service.name };
  const sightings = new Sightings(surveyed, 'PersistenceObserved', subject);
  const { kind, name } = target.workload;
  if (name === '') return [];
  const read = await attempt(() => view.workload(kind, { namespace: target.namespace, name }), signal);
  if (!read.ok) return [sightings.failed(read.error)];
  if (read.value === undefined) return [];
  const durability = durabilityOf(podTemplateOf(kind, read.value));
  if (durability === 'ambiguous') return [sightings.insufficient()];
  return [sightings.observed({ durable: durability === 'durable' })];
}

function durabilityOf({ volumes, claimTemplates }: PodTemplate): 'durable' | 'ephemeral' | 'ambiguous' {
  if (claimTemplates > 0 || volumes.includes('persistentVolumeClaim')) return 'durable';
  return volumes.every((volume) => EPHEMERAL.has(volume)) ? 'ephemeral' : 'ambiguous';
}
