import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createDirectoryCluster } from '../../src/cluster/directory.ts';
import type { DirectoryCluster } from '../../src/cluster/directory.ts';
import type { Problem } from '../../src/cluster/directory-scan.ts';
import { FakeClock } from '../support/fake-clock.ts';

let directory: string;
let open: DirectoryCluster[] = [];

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'pacto-gate-'));
});

afterEach(async () => {
  await Promise.all(open.map((source) => source.close()));
  open = [];
  await rm(directory, { recursive: true });
});

async function problemsTold(): Promise<readonly Problem[]> {
  const told: Problem[] = [];
  const onProblem = (problem: Problem): void => void told.push(problem);
  open.push(await createDirectoryCluster(directory, { clock: new FakeClock(), onProblem }));
  return told;
}

describe('a directory tells few of very many problems', () => {
  it.each([
    ['documents that are no objects', '--- a\n'.repeat(5_000), 'has more than 20 objects that are not whole'],
    ['broken documents', '--- {a: b, a: c}\n'.repeat(5_000), 'has more than 20 broken documents'],
    [
      'items that are no objects',
      `kind: List\nitems:\n${'- a\n'.repeat(5_000)}`,
      'has more than 20 objects that are not whole',
    ],
    [
      'the same object over and over',
      '---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: b}\n'.repeat(5_000),
      'has 4974 more problems',
    ],
  ])('of %s in a file', async (_name, text, last) => {
    await writeFile(join(directory, 'x.yaml'), text);
    const told = await problemsTold();
    expect(told.length).toBeLessThanOrEqual(26);
    expect(told.some(({ message }) => message.includes(last))).toBe(true);
  });

  it('of entries that cannot be read', async () => {
    const links = Array.from({ length: 1_100 }, (_, index) => join(directory, `${String(index)}.yaml`));
    await Promise.all(links.map((link) => symlink('/nowhere', link)));
    const told = await problemsTold();
    expect(told).toHaveLength(1_001);
    expect(told.some(({ message }) => message.startsWith('has more than 1000 entries'))).toBe(true);
  });
});
