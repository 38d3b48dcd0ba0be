/** What a text is read as (contract.md §2.2, §2.3), and what is refused of it. */
import { describe, expect, it } from 'vitest';

import { failureText, load, readDocument } from '../../../src/policies/contract/load.ts';

const HEAD = 'pactoVersion: "2.0"\nservice: {name: a, version: "1"}\n';

function generic(text: string | Uint8Array): unknown {
  const view = readDocument(text).generic;
  return view.ok ? view.value : `refused: ${view.reason}`;
}

function typed(text: string): unknown {
  const loaded = load(HEAD + text);
  return loaded.ok ? loaded.contract : `refused: ${failureText(loaded)}`;
}

describe('plain texts', () => {
  it.each<[string, unknown]>([
    ['1_000', 1000],
    ['0777', 511],
    ['0o777', 511],
    ['0x1F', 31],
    ['0b101', 5],
    ['-0b11', -3],
    ['08', 8],
    ['+7', 7],
    ['1.', 1],
    ['.5', 0.5],
    ['.5_0', 0.5],
    ['._5', '._5'],
    ['1e3', 1000],
    ['1e400', '1e400'],
    ['9007199254740993', 9007199254740993n],
    ['18446744073709551615', 18446744073709551615n],
    ['18446744073709551616', 18446744073709552000],
    ['-9223372036854775809', -9223372036854775808],
    ['True', true],
    ['yes', 'yes'],
    ['12:30:45', '12:30:45'],
    ['2027-6-3', '2027-6-3'],
    ['!!int "7"', 7],
    ['!!float 1', 1],
    ['!!str 7', '7'],
    ['!!binary aGk=', 'hi'],
    ['!custom 7', '7'],
    ['"7"', '7'],
    ['~', null],
    ['.inf', 'refused: line 1: JSON has no ".inf"'],
    ['.NaN', 'refused: line 1: JSON has no ".NaN"'],
    ['!!bool yes', 'refused: line 1: what is tagged !!bool is no bool'],
    ['!!binary x', 'refused: line 1: it is no base64'],
    ['!!timestamp 2027-01-01', '2027-01-01'],
  ])('reads %s', (text, value) => {
    expect(generic(`[${text}]`)).toEqual(
      typeof value === 'string' && value.startsWith('refused') ? value : [value],
    );
  });
});

describe('the typed view', () => {
  it.each([
    ['dependencies: [{required: On}]', { dependencies: [{ required: true }] }],
    ['dependencies: [{required: "no"}]', { dependencies: [{ required: false }] }],
    ['dependencies: [~, {name: x}]', { dependencies: [{ name: 'x' }] }],
    ['readiness: {minScore: 80.5}', { readiness: { minScore: 80 } }],
    ['readiness: {minScore: 0}', { readiness: { minScore: 0 } }],
    ['readiness: {partialCredit: 1}', { readiness: { partialCredit: 1 } }],
    ['metadata: {d: 2027-6-3}', { metadata: { d: '2027-06-03T00:00:00Z' } }],
    ['metadata: {1: a, ~: b}', { metadata: { '1': 'a' } }],
    ['state: &s {type: x}\nmetadata: {<<: *s, y: z}', { metadata: { type: 'x', y: 'z' } }],
    [
      'state: {<<: [{type: x}, {type: y, dataCriticality: z}]}',
      { state: { type: 'x', dataCriticality: 'z' } },
    ],
    ['~: ignored', { interfaces: [] }],
    ['workload: ""', { capabilities: [] }],
  ])('takes %s', (text, expected) => {
    expect(typed(text)).toMatchObject(expected);
  });

  it.each([
    [
      'dependencies: [{required: "true"}]',
      'dependencies[0].required (line 3): must be true or false, but is the text "true"',
    ],
    [
      'readiness: {minScore: "80"}',
      'readiness.minScore (line 3): must be a whole number, but is the text "80"',
    ],
    [
      'readiness: {minScore: 99999999999999999999}',
      'readiness.minScore (line 3): must be a whole number, but is the number "99999999999999999999"',
    ],
    [
      'readiness: {partialCredit: x}',
      'readiness.partialCredit (line 3): must be a number, but is the text "x"',
    ],
    ['workload: {a: b}', 'workload (line 3): must be a text, but is a mapping'],
    ['interfaces: {a: b}', 'interfaces (line 3): must be a list, but is a mapping'],
    ['interfaces:\n- {name: a}\n- x', 'interfaces[1] (line 5): must be a mapping, but is a single value'],
    ['metadata: []', 'metadata (line 3): must be a mapping, but is a list'],
    ['state: true', 'state (line 3): must be a mapping, but is a single value'],
    [
      'readiness: {claims: [{colour: red}]}',
      'readiness.claims[0] (line 3): "colour" is no field here, only id, type, status, evidence, weight, category, description',
    ],
    ['state: {tpye: x}', 'state (line 3): "tpye" is no field here: did you mean type?'],
    ['Interfaces: []', 'line 3: "Interfaces" is no field here: did you mean interfaces?'],
    ['dependancies: []', 'line 3: "dependancies" is no field here: did you mean dependencies?'],
    [
      'state: {a: &a {b: c}}',
      'state (line 3): "a" is no field here, only type, persistence, dataCriticality',
    ],
    ['state: {<<: x}', 'state (line 3): a merge key takes a mapping or a list of mappings'],
    [
      'intefaces: []\nworkload: []\nstate: {typ: x, <<: x}',
      'line 3: "intefaces" is no field here: did you mean interfaces?; ' +
        'line 4: workload: must be a text, but is a list; ' +
        'line 5: state: "typ" is no field here: did you mean type?; ' +
        'line 5: state: a merge key takes a mapping or a list of mappings',
    ],
  ])('refuses %s', (text, reason) => {
    expect(typed(text)).toBe(`refused: ${reason}`);
  });

  it('refuses a contract that is a list, and one without what every contract has', () => {
    expect(load('[]')).toMatchObject({
      ok: false,
      reason: 'the contract must be a mapping, but is a list',
      line: 1,
    });
    expect(load('service: {}')).toMatchObject({ ok: false, path: 'pactoVersion' });
    expect(load('pactoVersion: "2.0"')).toMatchObject({ ok: false, path: 'service.name' });
    expect(load('pactoVersion: "2.0"\nservice: {name: a}')).toMatchObject({
      ok: false,
      path: 'service.version',
    });
  });

  it('tells five unknown fields, and counts the rest', () => {
    const loaded = load(Array.from({ length: 9 }, (_, at) => `other${String(at)}: 1`).join('\n'));
    expect(loaded.ok ? '' : loaded.reason).toMatch(/^"other0" (?:.*; ){5}and 4 more$/);
  });

  it('keeps a key that names a prototype as data', () => {
    const loaded = load(`${HEAD}metadata: {__proto__: {polluted: 1}, constructor: 2}\n`);
    expect(loaded.ok && Object.keys(loaded.contract.metadata ?? {})).toEqual(['__proto__', 'constructor']);
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
    expect(load(`${HEAD}__proto__: {polluted: 1}\n`)).toMatchObject({ ok: false });
  });
});

describe('texts', () => {
  it.each<[string, string, unknown]>([
    ['a mark at the start', '\ufeffa: 1', { a: 1 }],
    ['line ends of Windows', 'a: 1\r\nb: 2\r\n', { a: 1, b: 2 }],
    ['line ends of old Macs', 'a: 1\rb: 2\r', { a: 1, b: 2 }],
    ['the directive of 1.1', '%YAML 1.1\n---\na: 1', { a: 1 }],
    ['JSON with a comma at the end', '{"a": [1,],}', { a: [1] }],
    ['a broken second document', 'a: 1\n---\n[', { a: 1 }],
    ['a bracket closed at the left', 'a: {\n  b: 1\n}', { a: { b: 1 } }],
    ['a block without a last line end', 'a: |\n  b', { a: 'b' }],
    ['a colon before a bracket', '{a:}', { 'a:': null }],
    [
      'keys that are no texts',
      '{1: a, 1.5: b, true: c, ~: d}',
      { '1': 'a', '1.5': 'b', true: 'c', '<nil>': 'd' },
    ],
    ['nothing', '', null],
    ['only comments', '# a\n', null],
  ])('reads %s', (_, text, value) => {
    expect(generic(text)).toEqual(value);
  });

  it.each([
    ['the directive of 1.2', '%YAML 1.2\n---\na: 1'],
    ['a directive of its own', '%FOO\n---\na: 1'],
    ['a control character', 'a: \u0007'],
    ['a mark elsewhere', 'a: 1\n\ufeff'],
    ['tabs for indentation', 'a:\n\tb: 1'],
    ['a tab in the indentation of a block', 'a: |\n  \n\tb'],
    ['halves of a pair', String.raw`a: "\ud83d\ude00"`],
    ['an escaped slash', String.raw`a: "\/"`],
    ['repeated keys', 'a: 1\na: 2'],
    ['keys that are the same as texts', '{1: a, "1": b}'],
    ['a list as a key', '{[1]: a}'],
    ['an alias of nothing', 'a: *b'],
    ['an alias in itself', 'a: &a [*a]'],
    ['an open bracket', 'a: {b: 1\n'],
    ['an open quote', "a: 'b''"],
    ['an escaped quote at the end', String.raw`a: "b\"`],
    ['an escaped quote after a backslash', String.raw`a: "b\\\"`],
    ['an escaped quote at the end of a line', 'metadata: "\\"\nworkload: service"\nb: 1'],
    ['a question mark in brackets', 'a: [b?c]'],
    ['a missing key', 'a: {: b}'],
    ['a key of two lines', '{a\n : b}'],
    ['a blank missing after a tag', '[!!str, a]'],
    ['a rare line end in a comment', '# a\u2028b: 1\nc: 2'],
    ['blanks beside a rare line end', 'a: "b \u2028c"'],
    ['an end without a document', '...\na: 1'],
    ['a directive without a document', '%YAML 1.1\n'],
  ])('refuses %s', (_, text) => {
    expect(generic(text)).toMatch(/^refused: /);
    expect(load(text).ok).toBe(false);
  });

  it('reads UTF-16 with its mark, and refuses bytes that are no UTF-8', () => {
    expect(generic(Uint8Array.of(0xff, 0xfe, 0x61, 0, 0x3a, 0, 0x20, 0, 0x31, 0))).toEqual({ a: 1 });
    expect(generic(Uint8Array.of(0x61, 0x3a, 0x20, 0x80))).toBe('refused: it is not UTF-8');
  });
});

describe('hostile texts', () => {
  const bomb = ['a: &a [x,x,x,x,x,x,x,x,x,x]'];
  for (const [from, to] of ['ab', 'bc', 'cd', 'de', 'ef', 'fg']) {
    bomb.push(`${to ?? ''}: &${to ?? ''} [${`*${from ?? ''},`.repeat(10)}]`);
  }
  const chain = Array.from(
    { length: 2000 },
    (_, at) => `a${String(at + 1)}: &a${String(at + 1)} [*a${String(at)}]`,
  );

  it.each([
    ['too large', `a: ${'x'.repeat(1024 * 1024)}`, 'it has more than 1048576 bytes'],
    ['brackets that go too deep', `[${'['.repeat(20_000)}${']'.repeat(20_000)}]`, /more than 500 levels/],
    ['dashes that go too deep', `${'- '.repeat(20_000)}a`, /more than 500 levels/],
    [
      'aliases that go too deep',
      ['a0: &a0 [x]', ...chain].join('\n'),
      /more than 500 levels|too many values/,
    ],
    ['an alias bomb', bomb.join('\n'), 'its aliases stand for too many values'],
  ])('refuses %s', (_, text, reason) => {
    const { generic } = readDocument(text);
    expect(generic.ok ? 'read' : generic.reason).toMatch(reason);
  });

  it.each([
    ['commas', `${HEAD}metadata: {a: [${','.repeat(400_000)}]}`],
    ['dashes after a mapping', `${HEAD}${'- a\n'.repeat(60_000)}`],
    ['anchors', `${HEAD}metadata: ${'&a '.repeat(100_000)}`],
  ])('refuses a text that is wrong in very many places, such as %s, at the first of them', (_, text) => {
    const begun = performance.now();
    expect(load(text)).toMatchObject({ ok: false });
    expect(performance.now() - begun).toBeLessThan(2000);
  });

  it('does not repeat a value that is not what its tag says', () => {
    const loaded = load(`${HEAD}configurations:\n- {name: c, values: {password: !!int hunter2}}\n`);
    expect(loaded.ok ? '' : loaded.reason).toMatch(/is no int/);
    expect(loaded.ok ? '' : loaded.reason).not.toContain('hunter2');
  });

  it('reads 50,000 keys, and finds the one that is there twice', () => {
    const keys = Array.from({ length: 50_000 }, (_, at) => `k${String(at)}: 1`).join('\n');
    expect(Object.keys(generic(keys) as object)).toHaveLength(50_000);
    expect(generic(`${keys}\nk7: 2`)).toBe('refused: line 50001: the key "k7" is there twice');
  });
});
