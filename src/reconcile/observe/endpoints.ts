/** Service ports and what is ready behind them. */
import type { KubeObject } from '../../cluster/objects.ts';

export interface ServicePort {
  readonly port: number;
  /** Empty for an unnamed one. */
  readonly name: string;
  readonly protocol: string;
  /** A number, or the name of a container port; as the API server fills it in, the port itself. */
  readonly targetPort: number | string;
}

export interface Endpoint {
  /** The port that traffic reaches, as the slice says. */
  readonly port: number;
  readonly addresses: readonly string[];
  readonly nodeName: string | undefined;
  /** Of the Pod behind it. */
  readonly podUid: string | undefined;
}

interface ServiceSpec {
  readonly type?: string;
  readonly selector?: Readonly<Record<string, string>>;
  readonly ports?: readonly Readonly<Record<string, unknown>>[];
}

export function specOf(object: KubeObject): Readonly<Record<string, unknown>> {
  return (object['spec'] ?? {}) as Readonly<Record<string, unknown>>;
}

export function isExternalName(service: KubeObject): boolean {
  return (specOf(service) as ServiceSpec).type === 'ExternalName';
}

export function hasSelector(service: KubeObject): boolean {
  return Object.keys((specOf(service) as ServiceSpec).selector ?? {}).length > 0;
}

/** A number means the port, a text its name, never the other way round (operator.md §5.1). */
export function findPort(service: KubeObject, binding: string | number): ServicePort | undefined {
  return servicePorts(service).find(
    ({ port, name }) => (typeof binding === 'number' ? port : name) === binding,
  );
}

export function servicePorts(service: KubeObject): readonly ServicePort[] {
  const { ports = [] } = specOf(service) as ServiceSpec;
  return ports.flatMap(({ port, name, protocol, targetPort }) =>
    typeof port === 'number'
      ? [
          {
            port,
            name: typeof name === 'string' ? name : '',
            protocol: typeof protocol === 'string' ? protocol : 'TCP',
            targetPort: typeof targetPort === 'number' || typeof targetPort === 'string' ? targetPort : port,
          },
        ]
      : [],
  );
}

/**
 * Endpoints that are ready on a Service port. Slices carry the port that traffic reaches, not the Service's own: what
 * matches is the name, which both have from the Service, and where the target port is a number that number (operator.md §20,
 * T2). An endpoint whose `ready` is not set counts as ready, as the Kubernetes API asks its consumers to read it.
 *
 * @param port undefined: on any port.
 */
export function readyEndpoints(
  slices: readonly KubeObject[],
  port: ServicePort | undefined,
): readonly Endpoint[] {
  return slices.flatMap((slice) => {
    const { ports = [], endpoints = [] } = slice as unknown as EndpointSlice;
    const reached = (ports ?? []).find((one) => port === undefined || isOf(one, port));
    if (port !== undefined && reached === undefined) return [];
    return (endpoints ?? [])
      .filter(({ conditions }) => conditions?.ready !== false)
      .map(({ addresses = [], nodeName, targetRef }) => ({
        port: reached?.port ?? 0,
        addresses,
        nodeName,
        podUid: targetRef?.kind === 'Pod' ? targetRef.uid : undefined,
      }));
  });
}

interface SlicePort {
  readonly name?: string;
  readonly protocol?: string;
  readonly port?: number;
}

function isOf(slicePort: SlicePort, { name, protocol, targetPort }: ServicePort): boolean {
  return (
    (slicePort.name ?? '') === name &&
    (slicePort.protocol ?? 'TCP') === protocol &&
    (typeof targetPort === 'string' || slicePort.port === targetPort)
  );
}

interface EndpointSlice {
  readonly ports?: readonly SlicePort[] | null;
  readonly endpoints?:
    | readonly {
        readonly addresses?: readonly string[];
        readonly conditions?: { readonly ready?: boolean };
        readonly nodeName?: string;
        readonly targetRef?: { readonly kind?: string; readonly uid?: string };
      }[]
    | null;
}
