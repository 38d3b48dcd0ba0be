import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { EVENT, PACTO, PACTO_REVISION } from '../../src/cluster/kinds.ts';
import { createMemoryCluster, type MemoryCluster } from '../../src/cluster/memory.ts';
import type { KubeObject } from '../../src/cluster/objects.ts';
import { GateError } from '../../src/errors.ts';
import type { Log, LogFields } from '../../src/log.ts';
import { readPacto } from '../../src/reconcile/api/read-pacto.ts';
import { ContractReader } from '../../src/reconcile/contract-reader.ts';
import { EventRecorder } from '../../src/reconcile/event-recorder.ts';
import { createLiveView } from '../../src/reconcile/live-view.ts';
import { createMirrorRunner, type MirrorRunner } from '../../src/reconcile/mirror-runner.ts';
import { keyText, type PactoKey } from '../../src/reconcile/wake.ts';
import { Writer } from '../../src/reconcile/writer.ts';
import { SchemaPool } from '../../src/schema/schema-pool.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { packed } from '../support/registry/bundles.ts';
import { MemoryRegistry } from '../support/registry/memory-registry.ts';
import { aPacto } from './running.ts';

const INTERVAL_MS = 300_000;

class Mirrors {
  readonly clock = new FakeClock(Date.parse('2026-12-01T10:00:00Z'));
  readonly cluster: MemoryCluster = createMemoryCluster({ clock: this.clock });
  /** One for each repository, by its name. */
  readonly registries = new Map<string, MemoryRegistry>();
  readonly woken: string[] = [];
  readonly warned: LogFields[] = [];
  readonly runner: MirrorRunner;
  #term = new AbortController();
  readonly #pactos = new Map<string, KubeObject>();

  constructor() {
    const { clock, cluster } = this;
    const log = { warn: (_: string, fields: LogFields) => this.warned.push(fields) } as unknown as Log;
    const events = new EventRecorder({
      cluster,
      clock,
      onError: (error) => log.warn('event', { err: error }),
    });
    const schemas = new SchemaPool({ clock });
    const reader = new ContractReader({ schemas, clock });
    this.runner = createMirrorRunner({
      source: {
        round: () => ({
          access: ({ spec }) =>
            Promise.resolve({ client: this.#registryOf(spec.contractRef.oci), cache: undefined }),
        }),
      },
      reader,
      sight: {
        get: (key) => this.#pactos.get(keyText(key)),
        keys: () => this.#keys(),
        glance: () =>
          createLiveView({ cluster, namespaces: [], nodeAgent: undefined, signal: this.#term.signal }),
        ready: Promise.resolve(),
      },
      writer: new Writer({ writes: cluster, events, log }),
      events,
      clock,
      intervalMs: INTERVAL_MS,
      log,
      onNew: ({ name }) => this.woken.push(name),
    });
    onTestFinished(async () => {
      await this.runner.stop();
      await reader.close();
      await schemas.close();
    });
  }

  *#keys(): Generator<PactoKey> {
    for (const object of this.#pactos.values()) yield readPacto(object);
  }

  #registryOf(oci: string): MemoryRegistry {
    const found = this.registries.get(/([^/:]+)(?::[^/]*)?$/.exec(oci)?.[1] ?? '');
    if (found === undefined) throw new GateError('GATE_REGISTRY_UNREACHABLE', `${oci}: connection refused`);
    return found;
  }

  async pacto(name: string, contractRef: string | { readonly inline: string }): Promise<void> {
    const spec = { contractRef: typeof contractRef === 'string' ? { oci: contractRef } : contractRef };
    const made = await this.cluster.create(PACTO, aPacto(name, spec));
    this.#pactos.set(keyText(readPacto(made)), made);
  }

  async lead(): Promise<void> {
    this.#term = new AbortController();
    this.runner.turn(this.#term.signal);
    await this.settle();
  }

  async lose(): Promise<void> {
    this.#term.abort(new GateError('GATE_NOT_LEADING', 'another one leads'));
    this.runner.turn(undefined);
    await this.settle();
  }

  async turn(ms: number): Promise<void> {
    await this.clock.advance(ms);
    await this.settle();
  }

  async settle(): Promise<void> {
    for (let quiet = 0; quiet < 10;) {
      await nextTurn();
      await this.clock.advance(0);
      quiet = this.runner.isIdle() ? quiet + 1 : 0;
    }
  }

  async revisions(): Promise<readonly string[]> {
    const { items } = await this.cluster.list(PACTO_REVISION);
    return items.map(({ metadata }) => (metadata.name ?? '').replace(/-[0-9a-f]{7}$/, ''));
  }

  /** Pacto, reason, and message without what is hashed. */
  async events(): Promise<readonly string[]> {
    return (await this.cluster.list(EVENT)).items.map(({ reason, involvedObject, message, count }) =>
      [
        (involvedObject as PactoKey).name,
        String(reason),
        String(count),
        String(message)
          .replace(/sha256:\w+ to sha256:\w+/, '…')
          .replace(/^Created.*/, ''),
      ].join(' '),
    );
  }
}

function registryWith(...tags: readonly string[]): MemoryRegistry {
  const registry = new MemoryRegistry();
  for (const tag of tags) registry.add(packed(tag), tag);
  return registry;
}

describe('the mirror', () => {
  it('makes a revision of each version at the start of a term, once, and asks then for digests alone', async () => {
    const mirrors = new Mirrors();
    const registry = registryWith('1.0.0', '1.1.0');
    mirrors.registries.set('cart', registry);
    await mirrors.pacto('cart', 'registry.test/shop/cart:1.0.0');
    await mirrors.lead();
    expect((await mirrors.revisions()).toSorted()).toEqual(['cart-1-0-0', 'cart-1-1-0']);
    expect(await mirrors.events()).toEqual(['cart RevisionCreated 1 ', 'cart RevisionCreated 1 ']);
    registry.asked.length = 0;
    await mirrors.turn(INTERVAL_MS - 1);
    expect(registry.asked).toEqual([]);
    await mirrors.turn(1);
    expect(registry.asked).toEqual(['tags', 'resolve 1.1.0', 'resolve 1.0.0']);
    expect(await mirrors.events()).toHaveLength(2);
    expect(mirrors.warned).toEqual([]);
  });

  it('tells of a tag that names something else, once, and has its Pacto looked at', async () => {
    const mirrors = new Mirrors();
    const registry = registryWith('1.0.0');
    mirrors.registries.set('cart', registry);
    await mirrors.pacto('cart', 'registry.test/shop/cart:1.0.0');
    await mirrors.lead();
    mirrors.woken.length = 0;
    // The contract is the same, what is beside it is not (operator.md §20, T4).
    registry.add(packed('1.0.0', { 'README.md': 'another' }), '1.0.0');
    await mirrors.turn(INTERVAL_MS);
    await mirrors.turn(INTERVAL_MS);
    expect((await mirrors.events()).filter((text) => text.includes('TagOverwritten'))).toEqual([
      'cart TagOverwritten 1 Tag 1.0.0 was force-pushed (digest changed from …)',
    ]);
    expect(await mirrors.revisions()).toHaveLength(2);
    expect(mirrors.woken).toEqual(['cart']);
  });

  it.each([
    ['wakes who follows the latest for a new version', 'registry.test/shop/cart', ['cart']],
    ['wakes nobody for a version that is not the one it names', 'registry.test/shop/cart:1.0.0', []],
  ])('%s', async (_, oci, woken) => {
    const mirrors = new Mirrors();
    const registry = registryWith('1.0.0');
    mirrors.registries.set('cart', registry);
    await mirrors.pacto('cart', oci);
    await mirrors.lead();
    mirrors.woken.length = 0;
    registry.add(packed('1.1.0'), '1.1.0');
    await mirrors.turn(INTERVAL_MS);
    expect(await mirrors.revisions()).toHaveLength(2);
    expect(mirrors.woken).toEqual(woken);
    await mirrors.turn(INTERVAL_MS);
    expect(mirrors.woken).toEqual(woken);
  });

  it('tells of a repository that cannot be read once for each round, and mirrors the others', async () => {
    const mirrors = new Mirrors();
    mirrors.registries.set('cart', registryWith('1.0.0'));
    await mirrors.pacto('away', 'away.test/shop/away');
    await mirrors.pacto('cart', 'registry.test/shop/cart');
    await mirrors.lead();
    await mirrors.turn(INTERVAL_MS);
    expect(await mirrors.revisions()).toEqual(['cart-1-0-0']);
    expect((await mirrors.events()).filter((text) => text.startsWith('away'))).toEqual([
      'away ContractUnavailable 2 Revision mirror failed for away.test/shop/away: away.test/shop/away: connection refused',
    ]);
  });

  it('makes no revision where that is forbidden, and tries again', async () => {
    const mirrors = new Mirrors();
    mirrors.registries.set('cart', registryWith('1.0.0'));
    await mirrors.pacto('cart', 'registry.test/shop/cart');
    const allow = mirrors.cluster.refuseCalls(new GateError('GATE_CLUSTER_FORBIDDEN', 'no'), ['create']);
    await mirrors.lead();
    expect(mirrors.warned).toMatchObject([{ namespace: 'shop', name: 'cart' }]);
    expect(mirrors.woken).toEqual([]);
    allow();
    await mirrors.turn(INTERVAL_MS);
    expect(await mirrors.revisions()).toEqual(['cart-1-0-0']);
    expect(mirrors.woken).toEqual(['cart']);
  });

  it.each([
    ['an inline contract', { inline: 'pactoVersion: "2.0"' }],
    ['a digest', `registry.test/shop/cart@sha256:${'0'.repeat(64)}`],
  ])('asks nothing for %s', async (_, contractRef) => {
    const mirrors = new Mirrors();
    const registry = registryWith('1.0.0');
    mirrors.registries.set('cart', registry);
    await mirrors.pacto('cart', contractRef);
    await mirrors.lead();
    expect(registry.asked).toEqual([]);
    expect(await mirrors.events()).toEqual([]);
  });

  it('asks nothing while another process leads, and begins again with the next term', async () => {
    const mirrors = new Mirrors();
    const registry = registryWith('1.0.0');
    mirrors.registries.set('cart', registry);
    await mirrors.pacto('cart', 'registry.test/shop/cart');
    await mirrors.settle();
    expect(registry.asked).toEqual([]);
    await mirrors.lead();
    await mirrors.lose();
    registry.asked.length = 0;
    await mirrors.turn(3 * INTERVAL_MS);
    expect(registry.asked).toEqual([]);
    await mirrors.lead();
    expect(registry.asked).toEqual(['tags', 'resolve 1.0.0']);
  });
});
