/** The gate keeper in this process: what it sees, and what it writes while this process leads. Loaded where delivery is on. */
import { createHash } from 'node:crypto';
import type { AppParts } from './parts.ts';
import { isNotServed, reportWatch, watchFacts } from './watch.ts';
import type { Cluster } from '../cluster/cluster.ts';
import { STAGE, type Kind } from '../cluster/kinds.ts';
import type { Leader } from '../cluster/leader.ts';
import { writesOfLeader } from '../cluster/leader.ts';
import type { Config } from '../config.ts';
import type { WatchFacts } from '../metrics.ts';
import { EventRecorder } from '../reconcile/event-recorder.ts';
import type { StageGates } from '../reconcile/stages/gates.ts';
import { StageKeeper } from '../reconcile/stages/keeper.ts';
import { StageSight } from '../reconcile/stages/stage-sight.ts';

export interface StagesPart {
  readonly gates: StageGates;
  /** Told of each change of who leads. */
  turn(leads: boolean): void;
  watches(): readonly WatchFacts[];
  isIdle(): boolean;
  stop(): Promise<void>;
}

const COMPONENT = 'pacto-gate';

export function startStages(
  { delivery, reconciler }: Pick<Config, 'delivery' | 'reconciler'>,
  { clock, log }: AppParts,
  { cluster, leader }: { readonly cluster: Cluster; readonly leader: Leader },
): StagesPart {
  const missing = new Set<Kind>();
  const report = reportWatch(log);
  const leads = (): boolean => leader.leads();
  const writes = writesOfLeader(cluster, leads);
  const sight = new StageSight({
    cluster,
    clock,
    random: Math.random,
    namespaces: reconciler.namespaces,
    identityNamespace: delivery.namespace,
    stabilizationMs: reconciler.stabilizationSeconds * 1_000,
    sha256,
    report(kind, said) {
      if (said.type === 'listed') missing.delete(kind);
      else if (said.type === 'failed' && said.during === 'list' && isNotServed(said.error)) missing.add(kind);
      report(kind, said);
    },
    isMissing: (kind) => missing.has(kind),
    keeperAlive: () => leader.isHeld(),
    onWake: (key) => keeper.wake(key),
  });
  const keeper = new StageKeeper({
    sight,
    writes,
    reads: cluster,
    events: new EventRecorder({
      cluster: writes,
      clock,
      kind: STAGE,
      component: COMPONENT,
      onError: (error) => log.warn('event not written', { err: error }),
    }),
    leads,
    clock,
    random: Math.random,
    sha256,
    promoter: delivery.promoter,
    log,
  });
  sight.start();
  return {
    gates: sight,
    turn: (leading) => keeper.turn(leading),
    watches: () => sight.reflectors().map(watchFacts),
    isIdle: () => keeper.isIdle(),
    async stop() {
      await keeper.stop();
      await sight.stop();
    },
  };
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
