import { describe, expect, it } from 'vitest';
import { NODE, POD } from '../../src/cluster/kinds.ts';
import { GateError } from '../../src/errors.ts';
import { aPod, outcomeOf } from '../support/rest-cluster.ts';
import { until } from '../support/until.ts';
import { get, podReflector, read, turn, unreachable, type HeldReflector } from './support/held-reads.ts';

describe('cached reads', () => {
  it('answers from a fresh copy without asking', async () => {
    const reflector = podReflector();
    reflector.put(aPod('a'));
    const { cluster, ask } = read({ reflectors: [reflector] });
    expect(await ask('a')).toEqual(aPod('a'));
    expect(cluster.reads).toHaveLength(0);
  });

  it('asks once for what the copy has not, for all who ask at that time, and reduces the answer alike', async () => {
    const { cluster, ask } = read({ reflectors: [podReflector()] });
    const asked = [ask('a'), ask('a'), ask('a')];
    await turn();
    expect(cluster.reads).toHaveLength(1);
    cluster.reads[0]?.answer(aPod('a', 'web', { spec: {} }));
    const want = { ...aPod('a'), reduced: true };
    expect(await Promise.all(asked)).toEqual([want, want, want]);
    void ask('a');
    await turn();
    expect(cluster.reads).toHaveLength(2);
  });

  it('remembers absence for a second, of that very name', async () => {
    const { cluster, clock, ask } = read({ reflectors: [podReflector()] });
    const first = ask('a');
    await turn();
    cluster.reads[0]?.answer(undefined);
    expect(await first).toBeUndefined();
    await clock.advance(999);
    expect(await ask('a')).toBeUndefined();
    expect(cluster.reads).toHaveLength(1);
    void ask('b');
    await clock.advance(1);
    void ask('a');
    await turn();
    expect(cluster.reads.map((r) => r.name.name)).toEqual(['a', 'b', 'a']);
  });

  it('answers from the copy as soon as the watch brings what was absent', async () => {
    const reflector = podReflector();
    const { cluster, ask } = read({ reflectors: [reflector] });
    const first = ask('a');
    await turn();
    cluster.reads[0]?.answer(undefined);
    await first;
    reflector.put(aPod('a'));
    expect(await ask('a')).toEqual(aPod('a'));
  });

  it('asks again where the copy does not settle the question, and answers what it learns', async () => {
    const reflector = podReflector();
    reflector.put(aPod('a'));
    const { cluster, source } = read({ reflectors: [reflector] });
    const question = (settled: boolean): Promise<unknown> =>
      source.forRequest().get(POD, { namespace: 'web', name: 'a' }, { settles: () => settled });
    expect(await question(true)).toEqual(aPod('a'));
    expect(cluster.reads).toHaveLength(0);
    const asked = question(false);
    await turn();
    cluster.reads[0]?.answer(aPod('a', 'web', { spec: {} }));
    expect(await asked).toEqual({ ...aPod('a'), reduced: true });
    const failing = question(false).catch((error: unknown) => error);
    await turn();
    cluster.reads[1]?.fail(unreachable);
    expect(await failing).toBe(unreachable);
  });

  const unusable: [string, (r: HeldReflector) => void, string][] = [
    ['not complete', (r) => (r.isSynced = false), 'not complete yet'],
    ['silent for more than 150 s', (r) => (r.ageMs = 150_001), 'silent for 150 s'],
  ];
  it.each(unusable)(
    'asks when the copy is %s, and says unsynced when that fails',
    async (_w, spoil, said) => {
      const reflector = podReflector();
      reflector.put(aPod('a'));
      spoil(reflector);
      const { cluster, ask } = read({ reflectors: [reflector] });
      const asked = ask('a');
      await turn();
      cluster.reads[0]?.answer(aPod('a'));
      expect(await asked).toMatchObject({ reduced: true });
      const failing = ask('a');
      await turn();
      cluster.reads[1]?.fail(unreachable);
      expect(await failing).toMatchObject({
        code: 'GATE_UNSYNCED',
        message: expect.stringContaining(said),
        cause: unreachable,
      });
    },
  );

  it.each(['GATE_CLUSTER_UNSUPPORTED', 'GATE_CLUSTER_FORBIDDEN'] as const)(
    'says what is to be mended where the copy is not complete: %s',
    async (code) => {
      const { cluster, ask } = read({ reflectors: [podReflector({ usable: () => false })] });
      const asked = ask('a');
      await turn();
      const fault = new GateError(code, 'scripted');
      cluster.reads[0]?.fail(fault);
      expect(await asked).toBe(fault);
    },
  );

  it('hands on the failure where the copy is fresh', async () => {
    const { cluster, ask } = read({ reflectors: [podReflector()] });
    const asked = ask('a');
    await turn();
    cluster.reads[0]?.fail(unreachable);
    expect(await asked).toBe(unreachable);
  });

  it('asks for metadata alone where the copy keeps no more', async () => {
    const { cluster, ask } = read({ reflectors: [podReflector({ metadataOnly: true })] });
    void ask('a');
    await turn();
    expect(cluster.reads[0]?.options.metadataOnly).toBe(true);
  });

  it('asks for kinds and namespaces without a copy', async () => {
    const elsewhere = podReflector({ namespace: 'other' });
    const { cluster, source, ask } = read({ reflectors: [elsewhere] });
    const asked = ask('a');
    void source.forRequest().get(NODE, { name: 'a' }, {});
    await turn();
    cluster.reads[0]?.answer(aPod('a', 'web', { spec: {} }));
    expect(await asked).toEqual(aPod('a', 'web', { spec: {} }));
    expect(cluster.reads.map((r) => r.kind.kind)).toEqual(['Pod', 'Node']);
  });

  it('forgets the oldest absence when made-up names are many, and never keeps a huge one', async () => {
    const { cluster, ask } = read({ limits: { burst: 20_000, concurrency: 1, waiting: 20_000 } });
    const ignore = async (name: string): Promise<void> => {
      const asked = ask(name);
      await turn();
      cluster.reads.at(-1)?.answer(undefined);
      await asked;
    };
    const huge = 'x'.repeat(2000);
    await ignore(huge);
    await ignore(huge);
    expect(cluster.reads).toHaveLength(2);
    const many = Array.from({ length: 10_001 }, (_, n) => `n${n}`);
    const all = Promise.all(many.map((name) => ask(name)));
    for (let n = 2; n < 10_003; n++) {
      if (cluster.reads.length <= n) await until('the next is asked', () => cluster.reads.length > n);
      cluster.reads[n]?.answer(undefined);
    }
    await all;
    const before = cluster.reads.length;
    await ask('n10000');
    await ask('n1');
    expect(cluster.reads).toHaveLength(before);
    void ask('n0');
    await turn();
    expect(cluster.reads).toHaveLength(before + 1);
  }, 30_000);
});

describe('live reads', () => {
  it('asks again for each request, and once within one', async () => {
    const { cluster, source } = read({ mode: 'live' });
    const reader = source.forRequest();
    const both = [get(reader, 'a'), get(reader, 'a')];
    await turn();
    cluster.reads[0]?.answer(aPod('a'));
    const [first, second] = await Promise.all(both);
    expect(first).toBe(second);
    expect(await get(reader, 'a')).toBe(first);
    expect(cluster.reads).toHaveLength(1);
    const absent = get(source.forRequest(), 'a');
    await turn();
    cluster.reads[1]?.answer(undefined);
    expect(await absent).toBeUndefined();
    void outcomeOf(get(source.forRequest(), 'a'));
    await turn();
    expect(cluster.reads).toHaveLength(3);
  });

  it('may ask again within a request for what failed', async () => {
    const { cluster, source } = read({ mode: 'live' });
    const reader = source.forRequest();
    const failing = outcomeOf(get(reader, 'a'));
    await turn();
    cluster.reads[0]?.fail(unreachable);
    expect(await failing).toBe(unreachable);
    void outcomeOf(get(reader, 'a'));
    await turn();
    expect(cluster.reads).toHaveLength(2);
  });
});

describe('sharing and limits', () => {
  it('goes on for the others when one gives up, and ends when the last one does', async () => {
    const { cluster, ask } = read();
    const [one, two] = [new AbortController(), new AbortController()];
    const [first, second] = [ask('a', one.signal), ask('a', two.signal)];
    await turn();
    const reason = new Error('too late');
    one.abort(reason);
    expect(await first).toBe(reason);
    expect(cluster.reads[0]?.options.signal?.aborted).toBe(false);
    two.abort(reason);
    expect(await second).toBe(reason);
    expect(cluster.reads[0]?.options.signal?.aborted).toBe(true);
    const third = ask('a');
    await turn();
    cluster.reads[1]?.answer(aPod('a'));
    expect(await third).toEqual(aPod('a'));
  });

  it('asks nothing for a request that is over already', async () => {
    const { cluster, ask } = read();
    const reason = new Error('too late');
    expect(await ask('a', AbortSignal.abort(reason))).toBe(reason);
    expect(cluster.reads).toHaveLength(0);
  });

  it('runs so many at once, lets so many wait in order, and refuses more', async () => {
    const { cluster, ask } = read({ limits: { concurrency: 2, waiting: 2 } });
    const asked = ['a', 'b', 'c', 'd'].map((name) => ask(name));
    await turn();
    expect(await ask('e')).toMatchObject({
      code: 'GATE_OVERLOADED',
      message: 'cannot read pods "web/e": too many live reads (at most 100 a second and 2 at once); retry',
    });
    expect(cluster.reads.map((r) => r.name.name)).toEqual(['a', 'b']);
    cluster.reads[1]?.answer(aPod('b'));
    await asked[1];
    await turn();
    expect(cluster.reads.map((r) => r.name.name)).toEqual(['a', 'b', 'c']);
    cluster.reads[0]?.fail(unreachable);
    await turn();
    expect(cluster.reads.map((r) => r.name.name)).toEqual(['a', 'b', 'c', 'd']);
  });

  it('gives the place of one who gave up to the next', async () => {
    const { cluster, ask } = read({ limits: { concurrency: 1, waiting: 2 } });
    const waiting = new AbortController();
    void ask('a');
    const gaveUp = ask('b', waiting.signal);
    void ask('c');
    await turn();
    waiting.abort(new Error('too late'));
    await gaveUp;
    cluster.reads[0]?.answer(undefined);
    await turn();
    expect(cluster.reads.map((r) => r.name.name)).toEqual(['a', 'c']);
    cluster.reads[1]?.answer(undefined);
    const last = ask('d');
    await turn();
    cluster.reads[2]?.answer(undefined);
    expect(await last).toBeUndefined();
  });

  it('refuses more than the rate after a burst, in both modes, and allows again as time passes', async () => {
    for (const mode of ['cached', 'live'] as const) {
      const { cluster, clock, ask } = read({ mode, limits: { burst: 2, perSecond: 10 } });
      void ask('a');
      void ask('b');
      expect(await ask('c')).toMatchObject({ code: 'GATE_OVERLOADED' });
      await clock.advance(99);
      expect(await ask('c')).toMatchObject({ code: 'GATE_OVERLOADED' });
      await clock.advance(1);
      void ask('c');
      await turn();
      expect(cluster.reads.map((r) => r.name.name)).toEqual(['a', 'b', 'c']);
    }
  });

  it('keeps the name of our own overload while the copy is not synced', async () => {
    const reflector = podReflector({ usable: () => false });
    const { ask } = read({ reflectors: [reflector], limits: { burst: 0 } });
    expect(await ask('a')).toMatchObject({ code: 'GATE_OVERLOADED' });
  });
});
