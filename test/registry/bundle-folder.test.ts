import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, symlink, truncate, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';

import { readBundleFolder } from '../../src/registry/bundle-folder.ts';
import { BundleBudget } from '../../src/registry/bundle-limits.ts';
import { ignoreRule } from '../../src/registry/pactoignore.ts';
import { failure } from '../support/registry/bundles.ts';

const LEAVE_OUT = ': leave it out in .pactoignore';
const LINK = 'entry "x" is a link, and links are not followed';

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
    ['a link to a file', () => symlink('/etc/hostname', join(folder, 'x')), `${LINK}${LEAVE_OUT}`],
    ['a link to a folder', () => symlink('/etc', join(folder, 'x')), `${LINK}${LEAVE_OUT}`],
    ['a link to nothing', () => symlink('none', join(folder, 'x')), `${LINK}${LEAVE_OUT}`],
    [
      'a pipe',
      async () => void execFileSync('mkfifo', [join(folder, 'x')]),
      `entry "x" is a named pipe${LEAVE_OUT}`,
    ],
    [
      'a contract that is a link',
      async () => {
        await rm(join(folder, 'pacto.yaml'));
        await symlink('/etc/hostname', join(folder, 'pacto.yaml'));
      },
      'entry "pacto.yaml" is a link, and links are not followed: need a file',
    ],
    [
      'a file over ten mebibytes',
      async () => {
        await write('big', '');
        await truncate(join(folder, 'big'), 10 * 1024 * 1024 + 1);
      },
      `file "big" is larger than 10485760 bytes${LEAVE_OUT}`,
    ],
    [
      'fifty-four mebibytes',
      async () => {
        for (let at = 0; at < 6; at += 1) {
          await write(`f${String(at)}`, '');
          await truncate(join(folder, `f${String(at)}`), 9 * 1024 * 1024);
        }
      },
      new RegExp(`file "f\\d" its files are larger than 52428800 bytes together${LEAVE_OUT}$`),
    ],
  ])('refuses %s', async (_what, make, why) => {
    await make();
    const found = await failure(() => readBundleFolder(folder));
    expect(found).toMatch(/^GATE_BUNDLE_INVALID/);
    expect(found).toMatch(why);
  });

  test.each([
    ['nothing like it', [], ''],
    ['another ending', ['pacto.yml'], ', only "pacto.yml": rename it'],
    ['capitals', ['Pacto.yaml', 'x/pacto.yaml'], ', only "Pacto.yaml": rename it'],
    ['one below', ['x/pacto.yaml'], ' at its top, only "x/pacto.yaml": what is in that folder is the bundle'],
    ['several below', ['x/pacto.yaml', 'y/pacto.yaml'], ''],
  ])('names the folder without a contract, which has %s', async (_what, names, hint) => {
    await rm(join(folder, 'pacto.yaml'));
    for (const name of names) await write(name, 'x');
    expect(await failure(() => readBundleFolder(folder))).toBe(
      `GATE_BUNDLE_INVALID: the bundle is invalid: folder "${folder}" has no pacto.yaml${hint}`,
    );
  });

  test('has an advice for whoever has too many entries', async () => {
    const budget = new BundleBudget(LEAVE_OUT);
    for (let at = 0; at < 10_000; at += 1) budget.addEntry('x');
    expect(await failure(() => budget.addEntry('y'))).toMatch(
      new RegExp(`entry "y" is one more than the 10000 it may have${LEAVE_OUT}$`),
    );
  });

  test('refuses a socket', async () => {
    const server = createServer().listen(join(folder, 'x'));
    await once(server, 'listening');
    try {
      expect(await failure(() => readBundleFolder(folder))).toContain(`entry "x" is a socket${LEAVE_OUT}`);
    } finally {
      server.close();
    }
  });

  test('refuses a folder that is not there, and a file', async () => {
    expect(await failure(() => readBundleFolder(join(folder, 'none')))).toMatch(/^GATE_INPUT_FILE.*ENOENT/);
    expect(await failure(() => readBundleFolder(join(folder, 'pacto.yaml')))).toMatch(
      /^GATE_INPUT_FILE.*ENOTDIR/,
    );
  });
});
