/** One watched kind: its reflectors, one a namespace, and whether it can be read at all. */
import type { Clock } from '../clock.ts';
import type { Cluster } from '../cluster/cluster.ts';
import type { KubeObject } from '../cluster/objects.ts';
import { createReflector, type Change, type Reflector, type ReflectorReport } from '../cluster/watch.ts';
import { GateError } from '../errors.ts';
import { keptOf, type Trigger } from './triggers/trigger.ts';
import type { NamespacedName } from './view.ts';

/** Small objects: more of them a page than of Pods (platform.md §2.2). */
const PAGE_SIZE = 250;

export interface WatchedKindOptions {
  readonly trigger: Trigger;
  readonly cluster: Pick<Cluster, 'list' | 'watch'>;
  /** Undefined: all. */
  readonly namespaces: readonly string[] | undefined;
  readonly clock: Clock;
  readonly random: () => number;
  readonly onChange: (change: Change) => void;
  /** It could be read and cannot, or the other way round. */
  readonly onTurn: () => void;
  readonly report: (report: ReflectorReport) => void;
}

type Standing = 'unknown' | 'listed' | 'missing' | 'forbidden';

interface Place {
  readonly namespace: string | undefined;
  readonly reflector: Reflector;
  standing: Standing;
  refusal: GateError | undefined;
}

export class WatchedKind {
  readonly trigger: Trigger;
  readonly #options: WatchedKindOptions;
  readonly #places: readonly Place[];

  constructor(options: WatchedKindOptions) {
    this.trigger = options.trigger;
    this.#options = options;
    this.#places = (options.namespaces ?? [undefined]).map((namespace) => this.#place(namespace));
  }

  get reflectors(): readonly Reflector[] {
    return this.#places.map(({ reflector }) => reflector);
  }

  start(): void {
    for (const { reflector } of this.#places) reflector.start();
  }

  async stop(): Promise<void> {
    await Promise.all(this.#places.map(({ reflector }) => reflector.stop()));
  }

  /** Known, be it that it is not served or that we may not read it: whoever starts need not wait for it. */
  isKnown(): boolean {
    return this.#places.every(({ standing }) => standing !== 'unknown');
  }

  /** @returns undefined for what is not there, and for what is outside the watched namespaces. */
  get(name: NamespacedName): KubeObject | undefined {
    const place = this.#placeOf(name.namespace);
    if (place === undefined) return undefined;
    this.#check(place);
    return place.reflector.store.get(name);
  }

  /** @throws GateError where objects of this namespace (undefined: of any) cannot be told. */
  check(namespace?: string): void {
    for (const place of this.#places)
      if (namespace === undefined || place.namespace === undefined || place.namespace === namespace)
        this.#check(place);
  }

  *all(): Generator<KubeObject> {
    for (const { reflector } of this.#places) yield* reflector.store.values();
  }

  #check({ reflector, standing, refusal }: Place): void {
    const { kind, optional } = this.trigger;
    if (standing === 'missing' && optional) return;
    if (refusal !== undefined) throw refusal;
    if (reflector.usable()) return;
    const state = reflector.synced()
      ? `our copy is silent for ${String(Math.round(reflector.freshnessMs() / 1_000))} s`
      : 'they are not read yet';
    throw new GateError(
      'GATE_UNSYNCED',
      `${kind.resource} cannot be read: ${state}; check the connection to the API server`,
    );
  }

  #placeOf(namespace: string): Place | undefined {
    return this.#places.find((place) => place.namespace === undefined || place.namespace === namespace);
  }

  #place(namespace: string | undefined): Place {
    const { trigger, cluster, clock, random, onChange, report } = this.#options;
    const reflector = createReflector({
      cluster,
      kind: trigger.kind,
      ...(namespace !== undefined && { select: { namespace } }),
      ...(trigger.metadataOnly === true && { metadataOnly: true }),
      project: (object) => keptOf(trigger, object),
      pageSize: PAGE_SIZE,
      clock,
      random,
      onChange,
      report: (said) => {
        this.#note(place, said);
        report(said);
      },
    });
    const place: Place = { namespace, reflector, standing: 'unknown', refusal: undefined };
    return place;
  }

  /** A right that is taken away, and a kind that goes, count at once: the store would say what was for minutes. */
  #note(place: Place, report: ReflectorReport): void {
    const before = place.standing;
    if (report.type === 'listed') {
      place.standing = 'listed';
      place.refusal = undefined;
    } else if (report.type === 'failed' && report.error instanceof GateError) {
      const { code } = report.error;
      if (code === 'GATE_CLUSTER_UNSUPPORTED') place.standing = 'missing';
      else if (code === 'GATE_CLUSTER_FORBIDDEN') place.standing = 'forbidden';
      else return;
      place.refusal = report.error;
    }
    if (before !== place.standing) this.#options.onTurn();
  }
}
