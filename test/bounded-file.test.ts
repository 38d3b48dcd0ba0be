import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readAtMost, readStreamAtMost } from '../src/bounded-file.ts';
import { runCommand } from './cli/run-command.ts';

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'pacto-gate-'));
});
afterEach(async () => {
  await rm(directory, { recursive: true });
});

async function* pieces(...all: readonly (string | Uint8Array)[]): AsyncGenerator<string | Uint8Array> {
  yield* all;
}

describe('readAtMost', () => {
  it.each([0, 1, 65_536, 65_537, 200_000])('reads a file of %i bytes whole', async (size) => {
    const path = join(directory, 'file');
    await writeFile(path, Buffer.alloc(size, 'x'));
    expect((await readAtMost(path, size)).equals(Buffer.alloc(size, 'x'))).toBe(true);
    await expect(readAtMost(path, size - 1)).rejects.toMatchObject({ code: 'EFBIG' });
  });

  it('reads what gives no size, and refuses what has no end', async () => {
    expect((await readAtMost('/proc/self/status', 65_536)).toString()).toContain('Pid:');
    await expect(readAtMost('/dev/zero', 1_000_000)).rejects.toMatchObject({
      code: 'EFBIG',
      message: 'it is larger than 1000000 bytes',
    });
  });
});

describe('readStreamAtMost', () => {
  it('reads a stream whole, and refuses more than the bound', async () => {
    expect((await readStreamAtMost(pieces('aä', Buffer.from('b')), 4)).toString()).toBe('aäb');
    await expect(readStreamAtMost(pieces('aä', 'b'), 3)).rejects.toMatchObject({ code: 'EFBIG' });
  });
});

describe('a command that is given a file without an end', () => {
  it.each([
    ['a manifest', ['review', '/dev/zero']],
    ['a certificate', ['certs', 'inspect', '/dev/zero']],
    ['a configuration', ['serve', '--config', '/dev/zero']],
    ['a kubeconfig', ['serve', '--cluster-source', 'kubeconfig', '--cluster-kubeconfig', '/dev/zero']],
  ])('refuses it as %s', async (_name, argv) => {
    const ran = await runCommand(argv);
    expect(ran).toMatchObject({ code: 2, out: '' });
    expect(ran.err).toMatch(/\/dev\/zero: .*is larger than \d+ bytes/);
  });
});
