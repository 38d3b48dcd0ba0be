import { LEASE, NODE_RUNTIME_OBSERVATION } from '../../cluster/kinds.ts';
import type { KubeObject } from '../../cluster/objects.ts';
import { listOf, pick, recordOf, type Trigger } from './trigger.ts';

/**
 * What node agents say. They renew their Leases every few seconds and date every connection that they see: neither wakes
 * anybody, as long as it says the same. That a heartbeat stops or comes back is for heartbeats.ts.
 */
export const NODES: readonly Trigger[] = [
  {
    kind: NODE_RUNTIME_OBSERVATION,
    scope: 'agents',
    optional: true,
    keep: ({ status }) => ({ status }),
    relations: () => [],
    essence: viewOf,
  },
  {
    kind: LEASE,
    scope: 'agents',
    optional: true,
    keep: ({ spec }) => ({ spec: pick(spec, ['holderIdentity', 'leaseDurationSeconds', 'renewTime']) }),
    relations: () => [],
    essence: ({ spec }) => pick(spec, ['holderIdentity', 'leaseDurationSeconds']),
  },
];

/** Without dates, but for which of a success and a failure is the later one. */
function viewOf({ status }: KubeObject): unknown {
  const { lastPublished: _published, pods, ...rest } = recordOf(status);
  return [rest, listOf(pods).map(({ connections, ...pod }) => [pod, listOf(connections).map(outcomeOf)])];
}

function outcomeOf({
  destIP,
  destPort,
  lastSuccess,
  lastFailure,
}: Readonly<Record<string, unknown>>): unknown {
  return [destIP, destPort, timeOf(lastSuccess) >= timeOf(lastFailure)];
}

function timeOf(value: unknown): number {
  const ms = typeof value === 'string' ? Date.parse(value) : Number.NaN;
  return Number.isNaN(ms) ? Number.NEGATIVE_INFINITY : ms;
}
