/** Where workloads keep the template of their Pods, and what of it is looked at. */
import type { Kind } from '../../cluster/kinds.ts';
import { CRON_JOB } from '../../cluster/kinds.ts';
import type { KubeObject } from '../../cluster/objects.ts';

type Fields = Readonly<Record<string, unknown>>;

export interface Container {
  readonly image: string | undefined;
  readonly ports: readonly { readonly name: string; readonly port: number }[];
  readonly readinessProbe: Fields | undefined;
  readonly livenessProbe: Fields | undefined;
}

export interface PodTemplate {
  readonly containers: readonly Container[];
  /** The name of each volume's one field beside `name`: `emptyDir`, `persistentVolumeClaim`. */
  readonly volumes: readonly string[];
  readonly claimTemplates: number;
  readonly graceSeconds: number | undefined;
}

export function podTemplateOf(kind: Kind, workload: KubeObject): PodTemplate {
  const spec = fieldsOf(workload['spec']);
  const owner = kind === CRON_JOB ? fieldsOf(fieldsOf(spec['jobTemplate'])['spec']) : spec;
  const pod = fieldsOf(fieldsOf(owner['template'])['spec']);
  const { terminationGracePeriodSeconds: grace } = pod;
  return {
    containers: listOf(pod['containers']).map(containerOf),
    volumes: listOf(pod['volumes']).map(sourceOf),
    claimTemplates: listOf(spec['volumeClaimTemplates']).length,
    graceSeconds: typeof grace === 'number' ? grace : undefined,
  };
}

function containerOf({ image, ports, readinessProbe, livenessProbe }: Fields): Container {
  return {
    image: typeof image === 'string' ? image : undefined,
    ports: listOf(ports).flatMap(({ name, containerPort }) =>
      typeof containerPort === 'number'
        ? [{ name: typeof name === 'string' ? name : '', port: containerPort }]
        : [],
    ),
    readinessProbe: isFields(readinessProbe) ? readinessProbe : undefined,
    livenessProbe: isFields(livenessProbe) ? livenessProbe : undefined,
  };
}

/** A volume without a source is an emptyDir to Kubernetes. */
function sourceOf(volume: Fields): string {
  const source = Object.keys(volume).find((field) => field !== 'name' && isFields(volume[field]));
  return source ?? 'emptyDir';
}

export function fieldsOf(value: unknown): Fields {
  return isFields(value) ? value : {};
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function listOf(value: unknown): readonly Fields[] {
  return Array.isArray(value) ? value.slice(0, 1_000).map(fieldsOf) : [];
}
