import { CRON_JOB, type Kind } from '../../cluster/kinds.ts';
import { WORKLOAD_KINDS } from '../target.ts';
import { listOf, pick, recordOf, type Trigger } from './trigger.ts';

/** What of a workload says how it is run; `spec.template` is kept apart. */
const SPEC = ['strategy', 'updateStrategy', 'podManagementPolicy'];

/** One for each kind that a Pacto may name. DaemonSets are none of them, so that nobody would be woken by one. */
export const WORKLOADS: readonly Trigger[] = WORKLOAD_KINDS.map((kind) => ({
  kind,
  scope: 'watched',
  optional: false,
  keep: (workload) => ({ spec: specOf(kind, recordOf(workload['spec'])) }),
  relations: () => [],
  essence: ({ spec }) => spec,
}));

function specOf(kind: Kind, spec: Readonly<Record<string, unknown>>): object {
  if (kind === CRON_JOB) {
    const job = recordOf(recordOf(spec['jobTemplate'])['spec']);
    return { jobTemplate: { spec: { template: templateOf(job['template']) } } };
  }
  const claims = listOf(spec['volumeClaimTemplates']);
  return {
    ...pick(spec, SPEC),
    template: templateOf(spec['template']),
    ...(claims.length > 0 && { volumeClaimTemplates: claims.map(() => ({})) }),
  };
}

/** Neither environment nor arguments nor annotations: they may hold what nobody should keep. */
function templateOf(template: unknown): object {
  const spec = recordOf(recordOf(template)['spec']);
  return {
    spec: {
      ...pick(spec, ['terminationGracePeriodSeconds', 'hostNetwork']),
      containers: listOf(spec['containers'], 1_000).map(containerOf),
      volumes: listOf(spec['volumes'], 1_000).map(volumeOf),
    },
  };
}

function containerOf(container: Readonly<Record<string, unknown>>): object {
  return {
    ...pick(container, ['name', 'image']),
    ports: listOf(container['ports'], 1_000).map((port) => pick(port, ['name', 'containerPort', 'protocol'])),
    ...(container['readinessProbe'] !== undefined && {
      readinessProbe: probeOf(container['readinessProbe']),
    }),
    ...(container['livenessProbe'] !== undefined && { livenessProbe: probeOf(container['livenessProbe']) }),
  };
}

/** Its kind, its port and its delay; header fields may hold tokens. */
function probeOf(probe: unknown): object {
  const { httpGet, tcpSocket, exec, grpc } = recordOf(probe);
  return {
    ...pick(probe, ['initialDelaySeconds']),
    ...(httpGet !== undefined && { httpGet: pick(httpGet, ['port', 'path', 'scheme']) }),
    ...(tcpSocket !== undefined && { tcpSocket: pick(tcpSocket, ['port']) }),
    ...(exec !== undefined && { exec: {} }),
    ...(grpc !== undefined && { grpc: pick(grpc, ['port']) }),
  };
}

/** What kind of volume it is is the name of its one field beside `name`. */
function volumeOf(volume: Readonly<Record<string, unknown>>): object {
  return Object.fromEntries(
    Object.keys(volume)
      .filter((field) => volume[field] !== undefined && volume[field] !== null)
      .map((field) => [field, field === 'name' ? volume[field] : {}]),
  );
}
