/** Reads that go to the API server now. */
import type { Clock } from '../clock.ts';
import { GateError, quote } from '../errors.ts';
import type { LiveCallFacts } from '../metrics.ts';
import type { CallOptions, Cluster, ObjectName, Page, Selection } from './cluster.ts';
import type { Kind } from './kinds.ts';
import { LIVE_CALL_LIMITS, LiveCalls, type LiveCallLimits } from './live-calls.ts';
import type { KubeObject } from './objects.ts';
import { storeKey } from './store.ts';

/** What one list of a decision may bring (design decision 12). */
const MOST_LISTED = 500;
/** Such a list is read while requests wait: 32 KiB for each of 500 objects … */
const LIST_BYTES = 16 * 1024 * 1024;
/** … and so few at once. */
const LISTS_AT_ONCE = 4;

/** How much of an object is asked for. */
export type Extent = 'whole' | 'plain' | 'metadata';

export interface LiveReadsOptions {
  readonly cluster: Pick<Cluster, 'get' | 'list'>;
  readonly clock: Clock;
  readonly limits?: Partial<LiveCallLimits> | undefined;
  readonly report?: ((facts: LiveCallFacts) => void) | undefined;
}

export class LiveReads {
  readonly #cluster: LiveReadsOptions['cluster'];
  readonly #gets: LiveCalls<KubeObject | undefined>;
  readonly #lists: LiveCalls<readonly KubeObject[]>;

  constructor({ cluster, clock, limits, report }: LiveReadsOptions) {
    this.#cluster = cluster;
    const most = { ...LIVE_CALL_LIMITS, ...limits };
    this.#gets = new LiveCalls({ call: 'get', noun: 'live reads', clock, limits: most, report });
    this.#lists = new LiveCalls({
      call: 'list',
      noun: 'live lists',
      clock,
      limits: { ...most, concurrency: Math.min(LISTS_AT_ONCE, most.concurrency) },
      report,
    });
  }

  /** @throws as LiveCalls.join and Cluster.get. */
  get(
    kind: Kind,
    name: ObjectName,
    extent: Extent,
    { signal }: CallOptions,
  ): Promise<KubeObject | undefined> {
    const options = {
      ...(extent === 'metadata' && { metadataOnly: true }),
      ...(extent === 'whole' && { exact: true }),
    };
    return this.#gets.join(
      `${keyOf(kind)} ${storeKey(name)} ${extent}`,
      `read ${kind.resource} ${quote(storeKey(name))}`,
      (shared) => this.#cluster.get(kind, name, { ...options, signal: shared }),
      signal,
    );
  }

  /**
   * One list, whole and exact.
   *
   * @throws GateError GATE_TOO_MANY_OBJECTS, and as LiveCalls.join and Cluster.list.
   */
  list(kind: Kind, selection: Selection, { signal }: CallOptions): Promise<readonly KubeObject[]> {
    return this.#lists.join(
      `${keyOf(kind)} ${selectionKey(selection)}`,
      `list ${kind.resource}`,
      async (shared) => {
        const page = await this.#cluster.list(kind, {
          ...selection,
          exact: true,
          limit: MOST_LISTED + 1,
          maxBytes: LIST_BYTES,
          signal: shared,
        });
        return wholeList(kind, selection, page);
      },
      signal,
    );
  }
}

/** A part of what is selected would be no answer. */
function wholeList(kind: Kind, { namespace }: Selection, page: Page): readonly KubeObject[] {
  if (page.items.length <= MOST_LISTED && page.continueToken === undefined) return page.items;
  const where = namespace === undefined ? '' : ` of namespace ${quote(namespace)}`;
  throw new GateError(
    'GATE_TOO_MANY_OBJECTS',
    `list ${kind.resource}${where}: more are selected than one request may read (need at most ${String(MOST_LISTED)}): select fewer, or run with state cached`,
  );
}

export function keyOf(kind: Kind): string {
  return `${kind.group}/${kind.version}/${kind.resource}`;
}

export function selectionKey({ namespace, labelSelector }: Selection): string {
  return `${namespace ?? ''}/ ${labelSelector ?? ''}`;
}
