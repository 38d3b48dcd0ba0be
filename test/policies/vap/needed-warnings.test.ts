import { array, assert, constantFrom, nat, property, tuple } from 'fast-check';
import { describe, expect, it } from 'vitest';
import { neededWarnings, sentWarnings } from '../../../src/policies/vap/warnings.ts';

const text = tuple(nat(400), constantFrom('a', 'b', '\u{1F600}', 'a\n', '')).map(([n, of]) => of.repeat(n));

describe('needed warnings', () => {
  it('lead to the same headers as all of them', () => {
    assert(
      property(array(text, { maxLength: 60 }), (texts) => {
        expect(sentWarnings(neededWarnings(texts))).toEqual(sentWarnings(texts));
      }),
    );
  });

  it('are few, of however many there are', () => {
    const many = Array.from({ length: 5_000 }, (_, index) => `${'x'.repeat(300)} ${String(index)}`);
    expect(neededWarnings(many)).toHaveLength(16);
  });
});
