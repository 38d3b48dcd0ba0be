import { rename, rm, symlink, unlink } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';

import { CONFIG_MAP } from '../../src/cluster/kinds.ts';
import { getMap, map, namesIn, useDirectory, valueOf } from '../support/directory-fixture.ts';

describe('a file that changes', () => {
  const files = useDirectory();

  it('leaves objects that are the same alone', async () => {
    await files.put('x.yaml', `${map('a')}---\n${map('b')}`);
    const directory = await files.open();
    const [a, b] = [await getMap(directory, 'a'), await getMap(directory, 'b')];
    await files.swap('x.yaml', `${map('a')}---\n${map('b', '2')}`);
    await directory.refresh();
    expect(await getMap(directory, 'a')).toBe(a);
    expect(await valueOf(directory, 'b')).toBe('2');
    expect((await getMap(directory, 'b'))?.metadata.uid).toBe(b?.metadata.uid);
  });

  it('keeps its last good objects while it is broken', async () => {
    await files.put('x.yaml', `${map('a')}---\n${map('b')}`);
    const directory = await files.open();
    await files.swap('x.yaml', `${map('a', '2')}---\nb: [\n`);
    await directory.refresh();
    expect([await valueOf(directory, 'a'), await valueOf(directory, 'b')]).toEqual(['2', '1']);
    await files.swap('x.yaml', 'a: [');
    await directory.refresh();
    expect([await valueOf(directory, 'a'), await valueOf(directory, 'b')]).toEqual(['2', '1']);
    expect(directory.problems()).toHaveLength(1);
    await files.swap('x.yaml', map('a', '3'));
    await directory.refresh();
    expect([await valueOf(directory, 'a'), await namesIn(directory)]).toEqual(['3', 'a']);
    expect(directory.problems()).toEqual([]);
  });

  it('keeps the last good object while its new state is refused', async () => {
    await files.put('x.yaml', map('a'));
    const directory = await files.open();
    await files.swap(
      'x.yaml',
      'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: web, labels: {a: 1}}\n',
    );
    await directory.refresh();
    expect(await valueOf(directory, 'a')).toBe('1');
    expect(directory.problems()).toHaveLength(1);
  });

  it('keeps its last good objects while it is too large or out of reach', async () => {
    await files.put('sub/x.yaml', map('a'));
    const directory = await files.open({ limits: { fileBytes: 200 } });
    await files.put('sub/x.yaml', map('a', 'x'.repeat(200)));
    await directory.refresh();
    expect(await valueOf(directory, 'a')).toBe('1');
    await rename(files.path('sub'), files.path('.sub'));
    await symlink('sub', files.path('sub'));
    await directory.refresh();
    expect(await valueOf(directory, 'a')).toBe('1');
    await unlink(files.path('sub'));
    await directory.refresh();
    expect(await namesIn(directory)).toBe('');
  });

  it('loses its objects when it is removed, and an object that another file has comes from there', async () => {
    await files.put('a.yaml', map('a'));
    await files.put('b.yaml', map('a', '2'));
    const directory = await files.open();
    expect(await valueOf(directory, 'a')).toBe('1');
    await unlink(files.path('a.yaml'));
    await directory.refresh();
    expect([await valueOf(directory, 'a'), directory.problems().length]).toEqual(['2', 0]);
    await unlink(files.path('b.yaml'));
    await directory.refresh();
    expect(await namesIn(directory)).toBe('');
  });

  it('is told once for each problem, and again when the problem comes back', async () => {
    await files.put('x.yaml', 'a: [');
    const directory = await files.open();
    await files.put('other.yaml', map('other'));
    await directory.refresh();
    expect(files.seen).toHaveLength(1);
    await files.swap('x.yaml', '');
    await directory.refresh();
    await files.swap('x.yaml', 'a: [');
    await directory.refresh();
    expect(files.seen).toHaveLength(2);
  });
});

describe('watching a directory', () => {
  const files = useDirectory();

  it('adds, changes and removes objects as their files do', async () => {
    await files.put('a.yaml', map('a'));
    const directory = await files.open({ watch: true });
    await files.put('sub/b.yaml', map('b'));
    await files.turnUntil('b is there', async () => (await namesIn(directory)) === 'a b');
    await files.put('sub/b.yaml', map('b', '2'));
    await files.turnUntil('b has changed', async () => (await valueOf(directory, 'b')) === '2');
    await unlink(files.path('sub/b.yaml'));
    await files.turnUntil('b is gone', async () => (await namesIn(directory)) === 'a');
    expect(directory.problems()).toEqual([]);
  });

  it('shows changes to those who watch the cluster', async () => {
    await files.put('a.yaml', map('a'));
    const directory = await files.open({ watch: true });
    const { resourceVersion } = await directory.cluster.list(CONFIG_MAP);
    const events = directory.cluster.watch(CONFIG_MAP, { resourceVersion })[Symbol.asyncIterator]();
    await files.swap('a.yaml', map('a', '2'));
    await files.turnUntil('a has changed', async () => (await valueOf(directory, 'a')) === '2');
    expect((await events.next()).value).toMatchObject({ type: 'MODIFIED', object: { data: { value: '2' } } });
  });

  it('follows the swap of a Kubernetes mount, and reads each file once', async () => {
    await files.put('..1/a.yaml', map('a'));
    await files.put('..1/sub/b.yaml', map('b'));
    await symlink('..1', files.path('..data'));
    await symlink('..data/a.yaml', files.path('a.yaml'));
    await symlink('..data/sub', files.path('sub'));
    const directory = await files.open({ watch: true });
    expect([await namesIn(directory), directory.problems()]).toEqual(['a b', []]);
    await files.put('..2/a.yaml', map('a', '2'));
    await files.put('..2/sub/b.yaml', map('b', '2'));
    await symlink('..2', files.path('..data_tmp'));
    await rename(files.path('..data_tmp'), files.path('..data'));
    await rm(files.path('..1'), { recursive: true });
    await files.turnUntil('both have changed', async () => {
      return (await valueOf(directory, 'a')) === '2' && (await valueOf(directory, 'b')) === '2';
    });
    expect(directory.problems()).toEqual([]);
  });

  it('looks by itself each minute', async () => {
    await files.put('a.yaml', map('a'));
    const directory = await files.open({ watch: true });
    // A directory that was moved away and back is watched no more where events get lost: the poll finds it.
    await rm(files.root, { recursive: true });
    await files.turnUntil('the loss is told', async () => directory.problems().length === 1);
    expect(await namesIn(directory)).toBe('a');
    await files.put('b.yaml', map('b'));
    await files.clock.advance(60_000);
    await files.turnUntil('b is there', async () => (await namesIn(directory)) === 'b');
    expect(directory.problems()).toEqual([]);
  });

  it('ends with the cluster, and leaves no timer', async () => {
    const directory = await files.open({ watch: true });
    await files.put('a.yaml', map('a'));
    await directory.cluster.close();
    await directory.refresh();
    expect(files.clock.waiting).toBe(0);
    await expect(directory.cluster.list(CONFIG_MAP)).rejects.toMatchObject({
      code: 'GATE_CLUSTER_UNREACHABLE',
    });
  });
});
