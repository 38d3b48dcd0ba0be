import { describe, expect, it } from 'vitest';
import { GateError } from '../../src/errors.ts';
import {
  BODY_LIMIT_BYTES,
  BodyCollector,
  HEAD_BYTES,
  UNREAD_LIMIT_BYTES,
  type CollectorOptions,
} from '../../src/http/body-collector.ts';
import { createLimits, type Limits, type Slot } from '../../src/http/limits.ts';

const KIB = 1024;
const MIB = 1024 * KIB;

function collector(more: Partial<CollectorOptions> = {}): BodyCollector {
  return new BodyCollector({ room: null, limitBytes: BODY_LIMIT_BYTES, ...more });
}

function codeOf(run: () => void): string | undefined {
  try {
    run();
    return undefined;
  } catch (error) {
    if (error instanceof GateError) return error.code;
    throw error;
  }
}

const isGood = (head: Uint8Array): boolean => head[0] === 0x7b;
const chunks = function* (bytes: number, size: number, first = '{'): Generator<Buffer> {
  for (let at = 0; at < bytes; at += size) {
    const chunk = Buffer.alloc(Math.min(size, bytes - at), 'x');
    if (at === 0) chunk.write(first);
    yield chunk;
  }
};

function slotOf(limits: Limits, bytes = 0): Slot {
  const slot = limits.tryEnter(bytes);
  if (slot === undefined) throw new Error('no room');
  return slot;
}

describe('a body', () => {
  it.each([
    ['in one piece', 5_000, 5_000, 5_000],
    ['in pieces with a length', 300 * KIB, 7_000, 300 * KIB],
    ['in pieces without a length', 300 * KIB, 7_000, undefined],
    ['without a byte', 0, 1, undefined],
  ])('is kept whole %s', (_what, bytes, size, declared) => {
    const body = collector(declared === undefined ? {} : { declared });
    const sent = [...chunks(bytes, size)];
    for (const chunk of sent) body.add(chunk);
    expect(body.body().equals(Buffer.concat(sent))).toBe(true);
    expect(body.unread).toBeUndefined();
  });

  it('counts what it holds, and holds less than twice of what came, in small pieces', () => {
    const limits = createLimits();
    const body = collector({ room: slotOf(limits) });
    for (const chunk of chunks(200 * KIB, 200)) body.add(chunk);
    expect(body.body()).toHaveLength(200 * KIB);
    expect(body.body().buffer.byteLength).toBe(256 * KIB);
    expect(limits.stats().bytesInFlight).toBe(256 * KIB);
  });

  it.each([
    ['pieces of one byte', 1, 'GATE_REVIEW_SLOW'],
    ['pieces as a slow start of TLS makes them', 1_300, undefined],
  ])('of many %s ends soon or never', (_what, size, code) => {
    const body = collector({ keepsHead: isGood });
    expect(
      codeOf(() => {
        for (const chunk of chunks(2_000 * size, size)) body.add(chunk);
      }),
    ).toBe(code);
  });

  it('takes no more room than the limit allows a body', () => {
    const limits = createLimits();
    const body = collector({ room: slotOf(limits) });
    for (const chunk of chunks(BODY_LIMIT_BYTES, 60_000)) body.add(chunk);
    expect(limits.stats().bytesInFlight).toBe(BODY_LIMIT_BYTES);
  });

  it('is refused beyond the limit, and without room', () => {
    const large = collector();
    for (const chunk of chunks(BODY_LIMIT_BYTES, MIB)) large.add(chunk);
    expect(codeOf(() => large.add(Buffer.from('x')))).toBe('GATE_REVIEW_TOO_LARGE');
    const limits = createLimits({ maxBytesInFlight: 9 * MIB });
    const full = collector({ room: slotOf(limits) });
    expect(
      codeOf(() => {
        for (const chunk of chunks(3 * MIB, MIB)) full.add(chunk);
      }),
    ).toBe('GATE_OVERLOADED');
  });

  it('longer than declared takes room as it comes', () => {
    const limits = createLimits();
    const body = collector({ room: slotOf(limits, 10), declared: 10 });
    for (const chunk of chunks(3 * MIB, 50_000)) body.add(chunk);
    expect(body.body()).toHaveLength(3 * MIB);
    expect(limits.stats().bytesInFlight).toBe(body.body().buffer.byteLength);
  });
});

describe('the head of a body', () => {
  it.each([
    ['that was declared too large', { unread: new GateError('GATE_REVIEW_TOO_LARGE', 'too large') }],
    ['that becomes too large', {}],
  ])('is what is kept of one %s, and all that is counted', (_what, more) => {
    const limits = createLimits();
    const body = collector({ room: slotOf(limits), keepsHead: isGood, ...more });
    for (const chunk of chunks(20 * MIB, MIB)) body.add(chunk);
    expect(body.unread?.code).toBe('GATE_REVIEW_TOO_LARGE');
    expect(body.overload).toBeUndefined();
    expect(body.body()).toHaveLength(HEAD_BYTES);
    expect(body.body().toString('latin1', 0, 3)).toBe('{xx');
    expect(body.body().buffer.byteLength).toBe(HEAD_BYTES);
    expect(limits.stats().bytesInFlight).toBeLessThanOrEqual(HEAD_BYTES);
  });

  it('is kept of one that finds no more room, whose room goes to others', () => {
    const limits = createLimits({ maxBytesInFlight: 9 * MIB });
    const body = collector({ room: slotOf(limits), keepsHead: isGood });
    for (const chunk of chunks(5 * MIB, 100_000)) body.add(chunk);
    expect([body.unread?.code, body.overload?.code]).toEqual(['GATE_OVERLOADED', 'GATE_OVERLOADED']);
    expect(limits.stats().bytesInFlight).toBe(HEAD_BYTES);
  });

  it('is all of it where it is short enough: then only the overload is marked', () => {
    const overload = new GateError('GATE_OVERLOADED', 'no room');
    const body = collector({ keepsHead: isGood, unread: overload });
    for (const chunk of chunks(HEAD_BYTES, 1_000)) body.add(chunk);
    expect(body.body()).toHaveLength(HEAD_BYTES);
    expect([body.unread, body.overload]).toEqual([undefined, overload]);
  });

  it('ends the reading where it is not worth keeping', () => {
    const body = collector({ keepsHead: isGood });
    for (const chunk of chunks(BODY_LIMIT_BYTES, MIB, '!')) body.add(chunk);
    expect(codeOf(() => body.add(Buffer.from('x')))).toBe('GATE_REVIEW_TOO_LARGE');
  });

  it('is not read on for ever', () => {
    const body = collector({ keepsHead: isGood });
    for (const chunk of chunks(UNREAD_LIMIT_BYTES, MIB)) body.add(chunk);
    expect(codeOf(() => body.add(Buffer.from('x')))).toBe('GATE_REVIEW_TOO_LARGE');
  });
});

describe('the pace of a body', () => {
  it.each([
    ['a small one', { declared: 64 * KIB }, 1, 4_900, false],
    ['a large one on its way to be whole within 5 s', { declared: MIB }, 500 * KIB, 2_000, false],
    ['a large one that is not', { declared: MIB }, 300 * KIB, 2_000, true],
    ['one that declares much and sends a byte', { declared: 8 * MIB }, 1, 1_000, true],
    ['one without a length that stopped', {}, 200 * KIB, 4_900, true],
    ['one without a length that came fast', {}, 200 * KIB, 1_000, false],
    [
      'one of which the beginning alone is kept',
      { declared: 9 * MIB, keepsHead: isGood, unread: new GateError('GATE_REVIEW_TOO_LARGE', 'too large') },
      1,
      4_900,
      false,
    ],
  ])('of %s is judged by the room that it holds', (_what, more, bytes, elapsedMs, behind) => {
    const body = collector(more);
    for (const chunk of chunks(bytes, 1_000)) body.add(chunk);
    expect(body.isBehind(elapsedMs)).toBe(behind);
  });
});
