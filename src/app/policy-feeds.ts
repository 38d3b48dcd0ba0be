/** How policies in a cluster become known: by watches, or by lists now and then (design decision 12). */
import { POLICIES_SELECTOR } from './policy-config-maps.ts';
import { isNotServed, startWatch, watchFacts, type Watch, type WatchParts } from './watch.ts';
import type { Cluster } from '../cluster/cluster.ts';
import { CONFIG_MAP, GATE_POLICY, GATE_POLICY_BINDING, type Kind } from '../cluster/kinds.ts';
import type { KubeObject } from '../cluster/objects.ts';
import { GateError, messageOf, quote } from '../errors.ts';
import type { WatchFacts } from '../metrics.ts';

/** What is read of the cluster. */
export interface FeedSelection {
  readonly customResources: boolean;
  /** Whose ConfigMaps hold policies. */
  readonly namespaces: readonly string[];
}

export interface FeedObjects {
  readonly customResources: readonly KubeObject[];
  readonly configMaps: readonly KubeObject[];
}

export interface PolicyFeed {
  /** As far as known. */
  objects(): FeedObjects;
  /** What has not been read once yet. */
  unsynced(): string | undefined;
  /** Parts of which the contents are not known just now. */
  incomplete(): readonly string[];
  /** Why what is in force cannot be told just now: a watch was silent for too long, or the last list is too old. */
  doubt(): GateError | undefined;
  watches(): readonly WatchFacts[];
  /** @returns undefined where nothing is to be waited for; never rejects */
  refresh(): Promise<void> | undefined;
  close(): Promise<void>;
}

export type FeedCluster = Pick<Cluster, 'list' | 'watch'>;

/** One list and watch each. */
interface Part {
  readonly kind: Kind;
  /** Of ConfigMaps. */
  readonly namespace?: string;
}

function partsOf({ customResources, namespaces }: FeedSelection): readonly Part[] {
  return [
    ...(customResources ? [{ kind: GATE_POLICY }, { kind: GATE_POLICY_BINDING }] : []),
    ...namespaces.map((namespace) => ({ kind: CONFIG_MAP, namespace })),
  ];
}

function selectionOf({ namespace }: Part): { namespace?: string; labelSelector?: string } {
  return namespace === undefined ? {} : { namespace, labelSelector: POLICIES_SELECTOR };
}

function textOf({ kind, namespace }: Part): string {
  const name = `${kind.resource}${kind.group === '' ? '' : `.${kind.group}`}`;
  return namespace === undefined ? name : `${name} of namespace ${quote(namespace)}`;
}

/** What is not served is known to be missing; whether there is something in it is not. */
function missingText(part: Part): string {
  return `${textOf(part)} are not served: install their CustomResourceDefinition (manifests/crds)`;
}

/** @param onChange called after each change of what `objects` or `unsynced` say. */
export function watchPolicies(
  selection: FeedSelection,
  cluster: FeedCluster,
  parts: WatchParts,
  onChange: () => void,
): PolicyFeed {
  const watches = partsOf(selection).map((part) => ({
    part,
    watch: startWatch(
      { cluster, kind: part.kind, select: selectionOf(part), onChange, onListed: onChange },
      parts,
    ),
  }));
  /** What the store says stands; a kind that went away with its last object holds nothing. */
  const isCertain = (watch: Watch): boolean => {
    const { reflector } = watch;
    return reflector.synced() && (reflector.usable() || (watch.isMissing() && reflector.store.size === 0));
  };
  return {
    objects: () => ({
      customResources: valuesOf(watches, ({ kind }) => kind !== CONFIG_MAP),
      configMaps: valuesOf(watches, ({ kind }) => kind === CONFIG_MAP),
    }),
    unsynced() {
      const waiting = watches.find(({ watch }) => !watch.reflector.synced());
      if (waiting === undefined) return undefined;
      return waiting.watch.isMissing()
        ? missingText(waiting.part)
        : `${textOf(waiting.part)} are not read yet`;
    },
    incomplete: () => watches.filter(({ watch }) => !isCertain(watch)).map(({ part }) => textOf(part)),
    doubt() {
      const doubtful = watches.find(({ watch }) => !isCertain(watch));
      if (doubtful === undefined) return undefined;
      const { part, watch } = doubtful;
      const seconds = Math.round(watch.reflector.freshnessMs() / 1_000);
      return new GateError(
        'GATE_UNSYNCED',
        `policies: our copy of ${textOf(part)} is silent for ${String(seconds)} s; check the connection to the API server`,
      );
    },
    watches: () => watches.map(({ watch }) => watchFacts(watch.reflector)),
    refresh: () => undefined,
    async close() {
      await Promise.all(watches.map(({ watch }) => watch.reflector.stop()));
    },
  };
}

function valuesOf(
  watches: readonly { readonly part: Part; readonly watch: Watch }[],
  isWanted: (part: Part) => boolean,
): KubeObject[] {
  return watches
    .filter(({ part }) => isWanted(part))
    .flatMap(({ watch }) => Array.from(watch.reflector.store.values()));
}

/** A list that is younger is enough. */
const FRESH_MS = 30_000;
/** From this age on decisions do not stand on a list, as on a watch that was silent for as long (design decision 12). */
const STALE_MS = 150_000;
/** Of all lists together; within the budget of a decision (webhook-operations.md R6). */
const LIST_MS = 5_000;
/** A list that failed is not tried again for this long: every request would bring one about. */
const RETRY_MS = 1_000;
/** Objects of one list at most (design decision 12). */
const MOST_OBJECTS = 500;

/** @param onChange called after each list. */
export function listPolicies(
  selection: FeedSelection,
  cluster: FeedCluster,
  parts: WatchParts,
  onChange: () => void,
): PolicyFeed {
  return new ListedPolicies(partsOf(selection), cluster, parts, onChange);
}

class ListedPolicies implements PolicyFeed {
  readonly #parts: readonly Part[];
  readonly #cluster: FeedCluster;
  readonly #app: WatchParts;
  readonly #onChange: () => void;
  readonly #closing = new AbortController();
  #objects: FeedObjects = { customResources: [], configMaps: [] };
  #listed: ReadonlyMap<string, KubeObject> = new Map();
  /** Of the last list that brought everything. */
  #listedMs: number | undefined;
  #triedMs: number | undefined;
  #failure: { readonly part: Part; readonly error: unknown } | undefined;
  #listing: Promise<void> | undefined;

  constructor(parts: readonly Part[], cluster: FeedCluster, app: WatchParts, onChange: () => void) {
    this.#parts = parts;
    this.#cluster = cluster;
    this.#app = app;
    this.#onChange = onChange;
  }

  objects(): FeedObjects {
    return this.#objects;
  }

  unsynced(): string | undefined {
    if (this.#listedMs !== undefined) return undefined;
    // Nobody sends requests to a server that is not ready: the probe keeps it trying.
    void this.refresh();
    const part = this.#failure?.part ?? this.#parts[0];
    if (part === undefined) return undefined;
    return isNotServed(this.#failure?.error) ? missingText(part) : `${textOf(part)} are not read yet`;
  }

  incomplete(): readonly string[] {
    if (this.#listedMs === undefined) return this.#parts.map(textOf);
    return this.#failure === undefined ? [] : [textOf(this.#failure.part)];
  }

  doubt(): GateError | undefined {
    const { error } = this.#failure ?? {};
    if (error instanceof GateError && error.code === 'GATE_TOO_MANY_OBJECTS') return error;
    const ageMs = this.#ageMs();
    if (ageMs < STALE_MS) return undefined;
    const cause = error === undefined ? {} : { cause: error };
    const age = Number.isFinite(ageMs) ? `${String(Math.round(ageMs / 1_000))} s old` : 'not complete yet';
    return new GateError(
      'GATE_UNSYNCED',
      `policies: the last list of them is ${age}; check the connection to the API server`,
      cause,
    );
  }

  watches(): readonly WatchFacts[] {
    return [];
  }

  refresh(): Promise<void> | undefined {
    if (this.#listing !== undefined) return this.#listing;
    const nowMs = this.#app.clock.monotonic();
    const isFresh = this.#failure === undefined && this.#ageMs() < FRESH_MS;
    const isTried = this.#triedMs !== undefined && nowMs - this.#triedMs < RETRY_MS;
    if (isFresh || (isTried && this.#failure !== undefined) || this.#closing.signal.aborted) return undefined;
    this.#listing = this.#list().finally(() => {
      this.#listing = undefined;
    });
    return this.#listing;
  }

  async close(): Promise<void> {
    this.#closing.abort(new Error('closed'));
    await this.#listing;
  }

  #ageMs(): number {
    return this.#listedMs === undefined ? Infinity : this.#app.clock.monotonic() - this.#listedMs;
  }

  async #list(): Promise<void> {
    const { clock, log } = this.#app;
    const startMs = clock.monotonic();
    const late = new AbortController();
    const timer = clock.setTimer(LIST_MS, () => {
      late.abort(new GateError('GATE_DEADLINE_EXCEEDED', `no list within ${String(LIST_MS / 1_000)} s`));
    });
    const signal = AbortSignal.any([this.#closing.signal, late.signal]);
    let current = this.#parts[0];
    try {
      const customResources: KubeObject[] = [];
      const configMaps: KubeObject[] = [];
      for (const part of this.#parts) {
        current = part;
        const items = await this.#listOne(part, signal);
        (part.kind === CONFIG_MAP ? configMaps : customResources).push(...items);
      }
      this.#objects = { customResources, configMaps };
      this.#listed = new Map(
        [...customResources, ...configMaps].map((object) => [versionOf(object), object]),
      );
      this.#failure = undefined;
      // The lists show the moment at which they were begun.
      this.#listedMs = startMs;
      this.#onChange();
    } catch (error) {
      const before = this.#failure?.error;
      if (current !== undefined) this.#failure = { part: current, error };
      if (!this.#closing.signal.aborted && (before === undefined || messageOf(before) !== messageOf(error)))
        log.warn('policies not listed', { kind: current?.kind.kind, err: error });
    } finally {
      timer.cancel();
      this.#triedMs = clock.monotonic();
    }
  }

  /** The object that was listed before where it is of the same version: what was found out about it counts still. */
  #before(object: KubeObject): KubeObject {
    return this.#listed.get(versionOf(object)) ?? object;
  }

  async #listOne(part: Part, signal: AbortSignal): Promise<readonly KubeObject[]> {
    const page = await this.#cluster.list(part.kind, { ...selectionOf(part), limit: MOST_OBJECTS, signal });
    if (page.continueToken === undefined) return page.items.map((object) => this.#before(object));
    throw new GateError(
      'GATE_TOO_MANY_OBJECTS',
      `policies: there are more than ${String(MOST_OBJECTS)} ${textOf(part)}, and one list may bring no more; use watches (state cached)`,
    );
  }
}

function versionOf({ metadata: { uid = '', resourceVersion = '' } }: KubeObject): string {
  return `${uid} ${resourceVersion}`;
}
