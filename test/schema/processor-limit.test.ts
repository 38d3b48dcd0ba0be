import { describe, expect, it } from 'vitest';

import { ProcessorLimit } from '../../src/schema/processor-limit.ts';
import { FakeClock } from '../support/fake-clock.ts';

const LIMIT_MS = 500;

/** A worker that has taken so much processor time, at each look; -1: it has ended. */
function limited(took: readonly number[], usedMs = 0) {
  const clock = new FakeClock();
  let looks = 0;
  let isExpired = false;
  const limit = new ProcessorLimit(clock);
  const worker = {
    cpuUsage() {
      const ms = took[Math.min(looks++, took.length - 1)] ?? 0;
      return ms < 0
        ? Promise.reject(new Error('ended'))
        : Promise.resolve({ user: ms * 900, system: ms * 100 });
    },
  };
  limit.start({ limitMs: LIMIT_MS, usedMs }, worker, () => (isExpired = true));
  return {
    clock,
    limit,
    looks: () => looks,
    isExpired: () => isExpired,
    /** Lets so much time pass, and what it brings about. */
    pass: async (ms: number): Promise<void> => {
      await clock.advance(ms);
      for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve));
    },
  };
}

describe('a worker that works', () => {
  it('is left alone before the limit', async () => {
    const { pass, looks, isExpired } = limited([500]);
    await pass(LIMIT_MS - 1);
    expect([looks(), isExpired()]).toEqual([0, false]);
  });

  it('is over the limit once it has taken so much', async () => {
    const { pass, isExpired } = limited([500]);
    await pass(LIMIT_MS);
    expect(isExpired()).toBe(true);
  });

  it('is given what is left, and then is over the limit', async () => {
    const { pass, isExpired } = limited([300, 501]);
    await pass(LIMIT_MS);
    expect(isExpired()).toBe(false);
    await pass(199);
    expect(isExpired()).toBe(false);
    await pass(1);
    expect(isExpired()).toBe(true);
  });

  it('is not charged with what it took before', async () => {
    const { pass, isExpired } = limited([900], 800);
    await pass(LIMIT_MS);
    expect(isExpired()).toBe(false);
  });
});

describe('a worker that does not get the processor', () => {
  it('is waited for', async () => {
    const { pass, isExpired } = limited([0]);
    for (let turn = 0; turn < 30; turn++) await pass(LIMIT_MS);
    expect(isExpired()).toBe(false);
  });

  it('is given up at last', async () => {
    const { pass, isExpired } = limited([0]);
    for (let turn = 0; turn < 60 && !isExpired(); turn++) await pass(LIMIT_MS);
    expect(isExpired()).toBe(true);
  });
});

it('says nothing of a worker that has ended, nor after it was stopped', async () => {
  const ended = limited([-1]);
  await ended.pass(LIMIT_MS);
  expect(ended.isExpired()).toBe(false);
  const stopped = limited([500]);
  stopped.limit.stop();
  await stopped.pass(LIMIT_MS);
  expect([stopped.looks(), stopped.isExpired()]).toEqual([0, false]);
});
