import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canonicalJson, sameJson } from '../../../src/policies/identity/foreign.ts';

const boxed = (value: number): unknown => Object(value);

describe('canonicalJson', () => {
  it.each([
    ['the order of keys does not count', { a: 1, b: 2 }, { b: 2, a: 1 }],
    ['a boxed double is its number', boxed(1), 1],
    ['-0 is not 0', -0, 0],
    ['a bigint is not its text', 2n ** 60n, String(2n ** 60n)],
    ['null is not its text', null, 'null'],
    ['a list is not its text', [1], '[1]'],
    ['keys are data', { constructor: 1 }, { constructor: 2 }],
  ])('agrees with sameJson: %s', (_what, left, right) => {
    expect(canonicalJson(left) === canonicalJson(right)).toBe(sameJson(left, right));
  });

  it('agrees with sameJson on any two values', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (left, right) => {
        expect(canonicalJson(left) === canonicalJson(right)).toBe(sameJson(left, right));
        expect(canonicalJson(left)).toBe(canonicalJson(structuredClone(left)));
      }),
    );
  });
});
