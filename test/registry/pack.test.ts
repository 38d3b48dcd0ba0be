import { gunzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';

import { readContract } from '../../src/app/contract-reader.ts';
import { readBundleArchive } from '../../src/registry/bundle-archive.ts';
import { packBundle } from '../../src/registry/pack.ts';
import { ignoreRule, withoutIgnored } from '../../src/registry/pactoignore.ts';
import { bundleFiles, failure, packed } from '../support/registry/bundles.ts';

const MEBIBYTE = 1024 * 1024;
const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString('utf8');

describe('packBundle', () => {
  test('gives the same bytes for the same files, in whatever order', () => {
    const files = bundleFiles('1.0.0', { 'docs/a.md': 'a', 'docs/b.md': 'b', z: '' });
    const turned = new Map([...files].toReversed());
    expect(packBundle(turned, readContract)).toEqual(packBundle(files, readContract));
    expect(packed('1.0.1').digest).not.toBe(packed('1.0.0').digest);
  });

  test('writes no time, level and system into the gzip header', () => {
    expect([...packed().layer.bytes.subarray(0, 10)]).toEqual([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255]);
  });

  test('writes directories before what is in them, and a sibling after all of it', () => {
    const files = bundleFiles('1.0.0', { 'd/x': '', 'd-e': '', 'd/e/f': '', 'd.y': '' });
    const tar = gunzipSync(packBundle(files, readContract).layer.bytes);
    const names: string[] = [];
    for (let at = 0; tar[at] !== 0; at += 512) {
      const name = tar
        .subarray(at, at + 100)
        .toString()
        .replace(/\0.*/s, '');
      if (name !== '' && tar.subarray(at + 257, at + 262).toString() === 'ustar') names.push(name);
    }
    expect(names).toEqual(['d', 'd/e', 'd/e/f', 'd/x', 'd-e', 'd.y', 'pacto.yaml']);
  });

  test.each([
    ['names of every length', Array.from({ length: 300 }, (_, at) => 'n'.repeat(at + 1))],
    ['deep names of every length', Array.from({ length: 60 }, (_, at) => `${'dir/'.repeat(at + 1)}file`)],
    [
      'a folder that ustar has no room for',
      [`${'p'.repeat(160)}/x`, `${'p'.repeat(155)}/y`, `q/${'n'.repeat(101)}`],
    ],
    ['names beyond ASCII', ['ü.md', '日本/語.md', `${'é'.repeat(90)}.md`, '🂡/🂢']],
    ['odd names', ['a b', '__proto__', 'a\\b', 'x..y', '.hidden', 'new\nline']],
  ])('is read again as it was: %s', async (_what, names) => {
    const files = bundleFiles('1.0.0', Object.fromEntries(names.map((name) => [name, `in ${name}`])));
    for (const name of names) files.set(name, new Uint8Array(Buffer.from(`in ${name}`)));
    const again = await readBundleArchive(packBundle(files, readContract).layer.bytes);
    expect(again).toEqual(files);
  });

  test.each([
    ['no pacto.yaml', new Map([['x', Buffer.from('y')]]), 'it has no pacto.yaml'],
    ['a contract that does not load', new Map([['pacto.yaml', Buffer.from('nope')]]), 'does not load'],
    ['an absolute name', bundleFiles('1.0.0', { '/x': '' }), 'absolute'],
    ['two dots', bundleFiles('1.0.0', { 'a/../x': '' }), 'leads out'],
    ['a leading dot', bundleFiles('1.0.0', { './x': '' }), 'begins with a dot'],
    ['a file that is a directory', bundleFiles('1.0.0', { x: '', 'x/y': '' }), 'a file and a directory'],
    [
      'a file over ten mebibytes',
      new Map([...bundleFiles(), ['b', new Uint8Array(10 * MEBIBYTE + 1)]]),
      'larger',
    ],
  ])('refuses %s', async (_what, files, why) => {
    const found = await failure(() => packBundle(files, readContract));
    expect(found).toMatch(/^GATE_BUNDLE_INVALID/);
    expect(found).toContain(why);
  });

  test('escapes in the config what Go escapes', () => {
    const odd = packBundle(bundleFiles(), () => ({
      ok: true,
      name: '<&>\u2028',
      version: '1',
      pactoVersion: '2.0',
    }));
    expect(text(odd.config.bytes)).toContain(String.raw`"io.pacto.name":"\u003c\u0026\u003e\u2028"`);
  });
});

describe('.pactoignore', () => {
  const kept = (ignore: string, ...names: string[]): readonly string[] => [
    ...withoutIgnored(new Map([...names, '.pactoignore'].map((name) => [name, Buffer.from(ignore)]))).keys(),
  ];

  test.each([
    ['a name, everywhere', 'x', ['x', 'd/x', 'x/y', 'xx'], ['xx']],
    ['an anchor', '/x', ['x', 'd/x'], ['d/x']],
    ['a directory alone', 'x/', ['x', 'd/x/y'], ['x']],
    ['one star', '*.log', ['a.log', 'd/b.log', 'c.logs'], ['c.logs']],
    ['two stars', 'd/**/x', ['d/x', 'd/e/x', 'x'], ['x']],
    ['a question mark and a class', '?[ab]', ['xa', 'xc', 'a'], ['xc', 'a']],
    ['a comment and blank lines', '# x\n\n\\#y', ['x', '#y'], ['x']],
    ['what is included again', '*.md\n!keep.md', ['a.md', 'keep.md'], ['keep.md']],
    ['the last line that fits', '!a\na', ['a', 'b'], ['b']],
    ['line ends of Windows', 'a\r\nb\r\n', ['a', 'b', 'c'], ['c']],
    ['upper and lower case as two', 'README', ['readme', 'README'], ['readme']],
    ['pacto.lock only where it is named', 'x', ['pacto.lock'], ['pacto.lock']],
  ])('knows %s', (_what, ignore, names, wanted) => {
    expect(kept(ignore, ...names)).toEqual(wanted);
  });

  test('never leaves pacto.yaml out, and always itself, .git and .DS_Store', () => {
    expect(kept('*\n!.git/\n!.pactoignore\n!.DS_Store', 'pacto.yaml', '.git/HEAD', 'd/.DS_Store')).toEqual([
      'pacto.yaml',
    ]);
    expect(kept('', '.git/HEAD', 'd/.git/x', '.DS_Store', '.gitignore')).toEqual(['.gitignore']);
  });

  test('leaves out what git leaves out without a file too', () => {
    expect([
      ...withoutIgnored(
        new Map([
          ['.git/x', Buffer.of()],
          ['a', Buffer.of()],
        ]),
      ).keys(),
    ]).toEqual(['a']);
  });

  test('refuses a huge file, and patterns that take too long on many entries', async () => {
    expect(await failure(() => kept('x'.repeat(65_537), 'a'))).toContain('is larger than 65536 characters');
    const isIgnored = ignoreRule('*ab', 1_000);
    const names = Array.from({ length: 50 }, (_, at) => `${'a'.repeat(20)}${String(at)}`);
    expect(isIgnored('aab')).toBe(true);
    expect(await failure(() => names.map(isIgnored))).toBe(
      'GATE_BUNDLE_INVALID: the bundle is invalid: the patterns of .pactoignore take too long on all its entries: need fewer or simpler ones',
    );
  });
});
