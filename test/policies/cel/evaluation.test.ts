import { describe, expect, it } from 'vitest';

import type { Activation } from '../../../src/policies/cel/activation.ts';
import { Cel, withVariables } from '../../../src/policies/cel/cel.ts';
import type { EnvironmentOptions } from '../../../src/policies/cel/environment.ts';
import { bindAuthorizer } from '../../../src/policies/cel/libraries/authorizer.ts';
import { Budget, type Evaluation } from '../../../src/policies/cel/program.ts';
import {
  type AuthorizationAnswer,
  AuthorizationPending,
  type AuthorizationQuery,
} from '../../../src/policies/cel/signals.ts';
import type { JsonMap, Value } from '../../../src/policies/cel/values.ts';

const cel = new Cel();
const OPTIONS: EnvironmentOptions = { minor: 36, mode: 'stored', params: true, authorizer: true };
const environment = cel.environment(OPTIONS);
const OUT_OF_BUDGET =
  'validation failed due to running out of cost budget, no further validation rules will be run';

function program(source: string) {
  const compiled = cel.compile(source, environment);
  if (!compiled.ok) throw new Error(compiled.error);
  return compiled;
}

function evaluate(source: string, activation: Activation = {}, budget = new Budget(10_000_000)): Evaluation {
  return program(source).evaluate(activation, budget);
}

/** A list in a list, so often. */
function nested(depth: number): Value {
  let value: Value = 1;
  for (let i = 0; i < depth; i++) value = [value];
  return value;
}

const NUMBERS: Value = Array.from({ length: 1000 }, (_, index) => index);

describe('the two signals', () => {
  it('stops an expression at its own limit, whatever absorbs errors around it', () => {
    const source = 'object.all(a, object.all(b, object.all(c, true))) || true';
    expect(evaluate(source, { object: NUMBERS })).toEqual({
      error: 'operation cancelled: actual cost limit exceeded',
      cost: 1_000_001,
    });
  });

  it('refuses everything once the budget is spent', () => {
    const budget = new Budget(5);
    expect(evaluate('object.a == 1', { object: { a: 1 } }, budget)).toEqual({ value: true, cost: 3 });
    expect(evaluate('object.a == 1', { object: { a: 1 } }, budget)).toMatchObject({ fatal: OUT_OF_BUDGET });
  });

  it('hands a question to the authorizer out, and goes on where it is answered', () => {
    const asked: AuthorizationQuery[] = [];
    const answers = new Map<string, AuthorizationAnswer>();
    const subject = { username: 'alice', uid: '', groups: [], extra: {} };
    const requested = { group: '', resource: '', subresource: '', namespace: '', name: '' };
    const bound = bindAuthorizer(subject, requested, (query) => answers.get(query.verb));
    const variables = cel.compileVariables([{ name: 'n', expression: 'object.size()' }], OPTIONS);
    const source =
      "variables.n > 0 && authorizer.path('/a').check('get').allowed() && authorizer.path('/a').check('put').allowed()";
    const compiled = cel.compile(source, variables.environment);
    if (!compiled.ok) throw new Error(compiled.error);
    const activation = withVariables({ object: [1], ...bound }, variables.variables);
    const budget = new Budget(10_000_000);
    let result: Evaluation | undefined;
    while (result === undefined) {
      try {
        result = compiled.evaluate(activation, budget);
      } catch (thrown) {
        if (!(thrown instanceof AuthorizationPending)) throw thrown;
        asked.push(thrown.query);
        answers.set(thrown.query.verb, { decision: 'allow', reason: '' });
      }
    }
    expect(asked.map((query) => query.verb)).toEqual(['get', 'put']);
    // 2 of the variable, counted once; of the last run what it reads, and twice 350,000 of what it asks.
    expect(result).toEqual({ value: true, cost: 700_011 });
    expect(budget.remaining).toBe(10_000_000 - 700_011);
  });

  it('makes a stack that is too small an error of the expression', () => {
    const deep = nested(100_000);
    const { error } = evaluate('object == oldObject', { object: deep, oldObject: nested(100_000) }) as {
      error: string;
    };
    expect(error).toMatch(/^internal error: /);
  });
});

describe('names without a value', () => {
  it.each([
    ['object', 'no such attribute(s): object'],
    ["authorizer.path('/')", 'no such attribute(s): authorizer'],
    ["authorizer.requestResource.check('get')", 'no such attribute(s): authorizer.requestResource'],
  ])('%s gives an error where it is not bound', (source, error) => {
    expect(evaluate(source)).toMatchObject({ error });
  });

  it('tells null from what is not bound', () => {
    expect(evaluate('object == null && !has(object.a)', { object: null })).toMatchObject({ value: true });
  });
});

describe('keys that every JavaScript object has', () => {
  const own = JSON.parse('{"__proto__": 1, "constructor": 2, "toString": 3}') as JsonMap;
  it.each(['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'valueOf'])('%s is data', (key) => {
    expect(evaluate(`has(object.${key})`, { object: {} })).toMatchObject({ value: false });
    expect(evaluate(`object.${key}`, { object: {} })).toMatchObject({ error: `no such key: ${key}` });
    expect(evaluate(`'${key}' in object`, { object: {} })).toMatchObject({ value: false });
    const present = Object.hasOwn(own, key);
    expect(evaluate(`has(object.${key}) && object['${key}'] > 0`, { object: own })).toMatchObject({
      value: present,
    });
  });
});

describe('variables of a policy', () => {
  const sources = [
    { name: 'used', expression: 'object.all(x, x >= 0)' },
    { name: 'broken', expression: '1 / (object.size() - 1000) > 0' },
    { name: 'heavy', expression: 'object.all(a, object.all(b, object.all(c, true)))' },
    { name: 'uncompiled', expression: 'nothing' },
    { name: 'twice', expression: '1' },
    { name: 'twice', expression: 'variables.twice + 1' },
  ];
  const { environment: within, variables } = cel.compileVariables(sources, OPTIONS);

  function run(source: string, budget = new Budget(10_000_000)): Evaluation {
    const compiled = cel.compile(source, within);
    if (!compiled.ok) throw new Error(compiled.error);
    return compiled.evaluate(withVariables({ object: NUMBERS }, variables), budget);
  }

  it('evaluates none that is not read', () => {
    expect(run('true || variables.heavy')).toEqual({ value: true, cost: 0 });
  });

  it('evaluates each once, and charges it once', () => {
    const once = run('variables.used').cost;
    expect(run('variables.used && variables.used')).toEqual({ value: true, cost: once + 2 });
  });

  it('gives one that fails as an error that can be absorbed, its own limit included', () => {
    expect(run('variables.broken')).toMatchObject({
      error: 'composited variable "broken" fails to evaluate: division by zero',
    });
    expect(run('variables.broken || variables.heavy || true')).toMatchObject({ value: true });
    expect(run('variables.uncompiled')).toMatchObject({
      error: expect.stringMatching(
        /^composited variable "uncompiled" fails to compile: compilation failed: /,
      ) as string,
    });
  });

  it('refuses one that reads itself under the name of an earlier one', () => {
    expect(run('variables.twice')).toMatchObject({
      error: expect.stringContaining('it reads itself') as string,
    });
  });

  it('counts them against the budget', () => {
    expect(run('variables.heavy || true', new Budget(1_000_000))).toMatchObject({ fatal: OUT_OF_BUDGET });
  });
});

describe('being told to stop', () => {
  it('ends a loop that goes on', () => {
    let looks = 0;
    const activation = { object: NUMBERS, interrupted: () => ++looks > 2 };
    expect(evaluate('object.all(x, true) || true', activation)).toMatchObject({
      error: 'operation interrupted',
    });
    expect(looks).toBe(3);
  });

  it('lets short loops alone', () => {
    const activation = { object: [1, 2, 3], interrupted: () => true };
    expect(evaluate('object.all(x, true)', activation)).toMatchObject({ value: true });
  });
});

describe('work that the cost does not bound', () => {
  const wide = Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => [`k${String(i)}`, { a: i }]));
  const text = 'a'.repeat(1_000_000);
  let doubling = 'optional.of(object.list)';
  for (let i = 0; i < 60; i++) doubling += '.optMap(x, x + x)';

  it.each([
    ['lists that double', `${doubling}.hasValue()`],
    ['large maps compared in a loop', 'object.list.all(x, object.wide == oldObject.wide)'],
    [
      'long lists looked through in a loop',
      'object.list.all(x, object.list.all(y, -1 in object.list || true))',
    ],
    ['a pattern that costs nothing', "object.list.all(x, object.text.findAll('').size() > 0)"],
    ['texts that grow', "object.text.replace('a', object.text)"],
    ['large values printed in a loop', "object.list.all(x, '%s'.format([object.wide]) != '')"],
  ])('ends: %s', (_name, source) => {
    const given = { object: { list: NUMBERS, wide, text }, oldObject: { wide: structuredClone(wide) } };
    expect(evaluate(source, given)).toMatchObject({
      error: 'operation cancelled: actual cost limit exceeded',
    });
  });

  it('is allowed where there is a reason for it', () => {
    expect(evaluate('size(object + object)', { object: NUMBERS })).toMatchObject({ value: 2000 });
    const given = { object: { wide }, oldObject: { wide: structuredClone(wide) } };
    expect(evaluate('object.wide == oldObject.wide', given)).toMatchObject({ value: true });
    expect(evaluate('object.wide.all(k, size(object.wide) > 0)', given)).toMatchObject({ value: true });
  });
});
