import { describe, expect, it } from 'vitest';
import { GateError } from '../../src/errors.ts';
import { createPass, type PassParts } from '../../src/reconcile/cluster-pass.ts';
import type { ObtainOptions } from '../../src/reconcile/contract-source.ts';
import type { View } from '../../src/reconcile/view.ts';
import { packed } from '../support/registry/bundles.ts';
import { pacto, SourceWorld, type Ref } from './source-world.ts';

/** What was found, in short. */
async function digestOf(world: SourceWorld, ref: Ref, isFresh?: true): Promise<string> {
  const { signal } = new AbortController();
  const options = { view: world.view, signal, ...(isFresh === true && { isFresh }) };
  const found = await world.source.obtain(pacto(ref), options);
  return found.ok ? found.digest : found.failure;
}

describe('who asks for what is now', () => {
  it('sees a tag that was pushed a moment ago, and so does everybody after that', async () => {
    const world = new SourceWorld();
    const ref = { oci: 'oci://registry.test/shop/cart:1.0.0' };
    world.registry.add(packed('1.0.0'), '1.0.0');
    const before = await digestOf(world, ref);
    world.registry.add(packed('1.0.0', { 'README.md': 'another' }), '1.0.0');
    const after = world.registry.tagged.get('1.0.0');
    expect(await digestOf(world, ref)).toBe(before);
    expect(await digestOf(world, ref, true)).toBe(after);
    expect(await digestOf(world, ref)).toBe(after);
  });

  it('sees a new version where the highest one is meant', async () => {
    const world = new SourceWorld();
    const ref = { oci: 'registry.test/shop/cart' };
    world.registry.add(packed('1.0.0'), '1.0.0');
    await digestOf(world, ref);
    world.registry.add(packed('1.1.0'), '1.1.0');
    expect(await digestOf(world, ref)).toBe(world.registry.tagged.get('1.0.0'));
    expect(await digestOf(world, ref, true)).toBe(world.registry.tagged.get('1.1.0'));
  });

  it('is told of no failure of before', async () => {
    const world = new SourceWorld();
    const ref = { oci: 'registry.test/shop/cart:1.0.0' };
    expect(await digestOf(world, ref)).toBe('unavailable');
    world.registry.add(packed('1.0.0'), '1.0.0');
    expect(await digestOf(world, ref)).toBe('unavailable');
    expect(await digestOf(world, ref, true)).toBe(world.registry.tagged.get('1.0.0'));
  });

  it('has a bundle that is there already from memory', async () => {
    const world = new SourceWorld();
    const ref = { oci: 'registry.test/shop/cart:1.0.0' };
    world.registry.add(packed('1.0.0'), '1.0.0');
    await digestOf(world, ref);
    world.registry.asked.length = 0;
    await digestOf(world, ref, true);
    expect(world.registry.asked).toEqual(['resolve 1.0.0']);
  });

  it('asks no registry that is known to be away', async () => {
    let asked = 0;
    const away = (): Promise<never> => {
      asked += 1;
      return Promise.reject(new GateError('GATE_REGISTRY_UNREACHABLE', 'connection refused'));
    };
    const world = new SourceWorld({
      tags: away,
      resolveTag: away,
      manifest: away,
      blob: () => {
        throw new Error('nobody asks for a blob');
      },
    });
    for (let index = 0; index < 20; index += 1)
      expect(await digestOf(world, { oci: `registry.test/shop/a${String(index)}:1.0.0` }, true)).toBe(
        'unavailable',
      );
    expect(asked).toBe(3);
  });

  it.each([
    ['a reference that is none', { oci: 'registry.test/UPPER/cart:1.0.0' }, 'broken'],
    ['an inline contract', { inline: 'pactoVersion: "2.0"\n' }, ''],
  ])('is answered for %s as ever', async (_, ref, answer) => {
    expect(await digestOf(new SourceWorld(), ref, true)).toBe(answer);
  });
});

describe('a look', () => {
  it.each([[true], [undefined]] as const)(
    'asks for what is now where it is meant to: %s',
    async (isFresh) => {
      const asked: (true | undefined)[] = [];
      const world = new SourceWorld();
      const pass = createPass({
        source: {
          ...world.source,
          obtain: (_: unknown, options: ObtainOptions) => {
            asked.push(options.isFresh);
            return Promise.resolve({ ok: false, failure: 'unavailable', message: 'away' } as const);
          },
        },
        clock: world.clock,
      } as Partial<PassParts> as PassParts);
      const { signal } = new AbortController();
      const view = world.view as Partial<View> as View;
      const found = await pass.look(pacto({ oci: 'registry.test/shop/cart' }), {
        view,
        signal,
        ...(isFresh === true && { isFresh }),
      });
      expect(found.status.contractStatus).toBe('Unknown');
      expect(asked).toEqual([isFresh]);
    },
  );
});
