import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';

import { differences, type Answer } from './cel-differences.ts';
import { readVectors, type Vector } from './cel-vector.ts';
import { readExceptions } from './exceptions.ts';
import { canonicalText, typedText } from './typed-values.ts';

const VECTOR: Vector = {
  id: 'family-0001',
  expr: '1 + 1',
  env: '1.36',
  mode: 'stored',
  compile: { ok: true, type: 'int' },
  result: { value: { int: '2' } },
  cost: 1,
  estimate: { min: 1, max: '18446744073709551615' },
  authzCalls: [{ user: 'alice', verb: 'get' }],
};

const ANSWER: Answer = {
  compile: { ok: true, type: 'int' },
  result: { value: '{"int":"2"}' },
  cost: 1,
  estimate: { min: '1', max: '18446744073709551615' },
  authzCalls: [{ verb: 'get', user: 'alice' }],
};

const REFUSED: Vector = {
  id: 'family-0002',
  expr: '1 +',
  env: '1.36',
  mode: 'stored',
  compile: {
    ok: false,
    phase: 'syntax',
    error:
      "compilation failed: ERROR: <input>:1:4: Syntax error: mismatched input '<EOF>' expecting {'['}\n | 1 +\n | ...^",
  },
};

function refusal(error: string, phase = 'syntax'): Answer {
  return { compile: { ok: false, phase, error } };
}

describe('the comparison with a recorded answer', () => {
  it('passes what is as recorded', () => {
    expect(differences(VECTOR, ANSWER)).toEqual([]);
  });

  it.each<[string, Partial<Answer>]>([
    ['another value', { result: { value: '{"int":"3"}' } }],
    ['a value of another type', { result: { value: '{"uint":"2"}' } }],
    ['an error instead of a value', { result: { error: 'division by zero' } }],
    ['another cost', { cost: 2 }],
    ['another static type', { compile: { ok: true, type: 'dyn' } }],
    ['a refusal', { compile: { ok: false, phase: 'check', error: '' } }],
    ['another estimate', { estimate: { min: '1', max: '1' } }],
    ['a question that was not asked', { authzCalls: [] }],
  ])('fails on %s', (_name, change) => {
    expect(differences(VECTOR, { ...ANSWER, ...change })).toHaveLength(1);
  });

  it('looks at the places of syntax errors, not at what was expected there', () => {
    const text = 'compilation failed: ERROR: <input>:1:4: Syntax error: anything\n | 1 +\n | ...^';
    expect(differences(REFUSED, refusal(text))).toEqual([]);
    expect(differences(REFUSED, refusal(text.replace('1:4', '1:3')))).toHaveLength(1);
    expect(differences(REFUSED, refusal(text.replace('...^', '..^')))).toHaveLength(1);
    expect(differences(REFUSED, refusal(text, 'check'))).toHaveLength(1);
  });

  it('takes a list in any order, a cost in its range, and one of several results, where these were recorded', () => {
    const unordered = {
      ...VECTOR,
      unordered: true,
      result: { value: { list: [{ int: '1' }, { int: '2' }] } },
    };
    const swapped = { ...ANSWER, result: { value: '{"list":[{"int":"2"},{"int":"1"}]}' } };
    expect(differences(unordered, swapped)).toEqual([]);
    const { cost, result, ...rest } = VECTOR;
    expect([cost, result]).not.toContain(undefined);
    const ranged: Vector = {
      ...rest,
      costRange: [1, 3],
      alternatives: [{ error: 'division by zero' }, { value: { int: '2' } }],
    };
    expect(differences(ranged, { ...ANSWER, cost: 3 })).toEqual([]);
    expect(differences(ranged, { ...ANSWER, cost: 4 })).toHaveLength(1);
  });
});

describe('typed values', () => {
  it.each([
    ['an int', '5', '{"int":"5"}'],
    ['a double that is a whole number', '5.0', '{"double":5}'],
    ['an int beyond 2^53', '9007199254740993', '{"int":"9007199254740993"}'],
    [
      'a map by its keys',
      '{"b":null,"a":[true]}',
      '{"map":[[{"string":"a"},{"list":[{"bool":true}]}],[{"string":"b"},{"null":null}]]}',
    ],
  ])('writes %s', (_name, json, text) => {
    const [vector] = readVectors(Buffer.from(`{"vars":{"object":{"json":${json}}}}`));
    const input = vector?.vars?.['object'] as { json: Parameters<typeof typedText>[0] };
    expect(typedText(input.json)).toBe(text);
    expect(canonicalText(JSON.parse(text))).toBe(text);
  });
});

describe('the list of known differences', () => {
  it('is the table of ids and reasons', () => {
    const text = '| a | b |\n| - | - |\n| x | y |\n\n| id | reason |\n| --- | --- |\n| `f-1` | because |\n';
    expect([...readExceptions(text)]).toEqual([['f-1', 'because']]);
  });

  it('gives a reason for each', async () => {
    const exceptions = readExceptions(await readFile('docs/conformance.md', 'utf8'));
    expect([...exceptions].filter(([, reason]) => reason === '')).toEqual([]);
  });
});
