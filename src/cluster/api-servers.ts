/**
 * The API servers behind the address that clients use, one by one: what one of them does, another may not do yet, or may
 * have been started not to do. In a Pod they are the endpoints of the Service `default/kubernetes`; elsewhere nothing
 * says how many there are, and the address stands for them.
 */
import type { Clock } from '../clock.ts';
import { GateError } from '../errors.ts';
import type { Cluster } from './cluster.ts';
import type { Kind } from './kinds.ts';
import type { KubeObject } from './objects.ts';
import type { ClusterSource } from './open.ts';

export const ENDPOINT_SLICE: Kind = {
  group: 'discovery.k8s.io',
  version: 'v1',
  kind: 'EndpointSlice',
  resource: 'endpointslices',
  namespaced: true,
};
/** Where API servers put their endpoints, and the label by which slices name their Service. */
export const API_SERVER_NAMESPACE = 'default';
const SLICES_OF_API_SERVER = 'kubernetes.io/service-name=kubernetes';
/** Every API server's certificate has it (kubeadm, and what the Service's users expect). */
const API_SERVER_NAME = 'kubernetes.default.svc';

export interface ApiServerCluster {
  /** Its address, for messages. */
  readonly name: string;
  readonly cluster: Pick<Cluster, 'create'>;
}

export interface ApiServers {
  /** As they are now. @throws GateError where they cannot be listed. */
  all(): Promise<readonly ApiServerCluster[]>;
  close(): Promise<void>;
}

/**
 * @param cluster the way that everything else goes; not closed here.
 * @param prepare makes what opens the way to one API server; left out: with the account of the Pod.
 */
export function createApiServers(
  source: ClusterSource,
  cluster: Cluster,
  clock: Clock,
  prepare?: () => Promise<Connect>,
): ApiServers {
  if (source.source !== 'in-cluster') {
    const one = { name: 'the API server', cluster };
    return { all: () => Promise.resolve([one]), close: () => Promise.resolve() };
  }
  const { host, port } = source;
  return new Endpoints(cluster, prepare ?? (() => withAccountOfPod(host, port, clock)));
}

async function withAccountOfPod(host: string, port: string, clock: Clock): Promise<Connect> {
  const { loadConnection } = await import('./kubeconfig.ts');
  const { createRestCluster } = await import('./rest.ts');
  const connection = await loadConnection({ source: 'in-cluster', host, port, clock });
  return (server) =>
    createRestCluster({ connection: { ...connection, server, tlsServerName: API_SERVER_NAME }, clock });
}

/** Opens the way to `https://address:port`. */
type Connect = (server: string) => Pick<Cluster, 'create' | 'close'>;

class Endpoints implements ApiServers {
  readonly #cluster: Cluster;
  readonly #prepare: () => Promise<Connect>;
  #connect: Promise<Connect> | undefined;
  #known = new Map<string, ReturnType<Connect>>();

  constructor(cluster: Cluster, prepare: () => Promise<Connect>) {
    this.#cluster = cluster;
    this.#prepare = prepare;
  }

  async all(): Promise<readonly ApiServerCluster[]> {
    const { items } = await this.#cluster.list(ENDPOINT_SLICE, {
      namespace: API_SERVER_NAMESPACE,
      labelSelector: SLICES_OF_API_SERVER,
    });
    const servers = items.flatMap(serversOf);
    if (servers.length === 0)
      throw new GateError(
        'GATE_CLUSTER_ANSWER',
        'the API server: no EndpointSlice of default/kubernetes names an address of it; look at that Service',
      );
    this.#connect ??= this.#prepare();
    const connect = await this.#connect;
    const before = this.#known;
    this.#known = new Map(servers.map((server) => [server, before.get(server) ?? connect(server)]));
    for (const [server, cluster] of before) if (!this.#known.has(server)) await cluster.close();
    return [...this.#known].map(([name, cluster]) => ({ name, cluster }));
  }

  async close(): Promise<void> {
    await Promise.all([...this.#known.values()].map((cluster) => cluster.close()));
  }
}

/** @returns `https://address:port` of the endpoints that are ready. */
export function serversOf(slice: KubeObject): readonly string[] {
  const { ports, endpoints } = slice as { readonly ports?: unknown; readonly endpoints?: unknown };
  const port = list(ports)
    .map((one) => one['port'])
    .find((one) => typeof one === 'number');
  if (port === undefined) return [];
  return list(endpoints).flatMap((one) => {
    const { conditions } = one as { readonly conditions?: { readonly ready?: unknown } };
    if (conditions?.ready === false) return [];
    const addresses = Array.isArray(one['addresses']) ? (one['addresses'] as readonly unknown[]) : [];
    return addresses
      .filter((address) => typeof address === 'string')
      .map((address) => `https://${address.includes(':') ? `[${address}]` : address}:${String(port)}`);
  });
}

function list(value: unknown): readonly Readonly<Record<string, unknown>>[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'object' && item !== null) : [];
}
