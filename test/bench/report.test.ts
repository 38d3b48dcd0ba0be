import { describe, expect, test } from 'vitest';

import { digits } from './budget-row.ts';
import { budgetRows } from './budgets.ts';
import { renderReport } from './report.ts';
import type { BenchResult, HighestRate, RolloutRun, Round } from './result.ts';

const MIB = 1024 * 1024;

function round(p50Ms: number, p99Ms: number, cpuMsPerRequest: number, failed = 0): Round {
  return {
    p50Ms,
    p95Ms: p99Ms,
    p99Ms,
    maxMs: p99Ms * 2,
    requests: 1000,
    failed,
    failures: failed === 0 ? {} : { ECONNRESET: failed },
    achievedPerSecond: 500,
    cpuMsPerRequest,
    lagP99Ms: 0.1,
  };
}

function rolloutRun(kind: RolloutRun['kind'], changes: Partial<RolloutRun> = {}): RolloutRun {
  return {
    kind,
    ratePerSecond: 500,
    requests: 7000,
    failed: 0,
    failures: {},
    p99Ms: 3,
    maxMs: 20,
    refused: 0,
    certificates: kind === 'certificate' ? 2 : 1,
    endings: kind === 'sigterm' ? ['status 0', 'status 0'] : [],
    endedAfterMs: kind === 'sigterm' ? [5100, 5200] : [],
    ...changes,
  };
}

function rate(perSecond: number): HighestRate {
  return { perSecond, atBound: false, trials: [] };
}

const GOOD: BenchResult = {
  startedAt: '2026-01-02T03:04:05.678Z',
  mode: 'full',
  seconds: 561.4,
  versions: { 'pacto-gate': '0.1.0', node: '24.0.0' },
  machine: {
    cores: 2,
    model: 'Example 3 GHz',
    memoryBytes: 8 * 1024 * MIB,
    platform: 'Linux 6.1',
    pinned: true,
    loadAverage: [0.1, 1.4],
  },
  loader: { neededPerSecond: 4000, round: { ...round(0.2, 2, 0.1), achievedPerSecond: 3999 } },
  coldStart: { ours: [250, 240, 900], bare: [100, 90, 110] },
  memory: {
    ours: { idleBytes: 80 * MIB, afterLoadBytes: 110 * MIB, idleCpuPercent: 0.1 },
    bare: { idleBytes: 58 * MIB, afterLoadBytes: 79 * MIB, idleCpuPercent: 0 },
  },
  rates: [
    {
      ratePerSecond: 500,
      connections: 8,
      body: 'pod-create-4k',
      rounds: {
        ours: [round(0.4, 3, 0.2), round(0.5, 9, 0.21)],
        bare: [round(0.2, 1, 0.1), round(0.2, 2, 0.1)],
      },
    },
  ],
  highest: {
    one: { ours: rate(6000), go: rate(3000) },
    all: { ours: rate(2000), go: rate(500) },
    bare: { ...rate(12_000), atBound: true },
  },
  policyChanges: {
    policies: 64,
    seconds: 300,
    ratePerSecond: 500,
    changes: 299,
    requests: 150_000,
    failed: 0,
    failures: {},
    p50Ms: 0.3,
    p99Ms: 2,
    maxMs: 20,
    wrong: {},
    delayLimitMs: 1000,
    delayMs: { median: 20, max: 140 },
    memory: { firstBytes: 120 * MIB, lastBytes: 132 * MIB, partSeconds: 60 },
    stall: { ms: 15, cpuMs: 12 },
  },
  contracts: {
    typical: { bytes: 8000, p50Ms: 1.4, p99Ms: 3, yamlP50Ms: 1 },
    fleets: [
      { contracts: 1000, kinds: 20, seconds: 1.9 },
      { contracts: 1000, kinds: 1000, seconds: 5 },
    ],
    tags: { tags: 10_000, firstMs: 10, medianMs: 2 },
    hostile: {
      fromMs: 1,
      seconds: 2,
      outcomes: { lookahead: 'not-a-schema', 'deep schema': 'refused', 'deep instance': 'refused' },
      stall: { ms: 20, cpuMs: 12 },
    },
    blob: {
      ours: { bytes: 50 * MIB, extraBytes: 30 * MIB, seconds: 0.2 },
      bare: { bytes: 50 * MIB, extraBytes: 25 * MIB, seconds: 0.1 },
    },
  },
  large: [
    {
      body: 'resource-update-3m',
      bytes: 6 * MIB,
      ratePerSecond: 2,
      besidesPerSecond: 100,
      rounds: { ours: [round(150, 200, 9)], bare: [round(80, 120, 5)] },
      besides: { ours: [round(1, 90, 9)], bare: [round(1, 60, 5)] },
    },
  ],
  rollout: [1, 2, 3].flatMap(() => [rolloutRun('sigterm'), rolloutRun('certificate')]),
};

const CHANGING = 'while 1 of 64 policies changes each second, 500 requests/s';

const missed = (result: BenchResult): readonly string[] =>
  budgetRows(result)
    .filter((row) => !row.met)
    .map((row) => `${row.what}: ${row.measured}`);

describe('budgets', () => {
  test('are all met by a good result, and each has a row', () => {
    expect(missed(GOOD)).toEqual([]);
    expect(budgetRows(GOOD)).toHaveLength(28);
  });

  test('ask a quick run for one rollout of each kind', () => {
    const rollout = [rolloutRun('sigterm'), rolloutRun('certificate')];
    expect(missed({ ...GOOD, mode: 'quick', rollout })).toEqual([]);
  });

  test('have rows only for what was measured', () => {
    const { rates: _rates, large: _large, rollout: _rollout, highest: _highest, ...others } = GOOD;
    const { policyChanges: _changes, ...rest } = others;
    expect(budgetRows(rest)).toHaveLength(11);
  });

  const at500 = GOOD.rates![0]!;
  const withOurs = (...ours: Round[]): BenchResult => ({
    ...GOOD,
    rates: [{ ...at500, rounds: { ...at500.rounds, ours } }],
  });

  test.each<[string, BenchResult, readonly string[]]>([
    [
      'one round over 10 ms',
      withOurs(round(0.4, 3, 0.2), round(0.4, 10, 0.2)),
      ['p99 at 500 requests/s, the worst round: 10.0 ms'],
    ],
    [
      'a quietest round of more than four times the baseline',
      withOurs(round(0.4, 4.5, 0.2), round(0.4, 5, 0.2)),
      ['p99 at 500 requests/s, quietest round of each: 4.50 × bare'],
    ],
    [
      'contracts that take too long, stall or fill memory',
      {
        ...GOOD,
        contracts: {
          typical: { bytes: 8000, p50Ms: 2, p99Ms: 3, yamlP50Ms: 1 },
          fleets: [{ contracts: 1000, kinds: 20, seconds: 2 }],
          tags: { tags: 10_000, firstMs: 20, medianMs: 2 },
          hostile: { ...GOOD.contracts!.hostile, stall: { ms: 20.1, cpuMs: 20 } },
          blob: { ...GOOD.contracts!.blob, ours: { bytes: 50_000_000, extraBytes: 40_000_000, seconds: 1 } },
        },
      },
      [
        'a typical contract, p50: 2.00 ms',
        'a typical contract, p50: 2.00 × its YAML alone',
        '1000 contracts with 20 kinds of schemas: 2.00 s',
        'the best of 10000 tags, the first time: 20.0 ms',
        'longest stall by 3 hostile schemas: 20.1 ms',
        'extra memory for a blob of 50.0 MB: 40.0 MB',
      ],
    ],
    [
      'too much processor time',
      withOurs(round(0.4, 3, 0.4)),
      ['CPU a request at 500 requests/s: 4.00 × bare'],
    ],
    ['a lost request', withOurs(round(0.4, 3, 0.2, 1)), ['failed requests at all fixed rates: 1']],
    [
      'a low highest rate',
      { ...GOOD, highest: { ...GOOD.highest!, one: { ours: rate(999) } } },
      ['highest rate with p99 < 10 ms, 4 KiB, one of 16 policies a request: 999/s'],
    ],
    [
      'less than twice the rate of Go',
      { ...GOOD, highest: { ...GOOD.highest!, all: { ours: rate(2000), go: rate(1250) } } },
      ['highest rate with p99 < 10 ms, 4 KiB, the work of 16 policies a request: 1.60 × Go webhook'],
    ],
    [
      'less than twice the lowest rate that Go was tried at',
      {
        ...GOOD,
        highest: {
          ...GOOD.highest!,
          one: {
            ours: rate(1000),
            go: { ...rate(0), trials: [{ ratePerSecond: 800, p99Ms: 11, held: false }] },
          },
        },
      },
      ['highest rate with p99 < 10 ms, 4 KiB, one of 16 policies a request: 1.25 × Go webhook'],
    ],
    [
      'an answer of a version that was not in force',
      { ...GOOD, policyChanges: { ...GOOD.policyChanges!, wrong: { 'verdict of another version': 2 } } },
      [`wrong answers ${CHANGING}: 2 of 150000`],
    ],
    [
      'a request that failed while policies changed',
      { ...GOOD, policyChanges: { ...GOOD.policyChanges!, failed: 1 } },
      [`failed requests ${CHANGING}: 1 of 150000`],
    ],
    [
      'memory that grows with changes',
      {
        ...GOOD,
        policyChanges: {
          ...GOOD.policyChanges!,
          memory: { firstBytes: 100 * MIB, lastBytes: 111 * MIB, partSeconds: 60 },
        },
      },
      [`resident memory at the end ${CHANGING}: 1.11 × after the warm-up`],
    ],
    [
      'a change that keeps requests waiting',
      { ...GOOD, policyChanges: { ...GOOD.policyChanges!, stall: { ms: 60, cpuMs: 12 } } },
      [`longest stall ${CHANGING}: 60.0 ms`],
    ],
    [
      'a slow start',
      { ...GOOD, coldStart: { ours: [600, 500, 510], bare: [100, 100, 100] } },
      [
        'cold start to the first answered review: 5.10 × bare',
        'cold start to the first answered review: 510 ms',
      ],
    ],
    [
      'a process that never rests',
      { ...GOOD, memory: { ...GOOD.memory!, ours: { ...GOOD.memory!.ours, idleCpuPercent: 0.5 } } },
      ['idle CPU, of one core: 0.500 %'],
    ],
    [
      'large reviews that starve small ones',
      { ...GOOD, large: [{ ...GOOD.large![0]!, besides: { ours: [round(1, 100, 9)], bare: [] } }] },
      ['p99 of 4 KiB requests beside a 6.00 MiB UPDATE (resource-update-3m): 100 ms'],
    ],
    [
      'a lost request in a rollout',
      { ...GOOD, rollout: [1, 2, 3].map((n) => rolloutRun('sigterm', { failed: n === 2 ? 1 : 0 })) },
      ['SIGTERM of each of two processes, 500 requests/s: 1 of 21000 failed, 3 runs'],
    ],
    [
      'two runs where three are asked for',
      { ...GOOD, rollout: [rolloutRun('certificate'), rolloutRun('certificate')] },
      ['certificate swap, 500 requests/s: 0 of 14000 failed, 2 runs'],
    ],
    [
      'a swap that no client ever saw',
      { ...GOOD, rollout: [1, 2, 3].map(() => rolloutRun('certificate', { certificates: 1 })) },
      ['certificate swap, 500 requests/s: 0 of 21000 failed, 3 runs'],
    ],
    [
      'a server that had to be killed',
      {
        ...GOOD,
        rollout: [1, 2, 3].map(() => rolloutRun('sigterm', { endings: ['status 0', 'signal SIGKILL'] })),
      },
      ['SIGTERM of each of two processes, 500 requests/s: 0 of 21000 failed, 3 runs'],
    ],
  ])('are missed by %s', (_, result, expected) => {
    expect(missed(result)).toEqual(expected);
  });
});

describe('digits', () => {
  test.each([
    [0, '0.000'],
    [0.0456, '0.046'],
    [9.994, '9.99'],
    [45.678, '45.7'],
    [4567.8, '4568'],
  ])('writes %d as %s', (value, text) => {
    expect(digits(value)).toBe(text);
  });
});

describe('the report', () => {
  const page = renderReport(GOOD);

  test('says when, on what and how far the generator can be trusted', () => {
    expect(page).toContain('- 2026-01-02, a full run of 561 s');
    expect(page).toContain('- 2 cores of Example 3 GHz, 8.00 GiB, Linux 6.1; server on one core');
    expect(page).toContain('the load generator reached 3999 of 4000 requests/s');
    expect(page).not.toContain('**no**');
  });

  test('says when the machine was busy with other work, and only then', () => {
    const busy = { ...GOOD.machine, loadAverage: [3.2, 4] as const };
    expect(renderReport({ ...GOOD, machine: busy })).toContain('the machine was busy with other work');
    expect(page).not.toContain('busy with other work');
  });

  test('shows medians with their spread, ours above bare', () => {
    expect(page).toContain(
      '| 500/s | 8 | pod-create-4k | ours | 0.450 (0.400–0.500) | 6.00 (3.00–9.00) | 6.00 (3.00–9.00) |',
    );
  });

  test('counts policies, not only requests', () => {
    expect(page).toContain('| one of 16 policies a request | ours | 6000 | 6000 |');
    expect(page).toContain('| the work of 16 policies a request | ours | 2000 | 32000 |');
    expect(page).toContain('|  | Go | 500 | 8000 |');
    expect(page).toContain('| no policy | bare | 12000, the highest that is tried | - |');
  });

  test('says aloud that Go was left out', () => {
    const { one, all, bare } = GOOD.highest!;
    const alone = { one: { ours: one.ours }, all: { ours: all.ours }, bare, leftOut: 'no Go here' };
    const result = { ...GOOD, highest: alone };
    expect(renderReport(result)).toContain('Left out: no Go here.');
    expect(budgetRows(result)).toHaveLength(26);
  });

  test('tells how answers are judged while policies change', () => {
    expect(page).toContain('asked more than 1000 ms after a change and not of the new version');
    expect(page).toContain('| MiB resident, after the warm-up and at the end | 120, 132 |');
  });

  test('says aloud that the generator was the limit, that requests were lost and that a budget is missed', () => {
    const bad = renderReport({
      ...GOOD,
      loader: { neededPerSecond: 4000, round: { ...round(0.2, 2, 0.1), achievedPerSecond: 3000 } },
      rollout: [rolloutRun('sigterm', { failed: 4, failures: { ECONNREFUSED: 4 } })],
    });
    expect(bad).toContain('**the load generator reached only 3000 of 4000 requests/s');
    expect(bad).toContain('| 4: ECONNREFUSED |');
    expect(bad).toContain('| **no** |');
  });

  test('has rows of as many cells as their heads', () => {
    const widths = page
      .split('\n\n')
      .filter((block) => block.startsWith('|'))
      .map(
        (block) =>
          new Set(
            block
              .trim()
              .split('\n')
              .map((line) => line.split('|').length),
          ),
      );
    expect(widths.length).toBeGreaterThan(4);
    for (const width of widths) expect(width.size).toBe(1);
  });
});
