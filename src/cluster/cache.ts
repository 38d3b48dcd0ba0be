/** How decisions read: from the stores that watches keep, or by one live read (design decision 12). */
import type { Clock } from '../clock.ts';
import { GateError, quote } from '../errors.ts';
import type { LiveCallFacts } from '../metrics.ts';
import type { CallOptions, Cluster, DecisionReadOptions, ObjectName, Reader, Selection } from './cluster.ts';
import type { Kind } from './kinds.ts';
import type { LiveCallLimits } from './live-calls.ts';
import { keyOf, LiveReads, selectionKey } from './live-reads.ts';
import type { KubeObject } from './objects.ts';
import { labelPredicate } from './selectors.ts';
import { storeKey, type Store } from './store.ts';
import type { Reflector } from './watch.ts';

/** An object that was not there a second ago is taken to be absent still: hostile names must not each cost a read. */
const ABSENCE_MS = 1_000;
/** Some 200 bytes each; the oldest goes first. */
const ABSENCES = 10_000;
/** Longer than any kind with any namespace and name; what a review makes up beyond that is not worth the memory. */
const KEY_LENGTH = 1_000;

export interface ReaderOptions {
  /** `cached`: stores first. `live`: every request reads what it needs. */
  readonly mode: 'cached' | 'live';
  readonly cluster: Pick<Cluster, 'get' | 'list' | 'doubt'>;
  /** Started by whoever made them; none in live mode. Looked at anew for each read. */
  readonly reflectors: readonly Reflector[];
  readonly clock: Clock;
  readonly limits?: Partial<LiveCallLimits>;
  /** Told of each live read when it has ended. */
  readonly report?: (facts: LiveCallFacts) => void;
}

export interface ReaderSource {
  /** A reader for one request: it answers the same question the same way for as long as it lives. */
  forRequest(): Reader;
}

export function createReader(options: ReaderOptions): ReaderSource {
  const { cluster, clock, reflectors } = options;
  const live = new LiveReads(options);
  const reads: Reader =
    options.mode === 'live'
      ? {
          get: (kind, name, read) => live.get(kind, name, read.whole === true ? 'whole' : 'plain', read),
          list: (kind, selection, call) => live.list(kind, selection, call),
        }
      : {
          get: cachedGet(reflectors, live, clock),
          list: cachedList(reflectors),
        };
  return {
    forRequest: () =>
      rememberingReader({
        get: (kind, name, read) => reads.get(kind, name, read),
        async list(kind, selection, call) {
          const doubt = cluster.doubt?.(kind);
          if (doubt !== undefined) throw doubt;
          return reads.list(kind, selection, call);
        },
      }),
  };
}

/** A decision never sees two versions of one object; what failed may be asked again. */
function rememberingReader(reader: Reader): Reader {
  const objects = new Answers<KubeObject | undefined>();
  const lists = new Answers<readonly KubeObject[]>();
  return {
    get: (kind: Kind, name: ObjectName, options: DecisionReadOptions) =>
      objects.once(`${questionKey(kind, name)} ${options.whole === true ? 'whole' : ''}`, () =>
        reader.get(kind, name, options),
      ),
    list: (kind: Kind, selection: Selection, options: CallOptions) =>
      lists.once(`${keyOf(kind)} ${selectionKey(selection)}`, () => reader.list(kind, selection, options)),
  };
}

class Answers<T> {
  readonly #known = new Map<string, Promise<T>>();

  once(key: string, ask: () => Promise<T>): Promise<T> {
    const before = this.#known.get(key);
    if (before !== undefined) return before;
    const answer = ask();
    this.#known.set(key, answer);
    answer.catch(() => this.#known.delete(key));
    return answer;
  }
}

function cachedGet(reflectors: readonly Reflector[], live: LiveReads, clock: Clock): Reader['get'] {
  const absences = new Absences(clock);
  return async (kind, name, options) => {
    options.signal?.throwIfAborted();
    const whole = options.whole === true;
    const reflector = reflectors.find((one) => covers(one, kind, name.namespace, whole));
    if (reflector === undefined)
      return readAbsentOnce(kind, name, () => live.get(kind, name, whole ? 'whole' : 'plain', options));
    const isUsable = reflector.usable();
    if (isUsable) {
      const kept = reflector.store.get(name);
      if (kept !== undefined && options.settles?.(kept) !== false) return kept;
    }
    const extent = reflector.whole ? 'whole' : reflector.metadataOnly ? 'metadata' : 'plain';
    try {
      // The watch may be a moment behind, and a selector may leave the object out: absence is asked for.
      const object = await readAbsentOnce(kind, name, () => live.get(kind, name, extent, options));
      return object === undefined ? undefined : reflector.reduce(object);
    } catch (error) {
      if (isUsable || options.signal?.aborted === true || !isClusterFault(error)) throw error;
      throw unsynced(`read ${kind.resource} ${quote(storeKey(name))}`, reflector, error);
    }
  };

  async function readAbsentOnce(
    kind: Kind,
    name: ObjectName,
    read: () => Promise<KubeObject | undefined>,
  ): Promise<KubeObject | undefined> {
    const key = questionKey(kind, name);
    if (absences.has(key)) return undefined;
    const object = await read();
    if (object === undefined) absences.add(key);
    return object;
  }
}

/** What a watch keeps: a list is never asked for while a request waits. */
function cachedList(reflectors: readonly Reflector[]): Reader['list'] {
  const selections = new Selections();
  return async (kind, selection, { signal }) => {
    signal?.throwIfAborted();
    const reflector = reflectors.find(
      (one) => !one.selective && covers(one, kind, selection.namespace, true),
    );
    if (reflector === undefined) {
      throw new GateError(
        'GATE_UNSYNCED',
        `cannot list ${kind.resource}: nothing watches them; name one object instead of selecting by labels`,
      );
    }
    if (!reflector.usable()) throw unsynced(`list ${kind.resource}`, reflector);
    return selections.of(reflector.store, selection);
  };
}

/** Selections of one store that are remembered until it changes, and how many objects each may hold for that. */
const SELECTIONS = 100;
const SELECTED = 1_000;

interface Selected {
  readonly changes: number;
  readonly objects: readonly KubeObject[];
}

/** Bindings select the same at every request: where nothing has changed, thousands of objects are not looked at again. */
class Selections {
  readonly #known = new WeakMap<Store, Map<string, Selected>>();

  of(store: Store, selection: Selection): readonly KubeObject[] {
    const known = this.#known.get(store) ?? new Map<string, Selected>();
    this.#known.set(store, known);
    const key = selectionKey(selection);
    const before = known.get(key);
    const { changes } = store;
    if (before?.changes === changes) return before.objects;
    known.delete(key);
    const objects = [...store.values(selection.namespace)].filter(labelPredicate(selection.labelSelector));
    if (objects.length > SELECTED) return objects;
    const [oldest] = known.keys();
    if (known.size >= SELECTIONS && oldest !== undefined) known.delete(oldest);
    known.set(key, { changes, objects });
    return objects;
  }
}

function covers(reflector: Reflector, kind: Kind, namespace: string | undefined, whole: boolean): boolean {
  return (
    (reflector.whole || !whole) &&
    reflector.kind.group === kind.group &&
    reflector.kind.version === kind.version &&
    reflector.kind.resource === kind.resource &&
    (reflector.namespace === undefined || reflector.namespace === namespace)
  );
}

/** Our own overload keeps its name, and so does what somebody must mend: a kind that is not served, a right we lack. */
function isClusterFault(error: unknown): boolean {
  return (
    error instanceof GateError && error.code !== 'GATE_OVERLOADED' && error.disposition !== 'configuration'
  );
}

/** @param cause why the API server could not be asked instead; undefined where it may not be. */
function unsynced(what: string, reflector: Reflector, cause?: unknown): GateError {
  const state = reflector.synced()
    ? `silent for ${Math.round(reflector.freshnessMs() / 1000)} s`
    : 'not complete yet';
  const asked = cause === undefined ? ', and the log says why' : ' and the API server gave no answer';
  return new GateError(
    'GATE_UNSYNCED',
    `cannot ${what}: our copy is ${state}${asked}; check the connection to the API server`,
    cause === undefined ? {} : { cause },
  );
}

function questionKey(kind: Kind, name: ObjectName): string {
  return `${keyOf(kind)} ${storeKey(name)}`;
}

/** Names that were absent a moment ago. */
class Absences {
  readonly #clock: Clock;
  /** When each ends; insertion order is that order as well. */
  readonly #endMs = new Map<string, number>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  has(key: string): boolean {
    const endMs = this.#endMs.get(key);
    if (endMs === undefined) return false;
    if (this.#clock.monotonic() < endMs) return true;
    this.#endMs.delete(key);
    return false;
  }

  add(key: string): void {
    if (key.length > KEY_LENGTH) return;
    this.#endMs.delete(key);
    const [oldest] = this.#endMs.keys();
    if (this.#endMs.size >= ABSENCES && oldest !== undefined) this.#endMs.delete(oldest);
    this.#endMs.set(key, this.#clock.monotonic() + ABSENCE_MS);
  }
}
