/** The heartbeat of a node agent (operator.md §13.2). */
import type { KubeObject } from '../../cluster/objects.ts';

/** An agent publishes every 30 s unless told otherwise: a heartbeat without a Lease is good for three of them. */
export const HEARTBEAT_WITHOUT_LEASE_MS = 90_000;
/** Longer ones are no heartbeat. */
const LONGEST_MS = 3_600_000;

export interface NodeLease {
  readonly renewMs: number;
  readonly durationMs: number;
  readonly holder: string;
}

/** @returns undefined where it says no time or no duration. */
export function readNodeLease(lease: KubeObject): NodeLease | undefined {
  const { renewTime, leaseDurationSeconds, holderIdentity } = (lease['spec'] ?? {}) as Record<
    string,
    unknown
  >;
  const renewMs = typeof renewTime === 'string' ? Date.parse(renewTime) : Number.NaN;
  if (Number.isNaN(renewMs)) return undefined;
  if (typeof leaseDurationSeconds !== 'number' || !(leaseDurationSeconds > 0)) return undefined;
  const durationMs = Math.min(leaseDurationSeconds * 1_000, LONGEST_MS);
  return { renewMs, durationMs, holder: typeof holderIdentity === 'string' ? holderIdentity : '' };
}

/** When the heartbeat of a node ends, wall clock; undefined where it has none. */
export function heartbeatEndMs(
  lease: KubeObject | undefined,
  observation: KubeObject | undefined,
): number | undefined {
  const read = lease === undefined ? undefined : readNodeLease(lease);
  if (read !== undefined) return read.renewMs + read.durationMs;
  if (lease !== undefined || observation === undefined) return undefined;
  const { lastPublished } = (observation['status'] ?? {}) as Record<string, unknown>;
  const publishedMs = typeof lastPublished === 'string' ? Date.parse(lastPublished) : Number.NaN;
  return Number.isNaN(publishedMs) ? undefined : publishedMs + HEARTBEAT_WITHOUT_LEASE_MS;
}
