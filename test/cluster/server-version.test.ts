import { describe, expect, it } from 'vitest';
import type { ServerVersion } from '../../src/cluster/cluster.ts';
import { followServerVersion } from '../../src/cluster/server-version.ts';
import { FakeClock } from '../support/fake-clock.ts';

const V29: ServerVersion = { major: 1, minor: 29, gitVersion: 'v1.29.6' };
const V36: ServerVersion = { major: 1, minor: 36, gitVersion: 'v1.36.3' };

describe('server version', () => {
  it('is unknown until the first answer, asked again after a failure, and follows an upgrade', async () => {
    const clock = new FakeClock();
    const answers: (ServerVersion | Error)[] = [new Error('down'), V29, new Error('down'), V36];
    const problems: unknown[] = [];
    const follower = followServerVersion(
      {
        serverVersion: () => {
          const next = answers.shift() ?? V36;
          return next instanceof Error ? Promise.reject(next) : Promise.resolve(next);
        },
      },
      clock,
      (error) => problems.push(error),
    );
    await clock.advance(0);
    expect(follower.current()).toBeUndefined();
    expect(problems).toHaveLength(1);
    await clock.advance(2_000);
    expect(follower.current()).toBe(V29);
    await expect(follower.first).resolves.toBe(V29);
    await clock.advance(300_000);
    expect(follower.current()).toBe(V29);
    expect(problems).toHaveLength(2);
    await clock.advance(2_000);
    expect(follower.current()).toBe(V36);
    follower.stop();
    expect(clock.waiting).toBe(0);
  });

  it('gives up on one question after five seconds and says so', async () => {
    const clock = new FakeClock();
    const problems: unknown[] = [];
    const follower = followServerVersion(
      {
        serverVersion: (options) =>
          new Promise((_resolve, reject) => {
            options?.signal?.addEventListener('abort', () => reject(options.signal?.reason as Error));
          }),
      },
      clock,
      (error) => problems.push(error),
    );
    await clock.advance(5_000);
    expect(problems).toEqual([new Error('no answer within 5000 ms')]);
    follower.stop();
  });
});
