import { LEASE, NODE_RUNTIME_OBSERVATION } from '../../cluster/kinds.ts';
import { listOf, pick, recordOf, type Trigger } from './trigger.ts';

/** As api/node-runtime-observation.ts reads them; the rest is not worth its memory. */
const PODS = 2_000;
const LISTENERS = 1_000;
const CONNECTIONS = 5_000;
/** One of a node with a hundred busy Pods has some 300 KB. */
const PAGE_SIZE = 10;

/**
 * What node agents say. They renew their Leases every few seconds and date every connection that they see: neither wakes
 * anybody, as long as it says the same. That a heartbeat stops or comes back is for heartbeats.ts.
 *
 * @param connectionMs how long a connection that was seen counts
 */
export function nodeTriggers(connectionMs: number): readonly Trigger[] {
  return [
    {
      kind: NODE_RUNTIME_OBSERVATION,
      scope: 'agents',
      optional: true,
      pageSize: PAGE_SIZE,
      keep: ({ status }) => ({
        status: {
          ...pick(status, ['nodeName', 'state', 'reason', 'lastPublished']),
          pods: listOf(recordOf(status)['pods'], PODS).map(podOf),
        },
      }),
      relations: () => [],
      essence: ({ status }, nowMs) => viewOf(recordOf(status), nowMs - connectionMs),
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
}

function podOf(pod: Readonly<Record<string, unknown>>): object {
  return {
    ...pick(pod, ['uid', 'namespace', 'name', 'hostNetwork']),
    listeners: entriesOf(pod['listeners'], LISTENERS, ['port', 'protocol', 'loopbackOnly']),
    connections: entriesOf(pod['connections'], CONNECTIONS, [
      'destIP',
      'destPort',
      'lastSuccess',
      'lastFailure',
    ]),
  };
}

/** What is no list stays none, and one too long stays too long: neither says that something is not there. */
function entriesOf(value: unknown, limit: number, fields: readonly string[]): unknown {
  if (value === undefined || value === null) return undefined;
  return Array.isArray(value) ? listOf(value, limit + 1).map((entry) => pick(entry, fields)) : 'no list';
}

/** Without dates, but for what of each connection counts still: its last success, its last failure, or neither. */
function viewOf(
  { lastPublished: _published, pods, ...rest }: Readonly<Record<string, unknown>>,
  sinceMs: number,
): unknown {
  return [
    rest,
    listOf(pods).map(({ connections, ...pod }) => [
      pod,
      listOf(connections).map((connection) => outcomeOf(connection, sinceMs)),
    ]),
  ];
}

function outcomeOf(
  { destIP, destPort, lastSuccess, lastFailure }: Readonly<Record<string, unknown>>,
  sinceMs: number,
): unknown {
  const successMs = timeOf(lastSuccess);
  const failureMs = timeOf(lastFailure);
  const isOver = Math.max(successMs, failureMs) <= sinceMs;
  return [destIP, destPort, isOver ? 'none' : successMs >= failureMs ? 'success' : 'failure'];
}

function timeOf(value: unknown): number {
  const ms = typeof value === 'string' ? Date.parse(value) : Number.NaN;
  return Number.isNaN(ms) ? Number.NEGATIVE_INFINITY : ms;
}
