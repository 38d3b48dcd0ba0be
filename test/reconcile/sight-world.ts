/** A sight over a memory cluster, for tests of who is woken by what. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { onTestFinished } from 'vitest';
import type { Cluster } from '../../src/cluster/cluster.ts';
import * as kinds from '../../src/cluster/kinds.ts';
import type { Kind } from '../../src/cluster/kinds.ts';
import { createMemoryCluster, type MemoryCluster } from '../../src/cluster/memory.ts';
import type { KubeObject } from '../../src/cluster/objects.ts';
import { GateError, type ErrorCode } from '../../src/errors.ts';
import { createSight, type Sight, type SightOptions } from '../../src/reconcile/sight.ts';
import type { EndedView } from '../../src/reconcile/sight-view.ts';
import type { View } from '../../src/reconcile/view.ts';
import { keyText, type PactoKey } from '../../src/reconcile/wake.ts';
import { AGENT_NAMESPACE, anObject } from '../support/builders.ts';
import { FakeClock } from '../support/fake-clock.ts';

export const CONNECTION_MS = 300_000;
export const NODE_AGENT = { namespace: AGENT_NAMESPACE, connectionMs: CONNECTION_MS };

type Reads = Pick<Cluster, 'get' | 'list' | 'watch'>;

interface Refusal {
  readonly kind: Kind;
  readonly code: ErrorCode;
  readonly namespace?: string;
  readonly only?: readonly (keyof Reads)[];
}

/** A cluster that does not serve some kinds, or refuses them. */
export class Refusing implements Reads {
  readonly #cluster: Reads;
  readonly #refusals = new Set<Refusal>();

  constructor(cluster: Reads) {
    this.#cluster = cluster;
  }

  /** @param where left out: everywhere, and whatever is asked. @returns what takes it back. */
  refuse(kind: Kind, code: ErrorCode, where: Pick<Refusal, 'namespace' | 'only'> = {}): () => void {
    const refusal = { ...where, kind, code };
    this.#refusals.add(refusal);
    return () => void this.#refusals.delete(refusal);
  }

  get: Reads['get'] = async (kind, name, options) => {
    this.#check('get', kind, name.namespace);
    return await this.#cluster.get(kind, name, options);
  };

  list: Reads['list'] = async (kind, options) => {
    this.#check('list', kind, options?.namespace);
    return await this.#cluster.list(kind, options);
  };

  watch: Reads['watch'] = (kind, options) => {
    this.#check('watch', kind, options.namespace);
    return this.#cluster.watch(kind, options);
  };

  #check(verb: keyof Reads, kind: Kind, namespace: string | undefined): void {
    for (const refusal of this.#refusals) {
      const { only, code } = refusal;
      const isMeant = refusal.kind === kind && (refusal.namespace ?? namespace) === namespace;
      if (isMeant && (only?.includes(verb) ?? true))
        throw new GateError(code, `cannot ${verb} ${kind.resource}: refused`);
    }
  }
}

export interface World {
  readonly sight: Sight;
  readonly memory: MemoryCluster;
  readonly cluster: Refusing;
  readonly clock: FakeClock;
  /** Kinds and types of what the watches reported. */
  readonly reports: string[];
  /** One look whose reads count. */
  look<T>(pacto: string, read: (view: EndedView) => Promise<T>): Promise<T>;
  /** Who was woken by it, each once, in order. */
  wokenBy(change: () => unknown): Promise<readonly string[]>;
  /** As many wakes as there were. */
  wakes(): number;
}

/** Everything that can happen without time has happened. */
export async function settled(): Promise<void> {
  for (let turn = 0; turn < 4; turn++) await nextTurn();
}

export function aWorld(
  options: Partial<Pick<SightOptions, 'namespaces' | 'nodeAgent' | 'monitors'>> = {},
): World {
  const clock = new FakeClock();
  const memory = createMemoryCluster({ clock });
  const cluster = new Refusing(memory);
  const reports: string[] = [];
  const sight = createSight({
    cluster,
    clock,
    random: () => 0.5,
    namespaces: [],
    nodeAgent: NODE_AGENT,
    monitors: true,
    report: (kind, { type }) => reports.push(`${kind.kind} ${type}`),
    ...options,
  });
  let woken: string[] = [];
  let wakes = 0;
  sight.onWake((key) => {
    wakes += 1;
    woken.push(keyText(key));
  });
  onTestFinished(() => sight.stop());
  return {
    sight,
    memory,
    cluster,
    clock,
    reports,
    async look(pacto, read) {
      const view = sight.follow(keyOf(pacto));
      try {
        return await read(view);
      } finally {
        view.end();
      }
    },
    async wokenBy(change) {
      await settled();
      woken = [];
      await change();
      await settled();
      return [...new Set(woken)].sort();
    },
    wakes: () => wakes,
  };
}

/** One that has read everything. */
export async function aReadyWorld(
  objects: readonly (readonly [Kind, KubeObject])[] = [],
  options: Parameters<typeof aWorld>[0] = {},
): Promise<World> {
  const world = aWorld(options);
  for (const [kind, object] of objects) world.memory.load(kind, object);
  world.sight.start();
  await world.sight.ready;
  await settled();
  return world;
}

export function keyOf(text: string): PactoKey {
  const [namespace = '', name = ''] = text.split('/');
  return { namespace, name };
}

/** @param name with its namespace: `shop/api`. */
export function named(
  kind: Kind,
  name: string,
  fields: Readonly<Record<string, unknown>> = {},
  metadata: Partial<KubeObject['metadata']> = {},
): KubeObject {
  return anObject(kind, { ...keyOf(name), ...metadata }, fields);
}

export function aPacto(
  name: string,
  {
    resolvedRef,
    version = '1.0.0',
    serviceName = keyOf(name).name,
    ...metadata
  }: {
    readonly resolvedRef?: string;
    readonly version?: string;
    readonly serviceName?: string;
    readonly annotations?: Readonly<Record<string, string>>;
  } = {},
): KubeObject {
  return named(
    kinds.PACTO,
    name,
    {
      spec: { contractRef: { oci: 'oci://registry.test/api' }, target: { serviceName } },
      ...(resolvedRef !== undefined && {
        status: { contract: { serviceName: 'api', version, resolvedRef } },
      }),
    },
    metadata,
  );
}

export function aSlice(service: string, name: string, ready = true): KubeObject {
  const { namespace, name: of } = keyOf(service);
  return named(
    kinds.ENDPOINT_SLICE,
    `${namespace}/${name}`,
    {
      addressType: 'IPv4',
      ports: [{ name: '', port: 8080, protocol: 'TCP' }],
      endpoints: [{ addresses: ['10.0.0.1'], conditions: { ready } }],
    },
    { labels: { 'kubernetes.io/service-name': of } },
  );
}

/** Reads by name, for tables. */
export type Read = (view: View) => Promise<unknown>;
