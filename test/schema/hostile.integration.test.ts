import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Json } from '../../src/schema/answer.ts';
import { SchemaPool } from '../../src/schema/schema-pool.ts';
import { longestStretchMs } from './stall-probe.ts';

const LONGEST_STRETCH_MS = 20;
const GOOD = '{"type":"object","required":["a"]}';

function nested(levels: number, wrap: (inner: string) => string, core: string): string {
  let text = core;
  for (let level = 0; level < levels; level++) text = wrap(text);
  return text;
}

/** Each definition tries the next one twice: two to the power of the length. */
function referenceChain(length: number): string {
  const definitions = Array.from({ length }, (_none, index) => {
    const next = { $ref: `#/$defs/d${String(index + 1)}` };
    return [`d${String(index)}`, { anyOf: [next, next] }];
  });
  return JSON.stringify({
    $ref: '#/$defs/d0',
    $defs: { ...Object.fromEntries(definitions), [`d${String(length)}`]: { type: 'string' } },
  });
}

function deepList(levels: number): Json {
  let list: Json = [];
  for (let level = 0; level < levels; level++) list = [list];
  return list;
}

const manyNames = Array.from({ length: 20_000 }, (_none, index) => `p${String(index)}`);
const INJECTION = `"];globalThis.pwned=1;process.exit(7);//\u2028\${process.exit(7)}\`'\\`;

/** Rows of the table of platform.md §5, and some of our own. */
const ATTACKS: readonly (readonly [what: string, schema: string, instance: Json, outcome: string])[] = [
  ['a pattern that backtracks', '{"pattern":"^(a+)+$"}', `${'a'.repeat(50_000)}!`, 'invalid'],
  [
    'the same for names of properties',
    '{"patternProperties":{"^(a+)+$":false}}',
    { [`${'a'.repeat(50_000)}!`]: 1 },
    'valid',
  ],
  ['a look-ahead', '{"pattern":"^(?=(a+))\\\\1$"}', 'a', 'not-a-schema'],
  ['a back-reference', '{"pattern":"(a)\\\\1"}', 'aa', 'not-a-schema'],
  ['a pattern that repeats repetitions', '{"pattern":"((a{0,100}){0,100}){0,100}"}', 'a', 'not-a-schema'],
  ['references that double', referenceChain(24), 1, 'refused'],
  ['anyOf in anyOf', nested(14, (inner) => `{"anyOf":[${inner},${inner}]}`, '{}'), 1, 'refused'],
  ['a deep schema', nested(20_000, (inner) => `{"not":${inner}}`, '{}'), 1, 'refused'],
  ['a deep list where a schema belongs', nested(100_000, (inner) => `[${inner}]`, ''), 1, 'refused'],
  ['a deep instance', '{"items":{"$ref":"#"}}', deepList(20_000), 'refused'],
  ['a schema that is itself', '{"$ref":"#"}', 1, 'invalid'],
  [
    'two schemas that are each other',
    '{"$ref":"#/$defs/a","$defs":{"a":{"allOf":[{"$ref":"#"}]}}}',
    1,
    'invalid',
  ],
  ['a long chain of references', longChain(500), 1, 'valid'],
  ['20,000 items to compare', '{"uniqueItems":true}', manyNames.map((name) => ({ name })), 'valid'],
  [
    '20,000 properties',
    JSON.stringify({ properties: Object.fromEntries(manyNames.map((name) => [name, true])) }),
    {},
    'refused',
  ],
  ['9,000 required properties', JSON.stringify({ required: manyNames.slice(0, 9000) }), {}, 'invalid'],
  ['a schema of another host', '{"$ref":"http://127.0.0.1:9/s.json"}', 1, 'not-a-schema'],
  ['a schema of this machine', '{"$ref":"file:///etc/passwd"}', 1, 'not-a-schema'],
  ['a dialect of another host', '{"$schema":"http://127.0.0.1:9/s.json"}', 1, 'not-a-schema'],
  [
    'code in names',
    JSON.stringify({
      properties: { [INJECTION]: { const: INJECTION } },
      required: [INJECTION],
      patternProperties: { x: { enum: [INJECTION] } },
      $defs: { [INJECTION]: { $anchor: 'a', type: 'object' } },
      dependentRequired: { [INJECTION]: [INJECTION] },
      [INJECTION]: INJECTION,
      $ref: '#a',
    }),
    { [INJECTION]: INJECTION },
    'valid',
  ],
  ['a schema that wants to be asynchronous', '{"$async":true,"type":"string"}', 1, 'invalid'],
  ['too long a text', JSON.stringify({ description: 'x'.repeat(256 * 1024) }), 1, 'refused'],
  ['too long an instance', '{}', 'x'.repeat(1024 * 1024 + 1), 'refused'],
  ['inherited names', '{"required":["toString","constructor","__proto__"]}', {}, 'invalid'],
  [
    'a property named __proto__',
    '{"properties":{"__proto__":{"type":"string"}}}',
    JSON.parse('{"__proto__":1}') as Json,
    'invalid',
  ],
];

function longChain(length: number): string {
  const definitions = Array.from({ length }, (_none, index) => [
    `d${String(index)}`,
    index + 1 < length ? { $ref: `#/$defs/d${String(index + 1)}` } : {},
  ]);
  return JSON.stringify({ $ref: '#/$defs/d0', $defs: Object.fromEntries(definitions) as Json });
}

describe('a hostile schema', () => {
  const pool = new SchemaPool({ compileMs: 5000, validateMs: 2000 });
  // Its own start is not what is measured.
  beforeAll(async () => void (await pool.compile(GOOD)));
  afterAll(() => pool.close());

  it.each(ATTACKS)('is contained: %s', async (_what, schema, instance, outcome) => {
    let answer: Awaited<ReturnType<SchemaPool['validate']>> | undefined;
    const stretchMs = await longestStretchMs(async () => {
      answer = await pool.validate(schema, instance);
    });
    expect(answer).toMatchObject({ outcome });
    expect(stretchMs).toBeLessThan(LONGEST_STRETCH_MS);
    expect(Object.hasOwn(globalThis, 'pwned')).toBe(false);
    // The next one is served, and right.
    expect(await pool.validate(GOOD, { a: 1 })).toEqual({ outcome: 'valid' });
    expect(await pool.validate(GOOD, {})).toMatchObject({ outcome: 'invalid' });
  });

  it('is contained where it eats all memory', async () => {
    const small = new SchemaPool({ memoryMb: 32, validateMs: 20_000 });
    try {
      await small.compile(GOOD);
      // Each of the branches keeps what is wrong with it.
      const answer = await small.validate(referenceChain(22), 1);
      expect(answer).toEqual({ outcome: 'refused', reason: 'the schema needs more memory than it may have' });
      expect(await small.validate(GOOD, { a: 1 })).toEqual({ outcome: 'valid' });
    } finally {
      await small.close();
    }
  });
});
