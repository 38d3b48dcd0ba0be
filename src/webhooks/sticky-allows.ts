/** Allows of the delivery gate, remembered for some seconds so that a dry-run and the apply behind it agree (design decision 25). */
import type { Clock } from '../clock.ts';
import type { AdmissionRequest } from '../cluster/objects.ts';
import { canonicalJson } from '../policies/identity/foreign.ts';
import type { Allowed } from '../policies/verdict.ts';

/** Some 500 bytes each; the oldest goes first. */
const MOST = 10_000;

export class StickyAllows {
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #forMs: number;
  /** Insertion order is the order of their ends as well. */
  readonly #known = new Map<string, { readonly endMs: number; readonly verdict: Allowed }>();

  /** @param forMs 0 remembers nothing */
  constructor(clock: Pick<Clock, 'monotonic'>, forMs: number) {
    this.#clock = clock;
    this.#forMs = forMs;
  }

  /** @returns what was allowed under this key, while it counts */
  get(key: string): Allowed | undefined {
    const found = this.#known.get(key);
    if (found === undefined) return undefined;
    if (this.#clock.monotonic() < found.endMs) return found.verdict;
    this.#known.delete(key);
    return undefined;
  }

  /** The first Allow counts from its own time: what repeats it does not make it longer. */
  add(key: string, verdict: Allowed): void {
    if (this.#forMs <= 0 || this.#known.has(key)) return;
    const [oldest] = this.#known.keys();
    if (this.#known.size >= MOST && oldest !== undefined) this.#known.delete(oldest);
    this.#known.set(key, { endMs: this.#clock.monotonic() + this.#forMs, verdict });
  }
}

/**
 * What must be equal for a remembered Allow to count. Who asks is part of it, beyond what is needed for dry-run and apply to
 * agree: what an admin may do is not lent to anybody. The uid of a CREATE is not: it differs between the two (flux-facts.md
 * FF-4).
 *
 * @param stages uids of the Stages that decide
 */
export function stickyKey(
  request: AdmissionRequest,
  sha256: (text: string) => string,
  { stages, policySha256 }: { readonly stages: readonly string[]; readonly policySha256: string },
): string {
  const { operation, kind, namespace = '', name = '', userInfo, object, oldObject } = request;
  const isCreate = operation === 'CREATE';
  const { username = '', uid = '', groups = [] } = userInfo;
  return sha256(
    canonicalJson([
      [...stages],
      policySha256,
      operation,
      isCreate ? [kind.group, kind.kind, namespace, name] : [uidOf(oldObject)],
      [username, uid, [...groups]],
      sha256(canonicalJson(contentOf(oldObject))),
      sha256(canonicalJson(contentOf(object))),
    ]),
  );
}

/** As a controller sees it: without status and what the API server keeps of its own. */
function contentOf(object: unknown): unknown {
  if (!isRecord(object)) return object;
  const { metadata, status: _, ...rest } = object;
  if (!isRecord(metadata)) return rest;
  const { labels, annotations, deletionTimestamp } = metadata;
  return { ...rest, labels, annotations, deletionTimestamp };
}

function uidOf(object: unknown): string {
  const metadata = isRecord(object) ? object['metadata'] : undefined;
  const uid = isRecord(metadata) ? metadata['uid'] : undefined;
  return typeof uid === 'string' ? uid : '';
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
