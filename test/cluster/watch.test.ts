import { afterEach, describe, expect, it } from 'vitest';
import type { Cluster, ListOptions, Page, WatchEvent, WatchOptions } from '../../src/cluster/cluster.ts';
import { POD } from '../../src/cluster/kinds.ts';
import type { KubeObject } from '../../src/cluster/objects.ts';
import {
  createReflector,
  type Change,
  type Reflector,
  type ReflectorOptions,
  type ReflectorReport,
} from '../../src/cluster/watch.ts';
import { GateError } from '../../src/errors.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { aPod } from '../support/rest-cluster.ts';
import { until } from '../support/until.ts';

function pod(name: string, version: string, rest: Partial<KubeObject> = {}): KubeObject {
  const made = aPod(name, 'web', rest);
  return { ...made, metadata: { ...made.metadata, resourceVersion: version } };
}

function page(version: string, items: KubeObject[], continueToken?: string): Page {
  return { items, resourceVersion: version, ...(continueToken !== undefined && { continueToken }) };
}

function refused(
  code: 'GATE_CLUSTER_GONE' | 'GATE_CLUSTER_UNREACHABLE' | 'GATE_CLUSTER_ANSWER',
  fields = {},
): GateError {
  return new GateError(code, 'scripted', { fields });
}

type WatchStep = WatchEvent | Error | 'end';

/** A watch that the test feeds. */
class ScriptedWatch {
  readonly options: WatchOptions;
  readonly #steps: WatchStep[] = [];
  #wake: () => void = () => undefined;

  constructor(options: WatchOptions) {
    this.options = options;
    options.signal?.addEventListener('abort', () => this.send(options.signal?.reason as Error));
  }

  send(...steps: WatchStep[]): void {
    this.#steps.push(...steps);
    this.#wake();
  }

  async *events(): AsyncGenerator<WatchEvent, void> {
    for (;;) {
      const step = this.#steps.shift();
      if (step === undefined) await new Promise<void>((resolve) => (this.#wake = resolve));
      else if (step === 'end') return;
      else if (step instanceof Error) throw step;
      else yield step;
    }
  }
}

/** Answers lists one after the other (the last again and again), and hands watches to the test. */
class ScriptedCluster implements Pick<Cluster, 'list' | 'watch'> {
  readonly lists: ListOptions[] = [];
  readonly watches: ScriptedWatch[] = [];
  readonly #answers: (Page | Error)[];

  constructor(...answers: (Page | Error)[]) {
    this.#answers = answers;
  }

  list(_kind: unknown, options: ListOptions = {}): Promise<Page> {
    this.lists.push(options);
    const answer = this.#answers.length > 1 ? this.#answers.shift() : this.#answers[0];
    return answer instanceof Error || answer === undefined
      ? Promise.reject(answer ?? new Error('no list is scripted'))
      : Promise.resolve(answer);
  }

  watch(_kind: unknown, options: WatchOptions): AsyncIterable<WatchEvent> {
    const watch = new ScriptedWatch(options);
    this.watches.push(watch);
    return watch.events();
  }

  /** The n-th watch, as soon as it is open. */
  async nextWatch(n: number): Promise<ScriptedWatch> {
    await until(`watch ${n} is open`, () => this.watches.length >= n);
    return this.watches[n - 1]!;
  }
}

const running: Reflector[] = [];
afterEach(() => Promise.all(running.splice(0).map((one) => one.stop())));

function reflect(
  cluster: ScriptedCluster,
  options: Partial<ReflectorOptions> = {},
): { reflector: Reflector; clock: FakeClock; changes: Change[]; reports: ReflectorReport[] } {
  const clock = new FakeClock();
  const changes: Change[] = [];
  const reports: ReflectorReport[] = [];
  const reflector = createReflector({
    cluster,
    kind: POD,
    clock,
    random: () => 0,
    onChange: (change) => changes.push(change),
    report: (report) => reports.push(report),
    ...options,
  });
  running.push(reflector);
  reflector.start();
  return { reflector, clock, changes, reports };
}

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

describe('freshness', () => {
  it('counts from the last list, event or bookmark; decisions may stand on it for 150 s', async () => {
    const cluster = new ScriptedCluster(page('5', []));
    const { reflector, clock } = reflect(cluster);
    const watch = await cluster.nextWatch(1);
    await clock.advance(150_000);
    expect([reflector.freshnessMs(), reflector.usable()]).toEqual([150_000, true]);
    await clock.advance(1);
    expect([reflector.synced(), reflector.usable()]).toEqual([true, false]);
    watch.send({ type: 'BOOKMARK', resourceVersion: '6' });
    await until('it is heard', () => reflector.freshnessMs() === 0);
    expect(reflector.usable()).toBe(true);
  });

  it('is not renewed by a watch that ends in good order without a word', async () => {
    const cluster = new ScriptedCluster(page('5', []));
    const { reflector, clock } = reflect(cluster);
    const watch = await cluster.nextWatch(1);
    await clock.advance(5000);
    watch.send('end');
    await cluster.nextWatch(2);
    expect(reflector.freshnessMs()).toBe(5000);
  });
});

describe('a watch that ends in good order', () => {
  it.each([
    ['is begun with a list where nothing was heard for half a minute: bookmarks may never come', 30_001, 2],
    ['goes on where it was, where something was heard', 30_000, 1],
  ])('%s', async (_title, silentMs, lists) => {
    const cluster = new ScriptedCluster(page('5', []), page('9', [pod('a', '8')]));
    const { reflector, clock } = reflect(cluster);
    const watch = await cluster.nextWatch(1);
    await clock.advance(70_000);
    watch.send({ type: 'BOOKMARK', resourceVersion: '6' });
    await until('it is heard', () => reflector.freshnessMs() === 0);
    await clock.advance(silentMs);
    watch.send('end');
    const second = await cluster.nextWatch(2);
    expect([cluster.lists.length, second.options.resourceVersion]).toEqual([lists, lists === 2 ? '9' : '6']);
    expect(reflector.freshnessMs()).toBe(lists === 2 ? 0 : silentMs);
  });
});

describe('a watch that could not be had for 150 s', () => {
  it('is begun with a list, which tells the state at once', async () => {
    const cluster = new ScriptedCluster(page('5', []), page('9', [pod('a', '8')]));
    const { reflector, clock } = reflect(cluster);
    (await cluster.nextWatch(1)).send(refused('GATE_CLUSTER_UNREACHABLE'));
    await until('it waits', () => clock.waiting === 1);
    // The second watch stands for all that time without a word, and breaks.
    await clock.advance(10_000);
    const second = await cluster.nextWatch(2);
    expect(second.options.resourceVersion).toBe('5');
    await clock.advance(150_000);
    second.send(refused('GATE_CLUSTER_UNREACHABLE'));
    await until('it waits', () => clock.waiting === 1);
    await clock.advance(10_000);
    expect((await cluster.nextWatch(3)).options.resourceVersion).toBe('9');
    expect([reflector.usable(), reflector.store.size]).toEqual([true, 1]);
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
