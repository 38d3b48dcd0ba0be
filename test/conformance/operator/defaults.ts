/** What an API server adds to what is written, as far as statuses show it: the recording had a real one. */
import type { KubeObject } from '../../../src/cluster/objects.ts';

type Fields = Readonly<Record<string, unknown>>;

export function withDefaults(object: KubeObject, namespace: string): KubeObject {
  const metadata = { ...object.metadata, namespace };
  const base = { ...object, metadata };
  const spec = fieldsOf(object['spec']);
  switch (object.kind) {
    case 'Deployment':
      return {
        ...base,
        spec: { strategy: { type: 'RollingUpdate' }, ...spec, template: template(spec['template']) },
      };
    case 'StatefulSet':
      return {
        ...base,
        spec: { podManagementPolicy: 'OrderedReady', ...spec, template: template(spec['template']) },
      };
    case 'ReplicaSet':
    case 'Job':
      return { ...base, spec: { ...spec, template: template(spec['template']) } };
    case 'CronJob': {
      const job = fieldsOf(fieldsOf(spec['jobTemplate'])['spec']);
      return {
        ...base,
        spec: { ...spec, jobTemplate: { spec: { ...job, template: template(job['template']) } } },
      };
    }
    case 'Service':
      return { ...base, spec: { type: 'ClusterIP', ...spec, ports: listOf(spec['ports']).map(servicePort) } };
    case 'Secret': {
      const texts = Object.entries(fieldsOf(object['stringData'])) as [string, string][];
      const data = Object.fromEntries(
        texts.map(([key, text]) => [key, Buffer.from(text).toString('base64')]),
      );
      return { ...base, data: { ...fieldsOf(object['data']), ...data } };
    }
    default:
      return base;
  }
}

function template(value: unknown): Fields {
  const { spec, ...rest } = fieldsOf(value);
  const pod = fieldsOf(spec);
  const containers = listOf(pod['containers']).map(container);
  return { ...rest, spec: { terminationGracePeriodSeconds: 30, ...pod, containers } };
}

function container(one: Fields): Fields {
  return { ...one, ports: listOf(one['ports']).map(withProtocol) };
}

function withProtocol(port: Fields): Fields {
  return { protocol: 'TCP', ...port };
}

function servicePort(port: Fields): Fields {
  return { protocol: 'TCP', targetPort: port['port'], ...port };
}

function fieldsOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null ? (value as Fields) : {};
}

function listOf(value: unknown): readonly Fields[] {
  return Array.isArray(value) ? (value as readonly Fields[]) : [];
}
