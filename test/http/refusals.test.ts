import { describe, expect, it } from 'vitest';
import { reportRefusals, type OnRefusal } from '../../src/http/refusals.ts';
import { createLog } from '../../src/log.ts';
import { FakeClock } from '../support/fake-clock.ts';

function reporting(): { refused: OnRefusal; clock: FakeClock; lines: () => object[]; counted: string[] } {
  const clock = new FakeClock();
  const written: string[] = [];
  const counted: string[] = [];
  const log = createLog({
    level: 'info',
    format: 'json',
    destination: { write: (line) => void written.push(line) },
  });
  const refused = reportRefusals({
    listener: 'admission',
    clock,
    log,
    count: (code) => void counted.push(code),
  });
  return { refused, clock, counted, lines: () => written.map((line) => JSON.parse(line) as object) };
}

const TOO_LARGE = { status: 413, code: 'GATE_REVIEW_TOO_LARGE' } as const;
const SLOW = { status: 408, code: 'GATE_REVIEW_SLOW' } as const;

describe('refusals', () => {
  it('have a line for the first of each code at once, and each is counted', () => {
    const { refused, lines, counted } = reporting();
    for (const refusal of [TOO_LARGE, TOO_LARGE, SLOW]) refused(refusal);
    expect(lines()).toMatchObject([
      { level: 'warn', message: 'request refused', listener: 'admission', ...TOO_LARGE },
      { level: 'warn', message: 'request refused', listener: 'admission', ...SLOW },
    ]);
    expect(counted).toEqual([TOO_LARGE.code, TOO_LARGE.code, SLOW.code]);
  });

  it('have one line each ten seconds for those that follow, with their number', async () => {
    const { refused, clock, lines } = reporting();
    for (let count = 0; count < 1_001; count++) refused(TOO_LARGE);
    await clock.advance(10_000);
    refused(TOO_LARGE);
    await clock.advance(10_000);
    expect(lines().slice(1)).toMatchObject([
      { level: 'warn', message: 'more requests refused like this', ...TOO_LARGE, count: 1_000 },
      { ...TOO_LARGE, count: 1 },
    ]);
  });

  it('begin anew after ten quiet seconds, and leave no timer behind', async () => {
    const { refused, clock, lines } = reporting();
    refused(TOO_LARGE);
    await clock.advance(10_000);
    expect(clock.waiting).toBe(0);
    refused(TOO_LARGE);
    expect(lines().map((line) => (line as { message: string }).message)).toEqual([
      'request refused',
      'request refused',
    ]);
  });
});
