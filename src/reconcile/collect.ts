/** Everything that is seen of a target at one moment: each dimension in its turn, none in the way of another (operator.md §4.1, §5). */
import { GateError } from '../errors.ts';
import { assertionKey, type Contract } from '../policies/contract/contract.ts';
import type { EvidenceSet, Observation, ObservationKind } from '../policies/observation.ts';
import { observeConfigurations } from './observe/configurations.ts';
import { observeDependencies } from './observe/dependencies.ts';
import type { Dimension, Surveyed } from './observe/dimension.ts';
import { observeExposure } from './observe/exposure.ts';
import { observeHealth } from './observe/health.ts';
import { observeInterfaces } from './observe/interfaces.ts';
import { observeMetrics } from './observe/metrics.ts';
import { observePersistence } from './observe/persistence.ts';
import { observeProtocols } from './observe/protocol.ts';
import { Sightings } from './observe/sighting.ts';
import { observeWorkload } from './observe/workload.ts';
import { inSeconds, type WindowKind } from './stabilization.ts';

export interface NamedDimension {
  /** As the log has it. */
  readonly name: string;
  readonly observe: Dimension;
  readonly kind: ObservationKind;
  readonly subjectKind: 'interface' | 'dependency' | 'capability' | 'configuration' | 'service';
  /** What of the contract it is about. */
  readonly subjects: (contract: Contract) => readonly string[];
}

const names = (entries: readonly { readonly name: string }[]): readonly string[] =>
  entries.map(({ name }) => name);
const capability =
  (type: string): NamedDimension['subjects'] =>
  ({ capabilities }) =>
    capabilities.some((one) => one.type === type) ? [type] : [];

/** In the order of operator.md §5; those of 6.4 behind what they are about. */
export const DIMENSIONS: readonly NamedDimension[] = [
  {
    name: 'interfaces',
    observe: observeInterfaces,
    kind: 'InterfaceObserved',
    subjectKind: 'interface',
    subjects: ({ interfaces }) => names(interfaces),
  },
  {
    name: 'protocols',
    observe: observeProtocols,
    kind: 'InterfaceProtocolObserved',
    subjectKind: 'interface',
    subjects: ({ interfaces }) => names(interfaces),
  },
  {
    name: 'exposure',
    observe: observeExposure,
    kind: 'InterfaceExposureObserved',
    subjectKind: 'interface',
    subjects: ({ interfaces }) => names(interfaces),
  },
  {
    name: 'dependencies',
    observe: observeDependencies,
    kind: 'DependencyReachable',
    subjectKind: 'dependency',
    subjects: ({ dependencies }) => names(dependencies),
  },
  {
    name: 'health',
    observe: observeHealth,
    kind: 'CapabilityObserved',
    subjectKind: 'capability',
    subjects: capability('health'),
  },
  {
    name: 'metrics',
    observe: observeMetrics,
    kind: 'CapabilityObserved',
    subjectKind: 'capability',
    subjects: capability('metrics'),
  },
  {
    name: 'configurations',
    observe: observeConfigurations,
    kind: 'ConfigurationPresent',
    subjectKind: 'configuration',
    subjects: ({ configurations }) => names(configurations),
  },
  {
    name: 'workload',
    observe: observeWorkload,
    kind: 'WorkloadObserved',
    subjectKind: 'service',
    subjects: ({ service, workload = '' }) => (workload === '' ? [] : [service.name]),
  },
  {
    name: 'persistence',
    observe: observePersistence,
    kind: 'PersistenceObserved',
    subjectKind: 'service',
    subjects: ({ service, state }) => (state?.persistence.durability === 'persistent' ? [service.name] : []),
  },
];

/** operator.md §4.1. */
const SOURCE = 'k8s';
/** After a fault of ours: it may be one of the moment, such as too much to do. */
const AGAIN_MS = 30_000;

export interface CollectOptions {
  /** Empty for an inline contract. */
  readonly resolvedRef: string;
  /** Told of what a dimension threw: it is a fault of ours, and all that the dimension says is that looking failed. */
  readonly onFault: (dimension: string, error: unknown) => void;
  /** Default: all of them. */
  readonly dimensions?: readonly NamedDimension[];
}

/** Rejects with the signal's reason only. */
export async function collect(
  surveyed: Surveyed,
  { resolvedRef, onFault, dimensions = DIMENSIONS }: CollectOptions,
): Promise<EvidenceSet> {
  // Together, as some wait for a network; what they found is in their order all the same.
  const found = await Promise.all(dimensions.map((dimension) => observed(surveyed, dimension, onFault)));
  const { target, nowMs } = surveyed;
  return {
    subject: { kind: 'service', name: `${target.namespace}/${target.service ?? target.workload.name}` },
    contractRef: resolvedRef,
    source: SOURCE,
    observedAt: inSeconds(nowMs),
    observations: found.flat(),
  };
}

async function observed(
  surveyed: Surveyed,
  { name, observe, kind, subjectKind, subjects }: NamedDimension,
  onFault: CollectOptions['onFault'],
): Promise<readonly Observation[]> {
  const { contract, signal, nowMs, due } = surveyed;
  try {
    return await observe(surveyed);
  } catch (error) {
    signal.throwIfAborted();
    onFault(name, error);
    const affected = subjects(contract);
    if (affected.length > 0) due(nowMs + AGAIN_MS);
    const reason = error instanceof GateError ? error : 'a fault of pacto-gate itself, which its log tells';
    return affected.map((subject) =>
      new Sightings(surveyed, kind, { kind: subjectKind, name: subject }).failed(reason),
    );
  }
}

/** Streaks of anything else are forgotten: a subject that comes back must not be convicted by them (operator.md §6). */
export function declares(contract: Contract): (kind: WindowKind, subject: string) => boolean {
  const declared = new Set([
    ...contract.interfaces.map(({ name }) => `interface/${name}`),
    ...contract.dependencies.map(({ name }) => `dependency/${name}`),
    ...contract.capabilities.map((one) => `capability/${assertionKey(one)}`),
    ...contract.configurations.map(({ name }) => `configuration/${name}`),
  ]);
  return (kind, subject) => declared.has(`${kind}/${subject}`);
}
