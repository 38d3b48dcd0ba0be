/**
 * What node agents saw from the kernel, beside what Kubernetes says (operator.md §13.4). It can take a confirmation back and
 * never makes a violation out of what it cannot see.
 */
import { messageOf } from '../../errors.ts';
import { heartbeatEndMs } from '../api/node-lease.ts';
import { readNodeObservation, type ObservedPod } from '../api/node-runtime-observation.ts';
import { socketText } from './dependency-sockets.ts';
import type { Surveyed } from './dimension.ts';
import type { Endpoint, ServicePort } from './endpoints.ts';
import { attempt } from './sighting.ts';

/** `none`: no opinion, the Kubernetes result stands. `absent`: every Pod was seen, and none of them serves. */
export type Opinion =
  | 'none'
  | 'present'
  | 'absent'
  | { readonly outcome: 'Insufficient' | 'Failed' | 'Stale'; readonly reason: string };

/** What one Pod's node says of it. */
type PodSight =
  | { readonly seen: true; readonly pod: ObservedPod }
  | { readonly seen: false; readonly outcome: 'Insufficient' | 'Failed' | 'Stale'; readonly reason: string };

interface Backing {
  readonly port: ServicePort;
  /** Those that are ready. */
  readonly endpoints: readonly Endpoint[];
}

/** Whether one of the Pods behind a port listens on it. */
export async function interfaceOpinion(surveyed: Surveyed, { port, endpoints }: Backing): Promise<Opinion> {
  if (surveyed.settings.nodeAgent === undefined || port.protocol !== 'TCP') return 'none';
  const sights = await podSights(surveyed, endpoints);
  const serves = sights.some(
    ([endpoint, sight]) =>
      sight.seen &&
      !sight.pod.hostNetwork &&
      sight.pod.listeners.some(
        (listener) =>
          listener.protocol === 'TCP' && !listener.loopbackOnly && listener.port === endpoint.port,
      ),
  );
  if (serves) return 'present';
  const unseen = sights.flatMap(([, sight]) => (sight.seen ? [] : [sight]));
  // What is broken is said before what is old, and that before what cannot be told.
  const worst =
    unseen.find(({ outcome }) => outcome === 'Failed') ??
    unseen.find(({ outcome }) => outcome === 'Stale') ??
    unseen[0];
  if (worst !== undefined) return { outcome: worst.outcome, reason: worst.reason };
  // Sockets of a Pod that shares the network of its node are nobody's in particular; a slice without a port says any.
  const isUncertain = sights.some(([{ port }, sight]) => port === 0 || (sight.seen && sight.pod.hostNetwork));
  return isUncertain
    ? { outcome: 'Insufficient', reason: 'a listener cannot be told to belong to the Pod or the port' }
    : 'absent';
}

/** What came of the last call to a provider that is recent enough. */
export type Calls = 'none' | 'success' | 'failure';

/**
 * @param callers the Pods behind our own Service
 * @param sockets where connections to the provider end (dependency-sockets.ts)
 */
export async function callsTo(
  surveyed: Surveyed,
  callers: readonly Endpoint[],
  sockets: ReadonlySet<string>,
): Promise<Calls> {
  const { settings, view, nowMs, due } = surveyed;
  if (settings.nodeAgent === undefined) return 'none';
  const { connectionMs } = settings.nodeAgent;
  let successMs = Number.NEGATIVE_INFINITY;
  let failureMs = Number.NEGATIVE_INFINITY;
  for (const [, sight] of await podSights(surveyed, callers)) {
    if (!sight.seen || sight.pod.hostNetwork) continue;
    for (const { address, port, lastSuccessMs, lastFailureMs } of sight.pod.connections) {
      const socket = socketText(address, port);
      if (socket === undefined || !sockets.has(socket)) continue;
      successMs = Math.max(successMs, lastSuccessMs ?? Number.NEGATIVE_INFINITY);
      failureMs = Math.max(failureMs, lastFailureMs ?? Number.NEGATIVE_INFINITY);
    }
  }
  // What is over by then is no opinion any more; whatever was before it is over already.
  const endMs = Math.max(successMs, failureMs) + connectionMs;
  if (endMs <= nowMs) return 'none';
  due(endMs);
  // Both are recent: which of them was the last may turn with any further connection.
  if (Math.min(successMs, failureMs) + connectionMs > nowMs) {
    const nodes = new Set(callers.flatMap(({ nodeName }) => nodeName ?? []));
    await Promise.all([...nodes].map((node) => view.nodeObservation(node, 'dates')));
  }
  return successMs >= failureMs ? 'success' : 'failure';
}

/** Each endpoint with what its node says of its Pod; nodes are read once. */
async function podSights(
  surveyed: Surveyed,
  endpoints: readonly Endpoint[],
): Promise<readonly (readonly [Endpoint, PodSight])[]> {
  const nodes = new Map<string, Promise<NodeSight>>();
  return await Promise.all(
    endpoints.map(async (endpoint): Promise<readonly [Endpoint, PodSight]> => {
      const { nodeName, podUid } = endpoint;
      if (nodeName === undefined || podUid === undefined)
        return [endpoint, unseen('Insufficient', 'an endpoint names no Pod or no node')];
      const node = nodes.get(nodeName) ?? nodeSight(surveyed, nodeName);
      nodes.set(nodeName, node);
      const sight = await node;
      if (!sight.seen) return [endpoint, sight];
      const pod = sight.pods.get(podUid);
      return [
        endpoint,
        pod === undefined
          ? unseen('Insufficient', 'a Pod is not in what its node agent saw')
          : { seen: true, pod },
      ];
    }),
  );
}

type NodeSight =
  | { readonly seen: true; readonly pods: ReadonlyMap<string, ObservedPod> }
  | Extract<PodSight, { seen: false }>;

async function nodeSight({ view, nowMs, due, signal }: Surveyed, node: string): Promise<NodeSight> {
  const read = await attempt(() => Promise.all([view.nodeObservation(node), view.nodeLease(node)]), signal);
  if (!read.ok)
    return unseen('Failed', `what the node agent on ${node} saw cannot be read: ${messageOf(read.error)}`);
  const [object, lease] = read.value;
  const endMs = heartbeatEndMs(lease, object);
  // A heartbeat in the future is of a clock that goes before ours: it is fresh.
  if (object === undefined || endMs === undefined || endMs <= nowMs)
    return unseen('Stale', `the node agent on ${node} has not been heard of`);
  due(endMs, 'watched');
  const observation = readNodeObservation(object);
  if (observation === undefined)
    return unseen('Stale', `the node agent on ${node} says nothing that can be read`);
  if (observation.state === 'Failed')
    return unseen('Failed', `the node agent on ${node} cannot see: ${observation.reason.slice(0, 200)}`);
  return { seen: true, pods: observation.pods };
}

function unseen(
  outcome: 'Insufficient' | 'Failed' | 'Stale',
  reason: string,
): Extract<PodSight, { seen: false }> {
  return { seen: false, outcome, reason };
}
