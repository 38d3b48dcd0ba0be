import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, rm, symlink, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';

import { readBundleFolder } from '../../src/registry/bundle-folder.ts';
import { ignoreRule } from '../../src/registry/pactoignore.ts';
import { failure } from '../support/registry/bundles.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'pacto-gate-folder-'));
  await write('pacto.yaml', 'x');
});
afterEach(async () => {
  await rm(folder, { recursive: true });
});

async function write(name: string, content: string): Promise<void> {
  await mkdir(dirname(join(folder, name)), { recursive: true });
  await writeFile(join(folder, name), content);
}

describe('readBundleFolder', () => {
  test('reads every file by its path inside', async () => {
    await write('docs/deep/x.md', 'deep');
    await mkdir(join(folder, 'empty'));
    const files = await readBundleFolder(folder);
    expect([...files.keys()].toSorted()).toEqual(['docs/deep/x.md', 'pacto.yaml']);
    expect(Buffer.from(files.get('docs/deep/x.md') ?? []).toString()).toBe('deep');
  });

  test('opens nothing that is ignored', async () => {
    await write('node_modules/x', 'x');
    await symlink('/etc', join(folder, 'link'));
    const files = await readBundleFolder(folder, ignoreRule('node_modules/\nlink'));
    expect([...files.keys()]).toEqual(['pacto.yaml']);
  });

  test.each([
    ['a link to a file', () => symlink('/etc/hostname', join(folder, 'x')), 'links are not followed'],
    ['a link to a folder', () => symlink('/etc', join(folder, 'x')), 'links are not followed'],
    ['a link to nothing', () => symlink('none', join(folder, 'x')), 'links are not followed'],
    ['a pipe', async () => void execFileSync('mkfifo', [join(folder, 'x')]), 'no file and no directory'],
    ['no pacto.yaml', () => rm(join(folder, 'pacto.yaml')), 'it has no pacto.yaml'],
    [
      'a file over ten mebibytes',
      async () => {
        await write('big', '');
        await truncate(join(folder, 'big'), 10 * 1024 * 1024 + 1);
      },
      'larger than 10485760',
    ],
    [
      'fifty-four mebibytes',
      async () => {
        for (let at = 0; at < 6; at += 1) {
          await write(`f${String(at)}`, '');
          await truncate(join(folder, `f${String(at)}`), 9 * 1024 * 1024);
        }
      },
      'larger than 52428800',
    ],
  ])('refuses %s', async (_what, make, why) => {
    await make();
    const found = await failure(() => readBundleFolder(folder));
    expect(found).toMatch(/^GATE_BUNDLE_INVALID/);
    expect(found).toContain(why);
  });

  test('refuses a folder that is not there, and a file', async () => {
    expect(await failure(() => readBundleFolder(join(folder, 'none')))).toMatch(/^GATE_INPUT_FILE.*ENOENT/);
    expect(await failure(() => readBundleFolder(join(folder, 'pacto.yaml')))).toMatch(
      /^GATE_INPUT_FILE.*ENOTDIR/,
    );
  });
});
