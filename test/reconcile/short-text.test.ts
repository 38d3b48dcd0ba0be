import { describe, expect, it } from 'vitest';
import { shortText } from '../../src/reconcile/short-text.ts';

describe('shortText', () => {
  it.each([
    ['leaves a short text', 'abc', 3, 'abc'],
    ['cuts a long one, and says so', 'abcd', 3, 'abc…'],
    ['never leaves half a character', 'ab\u{1f600}', 3, 'ab\ufffd…'],
    ['mends one that came with half a character', 'a\ud800', 3, 'a\ufffd'],
  ])('%s', (_name, text, length, short) => {
    expect(shortText(text, length)).toBe(short);
  });
});
