/** Where a Service says that its metrics are: the first of five ways that finds something (operator.md §5.7). */
import type { Kind } from '../../cluster/kinds.ts';
import type { KubeObject } from '../../cluster/objects.ts';
import { selectorFault, selects, type Labels } from '../../policies/vap/label-selector.ts';
import type { View } from '../view.ts';
import { servicePorts, specOf, type ServicePort } from './endpoints.ts';
import { fieldsOf, listOf, podTemplateOf } from './pod-template.ts';

export interface MetricsTarget {
  /** Goes into the provenance. */
  readonly method: 'servicemonitor' | 'podmonitor' | 'annotation' | 'named-port' | 'probe';
  /** To be asked under the name of the Service. */
  readonly port: number;
  /** As it is written. */
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
const PORT_NUMBER = /^[1-9]\d{0,4}$/;
const HIGHEST_PORT = 65_535;

/** @returns undefined where nothing says it, and the contract has no path either. */
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

/** In the order of their names. Those that cannot be listed are passed over: the next way may find something. */
async function listed(list: () => Promise<readonly KubeObject[]>): Promise<readonly KubeObject[]> {
  try {
    const objects = await list();
    return objects.toSorted((a, b) => compare(a.metadata.name ?? '', b.metadata.name ?? ''));
  } catch {
    return [];
  }
}

async function byServiceMonitor(search: MetricsSearch): Promise<MetricsTarget | undefined> {
  const { view, namespace, service } = search;
  const labels = textsOf(service.metadata.labels);
  for (const monitor of await listed(() => view.serviceMonitors(namespace))) {
    if (!isFor(monitor, namespace, labels)) continue;
    for (const { port, targetPort, path } of listOf(specOf(monitor)['endpoints'])) {
      const found = isSet(port) ? servicePort(service, port) : await leadingTo(search, targetPort);
      if (found !== undefined) return { method: 'servicemonitor', port: found.port, path: pathOf(path) };
    }
  }
  return undefined;
}

/** A port of a Pod is asked through the Service port that leads to it. */
async function byPodMonitor(search: MetricsSearch): Promise<MetricsTarget | undefined> {
  const { view, namespace, service } = search;
  const labels = textsOf(specOf(service)['selector']);
  for (const monitor of await listed(() => view.podMonitors(namespace))) {
    if (!isFor(monitor, namespace, labels)) continue;
    for (const { port, portNumber, targetPort, path } of listOf(specOf(monitor)['podMetricsEndpoints'])) {
      const wanted = [port, portNumber, targetPort].find(isSet);
      const found = await leadingTo(search, wanted);
      if (found !== undefined) return { method: 'podmonitor', port: found.port, path: pathOf(path) };
    }
  }
  return undefined;
}

/** Names are what monitors have in practice; upstream takes numbers alone (operator.md §20, T7). */
function servicePort(service: KubeObject, wanted: unknown): ServicePort | undefined {
  const ports = servicePorts(service);
  const number = numberOf(wanted);
  return number === undefined
    ? ports.find(({ name }) => name === wanted)
    : (ports.find(({ port }) => port === number) ?? ports.find(({ targetPort }) => targetPort === number));
}

/** The Service port that leads to a port of its Pods: by the number or the name of that one. */
async function leadingTo(
  { view, service, namespace, workload: { kind, name } }: MetricsSearch,
  wanted: unknown,
): Promise<ServicePort | undefined> {
  if (!isSet(wanted)) return undefined;
  const ports = servicePorts(service);
  const number = numberOf(wanted);
  const direct = ports.find(({ targetPort }) => targetPort === (number ?? wanted));
  if (direct !== undefined || name === '') return direct;
  // The Service has the number and the monitor the name, or the other way round: the workload has both.
  const [workload] = await listed(async () => {
    const object = await view.workload(kind, { namespace, name });
    return object === undefined ? [] : [object];
  });
  if (workload === undefined) return undefined;
  const known = podTemplateOf(kind, workload).containers.flatMap((container) => container.ports);
  const meant = known.filter((one) => (number === undefined ? one.name === wanted : one.port === number));
  return ports.find(({ targetPort }) =>
    meant.some((one) => targetPort === one.port || (one.name !== '' && targetPort === one.name)),
  );
}

/**
 * Whoever scrapes by annotation takes the port for one of the Pod, and upstream for one of the Service: the Service port of
 * that number, else the one that leads to it, else the number, which a Service without an address of its own hands on.
 */
function byAnnotation({ service }: MetricsSearch): MetricsTarget | undefined {
  const annotations = textsOf(service.metadata.annotations);
  const number = numberOf(annotations['prometheus.io/port']);
  if (annotations['prometheus.io/scrape'] !== 'true' || number === undefined) return undefined;
  const port = servicePort(service, number)?.port ?? number;
  return { method: 'annotation', port, path: pathOf(annotations['prometheus.io/path']) };
}

function byPortName({ service, path }: MetricsSearch): MetricsTarget | undefined {
  const found = servicePorts(service).find(({ name }) => PORT_NAMES.has(name));
  return found && { method: 'named-port', port: found.port, path: pathOf(path) };
}

/** Whether a monitor looks into this namespace, its own, and selects these labels as Kubernetes would. */
function isFor(monitor: KubeObject, namespace: string, labels: Labels): boolean {
  const { selector, namespaceSelector } = specOf(monitor);
  const { any, matchNames } = fieldsOf(namespaceSelector);
  if (any !== true && Array.isArray(matchNames) && matchNames.length > 0 && !matchNames.includes(namespace))
    return false;
  const { matchLabels, matchExpressions } = fieldsOf(selector);
  const wanted = {
    matchLabels: textsOf(matchLabels),
    matchExpressions: listOf(matchExpressions).map(({ key, operator, values }) => ({
      key: String(key),
      operator: String(operator),
      values: Array.isArray(values) ? values.map(String) : [],
    })),
  };
  return selectorFault(wanted) === undefined && selects(wanted, labels);
}

/** Of a map of texts, what is one. */
function textsOf(value: unknown): Labels {
  return Object.fromEntries(
    Object.entries(fieldsOf(value)).filter(
      (entry): entry is [string, string] => typeof entry[1] === 'string',
    ),
  );
}

/** A number of a port, written as a number or in digits. */
function numberOf(port: unknown): number | undefined {
  const text = typeof port === 'number' ? String(port) : port;
  if (typeof text !== 'string' || !PORT_NUMBER.test(text)) return undefined;
  return Number(text) <= HIGHEST_PORT ? Number(text) : undefined;
}

function isSet(port: unknown): boolean {
  return typeof port === 'number' || (typeof port === 'string' && port !== '');
}

function pathOf(path: unknown): string {
  return typeof path === 'string' && path !== '' ? path : DEFAULT_PATH;
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
