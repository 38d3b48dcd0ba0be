import { describe, expect, it } from 'vitest';
import type { Claim, Contract, Readiness } from '../../src/policies/contract/contract.ts';
import type { Condition } from '../../src/reconcile/api/pacto.ts';
import type { NewCondition } from '../../src/reconcile/conditions.ts';
import {
  readinessEvents,
  readinessOf,
  type AssessedReadiness,
} from '../../src/reconcile/readiness-status.ts';
import { contract } from '../policies/contract/evaluate-cases.ts';

const NOON = Date.parse('2026-11-30T12:00:00Z');

function claim(id: string, status: string, weight: number, more: Partial<Claim> = {}): Claim {
  return { id, type: 'document', status, evidence: `e/${id}`, weight, ...more };
}

/** The worked example of operator.md §2. */
const CLAIMS = [
  claim('a', 'done', 20),
  claim('b', 'partial', 15),
  claim('c', 'not-done', 25),
  claim('d', 'deferred', 10),
];

function declared(readiness: Partial<Readiness> = {}): Contract {
  return contract({ readiness: { expires: '2026-12-31', claims: CLAIMS, history: [], ...readiness } });
}

function assessed(readiness: Partial<Readiness> = {}, nowMs = NOON): AssessedReadiness {
  const found = readinessOf(declared(readiness), nowMs);
  if (found === undefined) throw new Error('nothing was assessed');
  return found;
}

describe('readiness in a status', () => {
  it('is not there where nothing is claimed', () => {
    expect(readinessOf(contract(), NOON)).toBeUndefined();
    expect(readinessOf(declared({ claims: [] }), NOON)).toBeUndefined();
  });

  it('is written as upstream writes it', () => {
    const history = [{ date: '2026-01-01', version: '1', author: 'a', description: 'd' }];
    expect(assessed({ minScore: 40, history }).readiness).toEqual({
      score: 47,
      minScore: 40,
      passing: true,
      totalWeight: 60,
      earnedWeight: 28,
      expires: '2026-12-31',
      daysRemaining: 31,
      doneCount: 1,
      partialCount: 1,
      notDoneCount: 1,
      deferredCount: 1,
      claims: [
        { id: 'a', type: 'document', status: 'done', evidence: 'e/a', weight: 20, earnedWeight: 20 },
        { id: 'b', type: 'document', status: 'partial', evidence: 'e/b', weight: 15, earnedWeight: 8 },
        { id: 'c', type: 'document', status: 'not-done', evidence: 'e/c', weight: 25, earnedWeight: 0 },
        {
          id: 'd',
          type: 'document',
          status: 'deferred',
          evidence: 'e/d',
          weight: 10,
          earnedWeight: 0,
          excluded: true,
        },
      ],
      revisions: history,
    });
  });

  it('leaves out what is false or zero once it has expired', () => {
    const claims = [claim('a', 'done', 1, { category: 'testing', description: 'why' })];
    expect(assessed({ claims, expires: '2026-11-29' }).readiness).toEqual({
      minScore: 100,
      totalWeight: 1,
      expires: '2026-11-29',
      expired: true,
      doneCount: 1,
      claims: [
        {
          id: 'a',
          type: 'document',
          category: 'testing',
          status: 'done',
          evidence: 'e/a',
          description: 'why',
          weight: 1,
          earnedWeight: 0,
        },
      ],
    });
  });

  it('shows the day on which it ends as no day left, and not as expired', () => {
    expect(assessed({ expires: '2026-11-30' }).readiness).toMatchObject({ daysRemaining: 0 });
    expect(assessed({ expires: '2026-11-30' }).readiness).not.toHaveProperty('expired');
  });

  it('shows some of very many claims, and counts all', () => {
    const claims = Array.from({ length: 1_000 }, (_, index) => claim(`c${String(index)}`, 'done', 1));
    const { readiness } = assessed({ claims });
    expect(readiness.claims).toHaveLength(200);
    expect(readiness.doneCount).toBe(1_000);
  });
});

describe('the condition of readiness', () => {
  it.each<[Partial<Readiness>, string]>([
    [{ minScore: 40 }, 'True Satisfied readiness score 47 meets minScore 40'],
    [
      { minScore: 60 },
      'False BelowMinScore readiness score 47 below minScore 60 (1 done, 1 partial, 1 not-done, 1 deferred)',
    ],
    [
      { minScore: 40, expires: '2026-11-29' },
      'False Expired readiness assessment expired (expires 2026-11-29); score 0 below minScore 40',
    ],
  ])('of %j is %s', (readiness, text) => {
    const { type, status, reason, message } = assessed(readiness).condition;
    expect(`${type} ${status} ${reason} ${message}`).toBe(`ReadinessSatisfied ${text}`);
  });
});

describe('readiness changes by itself', () => {
  it.each([
    ['at the next midnight, as a day less is left', '2026-12-31', '2026-12-01T00:00:00Z'],
    ['at the midnight after its last day', '2026-11-30', '2026-12-01T00:00:00Z'],
  ])('%s', (_name, expires, at) => {
    expect(assessed({ expires }).nextChangeMs).toBe(Date.parse(at));
  });

  it('never more once it has expired', () => {
    expect(assessed({ expires: '2026-11-29' }).nextChangeMs).toBeUndefined();
  });

  it('a whole day later at midnight itself', () => {
    const midnight = Date.parse('2026-12-01T00:00:00Z');
    expect(assessed({ expires: '2026-12-31' }, midnight).nextChangeMs).toBe(midnight + 86_400_000);
    expect(assessed({ expires: '2026-11-30' }, midnight).readiness.expired).toBe(true);
    expect(assessed({ expires: '2026-11-30' }, midnight - 1).readiness.expired).toBeUndefined();
  });
});

describe('an event of readiness', () => {
  const condition = (status: 'True' | 'False' | 'Unknown'): Condition => ({
    type: 'ReadinessSatisfied',
    status,
    reason: 'r',
    message: 'old',
    observedGeneration: 1,
    lastTransitionTime: '2026-01-01T00:00:00Z',
  });
  const now = (status: 'True' | 'False'): NewCondition => ({
    type: 'ReadinessSatisfied',
    status,
    reason: 'r',
    message: 'new',
  });
  const valid: Condition = { ...condition('False'), type: 'ContractValid' };

  it.each<[string, readonly Condition[], NewCondition | undefined, readonly string[]]>([
    ['warns at first sight', [], now('False'), ['Warning ReadinessGateUnmet new']],
    ['warns where the gate closes', [condition('True')], now('False'), ['Warning ReadinessGateUnmet new']],
    [
      'warns after what is not known',
      [condition('Unknown')],
      now('False'),
      ['Warning ReadinessGateUnmet new'],
    ],
    ['is not repeated', [condition('False')], now('False'), []],
    ['tells that the gate opens', [condition('False')], now('True'), ['Normal ReadinessRecovered new']],
    ['is not sent for a gate that was always open', [], now('True'), []],
    ['is not sent for a gate that stays open', [condition('True')], now('True'), []],
    ['is not sent where nothing is claimed any more', [condition('False')], undefined, []],
    ['looks at its own condition only', [valid], now('True'), []],
  ])('%s', (_name, before, current, said) => {
    const events = readinessEvents(before, current);
    expect(events.map(({ type, reason, message }) => `${type} ${reason} ${message}`)).toEqual(said);
  });
});
