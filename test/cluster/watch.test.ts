import { describe, expect, it } from 'vitest';
import type { ListOptions } from '../../src/cluster/cluster.ts';
import type { KubeObject } from '../../src/cluster/objects.ts';
import type { Change, Reflector } from '../../src/cluster/watch.ts';
import { until } from '../support/until.ts';
import { page, pod, reflect, refused, ScriptedCluster } from './support/scripted-watch.ts';

const names = (reflector: Reflector): string[] =>
  [...reflector.store.values()].map((object) => object.metadata.name ?? '').sort();

const brief = (changes: Change[]): string[] => changes.map((c) => `${c.type} ${c.object.metadata.name}`);

describe('the first list', () => {
  it('walks pages, and shows nothing before the last one is there', async () => {
    const cluster = new ScriptedCluster(page('5', [pod('a', '1')], 'more'), page('5', [pod('b', '2')]));
    const { reflector, changes, reports } = reflect(cluster, {
      pageSize: 1,
      select: { namespace: 'web', labelSelector: 'x=y' },
    });
    expect([reflector.synced(), reflector.freshnessMs(), reflector.store.size]).toEqual([false, Infinity, 0]);
    const watch = await cluster.nextWatch(1);
    expect(cluster.lists).toMatchObject([
      { limit: 1, namespace: 'web', labelSelector: 'x=y' },
      { limit: 1, namespace: 'web', labelSelector: 'x=y', continueToken: 'more' },
    ]);
    expect(watch.options).toMatchObject({ resourceVersion: '5', namespace: 'web', labelSelector: 'x=y' });
    expect([reflector.synced(), names(reflector)]).toEqual([true, ['a', 'b']]);
    expect(brief(changes)).toEqual(['added a', 'added b']);
    expect(reports).toEqual([{ type: 'listed', objects: 2, tookMs: 0 }]);
  });

  it('keeps only the projection, never managedFields or the last applied configuration', async () => {
    const full = pod('a', '1', { spec: { nodeName: 'n1', containers: [{}] } });
    Object.assign(full.metadata, {
      managedFields: [{}],
      annotations: { 'kubectl.kubernetes.io/last-applied-configuration': '{}', kept: 'yes' },
    });
    const bare = pod('b', '1');
    Object.assign(bare.metadata, { managedFields: [{}] });
    const cluster = new ScriptedCluster(page('5', [full, bare]));
    const seen: KubeObject[] = [];
    const { reflector } = reflect(cluster, {
      metadataOnly: true,
      project: (object) => {
        seen.push(object);
        return { apiVersion: 'v1', kind: 'Pod', metadata: object.metadata, nodeName: object['spec'] };
      },
    });
    const watch = await cluster.nextWatch(1);
    expect(cluster.lists[0]?.metadataOnly).toBe(true);
    expect(watch.options.metadataOnly).toBe(true);
    expect(seen[0]?.metadata).not.toHaveProperty('managedFields');
    expect(reflector.store.get({ namespace: 'web', name: 'a' })).toEqual({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: {
        name: 'a',
        namespace: 'web',
        uid: 'uid-a',
        resourceVersion: '1',
        annotations: { kept: 'yes' },
      },
      nodeName: full['spec'],
    });
    expect(reflector.store.get({ namespace: 'web', name: 'b' })?.metadata).not.toHaveProperty(
      'managedFields',
    );
    expect(full.metadata).toHaveProperty('managedFields');
  });

  it('begins again with larger pages where the snapshot expires midway', async () => {
    const gone = refused('GATE_CLUSTER_GONE');
    const first = page('5', [pod('old', '1')], 'more');
    const cluster = new ScriptedCluster(first, gone, first, gone, page('9', [pod('new', '8')]));
    const { reflector, clock, changes } = reflect(cluster, { pageSize: 400 });
    await until('the list failed', () => clock.waiting === 1);
    expect(reflector.store.size).toBe(0);
    await clock.advance(125);
    await until('it failed again', () => cluster.lists.length === 4 && clock.waiting === 1);
    await clock.advance(250);
    await cluster.nextWatch(1);
    expect(cluster.lists.map((l) => [l.limit, l.continueToken])).toEqual([
      [400, undefined],
      [400, 'more'],
      [800, undefined],
      [800, 'more'],
      [1000, undefined],
    ]);
    expect(brief(changes)).toEqual(['added new']);
  });

  it('backs off between half and the whole of a doubled delay up to 10 s, and never stops', async () => {
    const cluster = new ScriptedCluster(refused('GATE_CLUSTER_UNREACHABLE'));
    const randoms = [0, 1, 0, 1, 0, 1, 0, 1, 0, 1];
    const { clock, reports } = reflect(cluster, { random: () => randoms[reports.length] ?? 0 });
    for (let failed = 1; failed <= 9; failed++) {
      await until(`failure ${failed}`, () => reports.length === failed && clock.waiting === 1);
      const last = reports.at(-1);
      await clock.advance(last?.type === 'failed' ? last.retryMs : 0);
    }
    await until('the tenth', () => reports.length === 10);
    expect(reports.map((r) => (r.type === 'failed' ? [r.during, r.retryMs] : r))).toEqual(
      [125, 500, 500, 2000, 2000, 8000, 5000, 10_000, 5000, 10_000].map((ms) => ['list', ms]),
    );
  });

  it('waits at least as long as the server asks', async () => {
    const cluster = new ScriptedCluster(refused('GATE_CLUSTER_UNREACHABLE', { retryAfterSeconds: 7 }));
    const { reports } = reflect(cluster);
    await until('it failed', () => reports.length === 1);
    expect(reports).toMatchObject([{ retryMs: 7000 }]);
  });
});

describe('the watch', () => {
  it('applies events and tells what was there before', async () => {
    const cluster = new ScriptedCluster(page('5', [pod('a', '1')]));
    const { reflector, changes } = reflect(cluster);
    const watch = await cluster.nextWatch(1);
    watch.send(
      { type: 'MODIFIED', object: pod('a', '6') },
      { type: 'ADDED', object: pod('b', '7') },
      { type: 'DELETED', object: pod('a', '8') },
    );
    await until('all is applied', () => changes.length === 4);
    expect(brief(changes)).toEqual(['added a', 'modified a', 'added b', 'deleted a']);
    expect(changes[1]).toMatchObject({ before: pod('a', '1'), object: pod('a', '6') });
    expect(names(reflector)).toEqual(['b']);
  });

  it('goes on at once from the last version after a clean end, without a list', async () => {
    const cluster = new ScriptedCluster(page('5', []));
    const { clock } = reflect(cluster);
    (await cluster.nextWatch(1)).send({ type: 'ADDED', object: pod('a', '6') }, 'end');
    const second = await cluster.nextWatch(2);
    second.send({ type: 'BOOKMARK', resourceVersion: '70' }, 'end');
    const third = await cluster.nextWatch(3);
    await clock.advance(1000);
    third.send('end');
    await cluster.nextWatch(4);
    expect(cluster.watches.map((w) => w.options.resourceVersion)).toEqual(['5', '6', '70', '70']);
    expect(cluster.lists).toHaveLength(1);
  });

  it('backs off from a server that ends watches as soon as they begin', async () => {
    const cluster = new ScriptedCluster(page('5', []));
    const { clock, reports } = reflect(cluster);
    (await cluster.nextWatch(1)).send('end');
    await until('it waits', () => clock.waiting === 1);
    expect(reports.at(-1)).toMatchObject({ type: 'failed', during: 'watch', retryMs: 125 });
    await clock.advance(125);
    (await cluster.nextWatch(2)).send('end');
    await until('it waits', () => clock.waiting === 1);
    expect(reports.at(-1)).toMatchObject({ retryMs: 250 });
    expect(cluster.watches).toHaveLength(2);
  });

  it('resumes from the last version after a broken connection, and forgets the delay after an event', async () => {
    const cluster = new ScriptedCluster(page('5', []));
    const { clock, reports, reflector } = reflect(cluster);
    const broken = refused('GATE_CLUSTER_UNREACHABLE');
    (await cluster.nextWatch(1)).send({ type: 'ADDED', object: pod('a', '6') }, broken);
    for (const [watch, delayMs] of [
      [2, 125],
      [3, 250],
    ] as const) {
      await until('it waits', () => clock.waiting === 1);
      expect(reports.at(-1)).toMatchObject({ type: 'failed', during: 'watch', retryMs: delayMs });
      await clock.advance(delayMs);
      (await cluster.nextWatch(watch)).send(...(watch === 2 ? [broken] : []));
    }
    cluster.watches[2]!.send({ type: 'BOOKMARK', resourceVersion: '9' }, broken);
    await until('it waits', () => clock.waiting === 1);
    expect(reports.at(-1)).toMatchObject({ retryMs: 125 });
    expect(cluster.watches.map((w) => w.options.resourceVersion)).toEqual(['5', '6', '6']);
    expect([cluster.lists.length, names(reflector)]).toEqual([1, ['a']]);
  });

  it('lists again when the version is too old: the store stays whole, and what is gone is told as deleted', async () => {
    const cluster = new ScriptedCluster(
      page('5', [pod('same', '1'), pod('changed', '2'), pod('gone', '3')]),
      page('9', [pod('same', '1')], 'more'),
      page('9', [pod('changed', '8'), pod('new', '9')]),
    );
    const seenBetween: unknown[] = [];
    const list = cluster.list.bind(cluster);
    const { reflector, changes, reports } = reflect(
      Object.assign(cluster, {
        list: (kind: unknown, options: ListOptions) => {
          if (cluster.watches.length > 0) seenBetween.push(names(reflector));
          return list(kind, options);
        },
      }),
    );
    const watch = await cluster.nextWatch(1);
    changes.length = 0;
    watch.send(refused('GATE_CLUSTER_GONE'));
    const second = await cluster.nextWatch(2);
    expect(second.options.resourceVersion).toBe('9');
    expect(seenBetween).toEqual([
      ['changed', 'gone', 'same'],
      ['changed', 'gone', 'same'],
    ]);
    expect(brief(changes)).toEqual(['deleted gone', 'modified changed', 'added new']);
    expect(names(reflector)).toEqual(['changed', 'new', 'same']);
    expect(reports.map((r) => r.type)).toEqual(['listed', 'expired', 'listed']);
  });

  it('backs off where versions expire as soon as they are listed', async () => {
    const cluster = new ScriptedCluster(page('5', []));
    const { clock, reports } = reflect(cluster);
    (await cluster.nextWatch(1)).send(refused('GATE_CLUSTER_GONE'));
    (await cluster.nextWatch(2)).send(refused('GATE_CLUSTER_GONE'));
    await until('it waits', () => clock.waiting === 1);
    expect(reports.at(-1)).toMatchObject({ type: 'failed', retryMs: 250 });
    expect(cluster.lists).toHaveLength(2);
  });

  it('suspects the version after three answers without sense, and lists anew', async () => {
    const cluster = new ScriptedCluster(page('5', [pod('a', '1')]), page('9', [pod('b', '9')]));
    const { clock, reflector, reports } = reflect(cluster);
    for (const watch of [1, 2, 3]) {
      (await cluster.nextWatch(watch)).send(refused('GATE_CLUSTER_ANSWER'));
      await until('it waits', () => clock.waiting === 1);
      expect([cluster.lists.length, names(reflector)]).toEqual([1, ['a']]);
      await clock.advance(10_000);
    }
    const fourth = await cluster.nextWatch(4);
    expect(fourth.options.resourceVersion).toBe('9');
    expect(names(reflector)).toEqual(['b']);
    expect(reports).toContainEqual({ type: 'expired', code: 'GATE_CLUSTER_ANSWER' });
  });

  it('survives a consumer and a projection that throw, and says so', async () => {
    const cluster = new ScriptedCluster(page('5', []));
    const fault = new Error('consumer');
    const { reflector, reports } = reflect(cluster, {
      onChange: () => {
        throw fault;
      },
      project: (object) => {
        if (object.metadata.name === 'bad') throw fault;
        return object;
      },
    });
    (await cluster.nextWatch(1)).send(
      { type: 'ADDED', object: pod('bad', '6') },
      { type: 'ADDED', object: pod('good', '7') },
    );
    await until('both are stored', () => reflector.store.size === 2);
    expect(reports.filter((r) => r.type === 'consumer-failed')).toEqual(
      Array.from({ length: 3 }, () => ({ type: 'consumer-failed', error: fault })),
    );
  });

  it('goes on when even the report throws', async () => {
    const cluster = new ScriptedCluster(page('5', []));
    const { reflector } = reflect(cluster, {
      report: () => {
        throw new Error('report');
      },
    });
    (await cluster.nextWatch(1)).send({ type: 'ADDED', object: pod('a', '6') });
    await until('it is stored', () => reflector.store.size === 1);
    expect(reflector.usable()).toBe(true);
  });
});

describe('stopping', () => {
  it.each(['watching', 'waiting'] as const)(
    'ends for good while it is %s, and leaves no timer',
    async (state) => {
      const cluster = new ScriptedCluster(
        state === 'watching' ? page('5', []) : refused('GATE_CLUSTER_UNREACHABLE'),
      );
      const { reflector, clock, reports } = reflect(cluster);
      if (state === 'watching') await cluster.nextWatch(1);
      else await until('it waits', () => clock.waiting === 1);
      const before = reports.length;
      await reflector.stop();
      reflector.start();
      await reflector.stop();
      expect([clock.waiting, reports.length]).toEqual([0, before]);
    },
  );
});
