import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { GateError } from '../../src/errors.ts';
import { createLimits, type Slot } from '../../src/http/limits.ts';

const KIB = 1024;
const MIB = 1024 * KIB;

/** Whether a promise has settled by now. */
async function settled(promise: Promise<unknown>): Promise<boolean> {
  let done = false;
  const mark = (): void => {
    done = true;
  };
  promise.then(mark, mark);
  for (let turn = 0; turn < 10; turn++) await Promise.resolve();
  return done;
}

describe('room for bodies', () => {
  it('denies at once when the queue is full, and counts it', async () => {
    const limits = createLimits({ maxBytesInFlight: 16 * MIB, maxQueued: 1 });
    await limits.enter(8 * MIB);
    const waiting = limits.enter(8 * MIB);
    await expect(limits.enter(8 * MIB)).rejects.toMatchObject({
      code: 'GATE_OVERLOADED',
      message: 'pacto-gate is overloaded: 1 requests wait already: send again in a second',
    });
    expect(await settled(waiting)).toBe(false);
    expect(limits.stats()).toEqual({ running: 0, bytesInFlight: 8 * MIB, queued: 1, refused: 1 });
  });

  it('denies a body that could never have room', async () => {
    const limits = createLimits({ maxBytesInFlight: 16 * MIB });
    await expect(limits.enter(8 * MIB + 1)).rejects.toMatchObject({ code: 'GATE_OVERLOADED' });
  });

  it('allows a small body beside large ones that fill their room', async () => {
    const limits = createLimits();
    for (let count = 0; count < 7; count++) await limits.enter(8 * MIB);
    const large = limits.enter(8 * MIB);
    expect(await settled(limits.enter(4 * KIB))).toBe(true);
    expect(await settled(large)).toBe(false);
  });

  it('allows the large one at the head its turn although small ones never stop', async () => {
    const limits = createLimits({ maxBytesInFlight: 16 * MIB, maxQueued: 10_000 });
    // Small ones fill everything while no large one waits.
    const small = await Promise.all(Array.from({ length: 256 }, () => limits.enter(64 * KIB)));
    const large = limits.enter(6 * MIB);
    let steps = 0;
    for (; !(await settled(large)) && steps < 1_000; steps++) {
      small.shift()?.leave();
      // Each one that leaves is followed by another that wants its place.
      void limits.enter(64 * KIB).then((slot) => small.push(slot));
    }
    expect(await settled(large)).toBe(true);
    // 16 MiB less 6 MiB are 160 small ones, so 96 must leave first; none came in their place.
    expect(steps).toBe(96);
  });

  it('denies growing beyond the room at once, and keeps what was there', async () => {
    const limits = createLimits({ maxBytesInFlight: 16 * MIB });
    const slot = await limits.enter(0);
    slot.grow(5 * MIB);
    const other = await limits.enter(2 * MIB);
    expect(() => slot.grow(2 * MIB)).toThrow(expect.objectContaining({ code: 'GATE_OVERLOADED' }));
    expect(limits.stats().bytesInFlight).toBe(7 * MIB);
    other.leave();
    slot.grow(2 * MIB);
    expect(limits.stats().bytesInFlight).toBe(7 * MIB);
  });

  it('frees what an aborted one waited for, with the reason of its signal', async () => {
    const limits = createLimits({ maxBytesInFlight: 16 * MIB });
    const first = await limits.enter(6 * MIB);
    const controller = new AbortController();
    const head = limits.enter(8 * MIB, controller.signal);
    const behind = limits.enter(2 * MIB);
    const reason = new Error('gone');
    controller.abort(reason);
    await expect(head).rejects.toBe(reason);
    expect(await settled(behind)).toBe(true);
    first.leave();
    first.leave();
    expect(limits.stats()).toMatchObject({ bytesInFlight: 2 * MIB, queued: 0 });
  });

  it('denies numbers that leave no room for large bodies', () => {
    expect(() => createLimits({ maxBytesInFlight: 8 * MIB })).toThrow(GateError);
    expect(() => createLimits({ maxConcurrent: 0 })).toThrow(/limits: 0 at once/);
  });
});

describe('turns', () => {
  it('are given first come, first served, and once each', async () => {
    const limits = createLimits({ maxConcurrent: 1 });
    const slots = await Promise.all([1, 2, 3].map(() => limits.enter(1)));
    const order: number[] = [];
    const starts = slots.map(async (slot, index) => {
      await slot.start();
      order.push(index);
    });
    await starts[0];
    expect(limits.stats()).toMatchObject({ running: 1, queued: 2 });
    slots[0]!.leave();
    slots[0]!.leave();
    await starts[1];
    expect(limits.stats()).toMatchObject({ running: 1, queued: 1 });
    slots[1]!.leave();
    await starts[2];
    slots[2]!.leave();
    expect(order).toEqual([0, 1, 2]);
    expect(limits.stats()).toMatchObject({ running: 0, bytesInFlight: 0, queued: 0 });
  });

  it('pass over one that left while it waited', async () => {
    const limits = createLimits({ maxConcurrent: 1 });
    const [first, second, third] = await Promise.all([1, 2, 3].map(() => limits.enter(1)));
    await first!.start();
    const waiting = second!.start();
    const last = third!.start();
    second!.leave();
    first!.leave();
    await waiting;
    await last;
    expect(limits.stats()).toMatchObject({ running: 1, queued: 0 });
  });
});

describe('limits under any order of arrivals and departures', () => {
  it('never exceed their numbers, never strand anyone, and end empty', async () => {
    const step = fc.oneof(
      fc.record({ kind: fc.constant('enter' as const), bytes: fc.integer({ min: 0, max: 300 * KIB }) }),
      fc.record({ kind: fc.constant('leave' as const), at: fc.nat(50) }),
      fc.record({ kind: fc.constant('abort' as const), at: fc.nat(50) }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 80 }), async (steps) => {
        const limits = createLimits({ maxBytesInFlight: MIB, smallShareBytes: 256 * KIB, maxQueued: 20 });
        const inside: Slot[] = [];
        const controllers: AbortController[] = [];
        for (const one of steps) {
          if (one.kind === 'enter') {
            const controller = new AbortController();
            controllers.push(controller);
            limits.enter(one.bytes, controller.signal).then(
              (slot) => inside.push(slot),
              () => undefined,
            );
          } else if (one.kind === 'leave') inside.splice(one.at, 1)[0]?.leave();
          else controllers[one.at]?.abort();
          await settled(Promise.resolve());
          expect(limits.stats().bytesInFlight).toBeLessThanOrEqual(MIB);
        }
        while (inside.length > 0) {
          inside.shift()?.leave();
          await settled(Promise.resolve());
        }
        expect(limits.stats()).toMatchObject({ bytesInFlight: 0, queued: 0 });
      }),
      { numRuns: 200 },
    );
  });
});
