import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

import { createDirectoryCluster } from '../../src/cluster/directory.ts';
import { CONFIG_MAP, NAMESPACE, NODE, POD } from '../../src/cluster/kinds.ts';
import { getMap, map, namesIn, useDirectory, valueOf } from '../support/directory-fixture.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { describeConformance } from './conformance.ts';
import { REFUSED_QUESTION } from './conformance/reviews.ts';

describe('reading a directory', () => {
  const files = useDirectory();

  it('takes yaml, yml and json at any depth, and nothing else', async () => {
    await files.put('b.yaml', map('b'));
    await files.put('a.yml', map('a'));
    await files.put(
      'deep/er/c.json',
      '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c","namespace":"web"}}',
    );
    await files.put('notes.txt', 'not: [yaml');
    await files.put('.hidden.yaml', 'not: [yaml');
    await files.put('.git/config.yaml', 'not: [yaml');
    const directory = await files.open();
    expect(await namesIn(directory)).toBe('a b c');
    expect(directory.problems()).toEqual([]);
  });

  it('takes all documents of a file, and the items of Lists', async () => {
    await files.put('many.yaml', `---\n${map('a')}---\n# nothing\n---\n${map('b')}---\n`);
    await files.put(
      'list.yaml',
      'apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: ConfigMap, metadata: {name: c, namespace: web}}\n',
    );
    await files.put(
      'typed.json',
      '{"apiVersion":"v1","kind":"NodeList","metadata":{},"items":[{"metadata":{"name":"n"}}]}',
    );
    const directory = await files.open();
    expect([await namesIn(directory), await namesIn(directory, NODE)]).toEqual(['a b c', 'n']);
    expect(directory.problems()).toEqual([]);
  });

  it('keeps uid, status and finalizers as they are written', async () => {
    const written =
      'metadata: {name: a, namespace: web, uid: u-1, finalizers: [x/y], creationTimestamp: 2020-01-01T00:00:00Z}';
    await files.put(
      'pod.yaml',
      `apiVersion: v1\nkind: Pod\n${written}\nspec: {nodeName: node-a}\nstatus: {phase: Running}\n`,
    );
    const directory = await files.open();
    expect(await directory.cluster.get(POD, { namespace: 'web', name: 'a' })).toMatchObject({
      metadata: { uid: 'u-1', finalizers: ['x/y'], creationTimestamp: '2020-01-01T00:00:00Z' },
      spec: { nodeName: 'node-a' },
      status: { phase: 'Running' },
    });
  });

  it('puts a namespaced object without a namespace into default, and labels a Namespace with its name', async () => {
    await files.put(
      'a.yaml',
      'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, creationTimestamp: null, labels:}\n',
    );
    await files.put('n.yaml', 'apiVersion: v1\nkind: Namespace\nmetadata: {name: web}\n');
    const directory = await files.open();
    expect(directory.problems()).toEqual([]);
    expect((await directory.cluster.list(CONFIG_MAP)).items[0]?.metadata).toMatchObject({
      name: 'a',
      namespace: 'default',
    });
    const labelSelector = 'kubernetes.io/metadata.name=web';
    expect((await directory.cluster.list(NAMESPACE, { labelSelector })).items).toHaveLength(1);
  });

  it('takes kinds from its CustomResourceDefinitions, and guesses the rest', async () => {
    const crd = (name: string, scope: string): string =>
      `apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: x.example.com}\nspec: {group: example.com, scope: ${scope}, names: {kind: ${name}, plural: mice}}\n`;
    await files.put('z.yaml', crd('Mouse', 'Namespaced'));
    await files.put('a.yaml', 'apiVersion: example.com/v1\nkind: Mouse\nmetadata: {name: a}\n');
    await files.put('b.yaml', 'apiVersion: example.com/v1\nkind: Policy\nmetadata: {name: b}\n');
    await files.put(
      'c.yaml',
      'apiVersion: example.com/v1\nkind: Policy\nmetadata: {name: c, namespace: web}\n',
    );
    const directory = await files.open();
    const kind = { group: 'example.com', version: 'v1' };
    const mouse = { ...kind, kind: 'Mouse', resource: 'mice', namespaced: true };
    const policy = { ...kind, kind: 'Policy', resource: 'policies', namespaced: true };
    expect((await directory.cluster.list(mouse)).items[0]?.metadata.namespace).toBe('default');
    const policies = (await directory.cluster.list(policy)).items.map(({ metadata }) => metadata.namespace);
    expect(policies).toEqual([undefined, 'web']);
  });

  it('reads numbers exactly, alike from YAML and JSON', async () => {
    const numbers = '[1, -0, 1.0, 1.5, 1e3, 9007199254740993, 9223372036854775808]';
    await files.put(
      'a.yaml',
      `apiVersion: v1\nkind: Node\nmetadata: {name: a}\nspec: {values: ${numbers}}\n`,
    );
    await files.put(
      'b.json',
      `{"apiVersion":"v1","kind":"Node","metadata":{"name":"b"},"spec":{"values":${numbers}}}`,
    );
    const directory = await files.open();
    for (const name of ['a', 'b']) {
      const node = await directory.cluster.get(NODE, { name });
      const { values } = (node?.['spec'] ?? { values: [] }) as { values: unknown[] };
      const boxed = [Object(1), Object(1000)] as unknown[];
      expect(values).toEqual([1, 0, boxed[0], 1.5, boxed[1], 9007199254740993n, 9223372036854775808]);
      expect(values.map((one) => typeof one).join(' ')).toBe(
        'number number object number object bigint number',
      );
      expect(Object.is(values[1], 0)).toBe(true);
    }
  });

  it('never writes to the files, and lets what was written stay until its file changes', async () => {
    await files.put('a.yaml', map('a'));
    const directory = await files.open();
    const a = await getMap(directory, 'a');
    if (a === undefined) throw new Error('a is missing');
    await directory.cluster.replace(CONFIG_MAP, { ...a, data: { value: 'written' } });
    await files.put('b.yaml', map('b'));
    await directory.refresh();
    expect(await valueOf(directory, 'a')).toBe('written');
    await files.swap('a.yaml', map('a', '2'));
    await directory.refresh();
    expect(await valueOf(directory, 'a')).toBe('2');
  });

  it('refuses a directory that is not there, and a file', async () => {
    const code = 'GATE_DIRECTORY';
    await expect(createDirectoryCluster(files.path('none'), { clock: files.clock })).rejects.toMatchObject({
      code,
    });
    await files.put('a.yaml', map('a'));
    await expect(createDirectoryCluster(files.path('a.yaml'), { clock: files.clock })).rejects.toMatchObject({
      code,
    });
  });
});

describeConformance('directory', async () => {
  const path = await mkdtemp(join(tmpdir(), 'gate-conformance-'));
  const ownClock = new FakeClock();
  const { cluster } = await createDirectoryCluster(path, {
    clock: ownClock,
    watch: true,
    reviewAccess: ({ user }) => ({ allowed: user !== REFUSED_QUESTION.user, denied: false, reason: '' }),
  });
  await rm(path, { recursive: true });
  return {
    cluster,
    prefix: 'directory',
    forgetHistory: () => cluster.compactHistory(),
    passMinute: () => ownClock.advance(60_000),
    endWatches: () => cluster.endWatches(),
    breakWatches: () => cluster.breakWatches(),
  };
});
