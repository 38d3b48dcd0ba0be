/** Lists of memory.ts: what is selected, and pages that all show the cluster as it was at the first. */
import { GateError, quote } from '../errors.ts';
import type { ListOptions, Page, SelectOptions } from './cluster.ts';
import type { Kind } from './kinds.ts';
import type { KindStore, Snapshot } from './memory-store.ts';
import type { KubeObject } from './objects.ts';
import type { Predicate } from './selectors.ts';
import { fieldPredicate, labelPredicate } from './selectors.ts';

interface Continuation {
  readonly version: number;
  /** The last key of the page before. */
  readonly after: string;
}

/** @throws GateError GATE_CLUSTER_INVALID for a selector that cannot be read. */
export function selectionOf(kind: Kind, options: SelectOptions): Predicate {
  const { namespace } = options;
  const byLabel = labelPredicate(options.labelSelector);
  const byField = fieldPredicate(kind, options.fieldSelector);
  return (object) =>
    (namespace === undefined || namespace === '' || object.metadata.namespace === namespace) &&
    byLabel(object) &&
    byField(object);
}

/**
 * @param version the cluster's newest.
 * @throws GateError GATE_CLUSTER_INVALID for a selector, limit or token that cannot be read, GATE_CLUSTER_GONE for a
 *   token whose moment is forgotten.
 */
export function pageOf(store: KindStore, kind: Kind, version: number, options: ListOptions): Page {
  const { limit = 0, continueToken } = options;
  if (!Number.isSafeInteger(limit) || limit < 0) {
    throw new GateError(
      'GATE_CLUSTER_INVALID',
      `limit: a whole number from 0 is needed (found ${String(limit)})`,
    );
  }
  const selects = selectionOf(kind, options);
  const from = continueToken === undefined || continueToken === '' ? undefined : readToken(continueToken);
  const snapshot = from === undefined ? store.now() : snapshotAt(store, from.version);
  const shown = from?.version ?? version;
  const { items, after } = collect(snapshot, from?.after, selects, limit === 0 ? Infinity : limit);
  const next = after === undefined ? {} : { continueToken: writeToken({ version: shown, after }) };
  return { items, resourceVersion: String(shown), ...next };
}

function collect(
  snapshot: Snapshot,
  from: string | undefined,
  selects: Predicate,
  limit: number,
): { items: KubeObject[]; after: string | undefined } {
  const items: KubeObject[] = [];
  let last: string | undefined;
  for (let index = firstAfter(snapshot.keys, from); index < snapshot.keys.length; index++) {
    const key = snapshot.keys[index] ?? '';
    const object = snapshot.objects.get(key);
    if (object === undefined || !selects(object)) continue;
    // One more is there: only now is it certain that this page is not the last.
    if (items.length >= limit) return { items, after: last };
    items.push(object);
    last = key;
  }
  return { items, after: undefined };
}

/** Binary search in sorted keys. */
function firstAfter(keys: readonly string[], after: string | undefined): number {
  if (after === undefined) return 0;
  let low = 0;
  let high = keys.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((keys[middle] ?? '') <= after) low = middle + 1;
    else high = middle;
  }
  return low;
}

function snapshotAt(store: KindStore, version: number): Snapshot {
  const snapshot = store.at(version);
  if (snapshot !== undefined) return snapshot;
  throw new GateError(
    'GATE_CLUSTER_GONE',
    'continue token: what it continues is forgotten; list again from the start',
  );
}

function writeToken(continuation: Continuation): string {
  return Buffer.from(JSON.stringify([continuation.version, continuation.after])).toString('base64url');
}

function readToken(token: string): Continuation {
  try {
    const parts: unknown = JSON.parse(Buffer.from(token, 'base64url').toString());
    if (Array.isArray(parts)) {
      const [version, after] = parts as unknown[];
      if (Number.isSafeInteger(version) && typeof after === 'string')
        return { version: version as number, after };
    }
  } catch {
    // Not one of ours: said below.
  }
  throw new GateError(
    'GATE_CLUSTER_INVALID',
    `continue token ${quote(token)} is not one that a list returned`,
  );
}
