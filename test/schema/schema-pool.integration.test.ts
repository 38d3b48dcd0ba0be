import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { resolve as absolute } from 'node:path';
import { Worker } from 'node:worker_threads';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { SchemaChecks } from '../../src/policies/contract/schema-checks.ts';
import { FakeClock } from '../support/fake-clock.ts';
import type { Answer, Job, Report } from '../../src/schema/answer.ts';
import { SchemaPool, type SchemaPoolOptions } from '../../src/schema/schema-pool.ts';

const BUILT = absolute('dist/schema-worker.js');
const GOOD = '{"type":"object","required":["a"]}';

/** Two to the power of 26 tries, with nothing kept. */
const ENDLESS = JSON.stringify({
  not: { $ref: '#/$defs/d0' },
  $defs: {
    ...Object.fromEntries(
      Array.from({ length: 26 }, (_none, index) => {
        const next = { $ref: `#/$defs/d${String(index + 1)}` };
        return [`d${String(index)}`, { allOf: [{ not: next }, { not: { not: next } }] }];
      }),
    ),
    d26: true,
  },
});

describe('the pool', () => {
  const pools: SchemaPool[] = [];
  const open = (options?: SchemaPoolOptions): SchemaPool => {
    const pool = new SchemaPool(options);
    pools.push(pool);
    return pool;
  };
  beforeEach(() => void pools.splice(0));
  afterEach(() => Promise.all(pools.map((pool) => pool.close())));

  it('is what the contract rules ask for', async () => {
    const checks: SchemaChecks = open();
    expect(await checks.compile(GOOD)).toEqual({ outcome: 'valid' });
    expect(await checks.validate(GOOD, {})).toEqual({
      outcome: 'invalid',
      leaves: [{ instancePath: '', message: 'lacks "a"' }],
    });
  });

  it('reads keys and numbers as data', async () => {
    const instance = Object.assign(Object.create(null) as Record<string, bigint>, { constructor: 2n ** 60n });
    Object.defineProperty(instance, '__proto__', { value: 1n, enumerable: true });
    const schema = '{"required":["__proto__","constructor"],"additionalProperties":{"type":"integer"}}';
    expect(await open().validate(schema, instance)).toEqual({ outcome: 'valid' });
  });

  it('refuses what never ends, and whoever waited behind it is served', async () => {
    const pool = open({ validateMs: 300 });
    const answers = await Promise.all([
      pool.validate(GOOD, { a: 1 }),
      pool.validate(ENDLESS, 1),
      pool.validate(GOOD, { a: 1 }),
      pool.validate(ENDLESS, 2),
      pool.compile('{'),
      pool.validate(GOOD, {}),
    ]);
    expect(answers.map(({ outcome }) => outcome)).toEqual([
      'valid',
      'refused',
      'valid',
      'refused',
      'not-json',
      'invalid',
    ]);
    expect(answers[1]).toEqual({
      outcome: 'refused',
      reason: 'the schema was still being validated after 300 ms',
    });
  });

  it('waits for a worker that did not get the processor, however late it is', async () => {
    const clock = new FakeClock();
    const pool = open({ clock });
    const answers = [pool.compile(GOOD), pool.validate(GOOD, { a: 1 }), pool.validate(GOOD, {})];
    for (let turn = 0; turn < 20; turn++) void clock.advance(10_000);
    expect((await Promise.all(answers)).map(({ outcome }) => outcome)).toEqual(['valid', 'valid', 'invalid']);
  });

  it('hears an answer that came while this thread was busy, whatever the time', async () => {
    // The deadline of the first job runs out as its answer waits to be heard.
    const clock = new FakeClock();
    const pool = open({ clock });
    await pool.compile(GOOD);
    const answer = pool.validate(GOOD, { a: 1 });
    const end = Date.now() + 200;
    while (Date.now() < end);
    void clock.advance(60_000);
    expect(await answer).toEqual({ outcome: 'valid' });
    expect(await pool.validate(GOOD, {})).toMatchObject({ outcome: 'invalid' });
  });

  it('refuses what finds too long a queue', async () => {
    const pool = open({ queueLength: 2 });
    const answers = await Promise.all(Array.from({ length: 4 }, () => pool.compile(GOOD)));
    expect(answers.filter(({ outcome }) => outcome === 'refused')).toEqual([
      { outcome: 'refused', reason: 'more than 2 schemas wait to be checked' },
      { outcome: 'refused', reason: 'more than 2 schemas wait to be checked' },
    ]);
  });

  it('refuses what waits when it closes, and what comes later', async () => {
    const pool = open();
    const waiting = pool.compile(GOOD);
    await pool.close();
    const closed = { outcome: 'refused', reason: 'schemas are no longer checked: the program is stopping' };
    expect(await waiting).toEqual(closed);
    expect(await pool.compile(GOOD)).toEqual(closed);
  });

  it('says so where no worker comes up in time', async () => {
    await expect(open({ startMs: 0 }).compile(GOOD)).rejects.toMatchObject({ code: 'GATE_INTERNAL' });
  });

  it('gives whom it finds in a full memory a fresh one', async () => {
    let workers = 0;
    const count = (): void => void workers++;
    process.on('worker', count);
    const pool = open({ memoryMb: 24, validateMs: 20_000, compileMs: 20_000 });
    // Schemas that are kept, until there is no room for one more.
    const answers = await Promise.all(
      Array.from({ length: 60 }, (_none, index) => {
        const properties = Object.fromEntries(
          Array.from({ length: 400 }, (_same, name) => [
            `p${String(index)}-${String(name)}`,
            { type: 'string' },
          ]),
        );
        return pool.compile(JSON.stringify({ properties }));
      }),
    );
    process.off('worker', count);
    expect(new Set(answers.map(({ outcome }) => outcome))).toEqual(new Set(['valid']));
    expect(workers).toBeGreaterThan(1);
  });

  it('lets a program end that forgot to close it, once it has its answer', () => {
    const program = `
      import { SchemaPool } from './src/schema/schema-pool.ts';
      console.log((await new SchemaPool().compile('{}')).outcome);`;
    const out = execFileSync(process.execPath, ['--input-type=module', '-e', program], {
      encoding: 'utf8',
      timeout: 30_000,
    });
    expect(out).toBe('valid\n');
  });

  // Loudly: a run without `npm run build` names it as skipped.
  it.skipIf(!existsSync(BUILT))('has a worker in the built program (needs npm run build)', async () => {
    const worker = new Worker(BUILT, { env: {}, execArgv: [] });
    const answer = await new Promise<Answer>((resolve, reject) => {
      worker.on('error', reject);
      worker.on('message', (report: Report) => {
        const job: Job = { id: 1, schemaText: GOOD, instance: [1] };
        // oxlint-disable-next-line unicorn/require-post-message-target-origin -- threads have no origin
        if (report.kind === 'ready') worker.postMessage(job);
        if (report.kind === 'answer') resolve(report.answer);
      });
    });
    await worker.terminate();
    expect(answer).toEqual({
      outcome: 'invalid',
      leaves: [{ instancePath: '', message: 'is a number, not an object' }],
    });
  });
});
