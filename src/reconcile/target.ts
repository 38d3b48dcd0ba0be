/** What a Pacto points at (operator.md §1.1.1, steps 13 and 14 of §3.2). */
import { CRON_JOB, DEPLOYMENT, JOB, REPLICA_SET, STATEFUL_SET, type Kind } from '../cluster/kinds.ts';
import type { PactoSpec } from './api/pacto.ts';

/** Kinds that `workloadRef.kind` may name. */
export const WORKLOAD_KINDS: readonly Kind[] = [DEPLOYMENT, STATEFUL_SET, REPLICA_SET, JOB, CRON_JOB];

export interface WorkloadTarget {
  readonly kind: Kind;
  readonly name: string;
  /** The author named the kind, too: only then may its type contradict the contract (operator.md §5.8). */
  readonly explicit: boolean;
}

export interface ConfigBinding {
  readonly kind: 'ConfigMap' | 'Secret';
  readonly name: string;
  readonly key?: string;
  readonly format?: string;
}

export interface Target {
  readonly namespace: string;
  /** Undefined where none is named, or an empty one. */
  readonly service: string | undefined;
  readonly workload: WorkloadTarget;
  /** By name of the interface: the number of a Service port, or its name. */
  readonly interfaces: ReadonlyMap<string, string | number>;
  /** By name of the configuration. */
  readonly configurations: ReadonlyMap<string, ConfigBinding>;
}

/** @returns undefined for a reference: neither a Service nor a workload is named. */
export function targetOf(namespace: string, spec: PactoSpec): Target | undefined {
  const { target } = spec;
  const service = target?.serviceName === '' ? undefined : target?.serviceName;
  const workload = workloadOf(target?.workloadRef, service);
  if (workload === undefined) return undefined;
  return {
    namespace,
    service,
    workload,
    interfaces: new Map(target?.interfaceBindings.map((binding) => [binding.interface, binding.servicePort])),
    configurations: new Map(
      target?.configBindings.map(({ configuration, ...binding }) => [configuration, binding]),
    ),
  };
}

function workloadOf(
  reference: NonNullable<PactoSpec['target']>['workloadRef'],
  service: string | undefined,
): WorkloadTarget | undefined {
  if (reference === undefined) {
    return service === undefined ? undefined : { kind: DEPLOYMENT, name: service, explicit: false };
  }
  const kind = WORKLOAD_KINDS.find((one) => one.kind === reference.kind);
  return {
    kind: kind ?? DEPLOYMENT,
    name: reference.name,
    explicit: kind !== undefined && reference.name !== '',
  };
}
