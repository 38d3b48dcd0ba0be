import { describe, expect, it } from 'vitest';

import { GateError } from '../../src/errors.ts';
import { budgetOf, parseGoDuration, startDeadline } from '../../src/webhooks/deadline.ts';
import { FakeClock } from '../support/fake-clock.ts';

describe('Go durations', () => {
  it.each([
    ['10s', 10_000],
    ['1m30s', 90_000],
    ['500ms', 500],
    ['1h', 3_600_000],
    ['1.5s', 1_500],
    ['.5s', 500],
    ['1.s', 1_000],
    ['2h45m0.5s', 9_900_500],
    ['1500us', 1.5],
    ['1500µs', 1.5],
    ['1500μs', 1.5],
    ['1000000ns', 1],
    ['+3s', 3_000],
    ['-3s', -3_000],
    ['0', 0],
    ['-0', -0],
    ['0s', 0],
  ])('reads %s', (text, ms) => {
    expect(parseGoDuration(text)).toBeCloseTo(ms, 6);
  });

  it.each([
    '',
    '10',
    's',
    '10 s',
    ' 10s',
    '10s ',
    '10S',
    '1d',
    '.s',
    '--1s',
    '1e3s',
    '10s5',
    '٣s',
    '1s'.repeat(40),
  ])('does not read %j', (text) => {
    expect(parseGoDuration(text)).toBeUndefined();
  });
});

describe('our own budget', () => {
  it.each([
    ['', 10_000, 8_000],
    ['timeout=10s', 10_000, 8_000],
    ['other=1&timeout=5s', 5_000, 4_000],
    ['timeout=1s', 1_000, 800],
    ['timeout=400ms', 400, 300],
    ['timeout=50ms', 50, 0],
    ['timeout=30s', 30_000, 28_000],
    ['timeout=10m', 30_000, 28_000],
  ])('is, for the query %j, %i ms less the margin', (query, timeoutMs, budgetMs) => {
    expect(budgetOf(query)).toEqual({ timeoutMs, budgetMs });
  });

  it.each(['timeout=0', 'timeout=-1s', 'timeout=x', 'timeout=', 'timeout=1s&timeout=1s'])(
    'refuses %s',
    (query) => {
      expect(() => budgetOf(query)).toThrow(expect.objectContaining({ code: 'GATE_REVIEW_TIMEOUT' }));
    },
  );
});

describe('a deadline', () => {
  const options = { timeoutMs: 10_000, budgetMs: 8_000 };

  it('aborts when the budget ends, counted from the arrival of the head', async () => {
    const clock = new FakeClock();
    await clock.advance(3_000);
    const { signal } = startDeadline({ clock, receivedMs: 1_000, ...options });
    await clock.advance(5_999);
    expect(signal.aborted).toBe(false);
    await clock.advance(1);
    expect(signal.reason).toBeInstanceOf(GateError);
    expect(signal.reason).toMatchObject({
      code: 'GATE_DEADLINE_EXCEEDED',
      message: expect.stringContaining(
        'no decision within 8 s of the 10 s that the webhook entry allows',
      ) as string,
    });
    expect(clock.waiting).toBe(0);
  });

  it('is over at once, without a timer, where the wait took it all', async () => {
    const clock = new FakeClock();
    await clock.advance(8_000);
    expect(startDeadline({ clock, receivedMs: 0, ...options }).signal.aborted).toBe(true);
    expect(clock.waiting).toBe(0);
  });

  it('leaves nothing behind when it is cleared', async () => {
    const clock = new FakeClock();
    const caller = new AbortController();
    const deadline = startDeadline({ clock, receivedMs: 0, ...options, signal: caller.signal });
    expect(clock.waiting).toBe(1);
    deadline.clear();
    expect(clock.waiting).toBe(0);
    caller.abort(new Error('gone'));
    await clock.advance(10_000);
    expect(deadline.signal.aborted).toBe(false);
  });

  it.each(['before', 'after'])('aborts with the reason of a caller that went away %s it began', (when) => {
    const clock = new FakeClock();
    const caller = new AbortController();
    const gone = new Error('gone');
    if (when === 'before') caller.abort(gone);
    const deadline = startDeadline({ clock, receivedMs: 0, ...options, signal: caller.signal });
    if (when === 'after') caller.abort(gone);
    expect(deadline.signal.reason).toBe(gone);
    deadline.clear();
    expect(clock.waiting).toBe(0);
  });
});

describe('a share of a deadline', () => {
  const over = (shareMs: number): GateError =>
    new GateError('GATE_DEADLINE_EXCEEDED', `over after ${String(shareMs)} ms`);
  const begin = (clock: FakeClock): ReturnType<typeof startDeadline> =>
    startDeadline({ clock, receivedMs: 0, timeoutMs: 10_000, budgetMs: 8_000 });

  it.each([
    [0, 2_000],
    [4_000, 2_000],
    [6_000, 1_000],
    [7_000, 500],
    [7_999, 0.5],
  ])('after %d ms of 8 s is %d ms', async (passedMs, shareMs) => {
    const clock = new FakeClock();
    const deadline = begin(clock);
    await clock.advance(passedMs);
    const { signal } = deadline.share(2_000, over);
    await clock.advance(shareMs - 0.25);
    expect(signal.aborted).toBe(false);
    await clock.advance(0.25);
    expect(signal.reason).toMatchObject({ message: `over after ${String(shareMs)} ms` });
    expect(deadline.signal.aborted).toBe(false);
  });

  it('ends with the whole', async () => {
    const clock = new FakeClock();
    const deadline = begin(clock);
    const { signal } = deadline.share(60_000, over);
    expect(signal.aborted).toBe(false);
    await clock.advance(3_999);
    const caller = new AbortController();
    const other = startDeadline({
      clock,
      receivedMs: 0,
      timeoutMs: 10_000,
      budgetMs: 8_000,
      signal: caller.signal,
    });
    const part = other.share(2_000, over);
    const gone = new Error('gone');
    caller.abort(gone);
    expect(part.signal.reason).toBe(gone);
    expect(other.share(2_000, over).signal.reason).toBe(gone);
  });

  it('leaves nothing behind when it is cleared', async () => {
    const clock = new FakeClock();
    const deadline = begin(clock);
    const share = deadline.share(2_000, over);
    expect(clock.waiting).toBe(2);
    share.clear();
    expect(clock.waiting).toBe(1);
    await clock.advance(8_000);
    expect([deadline.signal.aborted, share.signal.aborted]).toEqual([true, false]);
  });
});
