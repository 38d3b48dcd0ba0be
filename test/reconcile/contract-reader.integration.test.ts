import { existsSync } from 'node:fs';
import { resolve as absolute } from 'node:path';
import { Worker } from 'node:worker_threads';
import { describe, expect, it, onTestFinished } from 'vitest';
import { systemClock, type Clock } from '../../src/clock.ts';
import type { ConfigurationOverride } from '../../src/policies/contract/operator-overrides.ts';
import { ContractReader } from '../../src/reconcile/contract-reader.ts';
import { weightOf, type ContractJob, type ReadContract } from '../../src/reconcile/contract-reading.ts';
import type { WorkerAnswer } from '../../src/reconcile/contract-worker.ts';
import { SchemaPool } from '../../src/schema/schema-pool.ts';
import { longestStretchMs } from '../schema/stall-probe.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { failure } from '../support/registry/bundles.ts';

const BUILT = absolute('dist/contract-worker.js');
const CART = 'pactoVersion: "2.0"\nservice: {name: cart, version: 1.4.0}\n';
/** Makes any text too large to be read at once, and means nothing. */
const LARGE = `#${'x'.repeat(16 * 1024)}\n`;
const TOO_HARD = { ok: false, stage: 'load', isTooHard: true };

function opened(
  clock: Clock = systemClock,
  options: { readonly jobMs?: number; readonly memoryMb?: number } = {},
): ContractReader {
  const schemas = new SchemaPool();
  const reader = new ContractReader({ schemas, clock, ...options });
  onTestFinished(async () => {
    await reader.close();
    await schemas.close();
  });
  return reader;
}

function job(
  text: string,
  { files, overrides = [] }: { files?: ContractJob['files']; overrides?: ContractJob['overrides'] } = {},
): ContractJob {
  return { text: Buffer.from(text), files, overrides };
}

const large = (more = ''): ContractJob => job(CART + more + LARGE);

function filesOf(files: Readonly<Record<string, string>>): ContractJob['files'] {
  return new Map(Object.entries(files).map(([name, text]) => [name, Buffer.from(text)]));
}

const DATES = 'metadata: {at: 2026-12-01, big: 12345678901234567890, __proto__: x, constructor: y}\n';
const CONFIGURATION =
  'configurations: [{name: main, schema: main.json, values: {port: 80, day: 2026-12-01}}]\n';
const OVERRIDES: readonly ConfigurationOverride[] = [{ name: 'main', values: { port: '81' } }];
const SCHEMA = filesOf({ 'main.json': '{"properties":{"port":{"type":"integer"}}}' });

describe('a large text reads as a small one', () => {
  it.each([
    ['with dates, numbers and keys of all kinds', CART + DATES, {}],
    ['with values that fit their schema', CART + CONFIGURATION, { files: SCHEMA }],
    ['with overrides that do not fit it', CART + CONFIGURATION, { files: SCHEMA, overrides: OVERRIDES }],
    ['with overrides of what it does not have', CART, { overrides: [{ name: 'other', values: { a: 'b' } }] }],
    ['that is no contract', 'pactoVersion: "1.0"\n', {}],
    ['that is no YAML', 'a: [', {}],
    ['with faults of structure', `${CART}interfaces: [{name: a}]\n`, {}],
  ])('%s', async (_, text, more) => {
    const reader = opened();
    const small = await reader.read('small', job(text, more));
    const read = await reader.read('large', job(`${text}\n${LARGE}`, more));
    expect(withoutText(read)).toEqual(withoutText(small));
  });
});

/** Without the line that differs because the text is longer. */
function withoutText(read: ReadContract): unknown {
  return read.ok ? read : { ...read, message: read.message.replace(/line \d+/, 'line') };
}

describe('the loop goes on', () => {
  it.each([
    ['a valid text of 200 KiB', job(`${CART}metadata: {a: [${'{},'.repeat(70_000)}]}\n`)],
    [
      'a small one with large descriptions of interfaces',
      job(`${CART}interfaces: [{name: api, type: openapi, ref: a.yaml}]\n`, {
        files: filesOf({ 'a.yaml': `a: [${'{},'.repeat(70_000)}]\n` }),
      }),
    ],
    [
      'a small one that repeats a list',
      job(`${CART}metadata: {a: &a [${'1,'.repeat(4_000)}], b: [${'*a,'.repeat(95)}]}\n`),
    ],
  ])('while %s is read', async (_, hostile) => {
    const reader = opened();
    // The worker is there.
    await reader.read('first', large());
    const stretchMs = await longestStretchMs(async () => {
      expect(await reader.read('hostile', hostile)).toMatchObject({ ok: true });
    });
    // Read here, each would hold it for several hundred milliseconds.
    expect(stretchMs).toBeLessThan(100);
  });
});

describe('a text', () => {
  it.each([
    ['small', job(CART)],
    ['large', large()],
  ])('is read once for all who ask, and then kept: a %s one', async (_, one) => {
    const reader = opened();
    const [first, second] = await Promise.all([reader.read('a', one), reader.read('a', one)]);
    expect(second).toBe(first);
    expect(await reader.read('a', one)).toBe(first);
    expect(await reader.read('b', one)).not.toBe(first);
  });

  it('that takes too long is refused, is not tried again at once, and holds up nobody else', async () => {
    const clock = new FakeClock();
    const reader = opened(clock);
    const slow = reader.read('slow', large());
    const next = reader.read('next', large());
    await clock.advance(20_000);
    expect(await slow).toMatchObject({ ...TOO_HARD, message: expect.stringContaining('too long') as string });
    expect(await next).toMatchObject({ ok: true });
    await clock.advance(599_000);
    expect(await reader.read('slow', large())).toBe(await slow);
    // The machine may have been busy.
    await clock.advance(1_000);
    expect(await reader.read('slow', large())).toMatchObject({ ok: true });
  });

  it('that takes too much memory is refused, and the next one is read', async () => {
    const reader = opened(systemClock, { memoryMb: 48 });
    const hostile = job(`${CART}metadata: {a: [${'{},'.repeat(300_000)}]}\n`);
    expect(await reader.read('hostile', hostile)).toMatchObject({
      ...TOO_HARD,
      message: expect.stringContaining('more memory') as string,
    });
    expect(await reader.read('next', large())).toMatchObject({ ok: true });
  });

  it('that nobody waits for any more is read for the others', async () => {
    const reader = opened();
    const leaving = new AbortController();
    const gone = reader.read('a', large(), leaving.signal);
    const staying = reader.read('a', large());
    leaving.abort(new Error('the look has ended'));
    expect(await failure(() => gone)).toContain('the look has ended');
    expect(await staying).toMatchObject({ ok: true });
    expect(await failure(() => reader.read('b', large(), leaving.signal))).toContain('the look has ended');
  });
});

describe('the worker', () => {
  it('ends after a minute without work, and begins again', async () => {
    const clock = new FakeClock();
    const reader = opened(clock);
    await reader.read('a', large());
    expect(clock.waiting).toBe(1);
    await clock.advance(60_000);
    expect(clock.waiting).toBe(0);
    expect(await reader.read('b', large('metadata: {a: b}\n'))).toMatchObject({ ok: true });
  });

  it('is not waited for by more than 256 texts, and small ones pass by', async () => {
    const reader = opened(new FakeClock());
    const reading = Array.from({ length: 258 }, (_, index) => reader.read(String(index), large()));
    const ends = Promise.allSettled(reading);
    expect(await failure(() => reading.at(-1))).toMatch(/^GATE_OVERLOADED/);
    expect(await reader.read('small', job(CART))).toMatchObject({ ok: true });
    await reader.close();
    expect(new Set((await ends).slice(1, -1).map(({ status }) => status))).toEqual(new Set(['rejected']));
  });

  it.each([
    ['small', job(CART)],
    ['large', large()],
  ])('is not started once it is closed: a %s text is refused', async (_, one) => {
    const reader = opened();
    await reader.close();
    expect(await failure(() => reader.read('a', one))).toMatch(/^GATE_INTERNAL: .*stopping/);
  });

  // Loudly: a run without `npm run build` names it as skipped.
  it.skipIf(!existsSync(BUILT))('is in the built program (needs npm run build)', async () => {
    const worker = new Worker(BUILT, { env: {}, execArgv: [] });
    const answer = await new Promise<WorkerAnswer>((resolve, reject) => {
      worker.on('error', reject);
      worker.on('message', resolve);
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- threads have no origin
      worker.postMessage(large());
    });
    await worker.terminate();
    expect(answer).toMatchObject({ ok: true, read: { ok: true, service: { name: 'cart' } } });
  });
});

describe('what is kept', () => {
  it('counts by the memory that it takes, whatever its text took', async () => {
    const reader = opened();
    const weigh = async (key: string, value: string): Promise<number> =>
      weightOf(await reader.read(key, job(`${CART}metadata: {a: ${value}}\n`)));
    const [text, values] = [
      await weigh('text', `"${'x'.repeat(30_000)}"`),
      await weigh('values', `[${'{},'.repeat(10_000)}]`),
    ];
    // It is there twice: as read, and as written.
    expect(text).toBeLessThan(2 * 40_000);
    expect(values).toBeGreaterThan(2 * 10_000 * 50);
  });
});
