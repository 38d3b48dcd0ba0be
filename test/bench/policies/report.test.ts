import { describe, expect, it } from 'vitest';

import type { BenchResult, PoliciesResult, PolicyTimes } from '../result.ts';
import { policyBudgets, policySection } from './report.ts';
import { geometricMean, middleRound } from './timing.ts';

function times(evaluation: number, compilation: number, rest: Partial<PolicyTimes> = {}): PolicyTimes {
  return {
    name: 'a-policy',
    requests: 3,
    hasPatterns: false,
    agree: true,
    evaluation: { ours: evaluation, theirs: 100 },
    compilation: { ours: compilation, theirs: 1000 },
    ...rest,
  };
}

const GOOD: PoliciesResult = {
  peer: [times(5, 100), times(20, 200), times(150, 200, { hasPatterns: true })],
  engines: [
    { name: 'engine', hasPatterns: false, expressions: 9, tried: 10, ratio: 0.8 },
    { name: 'engine', hasPatterns: true, expressions: 2, tried: 3, ratio: 1.4 },
    { name: 'another', hasPatterns: false, expressions: 0, tried: 10, ratio: Number.NaN },
  ],
  requests: [
    { policies: 16, p50Ms: 0.1, p99Ms: 0.5 },
    { policies: 64, p50Ms: 0.3, p99Ms: 1.5 },
  ],
  stall: { expression: 'slow()', ms: 20 },
  bytesPerExpression: 4000,
};

function result(changes: Partial<PoliciesResult>): BenchResult {
  return { policies: { ...GOOD, ...changes } } as BenchResult;
}

function missed(changes: Partial<PoliciesResult>): readonly string[] {
  return policyBudgets(result(changes)).flatMap((row) => (row.met ? [] : [`${row.what}: ${row.measured}`]));
}

describe('budgets of policies', () => {
  it('are met by a good result, patterns and engines with nothing in common aside', () => {
    expect(missed({})).toEqual([]);
    expect(policyBudgets(result({}))).toHaveLength(9);
    expect(policyBudgets({} as BenchResult)).toEqual([]);
  });

  it.each<[string, Partial<PoliciesResult>, readonly string[]]>([
    [
      'slow policies',
      { peer: [times(10, 100), times(40, 100)] },
      ['evaluation of real policies, geometric mean: 0.200 × Go'],
    ],
    [
      'slow patterns',
      { peer: [times(210, 100, { hasPatterns: true })] },
      ['evaluation of those with patterns, geometric mean: 2.10 × Go'],
    ],
    ['slow compilation', { peer: [times(1, 300)] }, ['compilation with types, geometric mean: 0.300 × Go']],
    [
      'another verdict',
      { peer: [times(1, 1, { agree: false })] },
      ['real policies with another verdict than Go: 1'],
    ],
    [
      'a faster engine',
      { engines: [{ name: 'engine', hasPatterns: false, expressions: 9, tried: 10, ratio: 1.1 }] },
      ['an expression with its review, geometric mean: 1.10 × engine'],
    ],
    [
      'a slow request',
      { requests: [{ policies: 16, p50Ms: 0.1, p99Ms: 1.2 }] },
      ['p99 of 16 policies on 4 KiB, in process: 1.20 ms'],
    ],
    ['a stall', { stall: { expression: 'x', ms: 61 } }, ['longest stall by a hostile expression: 61.0 ms']],
    ['much memory', { bytesPerExpression: 20_001 }, ['memory of a compiled expression: 20001 bytes']],
  ])('are missed by %s', (_name, changes, rows) => {
    expect(missed(changes)).toEqual(rows);
  });
});

describe('the section about policies', () => {
  it('shows each policy, each engine, and what was left out', () => {
    expect(policySection(result({}))).toContain('| a-policy (patterns) | 3 | 150 | 100 | 1.50 |');
    expect(policySection(result({}))).toContain('| another | without patterns | 0 of 10 | - |');
    const { peer: _peer, ...rest } = GOOD;
    const left = { policies: { ...rest, leftOut: 'there is no Go' } } as BenchResult;
    expect(policySection(left)).toContain('Left out: there is no Go.');
    expect(policySection({} as BenchResult)).toBe('');
  });
});

describe('few numbers for many', () => {
  it('takes the mean of ratios, and the round in the middle', () => {
    expect(geometricMean([0.5, 2])).toBe(1);
    expect(() => geometricMean([])).toThrow(RangeError);
    const rounds = [
      { ours: 9, theirs: 10 },
      { ours: 1, theirs: 10 },
      { ours: 20, theirs: 100 },
    ];
    expect(middleRound(rounds)).toEqual({ ours: 20, theirs: 100 });
  });
});
