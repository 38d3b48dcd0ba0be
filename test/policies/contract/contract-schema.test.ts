import { readFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import * as fc from 'fast-check';
import { RE2JS } from 're2js';
import { describe, expect, it } from 'vitest';
import { CONTRACT_SCHEMA, SCHEMA_PATTERNS } from '../../../src/policies/contract/contract-schema.ts';
import type { JsonObject, JsonValue } from '../../../src/policies/contract/json-value.ts';
import { validateStructure } from '../../../src/policies/contract/structural.ts';
import { schemaPatterns } from '../../../src/schema/patterns.ts';

/** Uses every part of the format. */
const FULL: JsonObject = {
  pactoVersion: '2.0',
  service: {
    name: 'cart',
    version: '1.4.0',
    owner: { team: 'a/b', dri: 'c@d', contacts: [{ type: 'url', value: 'x', purpose: 'oncall' }] },
  },
  interfaces: [{ name: 'web', type: 'openapi', ref: 'web.yaml', visibility: 'public' }],
  configurations: [
    { name: 'a', required: true, schema: 's.json', values: { x: 1 } },
    { name: 'b', required: false, ref: './b' },
  ],
  policies: [
    { name: 'a', schema: 's.json', target: 'contract' },
    { name: 'b', ref: './b' },
  ],
  dependencies: [{ name: 'a', ref: './a', required: true, compatibility: '^1' }],
  workload: 'job',
  state: {
    type: 'stateless',
    persistence: { scope: 'local', durability: 'ephemeral' },
    dataCriticality: 'low',
  },
  capabilities: [
    { type: 'health', binding: { type: 'http', interface: 'web', path: '/x' } },
    { type: 'extension', ref: 'a.test/x' },
  ],
  readiness: {
    expires: '2027-01-01',
    minScore: 80,
    partialCredit: 0.5,
    claims: [
      { id: 'a', type: 'url', status: 'done', evidence: 'x', weight: 1, category: 'other', description: 'd' },
    ],
    history: [{ date: '2026-01-01', version: '1', author: 'a', description: 'd' }],
  },
  metadata: { a: [1] },
  extensions: { 'a.test/x': null },
};

/** Every word of the schema, so that a change by chance often meets another value that is allowed somewhere. */
const WORDS = [...new Set(JSON.stringify(CONTRACT_SCHEMA).match(/[\w.-]+/g) ?? [])];

const value: fc.Arbitrary<JsonValue> = fc.oneof(
  fc.constantFrom<JsonValue>(null, true, 0, 1, 100, 101, -1, 0.5, '', {}, [], [{}], 9007199254740993n),
  fc.constantFrom(...WORDS),
  fc.string({ unit: 'binary', maxLength: 3 }),
  fc.constantFrom(
    '/',
    '/a',
    '//a',
    '/\n',
    '/a\n',
    '/a\r',
    '/a\u2028',
    'a-',
    'A',
    'é'.repeat(2048),
    '😀'.repeat(2049),
  ),
);

interface Change {
  readonly place: number;
  readonly key: string;
  readonly value: JsonValue;
  readonly how: 'set' | 'add' | 'drop';
}

const change: fc.Arbitrary<Change> = fc.record({
  place: fc.nat(),
  key: fc.oneof(fc.constantFrom(...WORDS), fc.constantFrom('__proto__', 'constructor')),
  value,
  how: fc.constantFrom('set', 'add', 'drop'),
});

/** @returns a copy in which one place is another */
function changed(root: JsonValue, { place, key, value: next, how }: Change): JsonValue {
  const copy = structuredClone<JsonValue>(root);
  const places: (readonly [container: Record<string, JsonValue>, key: string])[] = [];
  const visit = (each: JsonValue): void => {
    if (typeof each !== 'object' || each === null) return;
    for (const name of Object.keys(each)) {
      places.push([each as Record<string, JsonValue>, name]);
      visit((each as Record<string, JsonValue>)[name] ?? null);
    }
  };
  visit(copy);
  const found = places[place % places.length];
  if (found === undefined) return copy;
  const [container, name] = found;
  if (how === 'set') set(container, name, next);
  else if (how === 'drop') {
    if (Array.isArray(container)) container.splice(Number(name), 1);
    else delete container[name];
  } else if (!Array.isArray(container)) set(container, key, next);
  return copy;
}

function set(container: Record<string, JsonValue>, key: string, next: JsonValue): void {
  Object.defineProperty(container, key, {
    value: next,
    enumerable: true,
    configurable: true,
    writable: true,
  });
}

function structure(root: JsonValue): readonly string[] {
  return validateStructure({ text: '', generic: { ok: true, value: root } }).map(({ path }) => path);
}

/** Ajv knows no bigint: a double stands in, as it does in the worker. */
function plain(root: JsonValue): unknown {
  return JSON.parse(
    JSON.stringify(root, (_key, each: unknown) => (typeof each === 'bigint' ? Number(each) : each)),
  );
}

describe('the schema of contracts', () => {
  it('is what is published', () => {
    const published: unknown = JSON.parse(readFileSync('manifests/schema/pacto-v2.0.schema.json', 'utf8'));
    expect(published, 'write it with: node scripts/contract-schema.ts').toEqual(
      JSON.parse(JSON.stringify(CONTRACT_SCHEMA)),
    );
  });

  it('allows a contract that uses all of it', () => {
    expect(structure(FULL)).toEqual([]);
  });

  it('comes to the same verdict and places as a validator of JSON Schema', () => {
    const ajv = new Ajv2020({
      allErrors: true,
      strict: false,
      validateFormats: false,
      ownProperties: true,
      // What a point stands for differs: RE2's is what counts.
      code: { regExp: schemaPatterns },
    });
    const check = ajv.compile(JSON.parse(JSON.stringify(CONTRACT_SCHEMA)) as object);
    let denied = 0;
    fc.assert(
      fc.property(fc.array(change, { minLength: 1, maxLength: 4 }), (changes) => {
        const root = changes.reduce(changed, FULL as JsonValue);
        // Said of the version alone, before the schema is asked.
        fc.pre((root as JsonObject)['pactoVersion'] === '2.0');
        const places = structure(root);
        const valid = check(plain(root));
        expect(places.length === 0).toBe(valid);
        const theirs = new Set(
          (check.errors ?? []).map(({ instancePath }) => instancePath.slice(1).replaceAll('/', '.')),
        );
        for (const place of places) expect([...theirs]).toContain(place);
        if (!valid) denied += 1;
      }),
      { numRuns: 2000 },
    );
    expect(denied).toBeGreaterThan(500);
  });

  it.each(Object.entries(SCHEMA_PATTERNS))('means by %s what RE2 means', (pattern, expression) => {
    const compiled = RE2JS.compile(pattern);
    const character = fc.oneof(
      fc.constantFrom(...Array.from('aZ09._@/-\n\r\u2028\u0085')),
      fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }),
    );
    fc.assert(
      fc.property(fc.array(character, { maxLength: 6 }), (characters) => {
        const text = characters.join('');
        expect(expression.test(text)).toBe(compiled.matcher(text).find());
      }),
      { numRuns: 500 },
    );
  });
});
