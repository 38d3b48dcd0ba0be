/** The role reconciler without watches: whoever wakes it has one Pacto looked at by reads of the moment (design decision 12). */
import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { openLooking, type Looking } from './looking.ts';
import type { AppParts } from './parts.ts';
import type { ReconcilerPart, ReconcilerSources } from './reconciler-part.ts';
import { leaseNamespaceOf, observeSettings } from './reconciler-settings.ts';
import type { Clock } from '../clock.ts';
import type { Cluster } from '../cluster/cluster.ts';
import { PACTO } from '../cluster/kinds.ts';
import type { KubeObject } from '../cluster/objects.ts';
import type { Config } from '../config.ts';
import { GateError } from '../errors.ts';
import type { Log } from '../log.ts';
import { readPacto } from '../reconcile/api/read-pacto.ts';
import { createEventSink } from '../reconcile/event-sink.ts';
import { RECONCILER_LEASE } from '../reconcile/lease.ts';
import { createLiveView } from '../reconcile/live-view.ts';
import { reconcileOnce, type OnceParts } from '../reconcile/once.ts';
import { Queue } from '../reconcile/queue.ts';
import { Verdicts } from '../reconcile/verdicts.ts';
import { keyText, type PactoKey } from '../reconcile/wake.ts';

const FIELD_MANAGER = 'pacto-gate';
/** An event is held against so many Pactos at most. */
const MOST_PACTOS = 5_000;
const PAGE_SIZE = 250;

/** What one look needs that ends with it. */
export function onceParts(
  config: Config,
  { clock, log }: { readonly clock: Clock; readonly log: Log },
  cluster: Cluster,
  { pass }: Pick<Looking, 'pass'>,
): OnceParts {
  return {
    cluster,
    pass,
    clock,
    log,
    namespaces: config.reconciler.namespaces,
    nodeAgent: observeSettings(config).nodeAgent,
    lease: {
      namespace: leaseNamespaceOf(config),
      name: RECONCILER_LEASE,
      fieldManager: FIELD_MANAGER,
      identity: `${hostname()}_${randomUUID()}`,
    },
  };
}

/** Between two events it does nothing and holds nothing. */
export function startLiveReconciler(
  config: Config,
  parts: AppParts,
  sources: ReconcilerSources,
): ReconcilerPart {
  const { clock, log } = parts;
  const { cluster } = sources;
  const looking = openLooking(config, parts, sources);
  const once = onceParts(config, parts, cluster, looking);
  const keys = new Map<string, PactoKey>();
  const queue = new Queue({
    clock,
    random: Math.random,
    workers: config.reconciler.workers,
    async work(name, signal) {
      const key = keys.get(name);
      if (key === undefined) return;
      const answer = await reconcileOnce(key, once, signal);
      keys.delete(name);
      const { status } = answer?.result ?? {};
      log.info('verdict', { ...key, verdict: status?.contractStatus ?? 'gone' });
    },
    onFailure(name, error, requeueMs) {
      log.warn('reconcile failed', { ...keys.get(name), requeueMs: Math.round(requeueMs), err: error });
    },
  });
  return {
    verdicts: liveVerdicts(config, parts, cluster, looking),
    events: createEventSink({
      pactos: () => listPactos(cluster, config.reconciler.namespaces),
      wake(key) {
        keys.set(keyText(key), key);
        queue.add(keyText(key), 'demand');
      },
      forget: (repository) => looking.forget(repository),
      clock,
    }),
    unsynced: () => undefined,
    watches: () => [],
    observe(metrics) {
      // Who writes is found out for each look alone.
      metrics.observeReconciler(() => ({ leads: false, ...queue.facts() }));
    },
    isIdle() {
      const { waiting, running } = queue.facts();
      return waiting === 0 && running === 0;
    },
    async stop() {
      await queue.stop();
      await looking.close();
    },
  };
}

function liveVerdicts(
  config: Config,
  { clock }: Pick<AppParts, 'clock'>,
  cluster: Cluster,
  { pass }: Looking,
): Verdicts {
  const { namespaces, stabilizationSeconds } = config.reconciler;
  const { nodeAgent } = observeSettings(config);
  return new Verdicts({
    async read(key) {
      const object = await cluster.get(PACTO, key);
      return object === undefined ? undefined : readPacto(object);
    },
    look: (pacto, { signal }) =>
      pass.look(pacto, {
        view: createLiveView({ cluster, namespaces, nodeAgent, signal }),
        signal,
        isFresh: true,
      }),
    clock,
    stabilizationMs: stabilizationSeconds * 1_000,
  });
}

/** @throws GateError GATE_TOO_MANY_OBJECTS, and as Cluster.list. */
export async function listPactos(
  cluster: Pick<Cluster, 'list'>,
  namespaces: readonly string[],
): Promise<readonly KubeObject[]> {
  const found: KubeObject[] = [];
  for (const namespace of namespaces.length === 0 ? [undefined] : namespaces) {
    let continueToken: string | undefined;
    do {
      const page = await cluster.list(PACTO, {
        ...(namespace !== undefined && { namespace }),
        limit: PAGE_SIZE,
        ...(continueToken !== undefined && { continueToken }),
      });
      found.push(...page.items);
      if (found.length > MOST_PACTOS)
        throw new GateError(
          'GATE_TOO_MANY_OBJECTS',
          `there are more than ${String(MOST_PACTOS)} Pactos, which is too many to look through for one event: set state cached`,
        );
      ({ continueToken } = page);
    } while (continueToken !== undefined);
  }
  return found;
}
