/** What becomes of each step of recovery while no process of any webhook runs (webhook-operations.md R2). */
import type { GroupVersionResource } from '../../cluster/objects.ts';
import { EntryReach } from '../../policies/entry-reach.ts';
import type { Labels } from '../../policies/vap/label-selector.ts';
import { policyOf, type LiveEntry } from './live-entry.ts';
import type { RecoveryStep } from './recovery-step.ts';

/**
 * - `possible`: nobody is asked about it.
 * - `delayed`: entries with failure policy Ignore are asked, and it passes when their time is over.
 * - `blocked`: an entry with failure policy Fail is asked.
 * - `unknown`: whether an entry is asked depends on what cannot be told from here.
 */
export type Outcome = 'possible' | 'delayed' | 'blocked' | 'unknown';

export interface AskedEntry {
  readonly entry: LiveEntry;
  readonly policy: string | undefined;
  /** Why the request fails without a call: a selector or a match condition that cannot be decided. */
  readonly error?: string;
}

export interface SimulatedStep {
  readonly step: RecoveryStep;
  readonly outcome: Outcome;
  /** Those that make it so. */
  readonly by: readonly AskedEntry[];
}

/**
 * @param entries all of one owner: those of the gate, or everybody else's.
 * @param namespaces labels of the Namespaces that are known, by name.
 */
export function simulate(
  steps: readonly RecoveryStep[],
  entries: readonly LiveEntry[],
  namespaces: ReadonlyMap<string, Labels>,
): readonly SimulatedStep[] {
  const reach = new EntryReach();
  return steps.map((step) => simulateStep(step, entries, namespaces, reach));
}

function simulateStep(
  step: RecoveryStep,
  entries: readonly LiveEntry[],
  namespaces: ReadonlyMap<string, Labels>,
  reach: EntryReach,
): SimulatedStep {
  const found: Record<Exclude<Outcome, 'possible'>, AskedEntry[]> = { blocked: [], unknown: [], delayed: [] };
  const { request } = step;
  const labels = request.namespace === undefined ? undefined : namespaces.get(request.namespace);
  for (const entry of entries) {
    const answer = reach.of(entry.reachable, request, {
      ...(labels !== undefined && { namespaceLabels: labels }),
      equivalents: equivalentsOf(request.resource, entry),
    });
    const asked: AskedEntry = {
      entry,
      policy: policyOf(entry.client),
      ...(answer.reach === 'refused' && { error: answer.error }),
    };
    if (answer.reach === 'passed') continue;
    if (answer.reach === 'unknown' && entry.failurePolicy === 'Fail') found.unknown.push(asked);
    else found[entry.failurePolicy === 'Fail' ? 'blocked' : 'delayed'].push(asked);
  }
  for (const outcome of ['blocked', 'unknown', 'delayed'] as const)
    if (found[outcome].length > 0) return { step, outcome, by: found[outcome] };
  return { step, outcome: 'possible', by: [] };
}

const EVENTS: readonly GroupVersionResource[] = [
  { group: '', version: 'v1', resource: 'events' },
  { group: 'events.k8s.io', version: 'v1', resource: 'events' },
];

/**
 * Other names of the same stored object, which `matchPolicy: Equivalent` follows. Events have two groups. Of a custom
 * resource every version that the rules name is taken to be served: rules are written for what there is.
 */
function equivalentsOf(resource: GroupVersionResource, entry: LiveEntry): readonly GroupVersionResource[] {
  if (EVENTS.some(({ group }) => group === resource.group && resource.resource === 'events')) return EVENTS;
  const isCustom = resource.group.includes('.') && !resource.group.endsWith('.k8s.io');
  if (!isCustom) return [resource];
  const versions = entry.reachable.rules
    .filter(({ apiGroups }) => apiGroups.includes(resource.group))
    .flatMap(({ apiVersions }) => apiVersions)
    .filter((version) => version !== '*');
  const { group, resource: name } = resource;
  return [...new Set([resource.version, ...versions])].map((version) => ({ group, version, resource: name }));
}
