import * as fc from 'fast-check';
import peer from 'ignore';
import { describe, expect, test } from 'vitest';

import { IgnorePatterns } from '../../src/registry/ignore-patterns.ts';

const patternsOf = (text: string, maxSteps = 1e9): IgnorePatterns =>
  new IgnorePatterns(text.split('\n'), maxSteps, () => new Error('too many steps'));

describe('IgnorePatterns', () => {
  test.each([
    ['stars between stars', '/*a*b*', ['xaxbx', 'ab'], ['ba', 'x/ab']],
    ['a slash in the middle as an anchor', 'a/b', ['a/b', 'a/b/c'], ['x/a/b']],
    ['two stars in front', '**/a/b', ['a/b', 'x/y/a/b'], ['a/x/b']],
    ['two stars at the end', 'a/**', ['a/x', 'a/x/y'], ['a', 'a/']],
    ['two stars in a name as one', 'a**b', ['ab', 'axb'], ['a/b']],
    ['a directory by its slash', 'a/', ['a/', 'a/b', 'x/a/'], ['a']],
    ['a class with ranges', '[a-cx]1', ['a1', 'b1', 'x1'], ['d1', '-1']],
    ['a class that is negated', '[!a-c]1', ['d1'], ['a1', '1']],
    ['a bracket and a dash in a class', '[]-]', [']', '-'], ['a']],
    ['a backslash in a class', String.raw`[\]a]`, [']', 'a'], ['\\']],
    ['a class with a slash, which fits none', 'a[/b]c', ['abc'], ['a/c']],
    ['classes by name', '[[:digit:][:upper:]]', ['7', 'Q'], ['q', '[']],
    ['a class that is none, which fits nothing', '[[:nope:]]', [], ['n', ':']],
    ['a class without end, which fits nothing', '[a', [], ['a', '[a']],
    ['escaped wildcards as themselves', String.raw`\*\?\[`, ['*?['], ['abc']],
    ['an escaped mark and hash in front', '\\!a\n\\#b', ['!a', '#b'], ['a', 'b']],
    ['a backslash at the end, which fits nothing', 'a\\', [], ['a', 'a\\']],
    ['blanks at the end, unless escaped', 'a  \nb\\ ', ['a', 'b '], ['a  ', 'b']],
    ['nothing again inside of what is out', 'a/\n!a/b', ['a/b'], []],
    ['what is taken back beside a star', 'a/*\n!a/b', ['a/c'], ['a/b', 'a/']],
    ['a question mark as one character of any plane', '?', ['x', 'ü', '🂡'], ['xy']],
    ['an empty segment, which fits nothing', 'a//b', [], ['a/b', 'a//b']],
    ['a slash alone, which fits nothing', '/', [], ['a', 'a/']],
  ])('knows %s', (_what, text, ignored, kept) => {
    const patterns = patternsOf(text);
    for (const path of ignored) expect([path, patterns.ignores(path)]).toEqual([path, true]);
    for (const path of kept) expect([path, patterns.ignores(path)]).toEqual([path, false]);
  });

  test.each([
    ['two stars over and over', '**/a/**/a/**/a/**/a/**/a/**/c', `${'a/'.repeat(100)}b`],
    ['stars over and over', `${'*a'.repeat(200)}b`, 'a'.repeat(4000)],
    ['stars in segments over and over', `${'**/*a*a/'.repeat(50)}c`, `${'aaaa/'.repeat(200)}b`],
  ])('keeps what %s do not fit in few steps', (_what, text, path) => {
    // Every directory above it is asked about as well.
    const depth = path.split('/').length;
    expect(patternsOf(text, 2 * depth * text.length * path.length).ignores(path)).toBe(false);
  });

  test('throws where its steps are not enough', () => {
    expect(() => patternsOf('*ab', 10).ignores('a'.repeat(100))).toThrow('too many steps');
  });

  test('decides as another reader of these patterns does', () => {
    const part = fc
      .array(fc.constantFrom('a', 'b', 'c', '*', '?', '**', '[ab]', '[!a]', '[a-b]', '\\a', '\\*', ' '), {
        minLength: 1,
        maxLength: 4,
      })
      .map((tokens) => tokens.join(''));
    const line = fc
      .tuple(
        fc.constantFrom('', '', '!', '/', '!/', '**/'),
        fc.array(fc.oneof(part, fc.constant('**')), { minLength: 1, maxLength: 3 }),
        fc.constantFrom('', '', '/', '/**', '/*'),
      )
      .map(([head, parts, tail]) => `${head}${parts.join('/')}${tail}`);
    const name = fc.array(fc.constantFrom('a', 'b', 'c'), { minLength: 1, maxLength: 3 });
    const path = fc
      .tuple(
        fc.array(
          name.map((chars) => chars.join('')),
          { minLength: 1, maxLength: 4 },
        ),
        fc.boolean(),
      )
      .map(([segments, isDirectory]) => `${segments.join('/')}${isDirectory ? '/' : ''}`);
    fc.assert(
      fc.property(
        fc.array(line, { minLength: 1, maxLength: 4 }),
        fc.array(path, { maxLength: 6 }),
        (lines, paths) => {
          const theirs = peer({ ignorecase: false }).add(lines);
          const ours = patternsOf(lines.join('\n'));
          for (const one of paths) expect([one, ours.ignores(one)]).toEqual([one, theirs.ignores(one)]);
        },
      ),
      { numRuns: 2000 },
    );
  });
});
