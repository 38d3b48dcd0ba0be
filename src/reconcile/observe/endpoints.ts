/** Service ports and what is ready behind them. Whatever is of another type than Kubernetes gives it reads as not there. */
import type { KubeObject } from '../../cluster/objects.ts';
import { fieldsOf, listOf } from './pod-template.ts';

export interface ServicePort {
  readonly port: number;
  /** Empty for an unnamed one. */
  readonly name: string;
  readonly protocol: string;
  /** A number, or the name of a container port; as the API server fills it in, the port itself. */
  readonly targetPort: number | string;
}

export interface Endpoint {
  /** The port that traffic reaches, as the slice says; 0 where it says none. */
  readonly port: number;
  readonly addresses: readonly string[];
  readonly nodeName: string | undefined;
  /** Of the Pod behind it. */
  readonly podUid: string | undefined;
}

export interface SlicePort {
  /** Empty for an unnamed one. */
  readonly name: string;
  readonly protocol: string;
  /** Undefined: any port. */
  readonly port: number | undefined;
}

type Fields = Readonly<Record<string, unknown>>;

export function specOf(object: KubeObject): Fields {
  return fieldsOf(object['spec']);
}

export function isExternalName(service: KubeObject): boolean {
  return specOf(service)['type'] === 'ExternalName';
}

export function hasSelector(service: KubeObject): boolean {
  return Object.keys(fieldsOf(specOf(service)['selector'])).length > 0;
}

/**
 * A number means the port, a text its name, never the other way round (operator.md §5.1). Where a number is that of a TCP
 * port and of another one, TCP is meant: every type of interface that names a protocol is spoken over it.
 */
export function findPort(service: KubeObject, binding: string | number): ServicePort | undefined {
  const bound = servicePorts(service).filter(
    ({ port, name }) => (typeof binding === 'number' ? port : name) === binding,
  );
  return bound.find(({ protocol }) => protocol === 'TCP') ?? bound[0];
}

export function servicePorts(service: KubeObject): readonly ServicePort[] {
  return listOf(specOf(service)['ports']).flatMap(({ port, name, protocol, targetPort }) =>
    typeof port === 'number'
      ? [
          {
            port,
            name: textOf(name) ?? '',
            protocol: textOf(protocol) ?? 'TCP',
            targetPort: typeof targetPort === 'number' || typeof targetPort === 'string' ? targetPort : port,
          },
        ]
      : [],
  );
}

export function slicePorts(slice: KubeObject): readonly SlicePort[] {
  return listOf(slice['ports']).flatMap(({ name, protocol, port }) =>
    typeof name === 'string' || typeof port === 'number'
      ? [
          {
            name: textOf(name) ?? '',
            protocol: textOf(protocol) ?? 'TCP',
            port: typeof port === 'number' ? port : undefined,
          },
        ]
      : [],
  );
}

/**
 * Endpoints that are ready on a Service port. Slices carry the port that traffic reaches, not the Service's own (operator.md
 * §20, T2): what matches is that number where the Service says it, and else the name, which both have from the Service. An
 * endpoint whose `ready` is not set counts as ready, as the Kubernetes API asks its consumers to read it.
 *
 * @param port undefined: on any port.
 */
export function readyEndpoints(
  slices: readonly KubeObject[],
  port: ServicePort | undefined,
): readonly Endpoint[] {
  return slices.flatMap((slice) => {
    const ports = slicePorts(slice);
    const reached = port === undefined ? ports[0] : ports.find((one) => isOf(one, port));
    if (port !== undefined && reached === undefined) return [];
    const ready = listOf(slice['endpoints']).filter(
      ({ conditions }) => fieldsOf(conditions)['ready'] !== false,
    );
    return ready.map((endpoint) => endpointOf(endpoint, reached?.port));
  });
}

/** Ready or not, on whatever port. */
export function allEndpoints(slices: readonly KubeObject[]): readonly Endpoint[] {
  return slices.flatMap((slice) =>
    listOf(slice['endpoints']).map((endpoint) => endpointOf(endpoint, undefined)),
  );
}

function isOf(slicePort: SlicePort, { name, protocol, targetPort }: ServicePort): boolean {
  if (slicePort.protocol !== protocol) return false;
  return typeof targetPort === 'string' || slicePort.port === undefined
    ? slicePort.name === name
    : slicePort.port === targetPort;
}

function endpointOf({ addresses, nodeName, targetRef }: Fields, port: number | undefined): Endpoint {
  const { kind, uid } = fieldsOf(targetRef);
  return {
    port: port ?? 0,
    addresses: Array.isArray(addresses)
      ? addresses.filter((address): address is string => typeof address === 'string')
      : [],
    nodeName: textOf(nodeName),
    podUid: kind === 'Pod' ? textOf(uid) : undefined,
  };
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}
