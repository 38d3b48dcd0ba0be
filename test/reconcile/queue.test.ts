import { describe, expect, it } from 'vitest';
import { GateError } from '../../src/errors.ts';
import { Queue, type QueueOptions } from '../../src/reconcile/queue.ts';
import { FakeClock } from '../support/fake-clock.ts';

interface Bench {
  readonly clock: FakeClock;
  readonly queue: Queue;
  /** Keys, as work on them began. */
  readonly begun: string[];
  readonly failures: (readonly [string, number])[];
  /** Ends the work on a key; with an error it fails. */
  readonly end: (key: string, error?: unknown) => Promise<void>;
}

function bench(options: Partial<QueueOptions> = {}): Bench {
  const clock = new FakeClock();
  const begun: string[] = [];
  const failures: (readonly [string, number])[] = [];
  const running = new Map<string, PromiseWithResolvers<void>>();
  const queue = new Queue({
    clock,
    random: () => 1,
    workers: 2,
    work(key, signal) {
      begun.push(key);
      const work = Promise.withResolvers<void>();
      signal.addEventListener('abort', () => work.reject(signal.reason as Error), { once: true });
      running.set(key, work);
      return work.promise;
    },
    onFailure: (key, _error, retryMs) => failures.push([key, retryMs]),
    ...options,
  });
  return {
    clock,
    queue,
    begun,
    failures,
    async end(key, error) {
      const work = running.get(key);
      if (error === undefined) work?.resolve();
      else work?.reject(error);
      await clock.advance(0);
    },
  };
}

describe('a key in the queue', () => {
  it('is worked on once, however often it is asked for', async () => {
    const { queue, begun, clock } = bench({ workers: 1 });
    for (const key of ['first', 'a', 'a', 'a']) queue.add(key, 'change');
    await clock.advance(0);
    expect(begun).toEqual(['first']);
    expect(queue.facts()).toMatchObject({ waiting: 1, running: 1 });
  });

  it('is worked on once more where it is asked for meanwhile, and never twice at a time', async () => {
    const { queue, begun, end } = bench();
    queue.add('a', 'change');
    queue.add('a', 'change');
    queue.add('a', 'change');
    expect(begun).toEqual(['a']);
    await end('a');
    expect(begun).toEqual(['a', 'a']);
    await end('a');
    expect(begun).toEqual(['a', 'a']);
    expect(queue.facts()).toMatchObject({ waiting: 0, running: 0, done: 2 });
  });

  it('comes before changes where somebody waits for it, and those before what is due', async () => {
    const { queue, begun, end } = bench({ workers: 1 });
    queue.add('first', 'timer');
    queue.add('due', 'timer');
    queue.add('changed', 'change');
    queue.add('asked', 'demand');
    queue.add('due', 'demand');
    for (const key of ['first', 'asked', 'due', 'changed']) await end(key);
    expect(begun).toEqual(['first', 'asked', 'due', 'changed']);
  });

  it('that is merely due has its turn under a storm of changes', async () => {
    const { queue, begun, end } = bench({ workers: 1 });
    queue.add('due', 'timer');
    queue.add('due too', 'timer');
    await end('due');
    queue.add('due', 'timer');
    for (let turn = 0; turn < 20; turn++) {
      queue.add(`change ${String(turn)}`, 'change');
      await end(begun.at(-1) ?? '');
    }
    expect(begun.slice(2)).toContain('due');
    expect(begun.filter((key) => key.startsWith('change')).length).toBeGreaterThan(15);
  });

  it('leaves other keys their workers', () => {
    const { queue, begun } = bench({ workers: 3 });
    for (const key of ['slow', 'a', 'b', 'c']) queue.add(key, 'change');
    expect(begun).toEqual(['slow', 'a', 'b']);
  });

  it('is due after its time, the earlier of two', async () => {
    const { queue, begun, clock } = bench();
    queue.addAfter('a', 5_000);
    queue.addAfter('a', 2_000);
    queue.addAfter('b', 3_000);
    await clock.advance(1_999);
    expect(begun).toEqual([]);
    await clock.advance(1);
    expect(begun).toEqual(['a']);
    await clock.advance(1_000);
    expect(begun).toEqual(['a', 'b']);
    expect(clock.waiting).toBe(0);
  });

  it('is not due any more once it was worked on for another reason', async () => {
    const { queue, begun, end, clock } = bench();
    queue.addAfter('a', 5_000);
    queue.add('a', 'change');
    await end('a');
    await clock.advance(10_000);
    expect(begun).toEqual(['a']);
  });

  it('is forgotten with what waits of it', async () => {
    const { queue, begun, clock } = bench({ workers: 1 });
    queue.add('first', 'change');
    queue.add('a', 'change');
    queue.addAfter('b', 1_000);
    queue.forget('a');
    queue.forget('b');
    await clock.advance(2_000);
    expect(begun).toEqual(['first']);
    expect(queue.facts()).toMatchObject({ waiting: 0, delayed: 0 });
  });
});

describe('work that fails', () => {
  it('is tried again after ever longer, up to five minutes', async () => {
    const { queue, failures, end, clock } = bench();
    queue.add('a', 'change');
    for (let attempt = 0; attempt < 15; attempt++) {
      await end('a', new Error('no'));
      await clock.advance(failures.at(-1)?.[1] ?? 0);
    }
    expect(failures.slice(0, 3).map(([, ms]) => ms)).toEqual([50, 100, 200]);
    expect(failures.at(-1)).toEqual(['a', 300_000]);
  });

  it('begins with the shortest again once it has succeeded', async () => {
    const { queue, failures, end, clock } = bench();
    queue.add('a', 'change');
    await end('a', new Error('no'));
    await clock.advance(50);
    await end('a');
    queue.add('a', 'change');
    await end('a', new Error('no'));
    expect(failures.map(([, ms]) => ms)).toEqual([50, 50]);
  });

  it('waits for as long as the API server asked', async () => {
    const { queue, begun, failures, end, clock } = bench();
    queue.add('a', 'change');
    await end(
      'a',
      new GateError('GATE_CLUSTER_THROTTLED', 'slow down', { fields: { retryAfterSeconds: 7 } }),
    );
    expect(failures).toEqual([['a', 7_000]]);
    await clock.advance(6_999);
    expect(begun).toEqual(['a']);
    await clock.advance(1);
    expect(begun).toEqual(['a', 'a']);
  });

  it('is tried at once where the key is asked for', async () => {
    const { queue, begun, end } = bench();
    queue.add('a', 'change');
    await end('a', new Error('no'));
    queue.add('a', 'change');
    expect(begun).toEqual(['a', 'a']);
  });
});

describe('a queue that stops', () => {
  it('aborts what is worked on, and takes nothing more', async () => {
    const { queue, begun, failures, clock } = bench({ workers: 1 });
    queue.add('a', 'change');
    queue.add('b', 'change');
    queue.addAfter('c', 1_000);
    await queue.stop();
    queue.add('d', 'demand');
    await clock.advance(10_000);
    expect(begun).toEqual(['a']);
    expect(failures).toEqual([]);
    expect(clock.waiting).toBe(0);
  });
});
