import { describe, expect, it } from 'vitest';
import type { Claim, Readiness } from '../../../src/policies/contract/contract.ts';
import { assessReadiness } from '../../../src/policies/contract/readiness.ts';

const NOW = new Date('2026-06-15T12:00:00Z');

function claim(status: string, weight: number): Claim {
  return { id: `${status}-${weight}`, type: 'url', status, evidence: 'https://e.test', weight };
}

function readiness(claims: readonly Claim[], more: Partial<Readiness> = {}): Readiness {
  return { expires: '2027-03-31', claims, history: [], ...more };
}

describe('the gate', () => {
  it.each([undefined, readiness([])])('is not there without claims: %j', (section) => {
    expect(assessReadiness(section, NOW)).toBeUndefined();
  });

  it('gives every field of a result', () => {
    const documented = { ...claim('done', 20), category: 'testing', description: 'load tested' };
    const claims = [documented, claim('partial', 15), claim('not-done', 25), claim('deferred', 10)];
    expect(assessReadiness(readiness(claims, { minScore: 48 }), NOW)).toEqual({
      score: 47,
      totalWeight: 60,
      earnedWeight: 28,
      minScore: 48,
      partialCredit: 0.5,
      expires: '2027-03-31',
      expired: false,
      daysRemaining: 289,
      doneCount: 1,
      partialCount: 1,
      notDoneCount: 1,
      deferredCount: 1,
      passing: false,
      state: 'BelowMinScore',
      claims: [
        { ...documented, earnedWeight: 20, excluded: false },
        { ...claim('partial', 15), earnedWeight: 8, excluded: false },
        { ...claim('not-done', 25), earnedWeight: 0, excluded: false },
        { ...claim('deferred', 10), earnedWeight: 0, excluded: true },
      ],
    });
  });

  it.each([
    [47, 'Satisfied', true],
    [48, 'BelowMinScore', false],
  ])('with a minimum of %i is %s', (minScore, state, passing) => {
    const claims = [claim('done', 20), claim('partial', 15), claim('not-done', 25)];
    expect(assessReadiness(readiness(claims, { minScore }), NOW)).toMatchObject({ state, passing });
  });

  it('counts a status it does not know as not done', () => {
    expect(assessReadiness(readiness([claim('done', 1), claim('DONE', 1)]), NOW)).toMatchObject({
      score: 50,
      doneCount: 1,
      notDoneCount: 1,
    });
  });

  it.each([
    [0, 0],
    [1, 7],
    [0.5, 4],
    [0.333, 2],
  ])('with a credit of %d earns %i of 7 for a part', (partialCredit, earnedWeight) => {
    expect(assessReadiness(readiness([claim('partial', 7)], { partialCredit }), NOW)).toMatchObject({
      earnedWeight,
    });
  });

  it('scores 0 where all weights are 0', () => {
    expect(assessReadiness(readiness([claim('done', 0)], { minScore: 0 }), NOW)).toMatchObject({
      score: 0,
      totalWeight: 0,
      passing: true,
    });
  });

  it.each(['2027-02-30', '2027-2-3', '', 'nope', '2027-03-31T00:00:00Z'])(
    'counts %j as expired',
    (expires) => {
      const result = assessReadiness(readiness([claim('done', 1)], { expires }), NOW);
      expect(result).toMatchObject({ expired: true, passing: false, state: 'Expired', score: 0, expires });
      expect(result).not.toHaveProperty('daysRemaining');
    },
  );

  it('counts a time that is none as expired', () => {
    expect(assessReadiness(readiness([claim('done', 1)]), new Date(Number.NaN))?.state).toBe('Expired');
  });

  it('stops counting days after 292 years', () => {
    const distant = readiness([claim('done', 1)], { expires: '9999-12-31' });
    expect(assessReadiness(distant, NOW)?.daysRemaining).toBe(106_751);
  });
});
