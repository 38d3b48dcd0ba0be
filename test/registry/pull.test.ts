import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';

import { readContract } from '../../src/app/contract-reader.ts';
import { GateError } from '../../src/errors.ts';
import { bestTag } from '../../src/policies/contract/best-tag.ts';
import { BlobDirectory } from '../../src/registry/blob-directory.ts';
import { BundleCache } from '../../src/registry/bundle-cache.ts';
import { packBundle } from '../../src/registry/pack.ts';
import { pullBundle, type PullOptions } from '../../src/registry/pull.ts';
import { tagNow } from '../../src/registry/overwrite.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { bundleFiles, failure, packed } from '../support/registry/bundles.ts';
import { MemoryRegistry } from '../support/registry/memory-registry.ts';

const REPOSITORY = 'oci://registry.example/acme/shop';
const options = { readContract, chooseTag: bestTag } satisfies PullOptions;

let registry: MemoryRegistry;
beforeEach(() => {
  registry = new MemoryRegistry();
});

describe('pullBundle', () => {
  test('resolves a tag once and reads by the digest', async () => {
    registry.add(packed(), '1.0.0');
    const { digest } = packed();
    const pulled = await pullBundle(registry, `${REPOSITORY}:1.0.0`, options);
    expect(pulled.digest).toBe(digest);
    expect(pulled.ref).toBe('registry.example/acme/shop:1.0.0');
    expect(pulled.files).toEqual(bundleFiles());
    expect(registry.asked.slice(0, 2)).toEqual(['resolve 1.0.0', `manifest ${digest}`]);
  });

  test('takes a digest as it is written, and resolves nothing', async () => {
    registry.add(packed(), '1.0.0');
    const { digest } = packed();
    expect((await pullBundle(registry, `${REPOSITORY}:other@${digest}`, options)).digest).toBe(digest);
    expect(registry.asked[0]).toBe(`manifest ${digest}`);
  });

  test.each([
    ['without a constraint, the highest, prereleases among them', undefined, '2.0.0-rc.1'],
    ['with a constraint, the highest that satisfies it', '1.0.0', '1.0.0'],
  ])('chooses the tag of an untagged reference: %s', async (_what, only, tag) => {
    for (const each of ['1.0.0', '2.0.0-rc.1', 'latest'])
      registry.add(packed(each === 'latest' ? '9.0.0' : each), each);
    const chooseTag = (tags: readonly string[]): string | undefined =>
      bestTag(only === undefined ? tags : tags.filter((each) => each === only));
    const pulled = await pullBundle(registry, REPOSITORY, { ...options, chooseTag });
    expect(pulled.ref).toBe(`registry.example/acme/shop:${tag}`);
  });

  test('refuses an untagged reference without a version, with and without a constraint', async () => {
    registry.add(packed(), 'main');
    expect(await failure(() => pullBundle(registry, REPOSITORY, options))).toMatch(
      /^GATE_REGISTRY_NOT_FOUND/,
    );
    const constrained = { ...options, constraint: '^3' };
    expect(await failure(() => pullBundle(registry, REPOSITORY, constrained))).toMatch(
      /^GATE_REGISTRY_NO_VERSION/,
    );
  });

  test('takes what a tag gives at once where the registry does not resolve it', async () => {
    registry.add(packed(), '1.0.0');
    registry.refusal = new GateError('GATE_REGISTRY_UNREACHABLE', 'HTTP 400', { fields: { status: 400 } });
    expect((await pullBundle(registry, `${REPOSITORY}:1.0.0`, options)).digest).toBe(packed().digest);
    registry.refusal = new GateError('GATE_REGISTRY_UNREACHABLE', 'HTTP 503', { fields: { status: 503 } });
    expect(await failure(() => pullBundle(registry, `${REPOSITORY}:1.0.0`, options))).toContain('HTTP 503');
  });

  test.each(['application/vnd.oci.image.manifest.v1+json', 'application/vnd.oci.image.index.v1+json'])(
    'refuses what is an image and an index at once, although it is sent as %s',
    async (mediaType) => {
      const text = JSON.stringify({ schemaVersion: 2, config: {}, layers: [{}], manifests: [{}] });
      registry.addManifest({ bytes: Buffer.from(text), mediaType }, 'both');
      expect(await failure(() => pullBundle(registry, `${REPOSITORY}:both`, options))).toContain(
        'GATE_BUNDLE_INVALID: the bundle is invalid: its manifest is an index and an image at once',
      );
    },
  );

  test('takes the child of an image index for linux/amd64, and names the index', async () => {
    const [ours, theirs] = [packed('1.0.0'), packed('2.0.0')];
    registry.add(ours);
    registry.add(theirs);
    const entry = ({ manifest }: typeof ours, platform?: object): object => ({
      mediaType: manifest.mediaType,
      digest: manifest.digest,
      size: manifest.bytes.length,
      ...(platform !== undefined && { platform }),
    });
    const index = (manifests: readonly object[]): string => {
      const mediaType = 'application/vnd.oci.image.index.v1+json';
      const bytes = Buffer.from(JSON.stringify({ schemaVersion: 2, mediaType, manifests }));
      return registry.addManifest({ bytes, mediaType }, 'index');
    };
    const arm = entry(theirs, { os: 'linux', architecture: 'arm64' });
    for (const platform of [{ os: 'linux', architecture: 'amd64' }, undefined]) {
      const digest = index([arm, entry(ours, platform)]);
      const pulled = await pullBundle(registry, `${REPOSITORY}:index`, options);
      expect(pulled.digest).toBe(digest);
      expect(pulled.files).toEqual(bundleFiles('1.0.0'));
    }
    index([arm]);
    expect(await failure(() => pullBundle(registry, `${REPOSITORY}:index`, options))).toContain(
      'without a manifest for linux/amd64',
    );
  });

  test('73: refuses two layers and accepts one of any media type', async () => {
    const bundle = packed();
    registry.add(bundle);
    const layer = { mediaType: 'application/octet-stream', digest: bundle.layer.digest, size: 1 };
    const manifest = (layers: readonly object[]): void => {
      const bytes = Buffer.from(JSON.stringify({ schemaVersion: 2, layers }));
      registry.addManifest({ bytes, mediaType: bundle.manifest.mediaType }, 'odd');
    };
    manifest([layer]);
    expect((await pullBundle(registry, `${REPOSITORY}:odd`, options)).files).toEqual(bundleFiles());
    for (const layers of [[], [layer, layer]]) {
      manifest(layers);
      expect(await failure(() => pullBundle(registry, `${REPOSITORY}:odd`, options))).toMatch(
        /^GATE_BUNDLE_INVALID: .*exactly one layer/,
      );
    }
  });

  test('74: accepts a contract that loads and breaks layer 1, and refuses one that does not load', async () => {
    const contract = Buffer.from(
      'pactoVersion: "2.0"\nservice: {name: a, version: 1.0.0}\ninterfaces: [{name: x, type: openapi, ref: i, visibility: secret}]\n',
    );
    const always = (): ReturnType<typeof readContract> => ({
      ok: true,
      name: 'a',
      version: '1',
      pactoVersion: '2.0',
    });
    registry.add(packBundle(new Map([['pacto.yaml', contract]]), always), 'odd');
    expect((await pullBundle(registry, `${REPOSITORY}:odd`, options)).files.size).toBe(1);
    registry.add(packBundle(new Map([['pacto.yaml', Buffer.from('nope')]]), always), 'bad');
    expect(await failure(() => pullBundle(registry, `${REPOSITORY}:bad`, options))).toMatch(
      /^GATE_BUNDLE_INVALID: .*does not load/,
    );
  });

  test.each([
    ['no JSON', 'nope', 'no JSON'],
    ['a list', '[]', 'no JSON object'],
    ['a digest that is none', '{"layers":[{"digest":"sha256:../../x","size":1}]}', 'a digest that is none'],
    [
      'a size that is none',
      `{"layers":[{"digest":"sha256:${'a'.repeat(64)}","size":-1}]}`,
      'a size that is none',
    ],
    ['layers that are none', '{"layers":{"length":1}}', 'exactly one layer'],
  ])('refuses a manifest that is %s', async (_what, text, why) => {
    registry.addManifest({ bytes: Buffer.from(text), mediaType: packed().manifest.mediaType }, 'odd');
    const found = await failure(() => pullBundle(registry, `${REPOSITORY}:odd`, options));
    expect(found).toMatch(/^GATE_BUNDLE_INVALID/);
    expect(found).toContain(why);
  });

  test('tells how far it is', async () => {
    registry.add(packed('1.0.0', { 'docs/x': 'x'.repeat(500) }), '1.0.0');
    const told: number[] = [];
    const onProgress = (received: number, total: number): void => void told.push(received, total);
    await pullBundle(registry, `${REPOSITORY}:1.0.0`, { ...options, onProgress });
    const size = packed('1.0.0', { 'docs/x': 'x'.repeat(500) }).layer.bytes.length;
    expect(told.slice(-2)).toEqual([size, size]);
    expect(told.length).toBeGreaterThanOrEqual(4);
  });
});

describe('pullBundle with a cache', () => {
  let directory: string;
  const clock = new FakeClock();
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'pacto-gate-pull-'));
  });
  afterEach(async () => {
    await rm(directory, { recursive: true });
  });
  const cacheOf = (onDisk: boolean): BundleCache =>
    new BundleCache({
      clock,
      maxBytes: 1_000_000,
      ...(onDisk && { blobs: new BlobDirectory({ directory, maxBytes: 1_000_000, clock }) }),
    });

  test('asks again what a tag names, and not for what it has', async () => {
    registry.add(packed(), '1.0.0');
    const cache = cacheOf(false);
    const first = await pullBundle(registry, `${REPOSITORY}:1.0.0`, { ...options, cache });
    registry.asked.length = 0;
    expect(await pullBundle(registry, `${REPOSITORY}:1.0.0`, { ...options, cache })).toEqual(first);
    expect(registry.asked).toEqual(['resolve 1.0.0']);
    registry.add(packed('1.0.1'), '1.0.0');
    const later = await pullBundle(registry, `${REPOSITORY}:1.0.0`, { ...options, cache });
    expect(later.files).toEqual(bundleFiles('1.0.1'));
  });

  test('keeps results, errors among them, for half a minute, and a file that went is read by its digest', async () => {
    for (const maxBytes of [1_000_000, 0]) {
      registry = new MemoryRegistry();
      registry.add(packed(), '1.0.0');
      const cache = new BundleCache({ clock, maxBytes, keepsResults: true });
      const pull = (tag: string): Promise<{ files: ReadonlyMap<string, Uint8Array>; ref: string }> =>
        pullBundle(registry, `${REPOSITORY}:${tag}`, { ...options, cache });
      const first = await pull('1.0.0');
      expect(await failure(() => pull('1.1.0'))).toMatch(/^GATE_REGISTRY_NOT_FOUND/);
      registry.add(packed('1.0.1'), '1.0.0');
      registry.add(packed('1.1.0'), '1.1.0');
      registry.asked.length = 0;
      expect(await pull('1.0.0')).toEqual(first);
      expect(registry.asked.filter((asked) => asked.startsWith('resolve'))).toEqual([]);
      expect(await failure(() => pull('1.1.0'))).toMatch(/^GATE_REGISTRY_NOT_FOUND/);
      await clock.advance(30_000);
      expect((await pull('1.0.0')).files).toEqual(bundleFiles('1.0.1'));
      expect((await pull('1.1.0')).files).toEqual(bundleFiles('1.1.0'));
    }
  });

  test('keeps tag lists for five minutes', async () => {
    registry.add(packed(), '1.0.0');
    const cache = cacheOf(false);
    const ref = async (): Promise<string> =>
      (await pullBundle(registry, REPOSITORY, { ...options, cache })).ref;
    expect(await ref()).toContain(':1.0.0');
    registry.add(packed('1.1.0'), '1.1.0');
    expect(await ref()).toContain(':1.0.0');
    await clock.advance(5 * 60_000);
    expect(await ref()).toContain(':1.1.0');
  });

  test('reads from disk in another process, and not for another repository', async () => {
    registry.add(packed(), '1.0.0');
    const { digest } = packed();
    await pullBundle(registry, `${REPOSITORY}@${digest}`, { ...options, cache: cacheOf(true) });
    registry.asked.length = 0;
    const again = await pullBundle(registry, `${REPOSITORY}@${digest}`, { ...options, cache: cacheOf(true) });
    expect(again.files).toEqual(bundleFiles());
    expect(registry.asked).toEqual([]);
    await pullBundle(registry, `oci://other.example/a/b@${digest}`, { ...options, cache: cacheOf(true) });
    expect(registry.asked).toHaveLength(2);
  });

  test('does not believe what is on disk', async () => {
    registry.add(packed(), '1.0.0');
    const { digest } = packed();
    const pull = (): Promise<{ files: ReadonlyMap<string, Uint8Array> }> =>
      pullBundle(registry, `${REPOSITORY}@${digest}`, { ...options, cache: cacheOf(true) });
    await pull();
    for (const name of await readdir(directory)) await writeFile(join(directory, name), 'poison');
    registry.asked.length = 0;
    expect((await pull()).files).toEqual(bundleFiles());
    expect(registry.asked).toHaveLength(2);
  });
});

describe('tagNow', () => {
  test('tells a tag that stands, was overwritten or is gone', async () => {
    registry.add(packed(), '1.0.0');
    const { digest } = packed();
    const now = (known: string): Promise<unknown> => tagNow(registry, `${REPOSITORY}:1.0.0`, known);
    expect(await now(digest)).toEqual({ state: 'unchanged', digest });
    expect(await now(packed('1.0.1').digest)).toEqual({ state: 'overwritten', digest });
    registry.tagged.clear();
    expect(await now(digest)).toEqual({ state: 'gone' });
    registry.refusal = new GateError('GATE_REGISTRY_UNREACHABLE', 'no answer');
    expect(await failure(() => now(digest))).toContain('no answer');
    expect(await failure(() => tagNow(registry, REPOSITORY, digest))).toContain(
      'only a reference with a tag',
    );
  });
});
