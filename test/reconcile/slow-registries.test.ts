import { describe, expect, it } from 'vitest';
import { SlowRegistries } from '../../src/reconcile/slow-registries.ts';
import type { PullClient } from '../../src/registry/pull.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { failure, packed } from '../support/registry/bundles.ts';
import { MemoryRegistry } from '../support/registry/memory-registry.ts';
import { pacto, SourceWorld } from './source-world.ts';

const SLOW = 'GATE_OVERLOADED: the registry a.test is slow, and 2 others wait for it: it is tried again';

class World {
  readonly clock = new FakeClock();
  readonly registries = new SlowRegistries(this.clock);

  enter(registry = 'a.test'): () => void {
    return this.registries.enter(registry);
  }

  refusal(registry = 'a.test'): Promise<string> {
    return failure(() => this.enter(registry));
  }
}

describe('a registry', () => {
  it('is pulled from by all at once while it is fast', async () => {
    const world = new World();
    const leaves = Array.from({ length: 100 }, () => world.enter());
    await world.clock.advance(4_999);
    for (const leave of leaves) leave();
    expect(() => Array.from({ length: 100 }, () => world.enter())).not.toThrow();
  });

  it('is slow while a pull takes five seconds, and two wait for it and no more', async () => {
    const world = new World();
    const leaves = [world.enter(), world.enter()];
    await world.clock.advance(5_000);
    expect(await world.refusal()).toBe(SLOW);
    leaves[0]?.();
    world.enter();
    expect(await world.refusal()).toBe(SLOW);
  });

  it('stays slow for five minutes after such a pull', async () => {
    const world = new World();
    const leave = world.enter();
    await world.clock.advance(5_000);
    leave();
    await world.clock.advance(299_000);
    const leaves = [world.enter(), world.enter()];
    expect(await world.refusal()).toBe(SLOW);
    for (const one of leaves) one();
    await world.clock.advance(1_000);
    expect(() => Array.from({ length: 3 }, () => world.enter())).not.toThrow();
  });

  it('is not slow because another one is', async () => {
    const world = new World();
    world.enter();
    world.enter();
    await world.clock.advance(5_000);
    expect(() => Array.from({ length: 3 }, () => world.enter('b.test'))).not.toThrow();
  });

  it('is left once for each pull, whatever says so twice', async () => {
    const world = new World();
    const leave = world.enter();
    world.enter();
    await world.clock.advance(5_000);
    leave();
    leave();
    world.enter();
    expect(await world.refusal()).toBe(SLOW);
  });

  it('is forgotten where there are thousands, unless a pull is under way', async () => {
    const world = new World();
    world.enter();
    world.enter();
    for (let n = 0; n < 3_000; n += 1) world.enter(`h${String(n)}.test`)();
    await world.clock.advance(5_000);
    expect(await world.refusal()).toBe(SLOW);
  });
});

describe('looks at a registry that drips', () => {
  /** It answers at once, and its bundles never come to an end. */
  function dripping(): PullClient {
    const registry = new MemoryRegistry();
    registry.add(packed('1.0.0'), '1.0.0');
    return {
      resolveTag: (reference) => registry.resolveTag(reference),
      tags: () => registry.tags(),
      manifest: (reference) => registry.manifest(reference),
      async *blob(_repository, _descriptor, options) {
        yield new Uint8Array([0x1f]);
        await new Promise((_resolve, reject) => {
          options?.signal?.addEventListener('abort', () => reject(options.signal?.reason as Error));
        });
      },
    };
  }

  it('leave room for others: after the first ones two wait, and the rest tries again', async () => {
    const world = new SourceWorld(dripping());
    const { signal } = new AbortController();
    const ends: string[] = [];
    const look = (n: number): void => {
      const of = pacto({ oci: `registry.test/shop/s${String(n)}:1.0.0` });
      world.source.obtain(of, { view: world.view, signal }).then(
        (found) => ends.push(found.ok ? 'a contract' : found.failure),
        (error: unknown) => ends.push((error as { code: string }).code),
      );
    };
    for (let n = 0; n < 8; n += 1) look(n);
    await world.clock.advance(30_000);
    expect(ends.splice(0)).toEqual(Array.from({ length: 8 }, () => 'unavailable'));
    for (let n = 8; n < 500; n += 1) look(n);
    await world.clock.advance(0);
    expect(ends.splice(0)).toEqual(Array.from({ length: 490 }, () => 'GATE_OVERLOADED'));
    await world.clock.advance(30_000);
    expect(ends).toEqual(['unavailable', 'unavailable']);
  });
});
