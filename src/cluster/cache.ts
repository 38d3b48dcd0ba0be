/** How decisions read: from the stores that watches keep, or by one live read (design decision 12). */
import type { Clock } from '../clock.ts';
import { GateError, quote } from '../errors.ts';
import type { Cluster, DecisionReadOptions, ObjectName, Reader } from './cluster.ts';
import type { Kind } from './kinds.ts';
import { LIVE_READ_LIMITS, LiveReads, type LiveReadLimits } from './live-reads.ts';
import type { KubeObject } from './objects.ts';
import { storeKey } from './store.ts';
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
  readonly cluster: Pick<Cluster, 'get'>;
  /** Started by whoever made them; none in live mode. */
  readonly reflectors: readonly Reflector[];
  readonly clock: Clock;
  readonly limits?: Partial<LiveReadLimits>;
}

export interface ReaderSource {
  /** A reader for one request: it answers the same question the same way for as long as it lives. */
  forRequest(): Reader;
}

export function createReader(options: ReaderOptions): ReaderSource {
  const limits = { ...LIVE_READ_LIMITS, ...options.limits };
  const live = new LiveReads(options.cluster, options.clock, limits);
  const read: Read =
    options.mode === 'live'
      ? (kind, name, callOptions) => live.get(kind, name, false, callOptions)
      : cachedRead(options.reflectors, live, options.clock);
  return { forRequest: () => rememberingReader(read) };
}

type Read = (kind: Kind, name: ObjectName, options: DecisionReadOptions) => Promise<KubeObject | undefined>;

/** A decision never sees two versions of one object; what failed may be asked again. */
function rememberingReader(read: Read): Reader {
  const known = new Map<string, Promise<KubeObject | undefined>>();
  return {
    get(kind, name, options) {
      const key = questionKey(kind, name);
      const before = known.get(key);
      if (before !== undefined) return before;
      const answer = read(kind, name, options);
      known.set(key, answer);
      answer.catch(() => known.delete(key));
      return answer;
    },
  };
}

function cachedRead(reflectors: readonly Reflector[], live: LiveReads, clock: Clock): Read {
  const absences = new Absences(clock);
  return async (kind, name, options) => {
    options.signal?.throwIfAborted();
    const reflector = reflectors.find((one) => covers(one, kind, name));
    if (reflector === undefined)
      return readAbsentOnce(kind, name, () => live.get(kind, name, false, options));
    const isUsable = reflector.usable();
    if (isUsable) {
      const kept = reflector.store.get(name);
      if (kept !== undefined && options.settles?.(kept) !== false) return kept;
    }
    try {
      // The watch may be a moment behind, and a selector may leave the object out: absence is asked for.
      const object = await readAbsentOnce(kind, name, () =>
        live.get(kind, name, reflector.metadataOnly, options),
      );
      return object === undefined ? undefined : reflector.reduce(object);
    } catch (error) {
      if (isUsable || options.signal?.aborted === true || !isClusterFault(error)) throw error;
      throw unsynced(kind, name, reflector, error);
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

function covers(reflector: Reflector, kind: Kind, name: ObjectName): boolean {
  return (
    reflector.kind.group === kind.group &&
    reflector.kind.version === kind.version &&
    reflector.kind.resource === kind.resource &&
    (reflector.namespace === undefined || reflector.namespace === name.namespace)
  );
}

/** Our own overload keeps its name. */
function isClusterFault(error: unknown): boolean {
  return error instanceof GateError && error.code !== 'GATE_OVERLOADED';
}

function unsynced(kind: Kind, name: ObjectName, reflector: Reflector, cause: unknown): GateError {
  const state = reflector.synced()
    ? `silent for ${Math.round(reflector.freshnessMs() / 1000)} s`
    : 'not complete yet';
  return new GateError(
    'GATE_UNSYNCED',
    `cannot read ${kind.resource} ${quote(storeKey(name))}: our copy is ${state} and the API server gave no answer; check the connection to the API server`,
    { cause },
  );
}

function questionKey(kind: Kind, name: ObjectName): string {
  return `${kind.group}/${kind.version}/${kind.resource} ${storeKey(name)}`;
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
