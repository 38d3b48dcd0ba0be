/** Events on Pactos and Stages, as kubectl describe shows them (operator.md §7.2). */
import { createHash } from 'node:crypto';
import type { Clock } from '../clock.ts';
import type { Cluster } from '../cluster/cluster.ts';
import { apiVersionOf, EVENT, PACTO, type Kind } from '../cluster/kinds.ts';
import type { Pacto } from './api/pacto.ts';
import { inSeconds } from './stabilization.ts';

/** operator.md §7.2. */
const COMPONENT = 'pacto-controller';
const FIELD_MANAGER = 'pacto-gate-events';
/** Of the API server (events.k8s.io validation). */
const MESSAGE_LENGTH = 1_024;
/** As client-go's correlator: so many at once for one object, then one in five minutes. */
const BURST = 25;
const REFILL_MS = 5 * 60_000;
/** Events that are remembered for their count; the oldest is forgotten, and begins anew. */
const REMEMBERED = 4_096;
/** client-go counts an event on where it comes again within so long. */
const SAME_MS = 10 * 60_000;

interface Said {
  readonly name: string;
  readonly firstAt: string;
  readonly lastMs: number;
  readonly count: number;
}

interface Bucket {
  readonly tokens: number;
  readonly atMs: number;
}

export interface EventRecorderOptions {
  readonly cluster: Pick<Cluster, 'apply'>;
  readonly clock: Clock;
  /** An event that could not be written: nothing else depends on it. */
  readonly onError: (error: unknown) => void;
  /** Of the objects; default: Pactos. */
  readonly kind?: Kind;
  /** Who says it; default: as upstream. */
  readonly component?: string;
}

/** The reason is one of a closed list of whoever says it. */
interface SaidEvent {
  readonly type: 'Normal' | 'Warning';
  readonly reason: string;
  readonly message: string;
}

type About = Pick<Pacto, 'namespace' | 'name' | 'uid' | 'resourceVersion'>;

export class EventRecorder {
  readonly #options: EventRecorderOptions;
  readonly #said = new Map<string, Said>();
  readonly #buckets = new Map<string, Bucket>();

  constructor(options: EventRecorderOptions) {
    this.#options = options;
  }

  /** Never rejects. The same event again counts on the one that there is. */
  async say(pacto: About, event: SaidEvent, signal?: AbortSignal): Promise<void> {
    const { clock, cluster, onError, kind = PACTO, component = COMPONENT } = this.#options;
    const nowMs = clock.now();
    if (!this.#mayWrite(pacto.uid, clock.monotonic())) return;
    const message = event.message.slice(0, MESSAGE_LENGTH);
    const key = JSON.stringify([pacto.uid, event.type, event.reason, message]);
    const before = this.#said.get(key);
    const isSame = before !== undefined && nowMs - before.lastMs <= SAME_MS;
    const said: Said = isSame
      ? { ...before, lastMs: nowMs, count: before.count + 1 }
      : { name: eventName(pacto.name, key, nowMs), firstAt: inSeconds(nowMs), lastMs: nowMs, count: 1 };
    try {
      await cluster.apply(EVENT, eventOf({ ...pacto, kind, component }, { ...event, message }, said), {
        fieldManager: FIELD_MANAGER,
        force: true,
        ...(signal !== undefined && { signal }),
      });
      remember(this.#said, key, said);
    } catch (error) {
      onError(error);
    }
  }

  #mayWrite(uid: string, nowMs: number): boolean {
    const { tokens, atMs } = this.#buckets.get(uid) ?? { tokens: BURST, atMs: nowMs };
    const now = Math.min(BURST, tokens + (nowMs - atMs) / REFILL_MS);
    remember(this.#buckets, uid, { tokens: now >= 1 ? now - 1 : now, atMs: nowMs });
    return now >= 1;
  }
}

/** Another one for another time: what was deleted after its hour must not be counted on. */
function eventName(pacto: string, key: string, nowMs: number): string {
  const hash = createHash('sha256').update(key).digest('hex').slice(0, 8);
  return `${pacto.slice(0, 220)}.${hash}${nowMs.toString(16)}`;
}

function eventOf(
  {
    namespace,
    name,
    uid,
    resourceVersion,
    kind,
    component,
  }: About & { readonly kind: Kind; readonly component: string },
  { type, reason, message }: SaidEvent,
  { name: eventName, firstAt, lastMs, count }: Said,
): Parameters<Cluster['apply']>[1] {
  return {
    apiVersion: 'v1',
    kind: EVENT.kind,
    metadata: { namespace, name: eventName },
    involvedObject: {
      apiVersion: apiVersionOf(kind),
      kind: kind.kind,
      namespace,
      name,
      uid,
      resourceVersion,
    },
    reason,
    message,
    type,
    source: { component },
    reportingComponent: component,
    firstTimestamp: firstAt,
    lastTimestamp: inSeconds(lastMs),
    count,
  };
}

function remember<T>(map: Map<string, T>, key: string, value: T): void {
  map.delete(key);
  map.set(key, value);
  const [oldest] = map.keys();
  if (map.size > REMEMBERED && oldest !== undefined) map.delete(oldest);
}
