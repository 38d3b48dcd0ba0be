import { CRON_JOB, type Kind } from '../../cluster/kinds.ts';
import { WORKLOAD_KINDS } from '../target.ts';
import { isRecord, listOf, pick, recordOf, type Trigger } from './trigger.ts';

type Fields = Readonly<Record<string, unknown>>;

const ENTRIES = 1_000;
/** As large as Pods, most of which is their template (cluster/watch.ts). */
const PAGE_SIZE = 100;

/** One for each kind that a Pacto may name. DaemonSets are none of them, so that nobody would be woken by one. */
export const WORKLOADS: readonly Trigger[] = WORKLOAD_KINDS.map((kind) => ({
  kind,
  scope: 'watched',
  optional: false,
  pageSize: PAGE_SIZE,
  keep: (workload) => ({ spec: specOf(kind, recordOf(workload['spec'])) }),
  relations: () => [],
  essence: ({ spec }) => spec,
}));

/** Not how many of them run, and nothing of the status: what is ready is said by EndpointSlices. */
function specOf(kind: Kind, spec: Fields): object {
  if (kind === CRON_JOB) {
    const job = recordOf(recordOf(spec['jobTemplate'])['spec']);
    return { jobTemplate: { spec: { template: templateOf(job['template']) } } };
  }
  const claims = listOf(spec['volumeClaimTemplates'], ENTRIES);
  return {
    ...pick(spec, ['podManagementPolicy']),
    ...(isRecord(spec['strategy']) && { strategy: pick(spec['strategy'], ['type']) }),
    template: templateOf(spec['template']),
    ...(claims.length > 0 && { volumeClaimTemplates: claims.map(() => ({})) }),
  };
}

/** Neither environment nor arguments nor annotations: they may hold what nobody should keep. */
function templateOf(template: unknown): object {
  const spec = recordOf(recordOf(template)['spec']);
  return {
    spec: {
      ...pick(spec, ['terminationGracePeriodSeconds']),
      containers: listOf(spec['containers'], ENTRIES).map(containerOf),
      volumes: listOf(spec['volumes'], ENTRIES).map(volumeOf),
    },
  };
}

function containerOf(container: Fields): object {
  const { ports, readinessProbe, livenessProbe } = container;
  return {
    ...pick(container, ['name', 'image']),
    ports: listOf(ports, ENTRIES).map((port) => pick(port, ['name', 'containerPort'])),
    ...(isRecord(readinessProbe) && { readinessProbe: probeOf(readinessProbe) }),
    ...(isRecord(livenessProbe) && { livenessProbe: probeOf(livenessProbe) }),
  };
}

/** Whether it asks over HTTP, and its delay; header fields may hold tokens. */
function probeOf(probe: Fields): object {
  const { httpGet } = probe;
  return {
    ...pick(probe, ['initialDelaySeconds']),
    ...(httpGet !== undefined && { httpGet: isRecord(httpGet) ? {} : httpGet }),
  };
}

/** What kind of volume it is is the name of its one field beside `name`. */
function volumeOf(volume: Fields): object {
  return Object.fromEntries(
    Object.keys(volume)
      .filter((field) => field === 'name' || isRecord(volume[field]))
      .map((field) => [field, field === 'name' ? volume[field] : {}]),
  );
}
