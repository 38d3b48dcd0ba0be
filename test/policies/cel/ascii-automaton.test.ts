import * as fc from 'fast-check';
import { RE2JS } from 're2js';
import { describe, expect, it } from 'vitest';

import { AsciiAutomaton } from '../../../src/policies/cel/libraries/ascii-automaton.ts';

const SOURCES = [
  '^registry\\.example\\.com/[a-z0-9._/-]+(:[a-z0-9._-]+)?$',
  '^(a|b)*$',
  '(^a|b$)',
  'a|^$',
  '$',
  'a$|b',
  '(?i)ab',
  '(?s)a.b',
  'a.b',
  '[^a]b',
  '(a*)*b',
  'a{2,4}$',
  '^',
  '(?:)',
  '[^\\x00-\\x{10FFFF}]',
  '(?:^)*b',
];

function automaton(source: string): AsciiAutomaton {
  const made = AsciiAutomaton.of(RE2JS.compile(source));
  if (made === undefined) throw new Error(`no automaton for ${source}`);
  return made;
}

describe('AsciiAutomaton', () => {
  it.each(SOURCES)('agrees with re2js on %s', (source) => {
    const compiled = RE2JS.compile(source);
    const made = automaton(source);
    const text = fc.string({
      unit: fc.constantFrom('a', 'b', 'A', 'B', '\n', '.', '/', ':', '0'),
      maxLength: 8,
    });
    fc.assert(
      fc.property(text, (input) => {
        expect(made.test(input)).toBe(compiled.test(input));
      }),
      { numRuns: 300 },
    );
  });

  it('agrees with re2js on texts that match', () => {
    const source = SOURCES[0] ?? '';
    for (const text of ['registry.example.com/a/b:v1', 'registry.example.com/', 'xregistry.example.com/a']) {
      expect(automaton(source).test(text)).toBe(RE2JS.compile(source).test(text));
    }
  });

  it('does not know of texts beyond ASCII', () => {
    expect(automaton('^a').test('bé')).toBeUndefined();
  });

  it('does not know once it would have too many states', () => {
    const made = automaton('(a|b)*a(a|b){12}$');
    const texts = Array.from({ length: 4096 }, (_, i) =>
      i.toString(2).padStart(12, '0').replaceAll('0', 'a').replaceAll('1', 'b'),
    );
    const answers = texts.map((text) => made.test(`a${text}`));
    expect(answers).toContain(true);
    expect(answers).toContain(undefined);
    expect(answers).not.toContain(false);
  });

  it.each(['\\bfoo', '(?m)^a', '(?m)a$', '\\Ba'])('is not made for %s', (source) => {
    expect(AsciiAutomaton.of(RE2JS.compile(source))).toBeUndefined();
  });
});
