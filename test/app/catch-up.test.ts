import { describe, expect, it } from 'vitest';
import { CatchUp } from '../../src/app/catch-up.ts';

describe('work that catches up with changes', () => {
  it('looks once at changes of one turn, and once more at those that come meanwhile', async () => {
    const seen: number[] = [];
    let changes = 0;
    const catchUp = new CatchUp(
      async () => {
        seen.push(changes);
        if (changes === 2) {
          changes++;
          catchUp.wake();
          catchUp.wake();
        }
        await Promise.resolve();
      },
      () => undefined,
    );
    for (let change = 0; change < 2; change++) {
      changes++;
      catchUp.wake();
    }
    await catchUp.settled();
    expect(seen).toEqual([2, 3]);
  });

  it('tells of what it throws, and goes on with the next change', async () => {
    const errors: unknown[] = [];
    let runs = 0;
    const catchUp = new CatchUp(
      () => {
        runs++;
        return runs === 1 ? Promise.reject(new Error('first')) : Promise.resolve();
      },
      (error) => errors.push(error),
    );
    catchUp.wake();
    await catchUp.settled();
    catchUp.wake();
    await catchUp.settled();
    expect([runs, errors]).toEqual([2, [new Error('first')]]);
  });

  it('begins nothing when it is closed, and waits for what is under way', async () => {
    const held = Promise.withResolvers<void>();
    let runs = 0;
    const catchUp = new CatchUp(
      async () => {
        runs++;
        catchUp.wake();
        await held.promise;
      },
      () => undefined,
    );
    catchUp.wake();
    await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
    const closed = catchUp.close();
    held.resolve();
    await closed;
    catchUp.wake();
    await catchUp.settled();
    expect([runs, catchUp.isClosed]).toEqual([1, true]);
  });
});
