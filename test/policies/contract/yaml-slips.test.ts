/** What is said of a text that is no YAML: the line of the fault, and what to write instead. */
import { describe, expect, it } from 'vitest';

import { load } from '../../../src/policies/contract/load.ts';

/** The service is in line 2, its name in line 3. */
const HEAD = 'pactoVersion: "2.0"\nservice:\n  name: a\n';

function said(rest: string): string {
  const loaded = load(HEAD + rest);
  return loaded.ok ? 'loads' : `${String(loaded.line)}: ${loaded.reason}`;
}

const TAB = 'a tab is in the indentation of this line: use blanks';
const DASH = 'a blank is due after the dash of an item';
const COLUMN = 'the indentation of this line fits no line above it: keys of one mapping start in one column';
const BELOW =
  'this line is indented below a key that has its value already, or a colon is in a text without quotes';
const COLONS =
  'a second colon follows the first: a text that holds ": ", or ends with a colon, must be put in quotes';
const quotes = (character: string): string => `a text that begins with ${character} must be put in quotes`;

describe('indentation', () => {
  it.each([
    ['a tab in place of blanks', '\tversion: "1"\n', `4: ${TAB}`],
    ['a tab after the blanks of a key', '  \tversion: "1"\n', `4: ${TAB}`],
    ['a tab before the first key of a mapping', 'state:\n\ttype: x\n', `5: ${TAB}`],
    ['a tab before a dash', 'interfaces:\n\t- name: x\n', `5: ${TAB}`],
    [
      'a tab in a block of text',
      'workload: |\n  x\n\ty\n',
      '6: a tab stands where indentation is due: use blanks',
    ],
    ['one blank too many', '   version: "1"\n', `4: ${BELOW}`],
    ['one blank too few', ' version: "1"\n', `4: ${COLUMN}`],
    [
      'a key that fits no column of an item',
      'interfaces:\n  - name: x\n   type: y\n',
      '6: a dash is missing, or the keys of an item start in different columns',
    ],
    [
      'an item among keys',
      'interfaces:\n  x: y\n  - name: x\n',
      '6: an item of a list stands where a key is due',
    ],
    [
      'a list beside its key',
      'interfaces: - name: x\n',
      '4: a list begins in the line below its key, not beside it',
    ],
  ])('names %s', (_, text, reason) => {
    expect(said(text)).toBe(reason);
  });
});

const COLON =
  'this line has no colon, or none that a blank follows; a text of several lines is indented below its key';

describe('what a text holds', () => {
  const CONFIGURATION = 'configurations:\n  - name: x\n    required: true\n    schema: s.json\n    values:';
  it.each([
    ['instead of a mapping', ' hunter2\n'],
    ['instead of a list', '\n      a: 1\ndependencies: hunter2\n'],
    ['below a block that ended', '\n      KEY: |\n        x\n      hunter2hunter2\n'],
    ['in a tag', '\n      KEY: !hunter2! x\n'],
    ['beside a tag of numbers', '\n      KEY: !!int hunter2\n'],
    ['behind a quote', "\n      KEY: 'a' hunter2\n"],
    ['behind a block', '\n      KEY: |hunter2\n'],
    ['behind a second colon', '\n      KEY: a: hunter2\n'],
    ['in an alias', '\n      KEY: *hunter2\n'],
    ['in a bracket', ' {a: hunter2\n'],
    ['with a wrong escape', '\n      KEY: "hunter2\\q"\n'],
  ])('is never said: %s', (_where, text) => {
    const loaded = load(`pactoVersion: "2.0"\nservice: {name: a, version: 1.0.0}\n${CONFIGURATION}${text}`);
    expect(loaded).toMatchObject({ ok: false });
    expect(JSON.stringify({ ...loaded, document: undefined })).not.toContain('hunter2');
  });
});

describe('blanks and colons', () => {
  it.each([
    ['a dash without one', 'interfaces:\n  -name: x\n    type: y\n', `5: ${DASH}`],
    ['a second dash without one', 'interfaces:\n  - name: x\n  -name: y\n', `6: ${DASH}`],
    [
      'a dash without one in a list of one key',
      'interfaces:\n  -name: x\n',
      '5: must be a list, but is a mapping: a blank is due after the dash of "-name"',
    ],
    ['a missing colon', 'workload service\nstate: {}\n', `4: ${COLON}`],
    ['a missing colon in the last line', 'workload service\n', `4: ${COLON}`],
    [
      'a colon without one',
      'workload:service\nstate: {}\n',
      '4: a blank is due after the colon of this line',
    ],
    ['a comment without one', 'workload: "x"#y\n', '4: a blank is due before #'],
    [
      'a key of two lines in brackets',
      'metadata: {a\n : b}\n',
      '4: a key and its colon must stand in one line',
    ],
  ])('names %s', (_, text, reason) => {
    expect(said(text)).toBe(reason);
  });
});

describe('quotes', () => {
  it.each([
    ['>= 1.0', `4: ${quotes('>')}`],
    ['>=1.0 <2', `4: ${quotes('>')}`],
    ['> 1.0', `4: ${quotes('>')}`],
    ['|x', `4: ${quotes('|')}`],
    ['*', `4: ${quotes('*')}`],
    ['*x', `4: no anchor before it has the name of this alias: ${quotes('*')}`],
    ['&', `4: ${quotes('&')}`],
    ['@x', `4: ${quotes('@')}`],
    ['`x`', `4: ${quotes('`')}`],
    ['%x', `4: ${quotes('%')}`],
    [', x', `4: ${quotes(',')}`],
    ['!x,y', `4: a blank is due after a tag, and ${quotes('!')}`],
    [']', '4: a bracket closes that none opened: a text with it must be put in quotes'],
    ['[x] y', '4: something follows a closing ]: a text that goes on must be put in quotes as a whole'],
    ['oci://x: y', `4: ${COLONS}`],
    ['oci://x:', `4: ${COLONS}`],
    ["'it's'", "4: something follows a closing quote: in single quotes a quote is written twice ('it''s')"],
    ['"x" y', '4: something follows a closing ": a text that goes on must be put in quotes as a whole'],
    ['"x\nstate: {}', '4: a quote opens here that is not closed'],
    [String.raw`"x\"`, '4: a quote opens here that is not closed'],
    ["'x\nstate: {}", '4: a quote opens here that is not closed'],
    [
      String.raw`"\d"`,
      String.raw`4: in double quotes a backslash begins an escape, and this is none: write \\ for a backslash`,
    ],
    ['{a: b c: d}', '4: in brackets a comma is missing, or a text that holds ": " must be put in quotes'],
    ['[x', '4: a bracket is not closed'],
  ])('are asked for, or for others, where a value is %s', (value, reason) => {
    expect(said(`workload: ${value}\n`)).toBe(reason);
  });

  it('are asked for where a template stands among free values', () => {
    expect(said('metadata: {a: {{ x }}}\n')).toBe(
      '4: a key is a mapping: a text that begins with a bracket must be put in quotes',
    );
  });

  it.each([String.raw`"x\\"`, "'x'''", '"x"', "'it''s'", '">= 1.0"', "'*'"])(
    'are enough around %s',
    (value) => {
      expect(load(`${HEAD}  version: "1"\nworkload: ${value}\n`).ok).toBe(true);
    },
  );
});

it('says little of a long line, and that in one', () => {
  const reason = said(`${'x'.repeat(100_000)}\u001b\n`);
  expect(reason).toBe('4: control characters are not allowed');
  expect(said(`${'x '.repeat(100_000)}\nstate: {}\n`).length).toBeLessThan(250);
});
