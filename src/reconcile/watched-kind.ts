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
  /** It could be read and cannot, or the other way round; or it can be again after somebody was turned away. */
  readonly onTurn: () => void;
  /** Told of a kind that is not served or forbidden once, although it is asked for again and again. */
  readonly report: (report: ReflectorReport) => void;
}

type Standing = 'unknown' | 'readable' | 'missing' | 'forbidden';

interface Place {
  readonly namespace: string | undefined;
  readonly reflector: Reflector;
  standing: Standing;
  refusal: GateError | undefined;
  /** Somebody asked while our copy was silent. */
  hasTurnedAway: boolean;
}

/** What a watch says of one object; `unknown` where it cannot say. */
export type Told = { readonly object: KubeObject | undefined } | 'unknown';

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

  /** Whether objects of this namespace are looked at. */
  covers(namespace: string): boolean {
    return this.#placeOf(namespace) !== undefined;
  }

  /**
   * @returns undefined for what is not there, and for what is outside the watched namespaces
   * @throws GateError GATE_UNSYNCED, GATE_CLUSTER_FORBIDDEN or _UNSUPPORTED where that cannot be told
   */
  get(name: NamespacedName): KubeObject | undefined {
    const place = this.#placeOf(name.namespace);
    if (place === undefined) return undefined;
    this.#check(place);
    return place.standing === 'missing' ? undefined : place.reflector.store.get(name);
  }

  /** As `get`, for who can ask elsewhere. */
  tells(name: NamespacedName): Told {
    const place = this.#placeOf(name.namespace);
    if (place === undefined) return { object: undefined };
    return place.standing === 'readable' && place.reflector.usable()
      ? { object: place.reflector.store.get(name) }
      : 'unknown';
  }

  /** What our copy holds, however old it is. */
  peek(name: NamespacedName): KubeObject | undefined {
    return this.#placeOf(name.namespace)?.reflector.store.get(name);
  }

  /**
   * Those of the names that are there.
   * @param namespace where they are; left out: anywhere
   * @throws as `get`
   */
  select(names: Iterable<NamespacedName>, namespace: string | undefined): readonly KubeObject[] {
    for (const place of this.#places)
      if (namespace === undefined || place.namespace === undefined || place.namespace === namespace)
        this.#check(place);
    return [...names].toSorted(byName).flatMap((name) => {
      const place = this.#placeOf(name.namespace);
      return place === undefined || place.standing === 'missing'
        ? []
        : (place.reflector.store.get(name) ?? []);
    });
  }

  *all(): Generator<KubeObject> {
    for (const { reflector } of this.#places) yield* reflector.store.values();
  }

  #check(place: Place): void {
    const { reflector, standing, refusal } = place;
    const { kind, optional } = this.trigger;
    if (standing === 'missing' && optional) return;
    if (refusal !== undefined) throw refusal;
    if (reflector.usable()) return;
    place.hasTurnedAway = true;
    // Without how long: it ends in a status, which would differ at every look.
    const state = reflector.synced() ? 'our copy has been silent for too long' : 'they are not read yet';
    throw new GateError(
      'GATE_UNSYNCED',
      `${kind.resource} cannot be read: ${state}; check the connection to the API server`,
    );
  }

  #placeOf(namespace: string): Place | undefined {
    return this.#places.find((place) => place.namespace === undefined || place.namespace === namespace);
  }

  #place(namespace: string | undefined): Place {
    const { trigger, cluster, clock, random, onChange } = this.#options;
    const reflector = createReflector({
      cluster: {
        list: (kind, options) => cluster.list(kind, options),
        // One that is allowed again lists nothing: it goes on from where it was, and may have nothing to say for a minute.
        watch: (kind, options) =>
          cluster.watch(kind, { ...options, onOpen: () => this.#stands(place, 'readable') }),
      },
      kind: trigger.kind,
      ...(namespace !== undefined && { select: { namespace } }),
      ...(trigger.metadataOnly === true && { metadataOnly: true }),
      project: (object) => keptOf(trigger, object),
      pageSize: trigger.pageSize ?? PAGE_SIZE,
      clock,
      random,
      onChange,
      report: (said) => this.#note(place, said),
    });
    const place: Place = {
      namespace,
      reflector,
      standing: 'unknown',
      refusal: undefined,
      hasTurnedAway: false,
    };
    return place;
  }

  #note(place: Place, report: ReflectorReport): void {
    const standing = report.type === 'failed' ? refusalOf(report.error) : undefined;
    if (report.type === 'listed') this.#stands(place, 'readable');
    if (standing === undefined) return this.#options.report(report);
    const isRepeated = place.standing === standing.is;
    // It counts at once: the store would say what was for minutes.
    this.#stands(place, standing.is, standing.error);
    if (!isRepeated) this.#options.report(report);
  }

  #stands(place: Place, standing: Standing, refusal?: GateError): void {
    const isTurn = place.standing !== standing || (standing === 'readable' && place.hasTurnedAway);
    place.standing = standing;
    place.refusal = refusal;
    if (standing === 'readable') place.hasTurnedAway = false;
    if (isTurn) this.#options.onTurn();
  }
}

/** A right that is taken away, and a kind that goes. */
function refusalOf(
  error: unknown,
): { readonly is: 'missing' | 'forbidden'; readonly error: GateError } | undefined {
  if (!(error instanceof GateError)) return undefined;
  if (error.code === 'GATE_CLUSTER_UNSUPPORTED') return { is: 'missing', error };
  return error.code === 'GATE_CLUSTER_FORBIDDEN' ? { is: 'forbidden', error } : undefined;
}

/** As the API server lists: what comes first is the same every time. */
export function byName(a: NamespacedName, b: NamespacedName): number {
  return compare(a.namespace, b.namespace) || compare(a.name, b.name);
}

function compare(a: string, b: string): number {
  return a === b ? 0 : a < b ? -1 : 1;
}
