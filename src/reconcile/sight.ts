/**
 * What the reconciler sees of the cluster: a copy of each watched kind, views of it that note what they are asked, and who
 * is to be woken when one of these answers changes.
 */
import { isDeepStrictEqual } from 'node:util';
import type { Clock } from '../clock.ts';
import type { Cluster } from '../cluster/cluster.ts';
import { LEASE, NODE_RUNTIME_OBSERVATION, PACTO, type Kind } from '../cluster/kinds.ts';
import type { KubeObject } from '../cluster/objects.ts';
import type { Change, Reflector, ReflectorReport } from '../cluster/watch.ts';
import { heartbeatEndMs } from './api/node-lease.ts';
import { Heartbeats } from './heartbeats.ts';
import { Interests } from './interests.ts';
import { ofKind, ofObject } from './read-keys.ts';
import { Relations } from './relations.ts';
import { SightView, type EndedView } from './sight-view.ts';
import { triggersFor } from './triggers/all.ts';
import { wishOf } from './triggers/pactos.ts';
import type { Trigger } from './triggers/trigger.ts';
import type { PactoKey, PactoSource, WakeListener } from './wake.ts';
import type { View } from './view.ts';
import { WatchedKind } from './watched-kind.ts';

export interface SightOptions {
  readonly cluster: Pick<Cluster, 'get' | 'list' | 'watch'>;
  readonly clock: Clock;
  /** From 0 up to 1, for back-off. */
  readonly random: () => number;
  /** Empty: all. */
  readonly namespaces: readonly string[];
  /** Undefined: there are no node agents. */
  readonly agentNamespace: string | undefined;
  /** Whether ServiceMonitors and PodMonitors are looked at. */
  readonly monitors: boolean;
  /** What a watch has to say, for the log. */
  readonly report: (kind: Kind, report: ReflectorReport) => void;
}

export interface Sight extends PactoSource {
  start(): void;
  /** For a look whose verdict is followed: what it reads wakes its Pacto from now on, until the next look has ended. */
  follow(key: PactoKey): EndedView;
  /** For a look that nobody follows. */
  glance(): View;
  onWake(listener: WakeListener): void;
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
  readonly #interests = new Interests();
  readonly #relations = new Relations();
  readonly #kinds: ReadonlyMap<Kind, WatchedKind>;
  readonly #heartbeats: Heartbeats;
  readonly #ready = Promise.withResolvers<void>();
  #isReady = false;
  #wake: WakeListener = () => undefined;

  constructor(options: SightOptions) {
    this.#options = options;
    const { agentNamespace, monitors, namespaces } = options;
    const triggers = triggersFor({ monitors, nodeAgents: agentNamespace !== undefined });
    this.#kinds = new Map(
      triggers.map((trigger) => {
        const places = trigger.scope === 'agents' ? [agentNamespace ?? ''] : namespaces;
        return [
          trigger.kind,
          new WatchedKind({
            ...options,
            trigger,
            namespaces: places.length === 0 ? undefined : places,
            onChange: (change) => this.#changed(trigger.kind, change),
            onTurn: () => this.#turned(trigger.kind),
            report: (report) => options.report(trigger.kind, report),
          }),
        ];
      }),
    );
    this.#heartbeats = new Heartbeats(options.clock, (name) => {
      if (agentNamespace !== undefined)
        this.#wakeReaders([ofObject(LEASE, { namespace: agentNamespace, name })], 'heartbeat');
    });
  }

  get ready(): Promise<void> {
    return this.#ready.promise;
  }

  start(): void {
    for (const watched of this.#kinds.values()) watched.start();
  }

  get(key: PactoKey): KubeObject | undefined {
    return this.#kinds.get(PACTO)?.get(key);
  }

  *keys(): Generator<PactoKey> {
    for (const { metadata } of this.#kinds.get(PACTO)?.all() ?? [])
      yield { namespace: metadata.namespace ?? '', name: metadata.name ?? '' };
  }

  follow(key: PactoKey): EndedView {
    const noted = this.#interests.begin(key);
    return new SightView(this.#kinds, this.#relations, this.#options, noted);
  }

  glance(): View {
    return new SightView(this.#kinds, this.#relations, this.#options, undefined);
  }

  onWake(listener: WakeListener): void {
    this.#wake = listener;
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

  #changed(kind: Kind, change: Change): void {
    const trigger = this.#kinds.get(kind)?.trigger;
    if (trigger === undefined) return;
    const { object, before } = change;
    const earlier = before ?? object;
    const now = change.type === 'deleted' ? [] : trigger.relations(object);
    const then = change.type === 'added' ? [] : trigger.relations(earlier);
    this.#relations.set(kind.kind, object, now);
    if (kind === PACTO) this.#pactoChanged(change);
    if (trigger.scope === 'agents') this.#nodeChanged(object);
    if (change.type === 'modified' && isSame(trigger, earlier, object) && isDeepStrictEqual(then, now))
      return;
    const { namespace = '', name = '' } = object.metadata;
    this.#wakeReaders([ofObject(kind, { namespace, name }), ...then, ...now], kind.kind);
  }

  #pactoChanged({ type, object, before }: Change): void {
    const key = { namespace: object.metadata.namespace ?? '', name: object.metadata.name ?? '' };
    if (type === 'deleted') this.#interests.forget(key);
    if (before !== undefined && wishOf(before) === wishOf(object)) return;
    this.#wake(key, PACTO.kind);
  }

  #nodeChanged({ metadata }: KubeObject): void {
    const { name = '', namespace = '' } = metadata;
    const at = { namespace, name };
    const ofNode = (kind: Kind): KubeObject | undefined => {
      try {
        return this.#kinds.get(kind)?.get(at);
      } catch {
        // It cannot be read just now: the next look says so.
        return undefined;
      }
    };
    this.#heartbeats.beat(name, heartbeatEndMs(ofNode(LEASE), ofNode(NODE_RUNTIME_OBSERVATION)));
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

function isSame(trigger: Trigger, before: KubeObject, after: KubeObject): boolean {
  return trigger.essence !== undefined && isDeepStrictEqual(trigger.essence(before), trigger.essence(after));
}
