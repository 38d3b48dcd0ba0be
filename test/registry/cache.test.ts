import { mkdtemp, readdir, rm, symlink, writeFile, utimes } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';

import { BlobDirectory } from '../../src/registry/blob-directory.ts';
import { ExpiringCache, WeightedCache } from '../../src/registry/cache.ts';
import { digestOf } from '../../src/registry/digests.ts';
import { FakeClock } from '../support/fake-clock.ts';

describe('WeightedCache', () => {
  test('keeps what was used last within its weight', () => {
    const cache = new WeightedCache<string>(10);
    cache.set('a', 'A', 4);
    cache.set('b', 'B', 4);
    expect(cache.get('a')).toBe('A');
    cache.set('c', 'C', 4);
    expect([cache.get('a'), cache.get('b'), cache.get('c')]).toEqual(['A', undefined, 'C']);
    cache.set('a', 'A2', 1);
    expect(cache.weight).toBe(5);
    cache.set('huge', 'H', 11);
    expect([cache.get('huge'), cache.weight]).toEqual([undefined, 5]);
  });
});

describe('ExpiringCache', () => {
  const clock = new FakeClock();
  const cacheOf = (maxEntries = 10): ExpiringCache<number> =>
    new ExpiringCache({ clock, ttlMs: 1000, maxEntries });

  test('asks once for all who ask, and again after its time', async () => {
    const cache = cacheOf();
    let asked = 0;
    const ask = async (): Promise<number> => (asked += 1);
    expect(await Promise.all([cache.get('a', ask), cache.get('a', ask)])).toEqual([1, 1]);
    await clock.advance(999);
    expect(await cache.get('a', ask)).toBe(1);
    await clock.advance(1);
    expect(await cache.get('a', ask)).toBe(2);
  });

  test('keeps errors only where it is told to', async () => {
    const cache = cacheOf();
    let asked = 0;
    const fail = async (): Promise<number> => {
      asked += 1;
      throw new Error('no');
    };
    for (let at = 0; at < 2; at += 1) await expect(cache.get('a', fail)).rejects.toThrow('no');
    expect(asked).toBe(2);
    const keepsError = (): boolean => true;
    for (let at = 0; at < 2; at += 1)
      await expect(cache.get('b', fail, { keepsError })).rejects.toThrow('no');
    expect(asked).toBe(3);
  });

  test('lets one go who gives up, and answers the others', async () => {
    const cache = cacheOf();
    const answer = Promise.withResolvers<number>();
    const gone = new AbortController();
    const first = cache.get('a', () => answer.promise, { signal: gone.signal });
    const second = cache.get('a', async () => 2, { signal: new AbortController().signal });
    gone.abort(new Error('gone'));
    await expect(first).rejects.toThrow('gone');
    await expect(cache.get('a', async () => 3, { signal: gone.signal })).rejects.toThrow('gone');
    answer.resolve(1);
    expect(await second).toBe(1);
  });

  test('keeps no more than its bound', async () => {
    const cache = cacheOf(3);
    for (const key of ['a', 'b', 'c', 'd']) await cache.get(key, async () => 1);
    expect(cache.size).toBe(3);
    expect(await cache.get('d', async () => 2)).toBe(1);
    expect(await cache.get('a', async () => 2)).toBe(2);
  });
});

describe('ExpiringCache with a weight', () => {
  const clock = new FakeClock();
  const cacheOf = (): ExpiringCache<string> =>
    new ExpiringCache({
      clock,
      ttlMs: 1000,
      maxEntries: 10,
      bound: { maxWeight: 10, weightOf: (value) => value.length },
    });
  const kept = async (cache: ExpiringCache<string>, key: string): Promise<boolean> =>
    (await cache.get(key, async () => '')) !== '';

  test('lets the oldest go, and keeps nothing that is heavier than all there may be', async () => {
    const cache = cacheOf();
    for (const key of ['a', 'b', 'c']) await cache.get(key, async () => 'xxxx');
    expect(cache.size).toBe(2);
    expect(await cache.get('huge', async () => 'x'.repeat(11))).toHaveLength(11);
    expect(cache.size).toBe(2);
    expect([await kept(cache, 'b'), await kept(cache, 'c'), await kept(cache, 'a')]).toEqual([
      true,
      true,
      false,
    ]);
  });

  test('weighs what has expired no longer, and lets nobody go who is still waited for', async () => {
    const cache = cacheOf();
    const late = Promise.withResolvers<string>();
    const waiting = cache.get('late', () => late.promise);
    for (const key of ['a', 'b', 'c']) await cache.get(key, async () => 'xxxx');
    expect(cache.size).toBe(3);
    late.resolve('xx');
    expect(await waiting).toBe('xx');
    await clock.advance(1000);
    for (const key of ['d', 'e']) await cache.get(key, async () => 'xxxxx');
    expect(cache.size).toBe(2);
    expect([await kept(cache, 'd'), await kept(cache, 'e')]).toEqual([true, true]);
  });
});

describe('BlobDirectory', () => {
  const repository = { registry: 'r.example', repository: 'a/b' };
  const clock = new FakeClock();
  let directory: string;
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'pacto-gate-blobs-'));
  });
  afterEach(async () => {
    await rm(directory, { recursive: true });
  });
  const blobsOf = (maxBytes = 100): BlobDirectory =>
    new BlobDirectory({ directory: join(directory, 'made', 'late'), maxBytes, clock });
  const blob = (text: string): readonly [string, Uint8Array] => [
    digestOf(Buffer.from(text)),
    Buffer.from(text),
  ];

  test('gives back what it was given, whoever asks, and nothing of another repository', async () => {
    const [digest, bytes] = blob('hello');
    expect(await blobsOf().set(repository, digest, bytes)).toBe(true);
    expect(await blobsOf().get(repository, digest)).toEqual(bytes);
    expect(await blobsOf().get({ ...repository, repository: 'a/c' }, digest)).toBeUndefined();
    expect(await readdir(join(directory, 'made', 'late'))).toHaveLength(1);
  });

  test('removes what is not what its name says, and follows no link', async () => {
    const [digest, bytes] = blob('hello');
    await blobsOf().set(repository, digest, bytes);
    const [name = ''] = await readdir(join(directory, 'made', 'late'));
    const path = join(directory, 'made', 'late', name);
    await writeFile(path, 'other');
    expect(await blobsOf().get(repository, digest)).toBeUndefined();
    expect(await readdir(join(directory, 'made', 'late'))).toEqual([]);
    await writeFile(join(directory, 'outside'), 'hello');
    await symlink(join(directory, 'outside'), path);
    expect(await blobsOf().get(repository, digest)).toBeUndefined();
  });

  test('lets the least recently used go', async () => {
    const blobs = blobsOf();
    const all = ['a', 'b', 'c'].map((mark) => blob(mark.repeat(40)));
    const [[first], [second], [third]] = all as [(typeof all)[0], (typeof all)[0], (typeof all)[0]];
    for (const [digest, bytes] of all.slice(0, 2)) {
      await blobs.set(repository, digest, bytes);
      await clock.advance(1000);
    }
    await blobs.get(repository, first);
    await clock.advance(1000);
    for (const [digest, bytes] of all.slice(2)) await blobs.set(repository, digest, bytes);
    expect(await blobs.get(repository, second)).toBeUndefined();
    expect(await blobs.get(repository, first)).toBeDefined();
    expect(await blobs.get(repository, third)).toBeDefined();
  });

  test('removes nothing that is not its own from a folder that somebody chose', async () => {
    const folder = join(directory, 'made', 'late');
    await blobsOf().set(repository, ...blob('a'.repeat(60)));
    await writeFile(join(folder, 'letters.txt'), 'x'.repeat(200));
    await utimes(join(folder, 'letters.txt'), 1, 1);
    await clock.advance(1000);
    await blobsOf().set(repository, ...blob('b'.repeat(60)));
    const names = await readdir(folder);
    expect(names).toContain('letters.txt');
    expect(names).toHaveLength(2);
  });

  test('keeps nothing that is larger than all there may be, and does without a folder it cannot make', async () => {
    const [digest, bytes] = blob('x'.repeat(101));
    expect(await blobsOf().set(repository, digest, bytes)).toBe(false);
    await writeFile(join(directory, 'made'), 'in the way');
    expect(await blobsOf().set(repository, ...blob('x'))).toBe(false);
    expect(await blobsOf().get(repository, digest)).toBeUndefined();
  });
});
