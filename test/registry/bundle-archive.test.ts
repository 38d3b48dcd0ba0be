import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';

import { readBundleArchive } from '../../src/registry/bundle-archive.ts';
import { gnuLongName, paxEntry, tarEntry, tarOf, type TarEntry } from '../support/registry/tar.ts';

const CONTRACT: TarEntry = { name: 'pacto.yaml', data: 'pactoVersion: "2.0"\n' };
const MEBIBYTE = 1024 * 1024;
const WHOLE = gzipSync(tarOf([CONTRACT]));
const filler = (bytes: number): Buffer => Buffer.alloc(bytes, 'x');

async function namesIn(archive: Uint8Array | AsyncIterable<Uint8Array>): Promise<readonly string[]> {
  return [...(await readBundleArchive(archive)).keys()];
}

async function* inChunksOf(bytes: Buffer, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

function refusal(archive: Uint8Array | AsyncIterable<Uint8Array>): Promise<string> {
  return readBundleArchive(archive).then(
    () => 'accepted',
    (error: unknown) => `${(error as { code?: string }).code ?? 'no code'}: ${(error as Error).message}`,
  );
}

describe('worked examples of contract.md §18.6', () => {
  test('67: accepts a file of ten mebibytes and refuses one byte more', async () => {
    const exact = { name: 'big', data: filler(10 * MEBIBYTE) };
    const over = { name: 'big', data: filler(10 * MEBIBYTE + 1) };
    expect(await namesIn(gzipSync(tarOf([CONTRACT, exact]), { level: 1 }))).toEqual(['pacto.yaml', 'big']);
    expect(await refusal(gzipSync(tarOf([CONTRACT, over]), { level: 1 }))).toContain(
      'file "big" is larger than 10485760 bytes',
    );
  });

  test('68: refuses the sixth of six files of nine mebibytes', async () => {
    const nine = Array.from({ length: 6 }, (_, at) => ({
      name: `f${String(at)}`,
      data: filler(9 * MEBIBYTE),
    }));
    const five = nine.slice(0, 5);
    expect(await namesIn(gzipSync(tarOf([CONTRACT, ...five]), { level: 1 }))).toHaveLength(6);
    // Its header is enough: what follows is not even there.
    const sixth = tarEntry({ name: 'f5', declaredBytes: 9 * MEBIBYTE });
    expect(await refusal(Buffer.concat([...five.map(tarEntry), sixth]))).toContain(
      'its files are larger than 52428800 bytes together',
    );
  });

  test('69: refuses 10,001 empty files and accepts 10,000 entries', async () => {
    const many = Array.from({ length: 9_999 }, (_, at) => tarEntry({ name: `e${String(at)}` }));
    const whole = Buffer.concat([tarEntry(CONTRACT), ...many]);
    expect(await namesIn(whole)).toHaveLength(10_000);
    expect(await refusal(Buffer.concat([whole, tarEntry({ name: 'one-more' })]))).toContain(
      'entry "one-more" is one more than the 10000 it may have',
    );
  });

  test('70: refuses docs/../../etc/x and accepts docs/a..b.md', async () => {
    expect(await refusal(tarOf([CONTRACT, { name: 'docs/../../etc/x' }]))).toContain('leads out of it');
    expect(await namesIn(tarOf([CONTRACT, { name: 'docs/a..b.md' }]))).toContain('docs/a..b.md');
  });

  test('71: refuses a link called pacto.yaml and does not follow it', async () => {
    expect(await refusal(tarOf([{ name: 'pacto.yaml', type: '2', link: '/etc/passwd' }]))).toMatch(
      /^GATE_BUNDLE_INVALID: .*no file and no directory/,
    );
  });

  test('72: accepts ./pacto.yaml as pacto.yaml', async () => {
    expect(
      await namesIn(
        tarOf([
          { name: './', type: '5' },
          { ...CONTRACT, name: './pacto.yaml' },
        ]),
      ),
    ).toEqual(['pacto.yaml']);
  });
});

describe('what an archive may hold', () => {
  test.each([
    ['plain tar', tarOf([CONTRACT])],
    ['without the empty blocks at the end', tarEntry(CONTRACT)],
    ['ending in the padding of its last file', tarEntry(CONTRACT).subarray(0, 540)],
    ['with anything after the end', Buffer.concat([tarOf([CONTRACT]), filler(1000)])],
    ['in two gzip members', Buffer.concat([gzipSync(tarEntry(CONTRACT)), gzipSync(tarOf([]))])],
    ['as V7 wrote it', tarOf([{ ...CONTRACT, type: '\0', format: 'v7' }])],
    ['as GNU writes it', tarOf([{ ...CONTRACT, format: 'gnu' }])],
    ['the name in a pax record', tarOf([paxEntry({ path: 'pacto.yaml' }), { ...CONTRACT, name: 'other' }])],
    ['an empty pax record leaves the name', tarOf([paxEntry({ path: '' }), CONTRACT])],
    ['the name as a long name of GNU', tarOf([gnuLongName('pacto.yaml'), { ...CONTRACT, name: 'other' }])],
    ['with an empty long name of GNU, which names nothing', tarOf([gnuLongName(''), CONTRACT])],
    [
      'with a directory as V7 wrote it that declares bytes',
      tarOf([{ name: 'd/', type: '\0', declaredBytes: 512 }, CONTRACT]),
    ],
    [
      'with wrong numbers for an entry that does not come',
      Buffer.concat([tarEntry(CONTRACT), tarEntry(paxEntry({ size: 'x' }))]),
    ],
    ['a directory that declares bytes', tarOf([{ name: 'd', type: '5', declaredBytes: 512 }, CONTRACT])],
  ])('accepts an archive %s', async (_what, archive) => {
    expect(await namesIn(archive)).toEqual(['pacto.yaml']);
  });

  test('accepts chunks of every size alike', async () => {
    const archive = tarOf([CONTRACT, { name: 'docs/x', data: filler(1500) }]);
    for (const size of [1, 7, 511, 512, 513, 4096]) {
      const files = await readBundleArchive(inChunksOf(archive, size));
      expect([...files].map(([name, bytes]) => [name, bytes.length])).toEqual([
        ['pacto.yaml', 20],
        ['docs/x', 1500],
      ]);
    }
    expect(await namesIn(inChunksOf(gzipSync(archive), 1))).toHaveLength(2);
  });

  test('accepts a path twice with the later content', async () => {
    const files = await readBundleArchive(
      tarOf([
        { ...CONTRACT, data: 'first' },
        { ...CONTRACT, data: 'later' },
      ]),
    );
    expect(Buffer.from(files.get('pacto.yaml') ?? []).toString()).toBe('later');
  });

  test('accepts the ustar prefix, names beyond ASCII, backslashes and keys of prototypes', async () => {
    const names = ['d/ü.md', String.raw`a\..\b`, '__proto__', 'constructor'];
    const entries = names.map((name) => ({ name }));
    expect(await namesIn(tarOf([CONTRACT, { name: 'n', prefix: 'long' }, ...entries]))).toEqual([
      'pacto.yaml',
      'long/n',
      ...names,
    ]);
  });

  test('accepts a prefix where Go once wrote it, in place of the times of GNU', async () => {
    const old: TarEntry = { name: 'n', format: 'gnu', prefix: 'long' };
    expect(await namesIn(tarOf([CONTRACT, old]))).toEqual(['pacto.yaml', 'long/n']);
    expect(await namesIn(tarOf([CONTRACT, { ...old, prefix: '00000000017' }]))).toEqual(['pacto.yaml', 'n']);
  });

  test('refuses a binary number beyond 64 bits', async () => {
    const entry = tarEntry({ name: 'x' });
    entry[136] = 0x80;
    entry.fill(' ', 148, 156);
    const sum = entry.reduce((total, byte) => total + byte, 0);
    entry.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
    expect(await refusal(Buffer.concat([tarEntry(CONTRACT), entry]))).toContain('number that is none');
  });

  test.each([
    ['a hard link', [{ name: 'l', type: '1', link: 'pacto.yaml' }], 'no file and no directory'],
    ['a character device', [{ name: 'c', type: '3' }], 'no file and no directory'],
    ['a block device', [{ name: 'b', type: '4' }], 'no file and no directory'],
    ['a fifo', [{ name: 'p', type: '6' }], 'no file and no directory'],
    ['a contiguous file', [{ name: 'k', type: '7' }], 'no file and no directory'],
    ['a GNU sparse file', [{ name: 's', type: 'S' }], 'no file and no directory'],
    ['a pax sparse file', [paxEntry({ 'GNU.sparse.major': '1' }), { name: 's' }], 'sparse'],
    ['a pax global header', [paxEntry({ comment: 'git archive' }, 'g')], 'no file and no directory'],
    ['an absolute name', [{ name: '/etc/passwd' }], 'absolute'],
    ['a name of two slashes', [{ name: 'a//b' }], 'empty part'],
    ['a dot as a segment', [{ name: 'a/./b' }], 'dot as a part'],
    ['two leading dots and slashes', [{ name: '././x' }], 'dot as a part'],
    ['a file whose name ends in a slash', [{ name: 'x/' }], 'empty part'],
    ['two dots alone', [{ name: '..' }], 'leads out'],
    ['two dots at the end, of a directory', [{ name: 'x/..', type: '5' }], 'leads out'],
    ['two dots in a pax record', [paxEntry({ path: '../x' }), { name: 'x' }], 'leads out'],
    ['two dots in a long name', [gnuLongName('../x'), { name: 'x' }], 'leads out'],
    ['two dots in the prefix', [{ name: 'x', prefix: '..' }], 'leads out'],
    ['a name that is not UTF-8', [{ name: Uint8Array.of(0x61, 0xff) }], 'not UTF-8'],
    ['a very long name', [paxEntry({ path: 'x'.repeat(5000) }), { name: 'x' }], 'more than 4096'],
    ['a wrong checksum', [{ name: 'x', damagedChecksum: true }], 'checksum'],
    ['a pax record that is none', [{ name: 'x', type: 'x', data: '99 path=x\n' }], 'record that is none'],
    ['a NUL in a pax path', [paxEntry({ path: 'a\0b' }), { name: 'x' }], 'record that is none'],
    ['a pax size that is none', [paxEntry({ size: '1e3' }), { name: 'x' }], 'number that is none'],
    ['a negative pax size', [paxEntry({ size: '-1' }), { name: 'x' }], 'negative size'],
    ['a pax size over the limit', [paxEntry({ size: '99999999999' }), { name: 'x' }], 'larger than 10485760'],
    [
      'a huge extended header',
      [{ name: 'x', type: 'x', declaredBytes: 2 * MEBIBYTE }],
      'extended header is larger',
    ],
    [
      'a huge long name',
      [{ name: 'x', type: 'L', declaredBytes: 2 * MEBIBYTE }],
      'extended header is larger',
    ],
  ] satisfies [string, TarEntry[], string][])('refuses %s', async (_what, entries, why) => {
    const found = await refusal(tarOf([CONTRACT, ...entries]));
    expect(found).toMatch(/^GATE_BUNDLE_INVALID: /);
    expect(found).toContain(why);
  });

  test.each([
    ['nothing', Buffer.alloc(0), 'it has no pacto.yaml'],
    ['no pacto.yaml', tarOf([{ name: 'other' }]), 'it has no pacto.yaml'],
    ['pacto.yml', tarOf([{ name: './pacto.yml' }]), 'it has no pacto.yaml, only "pacto.yml": rename it'],
    [
      'a folder around it all',
      tarOf([{ name: 'cart/', type: '5' }, { name: 'cart/pacto.yaml' }, { name: 'cart/docs/x' }]),
      'it has no pacto.yaml at its top, only "cart/pacto.yaml": what is in that folder is the bundle',
    ],
    [
      'pacto.yaml as a directory',
      tarOf([CONTRACT, { name: 'pacto.yaml', type: '5' }]),
      'it has no pacto.yaml',
    ],
    ['a file that is cut', tarOf([CONTRACT]).subarray(0, 520), 'ends too early'],
    ['a header that is cut', tarOf([CONTRACT]).subarray(0, 300), 'ends too early'],
    ['no tar', Buffer.from('hello'), 'ends too early'],
    ['gzip that is cut', gzipSync(tarOf([CONTRACT])).subarray(0, 60), 'gzip'],
    ['gzip that is damaged', Buffer.concat([Buffer.of(0x1f, 0x8b), filler(100)]), 'gzip'],
    [
      'an entry after an empty block',
      Buffer.concat([tarEntry(CONTRACT), Buffer.alloc(512), tarEntry({ name: 'x' })]),
      'empty block',
    ],
  ])('refuses %s', async (_what, archive, why) => {
    const found = await refusal(archive);
    expect(found).toMatch(/^GATE_BUNDLE_INVALID: /);
    expect(found).toContain(why);
  });

  test('accepts a thousand records of an extended header, and refuses one more', async () => {
    const records = (count: number): TarEntry => ({ name: 'x', type: 'x', data: '6 a=b\n'.repeat(count) });
    expect(await namesIn(tarOf([CONTRACT, records(1_000), { name: 'x' }]))).toEqual(['pacto.yaml', 'x']);
    expect(await refusal(tarOf([CONTRACT, records(1_001), { name: 'x' }]))).toContain(
      'an extended header holds more than 1000 records',
    );
  });

  test('refuses a bomb at its first breach, without having read or kept the rest', async () => {
    // 1 GiB of one byte behind a small header: 1 MB compressed.
    const head = gzipSync(tarEntry({ name: 'bomb', declaredBytes: 10 * MEBIBYTE + 1 }));
    let pulled = 0;
    async function* bomb(): AsyncGenerator<Uint8Array> {
      yield head;
      for (;;) {
        pulled += 1;
        yield gzipSync(filler(MEBIBYTE));
      }
    }
    expect(await refusal(bomb())).toContain('larger than 10485760');
    expect(pulled).toBeLessThan(100);
  });

  test('refuses extended headers without end, and zeros without end after the archive', async () => {
    async function* headers(): AsyncGenerator<Uint8Array> {
      const one = Buffer.concat([tarEntry(paxEntry({ comment: 'x'.repeat(MEBIBYTE - 1000) }))]);
      for (;;) yield one;
    }
    async function* zeros(): AsyncGenerator<Uint8Array> {
      yield tarOf([CONTRACT]);
      for (;;) yield Buffer.alloc(MEBIBYTE);
    }
    expect(await refusal(headers())).toContain('its extended headers are larger than 8388608 bytes');
    expect(await refusal(zeros())).toContain('its archive holds more than');
  });

  test.each([
    ['accepts one member', [], 'accepted'],
    ['accepts a second member', [WHOLE], 'accepted'],
    ['accepts zeros at the end', [Buffer.alloc(3)], 'accepted'],
    ['accepts zeros after a second member', [WHOLE, Buffer.alloc(700)], 'accepted'],
    ['refuses a member after zeros', [Buffer.alloc(1), WHOLE], 'behind the end of its gzip'],
    ['refuses what is no member after zeros', [Buffer.alloc(5), filler(9)], 'behind the end of its gzip'],
    ['refuses what is no member', [filler(9)], 'is no gzip that can be read'],
    ['refuses a member that is cut', [WHOLE.subarray(0, 20)], 'is no gzip that can be read'],
    ['refuses the first byte of a member', [WHOLE.subarray(0, 1)], 'is no gzip that can be read'],
  ])('%s of a gzip, however it comes in chunks', async (_what, rest, verdict) => {
    const bytes = Buffer.concat([WHOLE, ...rest]);
    const { length } = WHOLE;
    for (const size of [1, 2, 7, length - 1, length, length + 1, length + 2, length + 5, bytes.length])
      expect([size, await refusal(inChunksOf(bytes, size))]).toEqual([
        size,
        expect.stringContaining(verdict),
      ]);
  });

  test('passes on what its source throws, and lets the source go when it stops early', async () => {
    async function* failing(): AsyncGenerator<Uint8Array> {
      yield gzipSync(tarOf([CONTRACT])).subarray(0, 40);
      throw new Error('the digest is another');
    }
    await expect(readBundleArchive(failing())).rejects.toThrow('the digest is another');
    let isReleased = false;
    async function* endless(): AsyncGenerator<Uint8Array> {
      try {
        for (;;) yield filler(MEBIBYTE);
      } finally {
        isReleased = true;
      }
    }
    expect(await refusal(endless())).toContain('GATE_BUNDLE_INVALID');
    expect(isReleased).toBe(true);
  });
});
