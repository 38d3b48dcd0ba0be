/** Examples 48 to 66 of contract.md §18.4 and §18.5. */
import { describe, expect, it } from 'vitest';
import { bestTag } from '../../../src/policies/contract/best-tag.ts';
import type { Claim, Readiness } from '../../../src/policies/contract/contract.ts';
import { type ReadinessResult, assessReadiness } from '../../../src/policies/contract/readiness.ts';
import { constraint } from './versions.ts';

function assess(
  claims: Readonly<Record<string, number>>,
  more: Partial<Readiness> = {},
  now = '2026-06-15T12:00:00Z',
): ReadinessResult | undefined {
  const claimed = Object.entries(claims).map(([name, weight]): Claim => ({
    id: name.replace(' ', '-'),
    type: 'url',
    status: name.split(' ')[0] ?? '',
    evidence: 'https://e.test',
    weight,
  }));
  return assessReadiness({ expires: '2027-03-31', claims: claimed, history: [], ...more }, new Date(now));
}

describe('readiness', () => {
  it('48: rounds the credit of a part before it is added', () => {
    expect(assess({ done: 30, partial: 25, 'not-done': 45, deferred: 80 })).toMatchObject({
      earnedWeight: 43,
      totalWeight: 100,
      score: 43,
      passing: false,
      state: 'BelowMinScore',
    });
  });

  it('49: lets two parts pass as if they were done', () => {
    expect(assess({ 'partial 1': 1, 'partial 2': 1 })).toMatchObject({
      earnedWeight: 2,
      totalWeight: 2,
      score: 100,
      passing: true,
    });
  });

  it('50: divides before it multiplies', () => {
    const first = assess({ done: 29, 'not-done 1': 100, 'not-done 2': 71 }, { minScore: 15 });
    expect(first).toMatchObject({ score: 14, passing: false });
    expect(assess({ done: 23, 'not-done': 17 }, { minScore: 58 })).toMatchObject({
      score: 57,
      passing: false,
    });
    expect(assess({ partial: 50 }, { partialCredit: 0.29 })).toMatchObject({ earnedWeight: 14 });
  });

  it('51: scores 0 with nothing in scope', () => {
    expect(assess({ deferred: 80 })).toMatchObject({ totalWeight: 0, score: 0, passing: false });
    expect(assess({ deferred: 80 }, { minScore: 0 })).toMatchObject({
      totalWeight: 0,
      score: 0,
      passing: true,
    });
  });

  it.each([
    ['2027-03-31T23:59:59.999Z', false, 0],
    ['2027-04-01T00:00:00Z', true, undefined],
    ['2027-03-31T20:00:00-05:00', true, undefined],
    ['2027-03-30T23:00:00Z', false, 1],
  ])('52: at %s has expired: %s', (now, expired, daysRemaining) => {
    const result = assess({ done: 10 }, {}, now);
    expect(result?.expired).toBe(expired);
    expect(result?.daysRemaining).toBe(daysRemaining);
  });

  it('53: does not pass expired, whatever the minimum', () => {
    const result = assess({ done: 10, partial: 10 }, { minScore: 0 }, '2027-04-01T00:00:00Z');
    expect(result).toMatchObject({
      score: 0,
      passing: false,
      state: 'Expired',
      doneCount: 1,
      partialCount: 1,
      earnedWeight: 0,
    });
    expect(result?.claims.map(({ earnedWeight }) => earnedWeight)).toEqual([0, 0]);
  });
});

describe('versions and tags', () => {
  it.each([
    [54, ['1.9.0', '2.0.0-rc.1', 'latest'], undefined, '2.0.0-rc.1'],
    [55, ['1.9.0', '2.0.0-rc.1', 'latest'], '^1.0.0', '1.9.0'],
    [56, ['20240115', '3.2.1'], undefined, '20240115'],
    [57, ['20240115', '3.2.1'], '^3', '3.2.1'],
    [58, ['v1.2.0', '1.1.9'], '^1', 'v1.2.0'],
    [59, ['1', '1.4', '1.4.2'], '^1', '1.4.2'],
    [60, ['1.9.9', '2.0.0-rc.1', '1.9.10-beta'], '<2.0.0-0', '1.9.10-beta'],
    [61, ['2.1.0', '2.2.0-beta.1'], '*', '2.1.0'],
    [62, ['2.1.0', '2.2.0-beta.1'], '>=2.0.0-0', '2.2.0-beta.1'],
    [63, ['0.0.7', '3.1.0'], '~0.0.0', '3.1.0'],
    [64, ['1.0.0', '1.5.0'], '>1', undefined],
    [65, ['0.0.0', '1.0.0'], '^*', '0.0.0'],
    [66, ['main', 'sha-9f'], undefined, undefined],
  ])('%i: of %j under %j picks %j', (_, tags, text, picked) => {
    expect(bestTag(tags, text === undefined ? undefined : constraint(text))).toBe(picked);
  });
});
