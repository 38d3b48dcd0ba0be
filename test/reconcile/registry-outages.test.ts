import { describe, expect, it } from 'vitest';
import { GateError } from '../../src/errors.ts';
import { RegistryOutages } from '../../src/reconcile/registry-outages.ts';
import type { PullClient } from '../../src/registry/pull.ts';
import { parseRegistryReference, showReference, type Repository } from '../../src/registry/reference.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { failure } from '../support/registry/bundles.ts';

const AWAY = ['GATE_REGISTRY_UNREACHABLE', undefined] as const;

class Registries {
  readonly clock = new FakeClock();
  readonly asked: string[] = [];
  /** What the next calls end with; an answer where it is undefined. */
  fault: readonly [GateError['code'], number | undefined] | undefined;
  /** Calls wait for it. */
  hold: Promise<void> | undefined;
  readonly client: PullClient;

  constructor() {
    const answer = async (reference: Repository): Promise<string> => {
      const ref = showReference(reference);
      this.asked.push(ref);
      await this.hold;
      if (this.fault === undefined) return 'sha256:0';
      const [code, status] = this.fault;
      throw new GateError(code, `${ref}: it says no`, {
        fields: { ...(status !== undefined && { status }) },
      });
    };
    this.client = new RegistryOutages(this.clock).guard({
      resolveTag: answer,
      tags: async (repository) => [await answer(repository)],
      manifest: async (reference) => ({
        bytes: new Uint8Array(),
        mediaType: '',
        digest: await answer(reference),
      }),
      async *blob(repository) {
        yield Buffer.from(await answer(repository));
      },
    });
  }

  ask(ref: string): Promise<string> {
    return failure(() => this.client.resolveTag(parseRegistryReference(ref)));
  }

  async fails(times: number, ref = 'a.test/shop/cart:1'): Promise<void> {
    for (let n = 0; n < times; n += 1) await this.ask(ref);
  }
}

describe('a registry', () => {
  it('is away after three failures in a row, and then asked for nothing', async () => {
    const world = new Registries();
    world.fault = AWAY;
    await world.fails(3);
    expect(world.asked).toHaveLength(3);
    expect(await world.ask('a.test/other/repo:2')).toBe(
      'GATE_REGISTRY_UNREACHABLE: a.test/other/repo:2: it says no',
    );
    const { client } = world;
    const repository = { registry: 'a.test', repository: 'shop/cart' };
    expect(await failure(() => client.tags(repository))).toContain('a.test/shop/cart: it says no');
    expect(await failure(() => client.manifest({ ...repository, tag: '1' }))).toContain('it says no');
    expect(world.asked).toHaveLength(3);
  });

  it.each([2, 1])('is there after %i failures', async (times) => {
    const world = new Registries();
    world.fault = AWAY;
    await world.fails(times);
    await world.ask('a.test/shop/cart:1');
    expect(world.asked).toHaveLength(times + 1);
  });

  it.each([
    ['of a gateway with nothing behind it', 'GATE_REGISTRY_UNREACHABLE', 502, 3],
    ['of a gateway that is overloaded', 'GATE_REGISTRY_UNREACHABLE', 503, 3],
    ['of a gateway that waited', 'GATE_REGISTRY_UNREACHABLE', 504, 3],
    ['of one repository', 'GATE_REGISTRY_UNREACHABLE', 500, 9],
    ['for whom it has had too much of', 'GATE_REGISTRY_UNREACHABLE', 429, 9],
    ['about what is not there', 'GATE_REGISTRY_NOT_FOUND', undefined, 9],
    ['to who may not', 'GATE_REGISTRY_AUTHENTICATION', undefined, 9],
    ['that makes no sense', 'GATE_REGISTRY_ANSWER', undefined, 9],
    ['that is our own', 'GATE_REGISTRY_REFUSED', undefined, 9],
  ] as const)('is asked so often for nine answers %s: %s %s', async (_, code, status, times) => {
    const world = new Registries();
    world.fault = [code, status];
    await world.fails(9);
    expect(world.asked).toHaveLength(times);
  });

  it.each([
    ['an answer', undefined],
    ['a no', ['GATE_REGISTRY_NOT_FOUND', undefined]],
  ] as const)('is there again with %s to anybody', async (_, fault) => {
    const world = new Registries();
    world.fault = AWAY;
    await world.fails(2);
    world.fault = fault;
    await world.fails(1, 'a.test/other/repo:1').catch(() => undefined);
    world.fault = AWAY;
    await world.fails(2);
    expect(world.asked).toHaveLength(5);
    await world.fails(2);
    expect(world.asked).toHaveLength(6);
  });

  it('is not away because another one is', async () => {
    const world = new Registries();
    world.fault = AWAY;
    await world.fails(4);
    await world.fails(1, 'b.test/shop/cart:1');
    expect(world.asked.at(-1)).toBe('b.test/shop/cart:1');
  });

  it('is tried by one after half a minute, while the others are told what is known', async () => {
    const world = new Registries();
    world.fault = AWAY;
    await world.fails(3);
    await world.clock.advance(29_999);
    await world.fails(1);
    expect(world.asked).toHaveLength(3);
    await world.clock.advance(1);
    const { promise, resolve } = Promise.withResolvers<void>();
    world.hold = promise;
    const trial = world.ask('a.test/shop/cart:1');
    expect(await world.ask('a.test/shop/cart:2')).toContain('it says no');
    resolve();
    await trial;
    expect(world.asked).toHaveLength(4);
    await world.fails(2);
    expect(world.asked).toHaveLength(4);
    await world.clock.advance(30_000);
    world.fault = undefined;
    await world.client.resolveTag(parseRegistryReference('a.test/shop/cart:1'));
    await world.client.resolveTag(parseRegistryReference('a.test/shop/cart:1'));
    expect(world.asked).toHaveLength(6);
  });

  it('may be tried by the next one where whoever tried gave up', async () => {
    const world = new Registries();
    world.fault = AWAY;
    await world.fails(3);
    await world.clock.advance(30_000);
    world.hold = Promise.reject(new Error('we stop'));
    expect(await world.ask('a.test/shop/cart:1')).toContain('we stop');
    world.hold = undefined;
    world.fault = undefined;
    await world.client.resolveTag(parseRegistryReference('a.test/shop/cart:1'));
    expect(world.asked).toHaveLength(5);
  });

  it('gives the pieces of a blob whatever is known of it', async () => {
    const world = new Registries();
    world.fault = AWAY;
    await world.fails(3);
    world.fault = undefined;
    const blob = world.client.blob(
      { registry: 'a.test', repository: 'shop/cart' },
      { digest: 'sha256:0', size: 1 },
    );
    const pieces: Uint8Array[] = [];
    for await (const piece of blob) pieces.push(piece);
    expect(pieces).toHaveLength(1);
  });

  it('is forgotten where there are thousands, and costs no more memory than a thousand do', async () => {
    const world = new Registries();
    world.fault = AWAY;
    await world.fails(3);
    for (let n = 0; n < 1_000; n += 1) await world.fails(1, `h${String(n)}.test/a:1`);
    await world.fails(1);
    expect(world.asked.filter((ref) => ref.startsWith('a.test/'))).toHaveLength(4);
  });
});
