/** What a directory cannot tell is not absent: a look-up that might have found it fails. */
import { chmod, rename, rm } from 'node:fs/promises';
import { describe, expect, it, onTestFinished } from 'vitest';

import { systemClock } from '../../src/clock.ts';
import { createReader } from '../../src/cluster/cache.ts';
import { openCluster, type OpenProblem } from '../../src/cluster/open.ts';
import { CONFIG_MAP, NODE } from '../../src/cluster/kinds.ts';
import type { KubeObject } from '../../src/cluster/objects.ts';
import { createReflector } from '../../src/cluster/watch.ts';
import { until } from '../support/until.ts';
import { getMap, map, useDirectory, valueOf } from '../support/directory-fixture.ts';

const refusedMap = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: b, namespace: web, labels: {a: 1}}\n';

describe('a file that was never good', () => {
  const files = useDirectory();

  it.each<[string, string]>([
    ['not YAML', 'a: ['],
    ['one bad document of two', `${map('x')}---\na: [`],
    ['an object that is refused', refusedMap],
    ['binary', '\u0000'],
  ])('fails look-ups that find nothing, and no others: %s', async (_what, contents) => {
    await files.put('sub/bad.yaml', contents);
    await files.put('good.yaml', map('a'));
    const directory = await files.open();
    expect(await valueOf(directory, 'a')).toBe('1');
    await expect(getMap(directory, 'b')).rejects.toMatchObject({
      code: 'GATE_UNSYNCED',
      message: expect.stringMatching(
        /^cannot read configmaps "web\/b": ".*\/sub\/bad\.yaml" may hold it and cannot be read; mend or remove it$/,
      ) as string,
    });
    await expect(directory.cluster.get(NODE, { name: 'n' })).rejects.toMatchObject({ code: 'GATE_UNSYNCED' });
    expect(files.consequences).toEqual(['unknown']);
  });

  it('keeps decisions from lists that may lack some, in both modes, until it is mended', async () => {
    await files.put('bad.yaml', 'a: [');
    await files.put('good.yaml', map('a'));
    const { cluster, refresh } = await files.open().then((directory) => ({
      cluster: directory.cluster,
      refresh: () => directory.refresh(),
    }));
    const reflector = createReflector({
      cluster,
      kind: CONFIG_MAP,
      clock: systemClock,
      random: Math.random,
      whole: true,
      report: () => undefined,
    });
    onTestFinished(() => reflector.stop());
    reflector.start();
    await until('it is synced', () => reflector.synced());
    const list = (mode: 'cached' | 'live'): Promise<readonly KubeObject[]> =>
      createReader({ mode, cluster, reflectors: [reflector], clock: systemClock })
        .forRequest()
        .list(CONFIG_MAP, { namespace: 'web' }, {});
    for (const mode of ['cached', 'live'] as const)
      await expect(list(mode)).rejects.toThrow(
        /^cannot list configmaps: ".*\/bad\.yaml" may hold some and cannot be read; mend or remove it$/,
      );
    await rm(files.path('bad.yaml'));
    await refresh();
    for (const mode of ['cached', 'live'] as const) expect(await list(mode)).toHaveLength(1);
  });

  it.each<[string, () => Promise<void>]>([
    ['mended', () => files.swap('bad.yaml', map('c'))],
    ['removed', () => rm(files.path('bad.yaml'))],
  ])('keeps nothing from being absent once it is %s, and that is told', async (_what, act) => {
    await files.put('bad.yaml', 'a: [');
    const directory = await files.open();
    await expect(getMap(directory, 'b')).rejects.toMatchObject({ code: 'GATE_UNSYNCED' });
    await act();
    await directory.refresh();
    expect(await getMap(directory, 'b')).toBeUndefined();
    expect(files.mended).toEqual(['bad.yaml']);
    await directory.refresh();
    expect(files.mended).toHaveLength(1);
  });

  it('is one that comes later, too', async () => {
    await files.put('good.yaml', map('a'));
    const directory = await files.open();
    expect(await getMap(directory, 'b')).toBeUndefined();
    await files.put('bad.yaml', 'a: [');
    await files.put('worse.yaml', 'a: [');
    await directory.refresh();
    await expect(getMap(directory, 'b')).rejects.toThrow('(and 1 more) may hold it');
  });

  it('is one that lies beyond a limit', async () => {
    for (const name of ['a', 'b', 'c']) await files.put(`${name}.yaml`, map(name));
    const directory = await files.open({ limits: { files: 2 } });
    await expect(getMap(directory, 'c')).rejects.toMatchObject({ code: 'GATE_UNSYNCED' });
    const few = await files.open({ limits: { entries: 1 } });
    await expect(getMap(few, 'c')).rejects.toMatchObject({ code: 'GATE_UNSYNCED' });
  });

  // Nothing is unreadable to the superuser.
  it.skipIf(process.getuid?.() === 0)('is a directory whose names cannot be read', async () => {
    await files.put('sub/a.yaml', map('a'));
    await chmod(files.path('sub'), 0);
    try {
      await expect(getMap(await files.open(), 'a')).rejects.toThrow('/sub" may hold it');
    } finally {
      await chmod(files.path('sub'), 0o700);
    }
  });
});

describe('a file that was good', () => {
  const files = useDirectory();

  it('leaves what it never held absent', async () => {
    await files.put('x.yaml', map('a'));
    const directory = await files.open();
    await files.swap('x.yaml', 'a: [');
    await directory.refresh();
    expect([await valueOf(directory, 'a'), await getMap(directory, 'b')]).toEqual(['1', undefined]);
    expect(files.consequences).toEqual(['last-good']);
    await files.swap('x.yaml', refusedMap.replaceAll('name: b', 'name: a'));
    await directory.refresh();
    expect([await valueOf(directory, 'a'), await getMap(directory, 'b')]).toEqual(['1', undefined]);
  });

  it('does so while the whole directory is gone, which is told with what is served', async () => {
    await files.put('sub/x.yaml', map('a'));
    const directory = await files.open();
    await rename(files.root, `${files.root}-away`);
    try {
      await directory.refresh();
      expect([await valueOf(directory, 'a'), await getMap(directory, 'b')]).toEqual(['1', undefined]);
      expect([files.seen.map(({ file }) => file), files.consequences]).toEqual([['.'], ['last-good']]);
    } finally {
      await rename(`${files.root}-away`, files.root);
    }
    await directory.refresh();
    expect(files.mended).toEqual(['.']);
  });

  it('is told to be ignored where another file has the object', async () => {
    await files.put('a.yaml', map('a'));
    await files.put('b.yaml', map('a', '2'));
    const directory = await files.open();
    expect([await valueOf(directory, 'a'), files.consequences]).toEqual(['1', ['ignored']]);
    expect(await getMap(directory, 'b')).toBeUndefined();
  });
});

describe('opening a directory', () => {
  const files = useDirectory();

  it('tells where a file is, what is wrong and what is served, and when that has gone', async () => {
    await files.put('bad.yaml', 'a:\n- b: [\n');
    await files.put('x.yaml', map('a'));
    const problems: OpenProblem[] = [];
    const mended: string[] = [];
    const cluster = await openCluster(
      { source: 'directory', path: files.root, watch: true },
      files.clock,
      (problem) => problems.push(problem),
      (file) => mended.push(file),
    );
    try {
      expect(problems).toEqual([
        {
          code: 'GATE_DIRECTORY',
          file: files.path('bad.yaml'),
          line: 3,
          column: 1,
          message: expect.stringMatching(
            /^is not YAML: .*; what it holds is unknown, so look-ups that find nothing fail$/,
          ) as string,
        },
      ]);
      await files.swap('bad.yaml', map('b'));
      const isThere = async (): Promise<boolean> => {
        try {
          return (await cluster.get(CONFIG_MAP, { namespace: 'web', name: 'b' })) !== undefined;
        } catch {
          return false;
        }
      };
      await files.turnUntil('b is there', isThere);
      expect(mended).toEqual([files.path('bad.yaml')]);
    } finally {
      await cluster.close();
    }
  });
});
