import { describe, expect, it } from 'vitest';

import { regexLibrary } from '../../../src/policies/cel/libraries/regex.ts';
import { type Pattern, Patterns, compilePattern } from '../../../src/policies/cel/libraries/patterns.ts';
import { standardStrings } from '../../../src/policies/cel/libraries/standard-strings.ts';
import { CelError } from '../../../src/policies/cel/values.ts';
import { callOverload, costOfOverload, shown } from './support/overload.ts';

function compiled(source: string): Pattern {
  const pattern = compilePattern(source);
  if (pattern instanceof CelError) throw new Error(pattern.message);
  return pattern;
}

describe('patterns that Go refuses', () => {
  it.each([
    ['(', 'missing closing ): `(`'],
    ['a)', 'unexpected ): `a)`'],
    ['a\\', 'trailing backslash at end of expression: ``'],
    ['(?<', 'invalid or unsupported Perl syntax: `(?<`'],
    ['(?P<', 'invalid or unsupported Perl syntax: `(?P`'],
    ['(?P<n', 'invalid named capture: `(?P<n`'],
    ['(?=a)', 'invalid or unsupported Perl syntax: `(?=`'],
    ['\\1', 'invalid escape sequence: `\\1`'],
    ['a{1001}', 'invalid repeat count: `{1001}`'],
    ['\\p{Old_Italic}', 'invalid character class range: `\\p{Old_Italic}`'],
    ['a\\p{ lower-case letter }\\p{foo}', 'invalid character class range: `\\p{foo}`'],
    ['(\\p{letter}', 'missing closing ): `(\\p{letter}`'],
    ['(?<n>(?<n>', 'missing closing ): `(?<n>(?<n>`'],
    ['\udcff', 'invalid UTF-8: `\udcff`'],
  ])('says why %j is none', (source, reason) => {
    expect(compilePattern(source)).toStrictEqual(new CelError(`error parsing regexp: ${reason}`));
  });
});

describe('patterns that Go takes', () => {
  it.each([
    ['\\p{letter}+', '1éa2', 'éa'],
    ['[\\p{ASCII}]+', 'éab', 'ab'],
    ['(?<n>a)(?P<n>b)', 'xab', 'ab'],
    ['[(?<n>](?<n>a)(?<n>b)', 'nab', 'nab'],
    ['(?i)k', 'K', 'K'],
    ['^a\\.b$', 'a.b', 'a.b'],
    ['a|ab', 'ab', 'a'],
  ])('%s finds in %s', (source, text, found) => {
    expect(compiled(source).find(text)).toBe(found);
    expect(compiled(source).test(text)).toBe(true);
  });

  it.each([
    ['a*', 'baac', ['', 'aa', '']],
    ['-*$', '..--', ['--']],
    ['', 'a😀', ['', '', '']],
    ['^', 'ab', ['']],
    ['ab', 'abxab', ['ab', 'ab']],
    ['^ab', 'abab', ['ab']],
    ['b$', 'abb', ['b']],
    ['x', 'ab', []],
  ])('%s finds all in %j', (source, text, found) => {
    expect(compiled(source).findAll(text, -1)).toStrictEqual(found);
    expect(compiled(source).findAll(text, 1)).toStrictEqual(found.slice(0, 1));
    expect(compiled(source).findAll(text, 0)).toStrictEqual([]);
  });

  it('answers in time where a backtracking engine would not', () => {
    expect(compiled('(a+)+$').test(`${'a'.repeat(5000)}b`)).toBe(false);
  });
});

describe('Patterns', () => {
  it('gives the same pattern again, until too many others came', () => {
    const patterns = new Patterns();
    const first = patterns.get('a+');
    expect(patterns.get('a+')).toBe(first);
    for (let i = 0; i < 100; i++) patterns.get(`b{${String(i + 1)}}`);
    expect(patterns.get('a+')).not.toBe(first);
  });
});

describe('functions on patterns', () => {
  const tests = standardStrings();
  const searches = regexLibrary();
  const bound = (source: string, name: string) => {
    const definition = [...tests.functions, ...searches.functions].find(
      (candidate) => candidate.name === name,
    );
    const result = definition?.constantRegex?.bind(source);
    if (result === undefined) throw new Error(`${name} has no pattern`);
    return result;
  };

  it('match, find and find all', () => {
    expect(callOverload(tests, 'matches_string', 'abc', 'b.')).toBe(true);
    expect(callOverload(searches, 'string_find_string', 'abc', 'b.')).toBe('bc');
    expect(callOverload(searches, 'string_find_all_string_int', 'aab', 'a', 1)).toStrictEqual(['a']);
  });

  it('name a pattern that is none as each of them does', () => {
    expect(shown(callOverload(tests, 'matches_string', 'a', '('))).toBe(
      'error: error parsing regexp: missing closing ): `(`',
    );
    expect(shown(callOverload(searches, 'string_find_string', 'a', '('))).toBe(
      'error: Illegal regex: error parsing regexp: missing closing ): `(`',
    );
    expect(bound('(', 'find')).toStrictEqual(new CelError('error parsing regexp: missing closing ): `(`'));
  });

  it('refuse other types where the pattern is a constant', () => {
    const matches = bound('a+', 'matches');
    const findAll = bound('a+', 'findAll');
    if (matches instanceof CelError || findAll instanceof CelError) throw new Error('refused');
    expect(matches('aa', 'a+')).toBe(true);
    expect(shown(matches(1, 'a+'))).toBe('error: no such overload');
    expect(shown(findAll('aa', 'a+', 'x'))).toBe('error: no such overload');
    expect(findAll('aba', 'a+')).toStrictEqual(['a', 'a']);
  });

  it('cost by the length of text and pattern', () => {
    const args = ['x'.repeat(25), 'y'.repeat(9)];
    expect(costOfOverload(tests, { args, result: true, overloadId: 'matches_string' })).toBe(9);
    expect(costOfOverload(tests, { args, result: true, overloadId: 'matches' })).toBe(1);
    expect(costOfOverload(searches, { args, result: '', overloadId: 'string_find_string' })).toBe(9);
    expect(costOfOverload(tests, { args, result: true, overloadId: 'contains_string' })).toBe(3);
  });

  it('look at types themselves where cel-go does', () => {
    expect(shown(callOverload(tests, 'contains_string', 1, 'a'))).toBe('error: no such overload');
    expect(callOverload(tests, 'starts_with_string', 'abc', 'ab')).toBe(true);
    expect(callOverload(tests, 'ends_with_string', 'abc', 'ab')).toBe(false);
  });
});
