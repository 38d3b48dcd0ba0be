/** The role reconciler: what it sees, how it looks, who of several writes, and what it tells. */
import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import type { AppParts } from './parts.ts';
import { openLooking, type Looking } from './looking.ts';
import { startLiveReconciler } from './reconciler-live.ts';
import type { ReconcilerPart, ReconcilerSources } from './reconciler-part.ts';
import type { startStages } from './stages.ts';
import { leaseNamespaceOf, observeSettings } from './reconciler-settings.ts';
import { reportWatch, watchFacts } from './watch.ts';
import type { Cluster } from '../cluster/cluster.ts';
import { PACTO } from '../cluster/kinds.ts';
import type { KubeObject } from '../cluster/objects.ts';
import { startLeader, writesOfLeader, type Leader } from '../cluster/leader.ts';
import type { Config } from '../config.ts';
import type { PactoFacts, ReconcilerFacts } from '../metrics-pactos.ts';
import { CONTRACT_STATUSES } from '../policies/contract/status-ladder.ts';
import { readPacto } from '../reconcile/api/read-pacto.ts';
import { EventRecorder } from '../reconcile/event-recorder.ts';
import { createEventSink } from '../reconcile/event-sink.ts';
import { gaugeFacts } from '../reconcile/gauges.ts';
import { RECONCILER_LEASE } from '../reconcile/lease.ts';
import { createMirrorRunner } from '../reconcile/mirror-runner.ts';
import { repositoryOf } from '../reconcile/observe/dependency-repository.ts';
import { requestRecompute } from '../reconcile/recompute.ts';
import { startReconciler } from '../reconcile/reconciler.ts';
import { createSight, type Sight } from '../reconcile/sight.ts';
import { Verdicts } from '../reconcile/verdicts.ts';
import type { PactoKey } from '../reconcile/wake.ts';
import { Writer } from '../reconcile/writer.ts';

const FIELD_MANAGER = 'pacto-gate';

/**
 * Starts it: with watches, or with reads of the moment.
 *
 * @param stages of stages.ts, where the delivery gate is on
 */
export function startReconcilerPart(
  config: Config,
  parts: AppParts,
  sources: ReconcilerSources,
  stages?: typeof startStages,
): ReconcilerPart {
  return config.state === 'live'
    ? startLiveReconciler(config, parts, sources)
    : startWatchingReconciler(config, parts, sources, stages);
}

/** It watches at once, and writes once everything is read and it leads. */
function startWatchingReconciler(
  config: Config,
  parts: AppParts,
  sources: ReconcilerSources,
  stages: typeof startStages | undefined,
): ReconcilerPart {
  const looking = openLooking(config, parts, sources);
  const sight = createSight({
    cluster: sources.cluster,
    clock: parts.clock,
    random: Math.random,
    namespaces: config.reconciler.namespaces,
    nodeAgent: observeSettings(config).nodeAgent,
    monitors: config.reconciler.metricsObservation,
    report: reportWatch(parts.log),
  });
  const writing = startWriting({ config, parts, cluster: sources.cluster, looking, sight });
  sight.start();
  const keeping = stages?.(config, parts, { cluster: sources.cluster, leader: writing.leader });
  if (keeping !== undefined) writing.onTurn((leads) => keeping.turn(leads));
  return {
    ...answering({ config, parts, looking, sight, writing }),
    ...(keeping === undefined ? {} : { gates: keeping.gates }),
    unsynced: () => sight.unsynced(),
    watches: () => [...sight.reflectors().map(watchFacts), ...(keeping?.watches() ?? [])],
    observe(metrics) {
      metrics.observePactos(CONTRACT_STATUSES, () => pactoFacts(sight, writing.leader));
      metrics.observeReconciler(() => writing.facts());
    },
    isIdle: () => writing.isIdle() && keeping?.isIdle() !== false,
    async stop() {
      await keeping?.stop();
      await writing.stop();
      await sight.stop();
      await looking.close();
    },
  };
}

interface Writing {
  readonly leader: Leader;
  /** Told of each change of who leads, and of who leads now. */
  onTurn(listener: (leads: boolean) => void): void;
  /** Here where this process leads; else whoever does is asked. */
  wake(key: PactoKey): void;
  facts(): ReconcilerFacts;
  isIdle(): boolean;
  stop(): Promise<void>;
}

interface WritingParts {
  readonly config: Config;
  readonly parts: AppParts;
  readonly cluster: Cluster;
  readonly looking: Looking;
  readonly sight: Sight;
}

/** What the one that leads does, and nobody else. */
function startWriting({ config, parts, cluster, looking, sight }: WritingParts): Writing {
  const { clock, log } = parts;
  // They are told of their turns, and know of who leads.
  const turns: { onTurn: (leads: boolean) => void } = { onTurn: () => undefined };
  const leader = lead(config, parts, cluster, (leads) => turns.onTurn(leads));
  const writes = writesOfLeader(cluster, () => leader.leads());
  const onError = (error: unknown): void => log.warn('event not written', { err: error });
  const events = new EventRecorder({ cluster: writes, clock, onError });
  const writer = new Writer({ writes, events, log });
  const reconciler = startReconciler({
    sight,
    readNow: (key, signal) => cluster.get(PACTO, key, { signal }),
    pass: looking.pass,
    writer,
    leader,
    clock,
    random: Math.random,
    workers: config.reconciler.workers,
    log,
  });
  const mirrors = createMirrorRunner({
    ...looking,
    sight,
    writer,
    events,
    clock,
    intervalMs: config.reconciler.mirrorSeconds * 1_000,
    log,
    onNew(key) {
      looking.forget(repositoryOf(readPacto(sight.get(key) ?? NOBODY).spec.contractRef.oci));
      reconciler.wake(key, 'change');
    },
  });
  const listeners: ((leads: boolean) => void)[] = [];
  turns.onTurn = (leads) => {
    reconciler.turn(leads);
    mirrors.turn(leads ? leader.term() : undefined);
    for (const listener of listeners) listener(leads);
  };
  return {
    leader,
    onTurn(listener) {
      listeners.push(listener);
      listener(leader.leads());
    },
    wake(key) {
      if (leader.leads()) reconciler.wake(key, 'demand');
      else askLeader(key, { cluster, parts, sight });
    },
    facts: () => ({ leads: leader.leads(), ...reconciler.facts() }),
    isIdle() {
      const { waiting, running } = reconciler.facts();
      return waiting === 0 && running === 0 && mirrors.isIdle();
    },
    async stop() {
      await mirrors.stop();
      await reconciler.stop();
      await leader.stop();
    },
  };
}

/** Best effort: whoever leads looks by itself in time. */
function askLeader(
  key: PactoKey,
  { cluster, parts, sight }: Pick<WritingParts, 'cluster' | 'parts' | 'sight'>,
): void {
  const { uid } = sight.get(key)?.metadata ?? {};
  if (uid === undefined) return;
  requestRecompute(cluster, key, { uid, nowMs: parts.clock.now() }).catch((error: unknown) => {
    parts.log.warn('the leader was not asked', { namespace: key.namespace, name: key.name, err: error });
  });
}

/** What every replica tells and takes, whoever leads. */
function answering({
  config,
  parts: { clock },
  looking,
  sight,
  writing,
}: Pick<WritingParts, 'config' | 'parts' | 'looking' | 'sight'> & { readonly writing: Writing }): Pick<
  ReconcilerPart,
  'verdicts' | 'events'
> {
  const verdicts = new Verdicts({
    read(key) {
      const object = sight.get(key);
      return Promise.resolve(object === undefined ? undefined : readPacto(object));
    },
    look: (pacto, { signal }) => looking.pass.look(pacto, { view: sight.glance(), signal, isFresh: true }),
    onDifferent: (pacto) => writing.wake(pacto),
    clock,
    stabilizationMs: config.reconciler.stabilizationSeconds * 1_000,
  });
  const events = createEventSink({
    pactos: () => Promise.resolve(pactosOf(sight)),
    wake: (key) => writing.wake(key),
    forget: (repository) => looking.forget(repository),
    clock,
  });
  return { verdicts, events };
}

/** What stands for a Pacto that is gone. */
const NOBODY: KubeObject = { apiVersion: '', kind: '', metadata: {} };

/** As upstream, by the same Lease: the two never write at the same time (design decision 15). */
function lead(
  config: Config,
  { clock, log }: AppParts,
  cluster: Cluster,
  onTurn: (leads: boolean) => void,
): Leader {
  return startLeader({
    cluster,
    clock,
    namespace: leaseNamespaceOf(config),
    name: RECONCILER_LEASE,
    fieldManager: FIELD_MANAGER,
    role: 'reconciler',
    identity: `${hostname()}_${randomUUID()}`,
    random: Math.random,
    onChange(leads) {
      log.info(leads ? 'reconciler leads' : 'reconciler does not lead', {});
      onTurn(leads);
    },
    onError: (error) => log.warn('lease of the reconciler not renewed', { err: error }),
  });
}

function pactosOf(sight: Sight): readonly KubeObject[] {
  return [...sight.keys()].flatMap((key) => sight.get(key) ?? []);
}

/** Of several reconcilers the one that writes says what is: else each verdict would count as often as there are. */
function* pactoFacts(sight: Sight, leader: Leader): Generator<PactoFacts> {
  if (!leader.leads()) return;
  for (const key of sight.keys()) {
    const object = sight.get(key);
    if (object !== undefined) yield gaugeFacts(readPacto(object));
  }
}
