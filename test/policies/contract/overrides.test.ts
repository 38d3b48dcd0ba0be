/** Overrides of the command line (contract.md §16.1) and of the operator (operator.md §3.4), and how YAML is written. */
import { describe, expect, it } from 'vitest';

import { load, readDocument } from '../../../src/policies/contract/load.ts';
import { overrideConfigurations } from '../../../src/policies/contract/operator-overrides.ts';
import type { ConfigurationOverride } from '../../../src/policies/contract/operator-overrides.ts';
import { override } from '../../../src/policies/contract/overrides.ts';

function changed(base: string, values: readonly string[], set: readonly string[] = []): string {
  const result = override(readDocument(base), { values, set });
  return result.ok ? result.text : `refused: ${result.reason}`;
}

describe('writing', () => {
  it.each([
    ['y', '"y"'],
    ['null', '"null"'],
    ['1_0', '"1_0"'],
    ['12:30', '"12:30"'],
    ['2020-01-01', '"2020-01-01"'],
    ['', '""'],
    ['a: b', "'a: b'"],
    ['a #b', "'a #b'"],
    ["a'b", "a'b"],
    ["'a'", "'''a'''"],
    ['- a', "'- a'"],
    ['-a', '-a'],
    [' a', "' a'"],
    ['a\tb', String.raw`"a\tb"`],
    ['😀', String.raw`"\U0001F600"`],
    ['a\nb', '|-\n    a\n    b'],
    ['a\n\n', '|+\n    a\n'],
    [' a\nb\n', '|4\n     a\n    b'],
    ['a \nb', String.raw`"a \nb"`],
    ['é', 'é'],
  ])('writes the text %j as yaml.v3 does', (text, written) => {
    const out = changed('{}', [JSON.stringify({ k: text })]);
    expect(out).toBe(`k: ${written}\n`);
    expect(readDocument(out).generic).toEqual({ ok: true, value: { k: text } });
  });

  it('sorts keys by the numbers in them, and indents by four', () => {
    expect(changed('{a10: 1, a2: {c: [1, {d: 2, e: {f: 3}}]}, B: [], A: {}, "<<": 1}', ['{}'])).toBe(
      '"<<": 1\nA: {}\nB: []\na2:\n    c:\n        - 1\n        - d: 2\n          e:\n            f: 3\na10: 1\n',
    );
  });

  it('writes doubles as Go does', () => {
    expect(changed('{a: 1.0, b: 1e6, c: 1000000, d: 9007199254740993, e: .inf}', ['{}'])).toBe(
      'a: 1\nb: 1e+06\nc: 1000000\nd: 9007199254740993\ne: .inf\n',
    );
  });
});

describe('--set', () => {
  it.each([
    ['a=0x1p4', 'a: 16\n'],
    ['a=1_0', 'a: 10\n'],
    ['a=0x1F', 'a: "0x1F"\n'],
    ['a=-inf', 'a: -.inf\n'],
    ['a=9223372036854775808', 'a: 9.223372036854776e+18\n'],
    ['a=F', 'a: false\n'],
    ['a=no', 'a: "no"\n'],
    ['l[0][1]=x', 'l[0][1]: x\n'],
    ['__proto__.x=1', '__proto__:\n    x: 1\n'],
  ])('takes %s', (assignment, written) => {
    expect(changed('{}', [], [assignment])).toBe(written);
    expect(({} as Record<string, unknown>)['x']).toBeUndefined();
  });

  it.each([
    ['a', 'it must be of the form path=value'],
    ['l[-1]=x', 'index -1 is out of range: "l" has 2 entries'],
    ['l[2]=x', 'index 2 is out of range: "l" has 2 entries'],
    ['m[0]=x', '"m" is no list'],
    ['s[0]=x', '"s" is no list'],
    ['s.x=1', '"s" is no mapping'],
    ['n.x=1', '"n" is no mapping'],
    ['l.x=1', '"l" is no mapping'],
    ['l[0].x=1', '"l" has no mapping at 0'],
    [`${'a.'.repeat(501)}b=1`, 'its path is more than 500 levels deep'],
  ])('refuses %s', (assignment, reason) => {
    expect(changed('{l: [1, 2], s: text, n: null}', [], [assignment])).toContain(`: ${reason}`);
  });

  it.each(['m.a.b.c=hunter2', 'l[7].x=hunter2', 's.x=hunter2'])(
    'does not repeat what is set by %s',
    (assignment) => {
      const said = changed('{l: [1], s: text, m: {a: {b: 1}}}', [], [assignment]);
      expect(said).toContain(`--set "${assignment.split('=')[0] ?? ''}"`);
      expect(said).not.toContain('hunter2');
    },
  );

  it('leaves a text without any change as it is, and refuses one that is no mapping', () => {
    expect(changed('a:   1 # kept\n', [])).toBe('a:   1 # kept\n');
    expect(changed('[]', ['{}'])).toBe('refused: the contract: line 1: a mapping is due');
    expect(changed('{}', ['a: 1', '[]'])).toBe('refused: values file 2: line 1: a mapping is due');
  });
});

describe('overrides of a Pacto', () => {
  const HEAD = 'pactoVersion: "2.0"\nservice: {name: a, version: "1"}\n';

  function overridden(text: string, overrides: readonly ConfigurationOverride[]): unknown {
    const loaded = load(HEAD + text);
    if (!loaded.ok) return loaded.reason;
    const before = JSON.stringify(loaded.contract);
    const result = overrideConfigurations(loaded.document, loaded.contract, overrides);
    expect(JSON.stringify(loaded.contract)).toBe(before);
    return result.ok ? result.document.generic : `refused: ${result.reason}`;
  }

  it.each([
    ['replaces and adds keys as texts', 'values: {A: 1, B: 2}', { A: '7', B: 2, C: 'x' }],
    ['adds values that are missing', 'required: true', { A: '7', C: 'x' }],
    ['makes a mapping of null', 'values:', { A: '7', C: 'x' }],
    ['writes an alias out', 'values: *v', { A: '7', C: 'x', deep: [1] }],
    ['wins over a merge key', 'values: {<<: *v}', { A: '7', C: 'x', deep: [1] }],
  ])('%s', (_, values, expected) => {
    const text = `metadata: {v: &v {A: 1, deep: [1]}}\nconfigurations:\n- name: other\n- name: app\n  ${values}\n`;
    const overrides = [{ name: 'app', values: { C: 'x', A: '7' } }];
    expect(overridden(text, overrides)).toMatchObject({
      ok: true,
      value: { configurations: [{ name: 'other' }, { values: expected }] },
    });
  });

  it('leaves everything else as it stands, wrong values too', () => {
    const text =
      'configurations: [{name: app, required: yes, schema: ""}]\nreadiness: {minScore: 80.0, expires: 2027-01-01}\n';
    expect(overridden(text, [{ name: 'app', values: { A: 'yes' } }])).toMatchObject({
      ok: true,
      value: {
        configurations: [{ name: 'app', required: 'yes', schema: '', values: { A: 'yes' } }],
        readiness: { minScore: 80, expires: '2027-01-01' },
      },
    });
    const loaded = load(
      `pactoVersion: 2.0\nservice: {name: a, version: 1.10}\nconfigurations: [{name: app}]\n`,
    );
    const result =
      loaded.ok && overrideConfigurations(loaded.document, loaded.contract, [{ name: 'app', values: {} }]);
    expect(result).toMatchObject({
      ok: true,
      contract: { pactoVersion: '2.0', service: { version: '1.10' } },
    });
  });

  it('adds no values where none are set', () => {
    const text = 'configurations: [{name: app, ref: ../app}]\n';
    expect(overridden(text, [{ name: 'app', values: {} }])).toMatchObject({
      value: { configurations: [{ name: 'app', ref: '../app' }] },
    });
    expect(JSON.stringify(overridden(text, [{ name: 'app', values: {} }]))).not.toContain('values');
  });

  it.each([
    ['an unknown name', 'configurations: [{name: app}]', 'the contract has no configuration "b"'],
    ['no configuration at all', 'metadata: {}', 'the contract has no configuration "b"'],
  ])('refuses %s', (_, text, reason) => {
    expect(overridden(text, [{ name: 'b', values: { A: '1' } }])).toBe(`refused: ${reason}`);
  });
});
