import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { GateError } from '../../src/errors.ts';
import {
  plainReference,
  shownReference,
  type ObtainedContract,
} from '../../src/reconcile/contract-source.ts';
import type { PullClient } from '../../src/registry/pull.ts';
import { packed } from '../support/registry/bundles.ts';
import { INLINE, PASSWORD, SourceWorld } from './source-world.ts';

describe('an inline contract', () => {
  it('is its own text, without a bundle, and wins over a reference (operator.md §1.1.1)', async () => {
    const world = new SourceWorld();
    expect(await world.obtain({ inline: INLINE, oci: 'registry.test/shop/cart' })).toEqual({
      ok: true,
      text: Buffer.from(INLINE),
      sha256: createHash('sha256').update(INLINE).digest('hex'),
      files: undefined,
      resolvedRef: '',
      digest: '',
    });
    expect(world.opened).toBe(0);
  });

  it.each([
    ['there is neither', {}],
    ['both are empty', { inline: '', oci: '' }],
    ['neither is a text', { inline: 7, oci: ['registry.test/shop/cart'] }],
  ])('is missing for good where %s', async (_, ref) => {
    expect(await new SourceWorld().message(ref)).toBe(
      'broken: no contract source specified: set either spec.contractRef.oci or spec.contractRef.inline',
    );
  });
});

describe('a contract from a registry', () => {
  it.each([
    ['by its tag', 'registry.test/shop/cart:1.0.0', 'registry.test/shop/cart:1.0.0'],
    ['by the highest version', 'registry.test/shop/cart', 'registry.test/shop/cart:1.2.0'],
    ['with a scheme', 'oci://registry.test/shop/cart:1.0.0', 'registry.test/shop/cart:1.0.0'],
    ['with percent escapes', 'oci://registry.test/shop%2Fcart:1.0.0', 'registry.test/shop/cart:1.0.0'],
  ])('is found %s', async (_, oci, resolvedRef) => {
    const world = new SourceWorld();
    for (const version of ['1.0.0', '1.2.0']) world.registry.add(packed(version), version);
    const tag = resolvedRef.split(':')[1] ?? '';
    const found = await world.obtain({ oci });
    expect(found).toMatchObject({ ok: true, resolvedRef, digest: world.registry.tagged.get(tag) });
    const { text, sha256 } = found as ObtainedContract;
    expect(Buffer.from(text).toString()).toContain(`version: ${tag}`);
    expect(sha256).toBe(createHash('sha256').update(text).digest('hex'));
  });

  it('is found by its digest, which resolves to itself', async () => {
    const world = new SourceWorld();
    world.registry.add(packed('1.0.0'), '1.0.0');
    const digest = world.registry.tagged.get('1.0.0') ?? '';
    const oci = `registry.test/shop/cart@${digest}`;
    expect(await world.obtain({ oci })).toMatchObject({ ok: true, resolvedRef: oci, digest });
    expect(world.registry.asked).not.toContain('tags');
  });

  it.each([
    ['GATE_REGISTRY_UNREACHABLE', 'unavailable'],
    ['GATE_REGISTRY_AUTHENTICATION', 'unavailable'],
    ['GATE_REGISTRY_NOT_FOUND', 'unavailable'],
    // What a registry or our own rules get wrong says nothing of the contract.
    ['GATE_REGISTRY_ANSWER', 'unavailable'],
    ['GATE_REGISTRY_REFUSED', 'unavailable'],
    ['GATE_BUNDLE_INVALID', 'broken'],
    ['GATE_REGISTRY_REFERENCE', 'broken'],
  ] as const)('that fails by %s is %s (operator.md §3.2, step 6)', async (code, failure) => {
    const world = new SourceWorld();
    world.registry.refusal = new GateError(code, 'because');
    expect(await world.obtain({ oci: 'registry.test/shop/cart:1.0.0' })).toEqual({
      ok: false,
      failure,
      message: 'failed to pull "registry.test/shop/cart:1.0.0": because',
    });
  });

  it.each(['registry.test/UPPER/cart:1.0.0', 'registry.test/a/cart@sha256:abc', '::', 'registry.test/a%zz'])(
    'is broken where it is named by %s',
    async (oci) => {
      expect(await new SourceWorld().message({ oci })).toMatch(/^broken: failed to pull ".*is not a /);
    },
  );

  it('is unavailable without a tag that is a version, and no other tag is taken for it (T16)', async () => {
    const world = new SourceWorld();
    world.registry.add(packed('1.0.0'), 'latest');
    expect(await world.message({ oci: 'registry.test/shop/cart' })).toMatch(
      /^unavailable: .*none of its 1 tags is a version/,
    );
  });

  it('is unavailable for the reason that its tags could not be listed (T16)', async () => {
    const world = new SourceWorld();
    world.registry.tags = () => Promise.reject(new GateError('GATE_REGISTRY_UNREACHABLE', 'no list'));
    expect(await world.message({ oci: 'registry.test/shop/cart' })).toBe(
      'unavailable: failed to pull "registry.test/shop/cart": no list',
    );
    expect(world.registry.asked).toEqual([]);
  });

  it('says in at most a kilobyte why there is none, and never half a character', async () => {
    const world = new SourceWorld();
    world.registry.refusal = new GateError('GATE_BUNDLE_INVALID', '🌊'.repeat(2_000));
    const message = await world.message({ oci: `registry.test/${'x'.repeat(5_000)}` });
    expect(message.length).toBeLessThan(1_100);
    expect(message.isWellFormed()).toBe(true);
  });

  it('repeats no credentials that somebody wrote into the reference', async () => {
    const world = new SourceWorld();
    const oci = `oci://bob:${PASSWORD}@registry.test/shop/cart:1.0.0`;
    const message = await world.message({ oci });
    expect(message).toBe(
      'broken: failed to pull "…@registry.test/shop/cart:1.0.0": a reference holds no credentials: take them out, change them, and name a pull secret',
    );
    expect(shownReference(oci)).not.toContain(PASSWORD);
    expect(world.registry.asked).toEqual([]);
  });
});

describe('a registry that hangs', () => {
  const hanging = (asked: string[]): PullClient => ({
    resolveTag: () => {
      asked.push('resolve');
      return new Promise(() => undefined);
    },
    tags: () => new Promise(() => undefined),
    manifest: () => new Promise(() => undefined),
    // oxlint-disable-next-line require-yield -- it never gets so far
    async *blob() {
      await new Promise(() => undefined);
    },
  });

  it('is waited for half a minute, and not longer', async () => {
    const world = new SourceWorld(hanging([]));
    const message = world.message({ oci: 'registry.test/shop/cart:1.0.0' });
    await world.clock.advance(30_000);
    expect(await message).toBe(
      'unavailable: failed to pull "registry.test/shop/cart:1.0.0": the registry took longer than 30 s; try again later',
    );
    expect(world.clock.waiting).toBe(0);
  });

  it('is asked once for all who wait, and leaves no timer to who gave up', async () => {
    const asked: string[] = [];
    const world = new SourceWorld(hanging(asked));
    const stopping = new AbortController();
    const looks = Array.from({ length: 500 }, () =>
      world.obtain({ oci: 'registry.test/shop/cart:1.0.0' }, stopping.signal),
    );
    await world.clock.advance(1);
    stopping.abort(new Error('we stop'));
    const ends = await Promise.allSettled(looks);
    expect(ends.every((end) => end.status === 'rejected' && end.reason === stopping.signal.reason)).toBe(
      true,
    );
    expect(asked).toEqual(['resolve']);
    expect(world.clock.waiting).toBe(0);
  });
});

describe('what is kept', () => {
  const oci = 'registry.test/shop/cart:1.0.0';

  it('counts for half a minute: a pushed tag is seen then, and a failure is forgotten (operator.md §3.3)', async () => {
    const world = new SourceWorld();
    expect(await world.message({ oci })).toMatch(/^unavailable/);
    world.registry.add(packed('1.0.0'), '1.0.0');
    await world.clock.advance(29_999);
    expect(await world.message({ oci })).toMatch(/^unavailable/);
    await world.clock.advance(1);
    expect(await world.message({ oci })).toBe('a contract');
    const asked = world.registry.asked.length;
    expect(await world.message({ oci })).toBe('a contract');
    expect(world.registry.asked).toHaveLength(asked);
  });

  it.each([
    ['registry.test/shop/cart:1.0.0', 'registry.test/shop/cart'],
    ['oci://registry.test/shop/cart:1.0.0', 'oci://registry.test/shop/cart:2.0.0'],
    // Docker Hub has two names, and the client knows it by the second.
    ['shop/cart:1.0.0', 'docker.io/shop/cart'],
  ])('of %s is forgotten when %s is said to be pushed', async (named, pushed) => {
    const world = new SourceWorld();
    expect(await world.message({ oci: named })).toMatch(/^unavailable/);
    world.registry.add(packed('1.0.0'), '1.0.0');
    world.source.forget('registry.test/shop/other');
    await world.clock.advance(0);
    expect(await world.message({ oci: named })).toMatch(/^unavailable/);
    world.source.forget(pushed);
    await world.clock.advance(0);
    expect(await world.message({ oci: named })).toBe('a contract');
  });

  it('is unmoved by a push to what is no repository', () => {
    expect(() => new SourceWorld().source.forget('::')).not.toThrow();
  });
});

describe('a reference', () => {
  it.each([
    ['oci://registry.test/a:1', 'registry.test/a:1'],
    ['registry.test/a%2Fb', 'registry.test/a/b'],
    ['registry.test/a%zz', 'registry.test/a%zz'],
    ['http://registry.test/a', 'http://registry.test/a'],
    ['', ''],
  ])('%s is read as %s', (oci, plain) => {
    expect(plainReference(oci)).toBe(plain);
  });

  it.each([
    ['cart:1.0.0@sha256:abc', '"cart:1.0.0@sha256:abc"'],
    ['registry.test:5000/cart@sha256:abc', '"registry.test:5000/cart@sha256:abc"'],
    ['bob@registry.test/cart', '"…@registry.test/cart"'],
  ])('%s is shown as %s', (oci, shown) => {
    expect(shownReference(oci)).toBe(shown);
  });
});
