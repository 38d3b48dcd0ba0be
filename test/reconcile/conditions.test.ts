import { describe, expect, it } from 'vitest';
import type { Condition } from '../../src/reconcile/api/pacto.ts';
import {
  contractInvalid,
  contractParsed,
  contractUnavailable,
  nextConditions,
  referenceParsed,
  runtimeObserved,
  type NewCondition,
} from '../../src/reconcile/conditions.ts';

const EARLIER = '2026-01-01T00:00:00Z';
const NOW = '2026-01-01T01:00:00Z';
const CART = { name: 'cart', version: '1.4.0' };

function next(
  before: readonly Condition[],
  now: readonly NewCondition[],
  kept: readonly Condition['type'][] = [],
): readonly Condition[] {
  return nextConditions(before, now, { generation: 7, at: NOW, kept });
}

function earlier(condition: NewCondition): Condition {
  return { ...condition, observedGeneration: 3, lastTransitionTime: EARLIER };
}

describe('a condition', () => {
  it.each([
    [contractParsed(CART), 'True Parsed Contract cart v1.4.0 is valid'],
    [referenceParsed(CART), 'True ReferenceOnly Reference contract cart v1.4.0 is valid'],
    [contractInvalid('no YAML'), 'False Invalid no YAML'],
    [contractUnavailable('no answer'), 'Unknown Unavailable no answer'],
    [runtimeObserved(undefined), 'True Found Runtime evidence collected successfully'],
    [runtimeObserved('forbidden'), 'False ObservationFailed Runtime observation failed: forbidden'],
  ])('is told in the words that others know: %j', ({ status, reason, message }, text) => {
    expect(`${status} ${reason} ${message}`).toBe(text);
  });

  it('begins now', () => {
    expect(next([], [contractParsed(CART)])).toEqual([
      { ...contractParsed(CART), observedGeneration: 7, lastTransitionTime: NOW },
    ]);
  });

  it('keeps its time while its status is the same, whatever its reason', () => {
    const [condition] = next([earlier(contractParsed(CART))], [referenceParsed(CART)]);
    expect(condition).toEqual({
      ...referenceParsed(CART),
      observedGeneration: 7,
      lastTransitionTime: EARLIER,
    });
  });

  it('gets a new time with a new status', () => {
    const [condition] = next([earlier(contractParsed(CART))], [contractInvalid('no')]);
    expect(condition?.lastTransitionTime).toBe(NOW);
  });

  it('is gone where it does not apply any more', () => {
    expect(
      next([earlier(runtimeObserved(undefined))], [contractParsed(CART)]).map(({ type }) => type),
    ).toEqual(['ContractValid']);
  });

  it('stays as it was where nothing is known of it', () => {
    const readiness: NewCondition = {
      type: 'ReadinessSatisfied',
      status: 'False',
      reason: 'BelowMinScore',
      message: 'm',
    };
    expect(next([earlier(readiness)], [contractInvalid('no')], ['ReadinessSatisfied'])[1]).toEqual(
      earlier(readiness),
    );
  });

  it('has its place whatever the order before', () => {
    const before = [earlier(runtimeObserved(undefined)), earlier(contractParsed(CART))];
    const again = next(before, [runtimeObserved(undefined), contractParsed(CART)]);
    expect(again.map(({ type }) => type)).toEqual(['ContractValid', 'RuntimeObserved']);
  });

  it('has a message of some length', () => {
    expect(next([], [contractInvalid('x'.repeat(100_000))])[0]?.message).toHaveLength(4_097);
  });
});
