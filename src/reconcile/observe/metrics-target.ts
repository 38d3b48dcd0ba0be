/** Where a Service says that its metrics are: the first of five ways that finds something (operator.md §5.7). */
import type { Kind } from '../../cluster/kinds.ts';
import type { KubeObject } from '../../cluster/objects.ts';
import type { View } from '../view.ts';
import { servicePorts, specOf, type ServicePort } from './endpoints.ts';
import { fieldsOf, listOf, podTemplateOf } from './pod-template.ts';

export interface MetricsTarget {
  /** Goes into the provenance. */
  readonly method: 'servicemonitor' | 'podmonitor' | 'annotation' | 'named-port' | 'probe';
  /** Of the Service. */
  readonly port: number;
  readonly path: string;
}

export interface MetricsSearch {
  readonly view: View;
  readonly namespace: string;
  readonly service: KubeObject;
  /** Of the interface that the capability is bound to. */
  readonly port: ServicePort;
  /** Of the contract. */
  readonly path: string | undefined;
  readonly workload: { readonly kind: Kind; readonly name: string };
}

const DEFAULT_PATH = '/metrics';
const PORT_NAMES: ReadonlySet<string> = new Set(['metrics', 'http-metrics']);

export async function findMetrics(search: MetricsSearch): Promise<MetricsTarget | undefined> {
  return (
    (await byServiceMonitor(search)) ??
    (await byPodMonitor(search)) ??
    byAnnotation(search) ??
    byPortName(search) ??
    (search.path === undefined || search.path === ''
      ? undefined
      : { method: 'probe', port: search.port.port, path: search.path })
  );
}

/** A kind that cannot be listed is passed over, as upstream does: the next way may find something. */
async function listed(list: () => Promise<readonly KubeObject[]>): Promise<readonly KubeObject[]> {
  try {
    return await list();
  } catch {
    return [];
  }
}

async function byServiceMonitor({
  view,
  namespace,
  service,
}: MetricsSearch): Promise<MetricsTarget | undefined> {
  const labels = service.metadata.labels ?? {};
  for (const monitor of await listed(() => view.serviceMonitors(namespace))) {
    if (!selects(monitor, labels)) continue;
    for (const { port, targetPort, path } of listOf(specOf(monitor)['endpoints'])) {
      const found = servicePort(service, port, targetPort);
      if (found !== undefined) return { method: 'servicemonitor', port: found.port, path: textOf(path) };
    }
  }
  return undefined;
}

/** A port of a Pod is asked through the Service port that leads to it. */
async function byPodMonitor(search: MetricsSearch): Promise<MetricsTarget | undefined> {
  const { view, namespace, service, workload } = search;
  const podLabels = fieldsOf(specOf(service)['selector']);
  for (const monitor of await listed(() => view.podMonitors(namespace))) {
    if (!selects(monitor, podLabels)) continue;
    for (const { port, targetPort, portNumber, path } of listOf(specOf(monitor)['podMetricsEndpoints'])) {
      const wanted = portNumber ?? targetPort ?? port;
      const found = await leadingTo(search, wanted, { kind: workload.kind, namespace, name: workload.name });
      if (found !== undefined) return { method: 'podmonitor', port: found.port, path: textOf(path) };
    }
  }
  return undefined;
}

async function leadingTo(
  { view, service }: MetricsSearch,
  wanted: unknown,
  workload: { readonly kind: Kind; readonly namespace: string; readonly name: string },
): Promise<ServicePort | undefined> {
  const ports = servicePorts(service);
  const direct = ports.find(({ targetPort }) => targetPort === wanted);
  if (direct !== undefined || typeof wanted !== 'string') return direct;
  const objects = await listed(async () => {
    const object = await view.workload(workload.kind, workload);
    return object === undefined ? [] : [object];
  });
  const containers = objects.flatMap((object) => podTemplateOf(workload.kind, object).containers);
  const named = containers.flatMap((container) => container.ports).filter(({ name }) => name === wanted);
  const numbers = new Set(named.map(({ port }) => port));
  return ports.find(({ targetPort }) => typeof targetPort === 'number' && numbers.has(targetPort));
}

/** Names are what monitors have in practice; upstream takes numbers alone (operator.md §20, T7). */
function servicePort(service: KubeObject, port: unknown, targetPort: unknown): ServicePort | undefined {
  const ports = servicePorts(service);
  if (typeof port === 'string' && port !== '') return ports.find(({ name }) => name === port);
  if (typeof port === 'number') return ports.find((one) => one.port === port);
  return targetPort === undefined ? undefined : ports.find((one) => one.targetPort === targetPort);
}

function byAnnotation({ service }: MetricsSearch): MetricsTarget | undefined {
  const annotations = service.metadata.annotations ?? {};
  if (annotations['prometheus.io/scrape'] !== 'true') return undefined;
  const port = annotations['prometheus.io/port'] ?? '';
  if (!/^[1-9]\d{0,4}$/.test(port) || Number(port) > 65_535) return undefined;
  return { method: 'annotation', port: Number(port), path: textOf(annotations['prometheus.io/path']) };
}

function byPortName({ service, path }: MetricsSearch): MetricsTarget | undefined {
  const found = servicePorts(service).find(({ name }) => PORT_NAMES.has(name));
  return found && { method: 'named-port', port: found.port, path: textOf(path) };
}

/** Every label that is asked for is there. A selector without labels selects nothing here: it would be everybody's. */
function selects(monitor: KubeObject, labels: Readonly<Record<string, unknown>>): boolean {
  const wanted = Object.entries(fieldsOf(fieldsOf(specOf(monitor)['selector'])['matchLabels']));
  return wanted.length > 0 && wanted.every(([key, value]) => labels[key] === value);
}

function textOf(path: unknown): string {
  return typeof path === 'string' && path !== '' ? path : DEFAULT_PATH;
}
