/**
 * What the reconciler sees of the cluster: a copy of each watched kind, views of it that note what they are asked, and who
 * is to be woken when one of these answers changes.
 */
import { isDeepStrictEqual } from 'node:util';
import type { Clock } from '../clock.ts';
import type { Cluster } from '../cluster/cluster.ts';
import { LEASE, NODE_RUNTIME_OBSERVATION, PACTO, type Kind } from '../cluster/kinds.ts';
import { LiveReads } from '../cluster/live-reads.ts';
import type { KubeObject } from '../cluster/objects.ts';
import type { Change, Reflector, ReflectorReport } from '../cluster/watch.ts';
import { heartbeatEndMs } from './api/node-lease.ts';
import { Heartbeats } from './heartbeats.ts';
import { Interests } from './interests.ts';
import type { ObserveSettings } from './observe/dimension.ts';
import { ofDetails, ofKind, ofObject } from './read-keys.ts';
import { Relations } from './relations.ts';
import { SightView, type EndedView } from './sight-view.ts';
import { triggersFor } from './triggers/all.ts';
import { wishOf } from './triggers/pactos.ts';
import type { Trigger } from './triggers/trigger.ts';
import type { PactoKey, PactoSource, WakeListener } from './wake.ts';
import type { View } from './view.ts';
import { WatchedKind } from './watched-kind.ts';

/** One ConfigMap each for many looks at once: those who would have more of them under way wait. */
const LIVE_LIMITS = { concurrency: 16, waiting: 2_000, perSecond: 1_000, burst: 2_000 };

export interface SightOptions {
  readonly cluster: Pick<Cluster, 'get' | 'list' | 'watch'>;
  readonly clock: Clock;
  /** From 0 up to 1, for back-off. */
  readonly random: () => number;
  /** Empty: all. */
  readonly namespaces: readonly string[];
  readonly nodeAgent: ObserveSettings['nodeAgent'];
  /** Whether ServiceMonitors and PodMonitors are looked at. */
  readonly monitors: boolean;
  /** What a watch has to say, for the log. That a kind is not served or forbidden is said once. */
  readonly report: (kind: Kind, report: ReflectorReport) => void;
}

export interface Sight extends PactoSource {
  start(): void;
  /** For a look whose verdict is followed: what it reads wakes its Pacto from now on, until the next look has ended. */
  follow(key: PactoKey): EndedView;
  /** For a look that nobody follows. */
  glance(): View;
  /**
   * One listener, called as soon as something changes, often several times for the same Pacto: it puts the key in a queue and
   * returns.
   */
  onWake(listener: WakeListener): void;
  /** One listener, called when the status of a Pacto is another one, whoever wrote it. */
  onStatus(listener: (key: PactoKey) => void): void;
  /** Resolves once every kind was read or is known not to be readable. */
  readonly ready: Promise<void>;
  /** What is not read yet; undefined from then on for good. */
  unsynced(): string | undefined;
  /** For the metrics. */
  reflectors(): readonly Reflector[];
  stop(): Promise<void>;
}

export function createSight(options: SightOptions): Sight {
  return new ClusterSight(options);
}

class ClusterSight implements Sight {
  readonly #options: SightOptions;
  readonly #live: LiveReads;
  readonly #interests = new Interests();
  readonly #relations = new Relations();
  readonly #kinds: ReadonlyMap<Kind, WatchedKind>;
  readonly #heartbeats: Heartbeats;
  readonly #ready = Promise.withResolvers<void>();
  #isReady = false;
  #wake: WakeListener = () => undefined;
  #restated: (key: PactoKey) => void = () => undefined;

  constructor(options: SightOptions) {
    this.#options = options;
    const { cluster, clock, nodeAgent, monitors } = options;
    this.#live = new LiveReads({ cluster, clock, limits: LIVE_LIMITS });
    const namespaces = [...new Set(options.namespaces)];
    const placesOf = ({ scope }: Trigger): readonly string[] | undefined => {
      if (scope === 'agents' && nodeAgent !== undefined) return [nodeAgent.namespace];
      return namespaces.length === 0 ? undefined : namespaces;
    };
    this.#kinds = new Map(
      triggersFor({ monitors, nodeAgent }).map((trigger) => [
        trigger.kind,
        new WatchedKind({
          ...options,
          trigger,
          namespaces: placesOf(trigger),
          onChange: (change) => this.#changed(trigger, change),
          onTurn: () => this.#turned(trigger.kind),
          report: (report) => options.report(trigger.kind, report),
        }),
      ]),
    );
    this.#heartbeats = new Heartbeats(clock, (name) => {
      if (nodeAgent !== undefined)
        this.#wakeReaders([ofObject(LEASE, { namespace: nodeAgent.namespace, name })], 'heartbeat');
    });
  }

  get ready(): Promise<void> {
    return this.#ready.promise;
  }

  start(): void {
    for (const watched of this.#kinds.values()) watched.start();
  }

  /** @throws GateError as View, where the Pactos cannot be told. */
  get(key: PactoKey): KubeObject | undefined {
    return this.#kinds.get(PACTO)?.get(key);
  }

  *keys(): Generator<PactoKey> {
    for (const { metadata } of this.#kinds.get(PACTO)?.all() ?? []) yield nameOf(metadata);
  }

  follow(key: PactoKey): EndedView {
    const noted = this.#interests.begin(key);
    return new SightView({ ...this.#parts(), noted });
  }

  glance(): View {
    return new SightView({ ...this.#parts(), noted: undefined });
  }

  onWake(listener: WakeListener): void {
    this.#wake = listener;
  }

  onStatus(listener: (key: PactoKey) => void): void {
    this.#restated = listener;
  }

  unsynced(): string | undefined {
    if (this.#isReady) return undefined;
    for (const [kind, watched] of this.#kinds)
      if (!watched.isKnown()) return `${kind.resource} are not read yet`;
    return undefined;
  }

  reflectors(): readonly Reflector[] {
    return [...this.#kinds.values()].flatMap((watched) => watched.reflectors);
  }

  async stop(): Promise<void> {
    this.#heartbeats.stop();
    await Promise.all([...this.#kinds.values()].map((watched) => watched.stop()));
  }

  #parts(): Omit<ConstructorParameters<typeof SightView>[0], 'noted'> {
    const { cluster, nodeAgent } = this.#options;
    return {
      kinds: this.#kinds,
      relations: this.#relations,
      live: this.#live,
      cluster,
      agentNamespace: nodeAgent?.namespace,
    };
  }

  /** In time that depends on who is interested, and on nothing else. */
  #changed(trigger: Trigger, change: Change): void {
    const { kind } = trigger;
    const { type, object, before = object } = change;
    const now = type === 'deleted' ? [] : trigger.relations(object);
    const then = type === 'added' ? [] : trigger.relations(before);
    this.#relations.set(kind.kind, object.metadata, now);
    if (kind === PACTO) this.#pactoChanged(change);
    if (trigger.scope === 'agents') this.#nodeChanged(object);
    const name = nameOf(object.metadata);
    if (type === 'modified' && this.#isSame(trigger, before, object) && isDeepStrictEqual(then, now)) {
      if (kind === NODE_RUNTIME_OBSERVATION) this.#wakeReaders([ofDetails(kind, name)], kind.kind);
      return;
    }
    if (type === 'added' && trigger.own === true) return;
    this.#wakeReaders([ofObject(kind, name), ...then, ...now], kind.kind);
  }

  #isSame(trigger: Trigger, before: KubeObject, after: KubeObject): boolean {
    const nowMs = this.#options.clock.now();
    return isDeepStrictEqual(trigger.essence(before, nowMs), trigger.essence(after, nowMs));
  }

  #pactoChanged({ type, object, before }: Change): void {
    const key = nameOf(object.metadata);
    if (type === 'deleted') this.#interests.forget(key);
    if (before !== undefined && wishOf(before) === wishOf(object)) {
      if (!isDeepStrictEqual(before['status'], object['status'])) this.#restated(key);
      return;
    }
    this.#wake(key, PACTO.kind);
  }

  /** As our copies are now: one of them may not be a whole list yet, and the other tells the rest when it is. */
  #nodeChanged({ metadata }: KubeObject): void {
    const at = nameOf(metadata);
    const lease = this.#kinds.get(LEASE)?.peek(at);
    const observation = this.#kinds.get(NODE_RUNTIME_OBSERVATION)?.peek(at);
    this.#heartbeats.beat(at.name, heartbeatEndMs(lease, observation));
  }

  #turned(kind: Kind): void {
    this.#wakeReaders([ofKind(kind)], `${kind.kind} readable or not`);
    if (this.#isReady || this.unsynced() !== undefined) return;
    this.#isReady = true;
    this.#ready.resolve();
  }

  #wakeReaders(reads: readonly string[], reason: string): void {
    // Listed first: waking may begin a look, which changes who is interested.
    for (const key of this.#interests.of(reads)) this.#wake(key, reason);
  }
}

function nameOf({ namespace = '', name = '' }: KubeObject['metadata']): PactoKey {
  return { namespace, name };
}
