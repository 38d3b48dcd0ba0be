import { mkdir, mkdtemp, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';

import { readContract } from '../../src/app/contract-reader.ts';
import { isLayout, readLayoutBundle, writeLayoutBundle } from '../../src/registry/layout.ts';
import { bundleFiles, failure, packed } from '../support/registry/bundles.ts';

let directory: string;
let folder: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'pacto-gate-layout-'));
  folder = join(directory, 'layout');
});
afterEach(async () => {
  await rm(directory, { recursive: true });
});

const read = (name?: string): ReturnType<typeof readLayoutBundle> =>
  readLayoutBundle(folder, name, readContract);
const blobOf = (digest: string): string => join(folder, 'blobs', ...digest.split(':'));
const indexOf = async (): Promise<{
  manifests: { digest: string; annotations?: Record<string, string> }[];
}> => JSON.parse(await readFile(join(folder, 'index.json'), 'utf8'));

describe('a layout', () => {
  test('gives back what was written into it, by tag, by digest and alone', async () => {
    expect(await isLayout(folder)).toBe(false);
    await writeLayoutBundle(folder, packed(), '1.0.0');
    expect(await isLayout(folder)).toBe(true);
    for (const name of ['1.0.0', packed().digest, undefined])
      expect(await read(name)).toEqual({ files: bundleFiles(), digest: packed().digest });
    expect(JSON.parse(await readFile(join(folder, 'oci-layout'), 'utf8'))).toEqual({
      imageLayoutVersion: '1.0.0',
    });
  });

  test('keeps what is there, moves a tag, and keeps what others wrote', async () => {
    await writeLayoutBundle(folder, packed('1.0.0'), 'stable');
    await writeLayoutBundle(folder, packed('1.0.0'), 'stable');
    const index = await indexOf();
    expect(index.manifests).toHaveLength(1);
    Object.assign(index.manifests[0]?.annotations ?? {}, { 'org.example': 'x' });
    await writeFile(join(folder, 'index.json'), JSON.stringify(index));
    await writeLayoutBundle(folder, packed('2.0.0'), 'stable');
    expect((await read('stable')).files).toEqual(bundleFiles('2.0.0'));
    expect((await read(packed('1.0.0').digest)).files).toEqual(bundleFiles('1.0.0'));
    expect((await indexOf()).manifests.map(({ annotations }) => annotations)).toEqual([
      { 'org.example': 'x' },
      { 'org.opencontainers.image.ref.name': 'stable' },
    ]);
    expect(await failure(() => read())).toContain('holds several artifacts: name one, it has "stable"');
    expect(await failure(() => read('none'))).toMatch(/^GATE_REGISTRY_NOT_FOUND: .*does not hold "none"/);
  });

  test.each([
    [
      'a blob that holds something else',
      async () => writeFile(blobOf(packed().layer.digest), 'x'),
      'something else',
    ],
    ['a blob that is missing', async () => rm(blobOf(packed().layer.digest)), 'ENOENT'],
    [
      'a blob that is a link',
      async () => {
        await rename(blobOf(packed().layer.digest), join(directory, 'outside'));
        await symlink(join(directory, 'outside'), blobOf(packed().layer.digest));
      },
      'is a link: need a file',
    ],
    [
      'a folder of blobs that is a link',
      async () => {
        await rename(join(folder, 'blobs'), join(directory, 'outside'));
        await symlink(join(directory, 'outside'), join(folder, 'blobs'));
      },
      'no folder for sha256',
    ],
    ['an index that is no JSON', async () => writeFile(join(folder, 'index.json'), 'x'), 'no JSON'],
    [
      'an index without a list',
      async () => writeFile(join(folder, 'index.json'), '{"manifests":{}}'),
      'no list',
    ],
    [
      'an index that leads out',
      async () =>
        writeFile(join(folder, 'index.json'), '{"manifests":[{"digest":"sha256:../../../x","size":1}]}'),
      'a digest that is none',
    ],
    [
      'an index whose sizes are wrong',
      async () => {
        const text = await readFile(join(folder, 'index.json'), 'utf8');
        await writeFile(join(folder, 'index.json'), text.replace(/"size":\d+/, '"size":99999999999'));
      },
      'larger than',
    ],
    [
      'an index that is a folder',
      async () => {
        await rm(join(folder, 'index.json'));
        await mkdir(join(folder, 'index.json'));
      },
      'is no file',
    ],
  ])('is refused with %s', async (_what, damage, why) => {
    await writeLayoutBundle(folder, packed(), '1.0.0');
    await damage();
    expect(await failure(() => read('1.0.0'))).toContain(why);
  });

  test('is not written through a link, nor where a file is', async () => {
    await mkdir(folder);
    await mkdir(join(directory, 'outside'));
    await symlink(join(directory, 'outside'), join(folder, 'blobs'));
    expect(await failure(() => writeLayoutBundle(folder, packed(), '1'))).toMatch(/^GATE_/);
    const file = join(directory, 'file');
    await writeFile(file, 'x');
    expect(await failure(() => writeLayoutBundle(file, packed(), '1'))).toMatch(/^GATE_INPUT_FILE.*ENOTDIR/);
  });
});
