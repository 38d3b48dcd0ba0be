import { expect, it } from 'vitest';
import { Heartbeats } from '../../src/reconcile/heartbeats.ts';
import { FakeClock } from '../support/fake-clock.ts';

function watched(): {
  clock: FakeClock;
  heartbeats: Heartbeats;
  told: string[];
  inMs: (ms: number) => number;
} {
  const clock = new FakeClock();
  const told: string[] = [];
  const heartbeats = new Heartbeats(clock, (node) => told.push(node));
  return { clock, heartbeats, told, inMs: (ms) => clock.now() + ms };
}

it('tells of a heartbeat that begins, and nothing while it goes on', async () => {
  const { clock, heartbeats, told, inMs } = watched();
  for (let beat = 0; beat < 20; beat++) {
    heartbeats.beat('node-a', inMs(90_000));
    await clock.advance(30_000);
  }
  expect(told).toEqual(['node-a']);
});

it('tells of its end once, at its end, and of its return', async () => {
  const { clock, heartbeats, told, inMs } = watched();
  heartbeats.beat('node-a', inMs(90_000));
  await clock.advance(89_999);
  expect(told).toHaveLength(1);
  await clock.advance(1);
  expect(told).toHaveLength(2);
  await clock.advance(3_600_000);
  expect(told).toHaveLength(2);
  heartbeats.beat('node-a', inMs(90_000));
  expect(told).toHaveLength(3);
});

it('tells of a Lease that is taken away, and forgets the node', async () => {
  const { clock, heartbeats, told, inMs } = watched();
  heartbeats.beat('node-a', inMs(90_000));
  heartbeats.beat('node-a', undefined);
  expect(told).toEqual(['node-a', 'node-a']);
  await clock.advance(200_000);
  expect(told).toHaveLength(2);
});

it('tells nothing of a node whose heartbeat was over when it was first heard of', () => {
  const { heartbeats, told, inMs } = watched();
  heartbeats.beat('node-a', inMs(-1));
  heartbeats.beat('node-b', undefined);
  expect(told).toEqual([]);
});

it('ends each of several on its own time, also one that came later and ends sooner', async () => {
  const { clock, heartbeats, told, inMs } = watched();
  heartbeats.beat('slow', inMs(90_000));
  heartbeats.beat('quick', inMs(20_000));
  heartbeats.beat('middle', inMs(50_000));
  told.length = 0;
  await clock.advance(20_000);
  expect(told).toEqual(['quick']);
  await clock.advance(30_000);
  expect(told).toEqual(['quick', 'middle']);
  await clock.advance(40_000);
  expect(told).toEqual(['quick', 'middle', 'slow']);
});

it('waits with one timer however many nodes there are, and with none once stopped', async () => {
  const { clock, heartbeats, inMs } = watched();
  for (let node = 0; node < 1_000; node++) heartbeats.beat(`node-${node}`, inMs(90_000 + node));
  expect(clock.waiting).toBe(1);
  heartbeats.stop();
  heartbeats.beat('node-1', inMs(90_000));
  expect(clock.waiting).toBe(0);
});
