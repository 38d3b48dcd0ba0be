/** A reader over live reads that the test answers one by one, and over copies that it fills. */
import { createReader, type ReaderOptions, type ReaderSource } from '../../../src/cluster/cache.ts';
import type {
  Cluster,
  ListOptions,
  ObjectName,
  Page,
  Reader,
  ReadOptions,
} from '../../../src/cluster/cluster.ts';
import { POD, type Kind } from '../../../src/cluster/kinds.ts';
import type { KubeObject } from '../../../src/cluster/objects.ts';
import { ObjectStore, storeKey } from '../../../src/cluster/store.ts';
import { STALE_AFTER_MS, type Reflector } from '../../../src/cluster/watch.ts';
import { GateError } from '../../../src/errors.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { outcomeOf } from '../../support/rest-cluster.ts';

export interface PendingRead {
  readonly kind: Kind;
  readonly name: ObjectName;
  readonly options: ReadOptions;
  answer(object: KubeObject | undefined): void;
  fail(error: unknown): void;
}

export interface PendingList {
  readonly kind: Kind;
  readonly options: ListOptions;
  answer(items: readonly KubeObject[], continueToken?: string): void;
  fail(error: unknown): void;
}

/** Live reads that the test answers one by one. */
export class HeldCluster implements Pick<Cluster, 'get' | 'list'> {
  readonly reads: PendingRead[] = [];
  readonly lists: PendingList[] = [];

  list(kind: Kind, options: ListOptions = {}): Promise<Page> {
    return new Promise((resolve, reject) => {
      this.lists.push({
        kind,
        options,
        answer: (items, continueToken) =>
          resolve({
            items,
            resourceVersion: '1',
            ...(continueToken !== undefined && { continueToken }),
          }),
        fail: reject,
      });
      options.signal?.addEventListener('abort', () => reject(options.signal?.reason as Error));
    });
  }

  get(kind: Kind, name: ObjectName, options: ReadOptions = {}): Promise<KubeObject | undefined> {
    return new Promise((resolve, reject) => {
      this.reads.push({ kind, name, options, answer: resolve, fail: reject });
      options.signal?.addEventListener('abort', () => reject(options.signal?.reason as Error));
    });
  }
}

export interface HeldReflector extends Reflector {
  isSynced: boolean;
  ageMs: number;
  put(object: KubeObject): void;
}

export function podReflector(changes: Partial<Reflector> = {}): HeldReflector {
  const store = new ObjectStore();
  return {
    kind: POD,
    namespace: undefined,
    metadataOnly: false,
    whole: false,
    selective: false,
    store,
    isSynced: true,
    ageMs: 0,
    put: (object) => void store.set(storeKey(object.metadata), object),
    start: () => undefined,
    stop: () => Promise.resolve(),
    synced() {
      return this.isSynced;
    },
    freshnessMs() {
      return this.ageMs;
    },
    usable() {
      return this.isSynced && this.ageMs <= STALE_AFTER_MS;
    },
    reduce: (object) => ({ apiVersion: 'v1', kind: 'Pod', metadata: object.metadata, reduced: true }),
    ...changes,
  };
}

export function read(
  options: Partial<Omit<ReaderOptions, 'reflectors' | 'cluster' | 'clock'>> & {
    reflectors?: Reflector[];
  } = {},
): {
  cluster: HeldCluster;
  clock: FakeClock;
  source: ReaderSource;
  ask: (name: string, signal?: AbortSignal) => Promise<unknown>;
} {
  const cluster = new HeldCluster();
  const clock = new FakeClock();
  const source = createReader({ mode: 'cached', reflectors: [], ...options, cluster, clock });
  const ask = (name: string, signal?: AbortSignal): Promise<unknown> =>
    outcomeOf(get(source.forRequest(), name, signal));
  return { cluster, clock, source, ask };
}

export function get(reader: Reader, name: string, signal?: AbortSignal): Promise<KubeObject | undefined> {
  return reader.get(POD, { namespace: 'web', name }, signal === undefined ? {} : { signal });
}

export const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
export const unreachable = new GateError('GATE_CLUSTER_UNREACHABLE', 'scripted');
