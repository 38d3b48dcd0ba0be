/**
 * One key, one look, one answer, and nothing left running: for who watches nothing (design decision 12). When to come again is
 * in the answer, for a timer outside.
 */
import type { Cluster } from '../cluster/cluster.ts';
import { PACTO } from '../cluster/kinds.ts';
import { writesOfLeader } from '../cluster/leader.ts';
import { withLease, type HeldLease, type LeaseOnceOptions } from '../cluster/lease-once.ts';
import type { Clock } from '../clock.ts';
import { GateError } from '../errors.ts';
import type { Log } from '../log.ts';
import { readPacto } from './api/read-pacto.ts';
import { EventRecorder } from './event-recorder.ts';
import { createLiveView } from './live-view.ts';
import type { ObserveSettings } from './observe/dimension.ts';
import type { Pass, PassResult } from './pass.ts';
import { isStatusOwed } from './reconciler.ts';
import type { PactoKey } from './wake.ts';
import { Writer } from './writer.ts';

/** A write that somebody else was before is tried so often. */
const ATTEMPTS = 3;

export interface OnceParts {
  readonly cluster: Cluster;
  readonly pass: Pass;
  readonly clock: Clock;
  readonly log: Log;
  /** Empty: all. */
  readonly namespaces: readonly string[];
  readonly nodeAgent: ObserveSettings['nodeAgent'];
  readonly lease: Omit<LeaseOnceOptions, 'cluster' | 'clock'>;
}

export interface OnceAnswer {
  readonly result: PassResult;
  /** `not-leading`: somebody else holds the Lease, and writes what there is to write. */
  readonly outcome: 'written' | 'unchanged' | 'not-leading';
}

/**
 * @returns undefined where there is no such Pacto.
 * @throws GateError as Cluster and Writer, and the signal's reason.
 */
export async function reconcileOnce(
  key: PactoKey,
  parts: OnceParts,
  signal: AbortSignal,
): Promise<OnceAnswer | undefined> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await once(key, parts, signal);
    } catch (error) {
      const isContested = error instanceof GateError && error.code === 'GATE_CLUSTER_CONFLICT';
      if (!isContested || attempt >= ATTEMPTS) throw error;
    }
  }
}

async function once(key: PactoKey, parts: OnceParts, signal: AbortSignal): Promise<OnceAnswer | undefined> {
  const { cluster, clock, pass, namespaces, nodeAgent } = parts;
  const object = await cluster.get(PACTO, key, { signal });
  if (object === undefined) return undefined;
  const pacto = readPacto(object);
  const view = createLiveView({ cluster, namespaces, nodeAgent, signal });
  // The Lease is held while something is written, and not while a registry or a probe is waited for.
  const result = await pass.look(pacto, { view, signal });
  const isOwed = isStatusOwed(pacto, clock.now());
  const outcome = await withLease({ ...parts.lease, cluster, clock }, async (held) =>
    writerOf(parts, held).write(object, result, { isOwed, signal: AbortSignal.any([signal, held.signal]) }),
  );
  return { result, outcome: outcome ?? 'not-leading' };
}

function writerOf({ cluster, clock, log }: OnceParts, held: HeldLease): Writer {
  const writes = writesOfLeader(cluster, () => held.leads());
  const onError = (error: unknown): void => log.warn('event not written', { err: error });
  return new Writer({ writes, events: new EventRecorder({ cluster: writes, clock, onError }), log });
}
