import { describe, expect, it } from 'vitest';

import { bytesOfText, goQuote, textOfBytes } from '../../../src/policies/cel/libraries/go-text.ts';

/** Recorded from Go 1.26. */
const QUOTED: readonly (readonly [text: string, quoted: string])[] = [
  ['plain', '"plain"'],
  ['a"b\\', String.raw`"a\"b\\"`],
  ['\n\t\u0000\u007f', String.raw`"\n\t\x00\x7f"`],
  ['é😀', '"é😀"'],
  ['\u00ad\ufeff', String.raw`"\u00ad\ufeff"`],
  ['\u2028 \u00a0', String.raw`"\u2028 \u00a0"`],
  ['\udcff', String.raw`"\xff"`],
  ['\u{e0001}', String.raw`"\U000e0001"`],
];

describe('texts as Go handles them', () => {
  it.each(QUOTED)('quotes %j as Go does', (text, quoted) => {
    expect(goQuote(text)).toBe(quoted);
  });

  it.each(['', 'abc', 'é', '€', '😀', 'a\udc80b', '\udcc3('])('gets %j back from its bytes', (text) => {
    expect(textOfBytes(bytesOfText(text))).toBe(text);
  });

  it.each([
    ['\u00c3\u00a9', 'é'],
    ['\u00c3', '\udcc3'],
    // Overlong, a surrogate, and above the last code point: no UTF-8.
    ['\u00c0\u00af', '\udcc0\udcaf'],
    ['\u00ed\u00a0\u0080', '\udced\udca0\udc80'],
    ['\u00f4\u0090\u0080\u0080', '\udcf4\udc90\udc80\udc80'],
  ])('reads the bytes of %j', (bytes, text) => {
    expect(textOfBytes(bytes)).toBe(text);
  });
});
