import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { Cel } from '../../../src/policies/cel/cel.ts';
import type { Program } from '../../../src/policies/cel/program.ts';
import { CelError, type Value } from '../../../src/policies/cel/values.ts';
import { typedText } from '../../conformance/typed-values.ts';

const cel = new Cel();
const environment = cel.environment({ minor: 36, mode: 'stored', params: true, authorizer: true });

/** More than any step of these expressions costs. */
const LARGEST_STEP = 1000;

/** Sources of expressions: any operator, macro and function on anything. */
const { expression } = fc.letrec<{ expression: string; atom: string }>((tie) => ({
  expression: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    tie('atom'),
    fc
      .tuple(
        tie('expression'),
        fc.constantFrom('+', '-', '*', '/', '%', '<', '>=', '==', '!=', 'in', '&&', '||'),
        tie('expression'),
      )
      .map(([left, operator, right]) => `(${left} ${operator} ${right})`),
    fc
      .tuple(tie('expression'), tie('expression'), tie('expression'))
      .map(([a, b, c]) => `(dyn(${a}) ? dyn(${b}) : dyn(${c}))`),
    fc
      .tuple(
        tie('expression'),
        fc.constantFrom('all', 'exists', 'exists_one', 'map', 'filter', 'sortBy', 'optMap'),
        tie('expression'),
      )
      .map(([range, macro, body]) => `dyn(${range}).${macro}(x, dyn(${body}))`),
    fc
      .tuple(
        tie('expression'),
        fc.constantFrom('all', 'exists', 'existsOne', 'transformList', 'transformMap', 'transformMapEntry'),
        tie('expression'),
      )
      .map(([range, macro, body]) => `dyn(${range}).${macro}(k, x, dyn(${body}))`),
    fc
      .tuple(
        fc.constantFrom('size', 'string', 'int', 'type', 'duration', 'quantity', '!', '-', 'optional.of'),
        tie('expression'),
      )
      .map(([name, arg]) => `${name}(dyn(${arg}))`),
    fc
      .tuple(tie('expression'), fc.constantFrom('.a', '.?a', '["a"]', '[?0]', '[0]', '.b.c', '.orValue(1)'))
      .map(([operand, step]) => `dyn(${operand})${step}`),
    fc
      .tuple(
        tie('expression'),
        fc.constantFrom('contains', 'matches', 'substring', 'indexOf', 'format', 'split'),
        tie('expression'),
      )
      .map(([target, name, arg]) => `dyn(${target}).${name}(dyn(${arg}))`),
    fc.tuple(tie('expression'), tie('expression')).map(([a, b]) => `[dyn(${a}), dyn(${b})]`),
    fc.tuple(tie('atom'), tie('expression')).map(([key, value]) => `{dyn(${key}): dyn(${value})}`),
  ),
  atom: fc.constantFrom(
    '1',
    '-1',
    '2u',
    '0.5',
    "'a'",
    "b'a'",
    'true',
    'null',
    '[]',
    '{}',
    'object',
    'object.a',
    'object.list',
    'params',
    'authorizer',
    // Within a macro only; elsewhere it does not compile.
    'x',
    "timestamp('2020-01-01T00:00:00Z')",
    'has(object.a)',
  ),
}));

const json = fc.jsonValue({ maxDepth: 3 }) as fc.Arbitrary<Value>;
const activation = fc.record({
  object: fc.record({ a: json, list: fc.array(json, { maxLength: 6 }) }),
  params: json,
});

function programOf(source: string): Program | undefined {
  // A macro's variable is a name of any place: outside of the macro it does not compile.
  const compiled = cel.compile(source, environment);
  return compiled.ok ? compiled : undefined;
}

describe('any expression on any object', () => {
  it('gives a value or an error, and throws nothing', () => {
    let evaluated = 0;
    fc.assert(
      fc.property(expression, activation, (source, given) => {
        const program = programOf(source);
        if (program === undefined) return;
        evaluated++;
        const { value, cost } = program.run(given);
        expect(value).toBeDefined();
        expect(Number.isSafeInteger(cost) && cost >= 0).toBe(true);
      }),
      { numRuns: 2000 },
    );
    // Else nothing was tried.
    expect(evaluated).toBeGreaterThan(500);
  });

  it('gives the same again, and is not changed by what it is given', () => {
    fc.assert(
      fc.property(expression, activation, (source, given) => {
        const program = programOf(source);
        if (program === undefined) return;
        const before = JSON.stringify(given);
        const first = program.run(given);
        const second = program.run(given);
        expect([typedText(first.value), first.cost]).toEqual([typedText(second.value), second.cost]);
        expect(JSON.stringify(given)).toBe(before);
      }),
      { numRuns: 500 },
    );
  });

  it('stops at its limit, at the latest one step after it', () => {
    fc.assert(
      fc.property(expression, activation, fc.nat({ max: 60 }), (source, given, limit) => {
        const program = programOf(source);
        if (program === undefined) return;
        const full = program.run(given);
        const limited = program.run(given, limit);
        const whole = full.cost <= limit;
        const { value, cost } = limited;
        expect(whole || value instanceof CelError).toBe(true);
        expect(cost).toBeGreaterThan(whole ? -1 : limit);
        expect(cost).toBeLessThanOrEqual(whole ? full.cost : Math.min(full.cost, limit + LARGEST_STEP));
        expect(whole ? typedText(value) : '').toBe(whole ? typedText(full.value) : '');
      }),
      { numRuns: 1000 },
    );
  });
});
