import { describe, expect, it } from 'vitest';
import type { Answer, Json } from '../../src/schema/answer.ts';
import { Checker } from '../../src/schema/checker.ts';

const checker = new Checker();
const DRAFT_4 = 'http://json-schema.org/draft-04/schema#';
const DRAFT_7 = 'http://json-schema.org/draft-07/schema#';
const DRAFT_2019 = 'https://json-schema.org/draft/2019-09/schema';

function check(schema: Json | string, instance: Json): Answer {
  const text = typeof schema === 'string' ? schema : JSON.stringify(schema);
  return checker.check(text, [structuredClone(instance)], () => undefined);
}

/** Leaves as `path: message`. */
function leaves(schema: Json, instance: Json): readonly string[] {
  const answer = check(schema, instance);
  return answer.outcome === 'invalid'
    ? answer.leaves.map(({ instancePath, message }) => `${instancePath}: ${message}`)
    : [answer.outcome];
}

describe('what ajv would pass over', () => {
  it('is refused: dependencies of a key that objects inherit', () => {
    const text = `{"$schema":"${DRAFT_7}","dependencies":{"__proto__":["a"]}}`;
    expect(check(text, JSON.parse('{"__proto__":1}') as Json)).toMatchObject({ outcome: 'refused' });
    expect(check(text.replace('__proto__', 'b'), { b: 1 })).toMatchObject({ outcome: 'invalid' });
  });
});

describe('the leaves of what is wrong', () => {
  it.each<readonly [what: string, schema: Json, instance: Json, wanted: readonly string[]]>([
    ['one for all missing properties', { required: ['a', 'b', 'c'] }, { b: 1 }, [': lacks "a", "c"']],
    [
      'one for all properties that are too many',
      { properties: { a: true }, additionalProperties: false },
      { a: 1, y: 1, z: 1 },
      [': has properties that are not allowed: "y", "z"'],
    ],
    [
      'one where they are',
      { unevaluatedProperties: false },
      { 'b/c': 1 },
      ['/b~1c: this property is not allowed'],
    ],
    [
      'one for each item that is too many',
      { prefixItems: [true], items: false },
      [1, 2, 3],
      ['/1: this item is not allowed', '/2: this item is not allowed'],
    ],
    [
      'those of each branch',
      { oneOf: [{ required: ['a'] }, { required: ['b'] }] },
      {},
      [': lacks "a"', ': lacks "b"'],
    ],
    [
      'those of each branch of anyOf',
      { anyOf: [{ type: 'string' }, { minimum: 3 }] },
      1,
      [': is a number, not a string', ': must be at least 3'],
    ],
    [
      'one where too many branches fit',
      { oneOf: [{}, { type: 'string' }, {}] },
      1,
      [': fits more than one schema of which exactly one must fit'],
    ],
    ['one of not', { not: {} }, 1, [': is what it must not be']],
    ['only those of else', { if: false, else: { required: ['a'] } }, {}, [': lacks "a"']],
    [
      'those of names',
      { propertyNames: { maxLength: 1 } },
      { ab: 1 },
      [': the property name "ab" is longer than 1 character'],
    ],
    [
      'of a list without the item it needs',
      { contains: { const: 1 } },
      [],
      [': does not have as many items of a kind as it must'],
    ],
    ['of the items that are not what is needed', { contains: { const: 1 } }, [2], ['/0: is not 1']],
    [
      'one of a list with too many',
      { contains: { const: 1 }, maxContains: 1 },
      [1, 2, 1],
      [': does not have as many items of a kind as it must'],
    ],
    [
      'only its type where that is wrong',
      { type: 'object', anyOf: [{ required: ['a'] }], enum: [{}] },
      1,
      [': is a number, not an object'],
    ],
    ['no instance value', { const: 'x', enum: ['x', 1], pattern: '^x' }, 'geheim', [': is not "x"']],
    [
      'of a reference where it leads',
      { $ref: '#/$defs/v', $defs: { v: { required: ['k'] } } },
      {},
      [': lacks "k"'],
    ],
    [
      'one for each property that needs others',
      { dependentRequired: { a: ['b', 'c'], d: ['e'] } },
      { a: 1, d: 1 },
      [': has "a" but lacks "b", "c"', ': has "d" but lacks "e"'],
    ],
    [
      'a bound of draft 4',
      { $schema: DRAFT_4, properties: { a: { minimum: 1, exclusiveMinimum: true } } },
      { a: 1 },
      ['/a: must be more than 1'],
    ],
    [
      'equal items',
      { uniqueItems: true },
      [
        { a: 1, b: [2] },
        { b: [2], a: 1 },
      ],
      [': has equal items'],
    ],
    ['nothing for texts that look like lists', { uniqueItems: true }, ['[1]', [1], '1', 1], ['valid']],
  ])('are %s', (_what, schema, instance, wanted) => {
    expect(leaves(schema, instance)).toEqual(wanted);
  });

  it('never say what an instance holds, and stay short', () => {
    const schema = { items: { const: 1 }, required: [], properties: {} };
    const answer = check(
      schema,
      Array.from({ length: 5000 }, () => 'geheim'),
    );
    expect(JSON.stringify(answer)).not.toContain('geheim');
    expect(answer).toMatchObject({ outcome: 'invalid', leaves: { length: 101 } });
  });

  it('have short paths', () => {
    const answer = check({ additionalProperties: { type: 'null' } }, { ['x'.repeat(100_000)]: 1 });
    expect(JSON.stringify(answer).length).toBeLessThan(1000);
  });

  it('cut names that others chose', () => {
    const [leaf = ''] = leaves({ additionalProperties: false }, { [`\u202e${'x'.repeat(10_000)}`]: 1 });
    expect(leaf.length).toBeLessThan(250);
    expect(leaf).not.toContain('\u202e');
  });
});

describe('a schema', () => {
  it.each<readonly [what: string, schema: Json | string, outcome: Answer['outcome'], reason: RegExp]>([
    ['that is no JSON', '{"type":', 'not-json', /^the text ends too early$/],
    ['with text behind it', '{} x', 'not-json', /^it stops being JSON at character 3$/],
    ['behind a byte order mark', '\ufeff{}', 'not-json', /not JSON$/],
    ['that is a list', [], 'not-a-schema', /^it is an array, not an object or a boolean$/],
    ['that is null', 'null', 'not-a-schema', /is null/],
    ['with a type that is none', { type: 'objekt' }, 'not-a-schema', /^"\/type" is none of/],
    [
      'with such a type in a part that nobody uses',
      { $defs: { a: { type: 7 } } },
      'not-a-schema',
      /^"\/\$defs\/a\/type"/,
    ],
    ['with such a type at an odd place', { x: { type: 7 }, $ref: '#/x' }, 'not-a-schema', /no schema$/],
    [
      'with a pattern that RE2 does not know',
      { $defs: { a: { pattern: '(?!a)' } } },
      'not-a-schema',
      /no regular expression/,
    ],
    [
      'with such a name pattern',
      { patternProperties: { '(?<=a)': {} } },
      'not-a-schema',
      /no regular expression/,
    ],
    ['that refers to nothing', { $ref: '#/nope' }, 'not-a-schema', /points at nothing/],
    [
      'that refers to a member that no object has by itself',
      { $ref: '#/constructor' },
      'not-a-schema',
      /points at nothing/,
    ],
    ['that refers to another host', { $ref: 'https://x.test/a' }, 'not-a-schema', /points outside/],
    ['that refers to a file', { $ref: 'file:///etc/hostname' }, 'not-a-schema', /points outside/],
    ['of a dialect that nobody knows', { $schema: 'https://x.test/a' }, 'not-a-schema', /^its \$schema/],
    ['whose dialect is a number', { $schema: 1 }, 'not-a-schema', /\$schema/],
    [
      'two parts of which have one name',
      { $defs: { a: { $anchor: 'n' }, b: { $anchor: 'n' } } },
      'not-a-schema',
      /^two of/,
    ],
    [
      'with too many references',
      { allOf: Array.from({ length: 600 }, () => ({ $ref: '#/$defs/a' })), $defs: { a: {} } },
      'refused',
      /references$/,
    ],
    ['with too many branches', { allOf: Array.from({ length: 1025 }, () => true) }, 'refused', /branches/],
    [
      'with too many values',
      { enum: Array.from({ length: 20_001 }, (_none, index) => index) },
      'refused',
      /20000 values$/,
    ],
  ])('is refused %s', (_what, schema, outcome, reason) => {
    const answer = check(schema, {});
    expect(answer).toMatchObject({ outcome });
    expect('reason' in answer ? answer.reason : '').toMatch(reason);
  });

  it.each<readonly [what: string, schema: Json, fits: Json, breaks: Json]>([
    ['of draft 2020-12 without saying so', { prefixItems: [{ type: 'string' }] }, ['a'], [1]],
    ['of draft 2019-09', { $schema: DRAFT_2019, items: [{ type: 'string' }] }, ['a'], [1]],
    ['of draft 7, which asserts formats', { $schema: DRAFT_7, format: 'email' }, 'a@b.test', 'nope'],
    [
      'of draft 7 by https',
      { $schema: DRAFT_7.replace('http:', 'https:'), format: 'date' },
      '2026-01-31',
      '2026-02-31',
    ],
    [
      'of draft 7, where nothing beside $ref counts',
      { $schema: DRAFT_7, $ref: '#/definitions/a', type: 'null', definitions: { a: { type: 'string' } } },
      'a',
      null,
    ],
    [
      'that refers to a metaschema',
      { $ref: 'http://json-schema.org/draft-07/schema#' },
      { type: 'object' },
      { type: 'objekt' },
    ],
    [
      'that refers by name',
      { $id: 'https://x.test/a', $ref: 'b', $defs: { b: { $id: 'b', type: 'null' } } },
      null,
      1,
    ],
    [
      'that grows in itself',
      { properties: { child: { $ref: '#' } }, additionalProperties: false },
      { child: { child: {} } },
      { child: { x: 1 } },
    ],
    [
      'with words of others in it',
      { nullable: true, id: 'x', $async: true, discriminator: 1, unknown: [], type: 'string' },
      'a',
      null,
    ],
    ['that counts code points', { maxLength: 2 }, '👍👍', 'abc'],
    ['whose word class is ASCII', { pattern: '^\\w+$' }, 'e', 'é'],
    ['about an integer that no double holds', { type: 'integer', minimum: 1 }, 2n ** 60n, -(2n ** 60n)],
    ['about one deep in it', { items: { type: 'integer' } }, [2n ** 60n], [1.5]],
    ['about names that objects inherit', { required: ['toString'] }, { toString: 1 }, {}],
  ])('holds %s', (_what, schema, fits, breaks) => {
    expect(check(schema, fits)).toEqual({ outcome: 'valid' });
    expect(check(schema, breaks)).toMatchObject({ outcome: 'invalid' });
  });

  it('does not assert formats from draft 2019-09 on', () => {
    expect(check({ format: 'email' }, 'nope')).toEqual({ outcome: 'valid' });
    expect(check({ $schema: DRAFT_2019, format: 'date' }, 'nope')).toEqual({ outcome: 'valid' });
  });

  it('is compiled once, and again when others took its place', () => {
    const own = new Checker();
    const phases: string[] = [];
    const compile = (text: string): void => void own.check(text, undefined, (phase) => phases.push(phase));
    compile('{"type":"string"}');
    compile('{"type":"string"}');
    expect(phases).toEqual(['compiling', 'compiled']);
    for (let index = 0; index < 256; index++) compile(`{"title":"${String(index)}"}`);
    phases.length = 0;
    compile('{"title":"255"}');
    expect(phases).toEqual([]);
    compile('{"type":"string"}');
    expect(phases).toEqual(['compiling', 'compiled']);
  });
});

describe('values that ajv would compare wrongly', () => {
  it.each<readonly [schema: Json | string, fits: Json, fails: Json]>([
    [{ multipleOf: 0.01 }, 19.99, 19.995],
    [{ multipleOf: 0.1 }, 0.3, 0.35],
    [{ multipleOf: 0.01 }, 1e300, 1e-3],
    [{ multipleOf: 3 }, 3e20, 1e20],
    [{ const: { toString: 1 } }, { toString: 1 }, { toString: 2 }],
    [{ const: { constructor: {} } }, { constructor: {} }, { constructor: [] }],
    [{ enum: [{ valueOf: 1 }, [1]] }, { valueOf: 1 }, { valueOf: 2 }],
    ['{"const":{"__proto__":1}}', JSON.parse('{"__proto__":1}') as Json, {}],
  ])('%j fits %j and not %j', (schema, fits, fails) => {
    expect(check(schema, fits)).toEqual({ outcome: 'valid' });
    expect(check(schema, fails)).toMatchObject({ outcome: 'invalid' });
  });
});
