import { execFileSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readGivenContract, type GivenContract } from '../../src/cli/contract-input.ts';
import { failure } from '../support/registry/bundles.ts';
import { tarOf } from '../support/registry/tar.ts';
import { fakeTerminal } from './run-command.ts';

const CONTRACT = 'pactoVersion: "2.0"\nservice: {name: a, version: 1.0.0}\n';

let directory = '';
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'pacto-gate-input-'));
});
afterAll(() => rm(directory, { recursive: true }));

const read = (name: string): Promise<GivenContract> =>
  readGivenContract(join(directory, name), fakeTerminal().around, () => Promise.reject(new Error('no pull')));

describe('what a contract is read from', () => {
  it.each([
    ['a.tgz', 'is empty', ''],
    ['b.tgz', 'is neither gzip nor tar', CONTRACT],
    ['c.tar.gz', 'is neither gzip nor tar', 'not found\n'],
    ['d.tar', 'is neither gzip nor tar', CONTRACT],
    ['E.TGZ', 'is empty', ''],
  ])('is not a file %s that %s', async (name, why, content) => {
    await writeFile(join(directory, name), content);
    expect(await failure(() => read(name))).toBe(
      `GATE_BUNDLE_INVALID: file ${JSON.stringify(join(directory, name))} ${why}, and its name is that of an archive: pack the bundle again`,
    );
  });

  it('is an archive by what is in it, whatever its name', async () => {
    const tar = tarOf([{ name: 'pacto.yaml', data: CONTRACT }]);
    await writeFile(join(directory, 'x.yaml'), gzipSync(tar));
    await writeFile(join(directory, 'x.tar'), tar);
    for (const name of ['x.yaml', 'x.tar'])
      expect([...((await read(name)).files?.keys() ?? [])]).toEqual(['pacto.yaml']);
  });

  it('is text where it is no archive by content or name, empty or not', async () => {
    await writeFile(join(directory, 'empty.yaml'), '');
    await writeFile(join(directory, 'tgz'), CONTRACT);
    expect(Buffer.from((await read('empty.yaml')).text).toString()).toBe('');
    expect(Buffer.from((await read('tgz')).text).toString()).toBe(CONTRACT);
  });

  it('names the folder of an archive that was packed with it', async () => {
    await writeFile(
      join(directory, 'cart.tgz'),
      gzipSync(
        tarOf([
          { name: 'cart/pacto.yaml', data: CONTRACT },
          { name: 'cart/x', data: '' },
        ]),
      ),
    );
    expect(await failure(() => read('cart.tgz'))).toContain('only "cart/pacto.yaml"');
  });

  it('is a folder without pipes, which are named', async () => {
    const folder = await mkdtemp(join(directory, 'folder-'));
    await writeFile(join(folder, 'pacto.yaml'), CONTRACT);
    execFileSync('mkfifo', [join(folder, 'pipe')]);
    expect(
      await failure(() => readGivenContract(folder, fakeTerminal().around, expect.unreachable)),
    ).toContain('entry "pipe" is a named pipe: leave it out in .pactoignore');
    await writeFile(join(folder, '.pactoignore'), 'pipe\n');
    const given = await readGivenContract(folder, fakeTerminal().around, expect.unreachable);
    expect([...(given.files?.keys() ?? [])]).toEqual(['pacto.yaml']);
  });
});
