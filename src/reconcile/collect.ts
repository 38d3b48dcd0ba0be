/** Everything that is seen of a target at one moment: each dimension in its turn, none in the way of another (operator.md §4.1, §5). */
import { assertionKey, type Contract } from '../policies/contract/contract.ts';
import type { EvidenceSet, Observation } from '../policies/observation.ts';
import { observeConfigurations } from './observe/configurations.ts';
import { observeDependencies } from './observe/dependencies.ts';
import type { Dimension, Surveyed } from './observe/dimension.ts';
import { observeExposure } from './observe/exposure.ts';
import { observeHealth } from './observe/health.ts';
import { observeInterfaces } from './observe/interfaces.ts';
import { observeMetrics } from './observe/metrics.ts';
import { observePersistence } from './observe/persistence.ts';
import { observeProtocols } from './observe/protocol.ts';
import { observeWorkload } from './observe/workload.ts';
import { inSeconds, type WindowKind } from './stabilization.ts';

/** In the order of operator.md §5; those of 6.4 behind what they are about. */
export const DIMENSIONS: readonly Dimension[] = [
  observeInterfaces,
  observeProtocols,
  observeExposure,
  observeDependencies,
  observeHealth,
  observeMetrics,
  observeConfigurations,
  observeWorkload,
  observePersistence,
];

/** operator.md §4.1. */
const SOURCE = 'k8s';

export async function collect(surveyed: Surveyed, resolvedRef: string): Promise<EvidenceSet> {
  const observations: Observation[] = [];
  // Together, as some wait for a network; what they found is in their order all the same.
  for (const found of await Promise.all(DIMENSIONS.map((observe) => observe(surveyed))))
    observations.push(...found);
  const { target, nowMs } = surveyed;
  return {
    subject: { kind: 'service', name: `${target.namespace}/${target.service ?? target.workload.name}` },
    contractRef: resolvedRef,
    source: SOURCE,
    observedAt: inSeconds(nowMs),
    observations,
  };
}

/** Streaks of anything else are forgotten: a subject that comes back must not be convicted by them (operator.md §6). */
export function declares(contract: Contract): (kind: WindowKind, subject: string) => boolean {
  const declared = new Set([
    ...contract.interfaces.map(({ name }) => `interface/${name}`),
    ...contract.dependencies.map(({ name }) => `dependency/${name}`),
    ...contract.capabilities.map((capability) => `capability/${assertionKey(capability)}`),
    ...contract.configurations.map(({ name }) => `configuration/${name}`),
  ]);
  return (kind, subject) => declared.has(`${kind}/${subject}`);
}
