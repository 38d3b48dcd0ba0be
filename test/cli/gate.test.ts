import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { FakeClock } from '../support/fake-clock.ts';
import { until } from '../support/until.ts';
import { fakeTerminal, runCommand, type Ran } from './run-command.ts';
import { run } from '../../src/cli/program.ts';

const NOW = '2026-01-02T03:04:05Z';
const EXAMPLES = 'examples/delivery';

let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'pacto-gate-gate-'));
  for (const file of ['stages', 'identity', 'violated'])
    await cp(`${EXAMPLES}/${file}.yaml`, join(directory, `${file === 'violated' ? 'pacto' : file}.yaml`));
});
afterAll(() => rm(directory, { recursive: true }));

const PROD = 'payments/payments-prod';
const gate = (command: string, ...more: readonly string[]): Promise<Ran> =>
  runCommand(['gate', command, ...more, '--cluster-directory', directory]);

describe('gate check', () => {
  it('says no, and why', async () => {
    const { code, out } = await gate('check', PROD, '--now', NOW);
    expect(code).toBe(1);
    expect(out).toMatch(/^Deny \[NONCOMPLIANT\] payments\/payments-prod sha256:b{64}: .*WORKLOAD_MISMATCH/);
  });

  it('says yes to what was good', async () => {
    const { code, out } = await gate(
      'check',
      PROD,
      '--now',
      NOW,
      '--digest',
      `sha256:${'9'.repeat(64)}`,
      '-o',
      'json',
    );
    expect([code, JSON.parse(out)]).toMatchObject([
      0,
      { decision: 'Allow', allowed: true, reasonCode: 'ROLLBACK' },
    ]);
  });

  it('waits, says so once, and gives up in time', async () => {
    const clock = new FakeClock(Date.parse('2026-01-05T00:00:00Z'));
    const terminal = fakeTerminal({ clock });
    const done = run(
      ['gate', 'check', PROD, '--wait', '12s', '--cluster-directory', directory],
      terminal.around,
    );
    await until('it waits', () => terminal.written.err.includes('waiting:') && clock.waiting > 0);
    await clock.advance(5_000);
    await until('it waits again', () => clock.waiting > 0);
    await clock.advance(5_000);
    await until('it waits for the rest', () => clock.waiting > 0);
    await clock.advance(2_000);
    expect(await done).toBe(3);
    expect(terminal.written.err.match(/waiting: Wait \[STALE_NONCOMPLIANT\]/g)).toHaveLength(1);
    expect(terminal.written.out).toContain('Wait [STALE_NONCOMPLIANT]');
  });

  it('cannot tell of a Stage that does not exist', async () => {
    const { code, err } = await gate('check', 'payments/nowhere');
    expect([code, err]).toEqual([3, expect.stringContaining('there is no Stage payments/nowhere')]);
  });

  it.each([
    [['payments'], 'need namespace/name'],
    [[PROD, '--digest', 'a b'], '--digest: need a digest'],
    [[PROD, '--wait', 'long'], 'need a duration'],
    [[PROD, '--now', 'soon'], 'need a time'],
  ])('refuses %j', async (args, message) => {
    const { code, err } = await gate('check', ...args);
    expect([code, err]).toEqual([2, expect.stringContaining(message)]);
  });
});

describe('gate explain', () => {
  it('says which cells, and the evidence in them', async () => {
    const { code, out } = await gate('explain', PROD, '--now', NOW);
    expect(code).toBe(0);
    expect(out).toContain('cells       T1 NonCompliant');
    expect(out).toContain(
      'upstream    payments-staging/payments-staging: NonCompliant: WORKLOAD_MISMATCH on contract 2.3.0 (Fresh)',
    );
    expect(out).toContain(`may go back sha256:${'9'.repeat(64)}`);
  });

  it('has all of it as JSON', async () => {
    const { out } = await gate('explain', PROD, '--now', NOW, '-o', 'json');
    expect(JSON.parse(out)).toMatchObject({
      stage: PROD,
      decision: { decision: 'Deny' },
      evidence: { mode: 'Enforce' },
    });
  });

  it('cannot tell of a Stage that does not exist', async () => {
    expect((await gate('explain', 'payments/nowhere')).code).toBe(3);
  });
});
