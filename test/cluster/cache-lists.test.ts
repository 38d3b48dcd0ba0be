/** What decisions select by labels, what they need whole, and what is told of the reads that go out. */
import { describe, expect, it } from 'vitest';
import { createReader, type ReaderSource } from '../../src/cluster/cache.ts';
import type { Reader } from '../../src/cluster/cluster.ts';
import { POD } from '../../src/cluster/kinds.ts';
import type { KubeObject } from '../../src/cluster/objects.ts';
import type { Reflector } from '../../src/cluster/watch.ts';
import { GateError } from '../../src/errors.ts';
import type { LiveCallFacts } from '../../src/metrics.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { aPod, outcomeOf } from '../support/rest-cluster.ts';
import {
  get,
  HeldCluster,
  podReflector,
  read,
  turn,
  unreachable,
  type HeldReflector,
} from './support/held-reads.ts';

/** Labels, in a namespace. */
function labelled(name: string, labels: Record<string, string>, namespace = 'web'): KubeObject {
  return { ...aPod(name), metadata: { name, namespace, labels } };
}

describe('lists of a watch', () => {
  const wholePods = (changes: Partial<Reflector> = {}): HeldReflector =>
    podReflector({ whole: true, reduce: (object) => object, ...changes });
  const list = (source: ReaderSource, labelSelector?: string, namespace = 'web'): Promise<unknown> =>
    outcomeOf(
      source
        .forRequest()
        .list(POD, { namespace, ...(labelSelector !== undefined && { labelSelector }) }, {})
        .then((found) => found.map(({ metadata }) => metadata.name)),
    );

  it('hold what the selector selects in that namespace, and ask nothing', async () => {
    const reflector = wholePods();
    reflector.put(labelled('a', { tier: 'x' }));
    reflector.put(labelled('b', { tier: 'y' }));
    reflector.put(labelled('c', { tier: 'x' }, 'other'));
    const { cluster, source } = read({ reflectors: [reflector] });
    expect(await list(source, 'tier=x')).toEqual(['a']);
    expect(await list(source)).toEqual(['a', 'b']);
    expect(await list(source, 'tier=x', 'nowhere')).toEqual([]);
    reflector.put(labelled('d', { tier: 'x' }));
    expect(await list(source, 'tier=x')).toEqual(['a', 'd']);
    expect(cluster.lists).toHaveLength(0);
  });

  it('are looked for again after every change, and only then', async () => {
    const reflector = wholePods();
    let looks = 0;
    const look = reflector.store.values.bind(reflector.store);
    reflector.store.values = (namespace) => {
      looks++;
      return look(namespace);
    };
    const { source } = read({ reflectors: [reflector] });
    for (let n = 0; n < 1_001; n++) {
      reflector.put(labelled(`n${String(n)}`, { tier: 'many' }));
    }
    reflector.put(labelled('a', { tier: 'x' }));
    for (let n = 0; n < 3; n++) expect(await list(source, 'tier=x')).toEqual(['a']);
    expect(looks).toBe(1);
    reflector.put(labelled('a', { tier: 'y' }));
    expect(await list(source, 'tier=x')).toEqual([]);
    reflector.put(labelled('b', { tier: 'x' }));
    for (let n = 0; n < 3; n++) expect(await list(source, 'tier=x')).toEqual(['b']);
    expect(looks).toBe(3);
    // More than are worth the memory, and more different ones than anybody writes.
    for (let n = 0; n < 2; n++) expect(await list(source, 'tier=many')).toHaveLength(1_001);
    expect(looks).toBe(5);
    for (let n = 0; n < 100; n++) await list(source, `tier=t${String(n)}`);
    await list(source, 'tier=x');
    expect(looks).toBe(106);
  });

  it('say the same for as long as a request lasts', async () => {
    const reflector = wholePods();
    const { source } = read({ reflectors: [reflector] });
    const reader = source.forRequest();
    const first = await reader.list(POD, { namespace: 'web' }, {});
    reflector.put(labelled('a', {}));
    expect(await reader.list(POD, { namespace: 'web' }, {})).toBe(first);
    expect(await list(source)).toEqual(['a']);
  });

  const cannot: [string, readonly Reflector[], string][] = [
    ['nothing watches them', [], 'nothing watches them'],
    ['what is watched is kept in part', [podReflector()], 'nothing watches them'],
    [
      'a selector leaves some out of what is watched',
      [wholePods({ selective: true })],
      'nothing watches them',
    ],
    ['another namespace is watched', [wholePods({ namespace: 'other' })], 'nothing watches them'],
    ['the copy is not complete', [wholePods({ usable: () => false, synced: () => false })], 'not complete'],
    [
      'the copy is silent for too long',
      [wholePods({ usable: () => false, freshnessMs: () => 150_001 })],
      'silent for 150 s',
    ],
  ];
  it.each(cannot)('are refused and never asked for where %s', async (_w, reflectors, said) => {
    const { cluster, source } = read({ reflectors: [...reflectors] });
    expect(await list(source)).toMatchObject({
      code: 'GATE_UNSYNCED',
      message: expect.stringContaining(said) as string,
    });
    expect(cluster.lists).toHaveLength(0);
  });

  it('are refused where files may hold more, in both modes', async () => {
    const doubt = new GateError('GATE_UNSYNCED', 'a file cannot be read');
    for (const mode of ['cached', 'live'] as const) {
      const cluster = Object.assign(new HeldCluster(), { doubt: () => doubt });
      const source = createReader({ mode, cluster, reflectors: [wholePods()], clock: new FakeClock() });
      expect(await list(source)).toBe(doubt);
      expect(cluster.lists).toHaveLength(0);
    }
  });
});

describe('live lists', () => {
  const list = (reader: Reader, signal?: AbortSignal): Promise<unknown> =>
    outcomeOf(
      reader.list(POD, { namespace: 'web', labelSelector: 'a=b' }, signal === undefined ? {} : { signal }),
    );
  const pods = (count: number): KubeObject[] => Array.from({ length: count }, (_, n) => aPod(`p${n}`));

  it('are one call for a request, exact, and shared between requests of that time', async () => {
    const { cluster, source } = read({ mode: 'live' });
    const reader = source.forRequest();
    const asked = [list(reader), list(source.forRequest())];
    await turn();
    expect(cluster.lists).toHaveLength(1);
    expect(cluster.lists[0]?.options).toEqual({
      namespace: 'web',
      labelSelector: 'a=b',
      exact: true,
      limit: 501,
      maxBytes: 16 * 1024 * 1024,
      signal: expect.any(AbortSignal) as AbortSignal,
    });
    cluster.lists[0]?.answer(pods(2));
    expect(await Promise.all(asked)).toEqual([pods(2), pods(2)]);
    expect(await list(reader)).toEqual(pods(2));
    expect(cluster.lists).toHaveLength(1);
  });

  it.each<[string, number, string | undefined]>([
    ['of 501', 501, undefined],
    ['that goes on', 3, 'more'],
  ])('refuse a list %s, for a part of it is no answer', async (_w, count, token) => {
    const { cluster, source } = read({ mode: 'live' });
    const asked = list(source.forRequest());
    await turn();
    cluster.lists[0]?.answer(pods(count), token);
    expect(await asked).toMatchObject({ code: 'GATE_TOO_MANY_OBJECTS' });
  });

  it('take 500', async () => {
    const { cluster, source } = read({ mode: 'live' });
    const asked = list(source.forRequest());
    await turn();
    cluster.lists[0]?.answer(pods(500));
    expect(await asked).toHaveLength(500);
  });

  it('end with the request that waits for them, and are capped', async () => {
    const { cluster, source } = read({ mode: 'live', limits: { burst: 1 } });
    const waiting = new AbortController();
    const asked = list(source.forRequest(), waiting.signal);
    await turn();
    const reason = new Error('too late');
    waiting.abort(reason);
    expect(await asked).toBe(reason);
    expect(cluster.lists[0]?.options.signal?.aborted).toBe(true);
    expect(await list(source.forRequest())).toMatchObject({ code: 'GATE_OVERLOADED' });
  });
});

describe('whole objects', () => {
  const whole = (source: ReaderSource): Promise<unknown> =>
    outcomeOf(source.forRequest().get(POD, { namespace: 'web', name: 'a' }, { whole: true }));

  it('never come from a watch that keeps a part', async () => {
    const reflector = podReflector();
    reflector.put(aPod('a'));
    const { cluster, source } = read({ reflectors: [reflector] });
    const asked = whole(source);
    await turn();
    expect(cluster.reads[0]?.options.exact).toBe(true);
    cluster.reads[0]?.answer(aPod('a', 'web', { spec: {} }));
    expect(await asked).toEqual(aPod('a', 'web', { spec: {} }));
  });

  it('come from a watch that keeps all, and a miss is read exactly', async () => {
    const reflector = podReflector({ whole: true, reduce: (object) => object });
    const { cluster, source } = read({ reflectors: [podReflector(), reflector] });
    const asked = whole(source);
    await turn();
    expect(cluster.reads[0]?.options).toMatchObject({ exact: true });
    cluster.reads[0]?.answer(aPod('a', 'web', { spec: {} }));
    expect(await asked).toEqual(aPod('a', 'web', { spec: {} }));
    reflector.put(aPod('a'));
    expect(await whole(source)).toEqual(aPod('a'));
    expect(cluster.reads).toHaveLength(1);
  });
});

describe('what is told of live reads', () => {
  it('is how each ended, and how long it took', async () => {
    const told: LiveCallFacts[] = [];
    const { cluster, clock, source } = read({
      mode: 'live',
      limits: { burst: 3 },
      report: (facts) => void told.push(facts),
    });
    const answered = outcomeOf(get(source.forRequest(), 'a'));
    await turn();
    await clock.advance(250);
    cluster.reads[0]?.answer(undefined);
    await answered;
    const failed = outcomeOf(get(source.forRequest(), 'b'));
    await turn();
    cluster.reads[1]?.fail(unreachable);
    await failed;
    const waiting = new AbortController();
    const abandoned = outcomeOf(get(source.forRequest(), 'c', waiting.signal));
    await turn();
    waiting.abort(new Error('too late'));
    await abandoned;
    await turn();
    for (let n = 0; n < 2; n++) void outcomeOf(get(source.forRequest(), `d${n}`));
    await turn();
    expect(told.map(({ call, outcome, durationSeconds }) => [call, outcome, durationSeconds])).toEqual([
      ['get', 'answered', 0.25],
      ['get', 'failed', 0],
      ['get', 'abandoned', 0],
      ['get', 'refused', 0],
    ]);
  });
});
