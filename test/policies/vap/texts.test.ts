import { describe, expect, it } from 'vitest';

import { cutBytes, goJson, trimSpace } from '../../../src/policies/vap/go-strings.ts';
import { sentWarnings } from '../../../src/policies/vap/warnings.ts';

describe('trimSpace', () => {
  it.each([
    ['  a b \n', 'a b'],
    ['\u0085\u00a0\u2003a\u3000', 'a'],
    ['\ufeffa\u200b', '\ufeffa\u200b'],
    [' \t\r\n', ''],
    ['', ''],
  ])('%j', (text, trimmed) => {
    expect(trimSpace(text)).toBe(trimmed);
  });

  it('takes no longer than the text for a long run of blanks', () => {
    expect(trimSpace(`a${' '.repeat(1_000_000)}b`)).toHaveLength(1_000_002);
  });
});

describe('cutBytes', () => {
  it.each([
    ['abc', 3, 'abc'],
    ['abcd', 3, 'abc'],
    ['ééé', 4, 'éé'],
    ['ééé', 3, 'é\ufffd'],
    ['a€', 3, 'a\ufffd\ufffd'],
    ['a😀', 5, 'a😀'],
    ['a😀', 4, 'a\ufffd\ufffd\ufffd'],
  ])('%s at %i', (text, limit, cut) => {
    expect(cutBytes(text, limit)).toBe(cut);
  });
});

it('escapes JSON as Go does', () => {
  expect(goJson({ a: '<&>\u2028"é' })).toBe(String.raw`{"a":"\u003c\u0026\u003e\u2028\"é"}`);
});

describe('sentWarnings', () => {
  it('sends each text once, in order', () => {
    expect(sentWarnings(['b', 'a', 'b', ''])).toEqual(['b', 'a']);
  });

  it.each(['a\nb', 'a\tb', 'a\rb', 'a\u0000', 'a\u007f', 'a\u0085b', '\ud800'])('drops %j', (text) => {
    expect(sentWarnings([text, 'x'])).toEqual(['x']);
  });

  it.each(['a\u2028b', 'a\u00a0b', '\ufeffa', '😀'])('sends %j', (text) => {
    expect(sentWarnings([text])).toEqual([text]);
  });

  it('sends 4096 code points whole, and cuts all texts beyond', () => {
    expect(sentWarnings(['😀'.repeat(4096)])).toEqual(['😀'.repeat(4096)]);
    expect(sentWarnings(['😀'.repeat(4097)])).toEqual(['😀'.repeat(256)]);
    const texts = ['a'.repeat(4000), 'b'.repeat(300), 'c'];
    expect(sentWarnings(texts)).toEqual(['a'.repeat(256), 'b'.repeat(256), 'c']);
  });

  it('stops where cut texts are enough', () => {
    const texts = Array.from({ length: 30 }, (_, index) => String(index).padStart(300, '-'));
    expect(sentWarnings(texts)).toEqual(texts.slice(0, 16).map((text) => text.slice(0, 256)));
    const short = [...texts.slice(0, 14), 'x', ...texts.slice(14)];
    expect(sentWarnings(short)).toHaveLength(17);
  });
});
