import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { ERROR_CODES, GateError, messageOf, quote } from '../src/errors.ts';
import { quote as quoteInPolicies } from '../src/policies/quote.ts';

function headingsBelow(section: string): readonly string[] {
  const page = readFileSync('docs/errors.md', 'utf8');
  const [, after = ''] = page.split(`\n## ${section}\n`);
  const [body = ''] = after.split('\n## ');
  return [...body.matchAll(/^### (\S+)$/gm)].map(([, heading = '']) => heading);
}

describe('error codes', () => {
  it('are each explained in docs/errors.md, in the same order, and no other', () => {
    expect(headingsBelow('Errors')).toEqual(Object.keys(ERROR_CODES));
  });

  it('are each used by the sources', () => {
    const sources = readdirSync('src', { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts') && name !== 'errors.ts')
      .map((name) => readFileSync(`src/${name}`, 'utf8'))
      .join('\n');
    const unused = Object.keys(ERROR_CODES).filter((code) => !sources.includes(`'${code}'`));
    expect(unused).toEqual([]);
  });

  it('carry their disposition, and a cause only where there is one', () => {
    const cause = new Error('below');
    expect(new GateError('GATE_UNSYNCED', 'x', { cause })).toMatchObject({ disposition: 'retry', cause });
    expect(Object.hasOwn(new GateError('GATE_UNSYNCED', 'x'), 'cause')).toBe(false);
    expect(messageOf('text')).toBe('text');
  });
});

describe('quote', () => {
  it.each([
    ['an ordinary name', 'node-a', '"node-a"'],
    ['a line break, so that no log line can be forged', 'a\nb', String.raw`"a\nb"`],
    ['NUL', 'a\0b', String.raw`"a\u0000b"`],
    ['a right-to-left override, so that no terminal line is reordered', 'a\u202eb', String.raw`"a\u202eb"`],
    ['a C1 control', 'a\u009bb', String.raw`"a\u009bb"`],
    ['an Arabic letter mark', 'a\u061cb', String.raw`"a\u061cb"`],
    ['a Hangul filler', 'a\u115fb', String.raw`"a\u115fb"`],
    ['a Mongolian vowel separator', 'a\u180eb', String.raw`"a\u180eb"`],
    ['a variation selector', 'a\ufe0fb', String.raw`"a\ufe0fb"`],
    ['a tag, in its two halves', 'a\u{e0041}b', String.raw`"a\udb40\udc41b"`],
    ['a lone surrogate', 'a\ud800b', String.raw`"a\ud800b"`],
    ['more than 120 characters, cut', 'x'.repeat(121), `"${'x'.repeat(120)}…"`],
  ])('escapes %s', (_what, value, want) => {
    expect(quote(value)).toBe(want);
    expect(quoteInPolicies(value)).toBe(want);
  });
});
