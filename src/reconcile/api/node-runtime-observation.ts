/** What a node agent saw, read from its object: the shape is ours (operator.md §13.5). */
import type { KubeObject } from '../../cluster/objects.ts';

/** More than a node runs; the rest is not read. */
const PODS = 2_000;
const LISTENERS = 1_000;
const CONNECTIONS = 5_000;

export interface NodeObservation {
  readonly node: string;
  /** An agent that cannot see says so: a node without BTF. */
  readonly state: 'Ready' | 'Failed';
  readonly reason: string;
  /** By the uid of the Pod. */
  readonly pods: ReadonlyMap<string, ObservedPod>;
}

export interface ObservedPod {
  readonly uid: string;
  readonly namespace: string;
  readonly name: string;
  /** Its sockets are the node's, and nobody's in particular. */
  readonly hostNetwork: boolean;
  readonly listeners: readonly {
    readonly port: number;
    readonly protocol: string;
    readonly loopbackOnly: boolean;
  }[];
  readonly connections: readonly {
    readonly address: string;
    readonly port: number;
    /** Undefined: none was seen. */
    readonly lastSuccessMs: number | undefined;
    readonly lastFailureMs: number | undefined;
  }[];
}

/** @returns undefined where it names no state; entries that make no sense are passed over. */
export function readNodeObservation(object: KubeObject): NodeObservation | undefined {
  const { nodeName, state, reason, pods } = recordOf(object['status']);
  if (state !== 'Ready' && state !== 'Failed') return undefined;
  const node = typeof nodeName === 'string' && nodeName !== '' ? nodeName : (object.metadata.name ?? '');
  const read = listOf(pods, PODS).flatMap((pod) => podOf(pod) ?? []);
  return {
    node,
    state,
    reason: typeof reason === 'string' ? reason : '',
    pods: new Map(read.map((pod) => [pod.uid, pod])),
  };
}

function podOf(pod: Readonly<Record<string, unknown>>): ObservedPod | undefined {
  const { uid, namespace, name, hostNetwork, listeners, connections } = pod;
  if (typeof uid !== 'string' || typeof namespace !== 'string' || typeof name !== 'string') return undefined;
  // What is not in a list counts as not there: of one that is not read to its end nothing may be said.
  if (!isWhole(listeners, LISTENERS) || !isWhole(connections, CONNECTIONS)) return undefined;
  return {
    uid,
    namespace,
    name,
    hostNetwork: hostNetwork === true,
    listeners: listOf(listeners, LISTENERS).flatMap(({ port, protocol, loopbackOnly }) =>
      typeof port === 'number' && typeof protocol === 'string'
        ? [{ port, protocol, loopbackOnly: loopbackOnly === true }]
        : [],
    ),
    connections: listOf(connections, CONNECTIONS).flatMap(({ destIP, destPort, lastSuccess, lastFailure }) =>
      typeof destIP === 'string' && typeof destPort === 'number'
        ? [
            {
              address: destIP,
              port: destPort,
              lastSuccessMs: timeOf(lastSuccess),
              lastFailureMs: timeOf(lastFailure),
            },
          ]
        : [],
    ),
  };
}

function isWhole(list: unknown, limit: number): boolean {
  return list === undefined || list === null || (Array.isArray(list) && list.length <= limit);
}

function timeOf(value: unknown): number | undefined {
  const ms = typeof value === 'string' ? Date.parse(value) : Number.NaN;
  return Number.isNaN(ms) ? undefined : ms;
}

function recordOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}

function listOf(value: unknown, limit: number): readonly Readonly<Record<string, unknown>>[] {
  return Array.isArray(value) ? value.slice(0, limit).map(recordOf) : [];
}
