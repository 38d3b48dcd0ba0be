/** What the Go code shows of itself, found by comparing random expressions with it (`npm run fuzz`). */
import { describe, expect, it } from 'vitest';

import { Cel, withVariables } from '../../../src/policies/cel/cel.ts';
import type { EnvironmentOptions } from '../../../src/policies/cel/environment.ts';
import { Budget } from '../../../src/policies/cel/program.ts';
import type { Value } from '../../../src/policies/cel/values.ts';

const OPTIONS: EnvironmentOptions = { minor: 36, mode: 'stored', params: true, authorizer: true };
const OBJECT: Value = { spec: { strings: ['a'], map: { a: 1 }, long: 'a text of twenty one' } };
const cel = new Cel();

function result(source: string, variable = '1'): unknown {
  const { environment, variables } = cel.compileVariables([{ name: 'v', expression: variable }], OPTIONS);
  const program = cel.compile(source, environment);
  if (!program.ok) return `${program.phase}: ${program.error}`;
  const evaluation = program.evaluate(withVariables({ object: OBJECT }, variables), new Budget(10_000_000));
  if ('fatal' in evaluation) return 'the budget is spent';
  return 'error' in evaluation ? evaluation : evaluation.value;
}

const UNDEFINED_TYPE = 'program: program instantiation failed: reference to undefined type: v';

describe('a variable whose type is that of types', () => {
  it.each([
    '[type(1)].map(v, v)',
    '[type(1)].filter(v, true)',
    '[type(1)].exists(v, v == int)',
    'optional.of(type(1)).optMap(v, 1)',
  ])('refuses %s', (source) => {
    expect(result(source)).toBe(UNDEFINED_TYPE);
  });

  it.each([
    '[type(1)].exists(v, true)',
    '[type("a")].map(int, int) == [int]',
    '[dyn(type(1))].all(v, v == int)',
  ])('takes %s', (source) => {
    expect(result(source)).toBe(true);
  });
});

describe('keys that Go has no hash of', () => {
  it.each([
    ["{semver('1.2.3'): 1}", 'cel.Semver'],
    ['{format.date(): 1}', 'cel.Format'],
    ["dyn(semver('1.2.3')) in {'a': object.spec.map.a}", 'cel.Semver'],
    ["dyn(b'a') in ['a']", 'types.Bytes'],
  ])('ends the evaluation of %s', (source, type) => {
    expect(result(source)).toMatchObject({
      error: `internal error: runtime error: hash of unhashable type ${type}`,
    });
  });

  it('looks for them in maps of a review', () => {
    expect(result("semver('1.2.3') in object.spec.map")).toBe(false);
  });
});

describe('keys that a library brings along', () => {
  it.each([
    ["[1, 2].transformMapEntry(i, v, {ip('::1'): i})", '::1'],
    ["[1, 2].transformMapEntry(i, v, {cidr('10.0.0.0/8'): i})", '10.0.0.0/8'],
    ['[1, 2].map(v, variables.v).transformMapEntry(i, v, {v: i})', '1', "quantity('1')"],
  ])('are the same key in %s', (source, key, variable = '1') => {
    expect(result(source, variable)).toMatchObject({ error: `insert failed: key ${key} already exists` });
  });

  it('are other keys where each was made anew and Go compares places in memory', () => {
    expect(result("size([1, 2].transformMapEntry(i, v, {quantity('1'): i}))")).toBe(2);
  });

  it('are found by their value', () => {
    expect(result("ip('0::1') in {ip('::1'): 1}")).toBe(true);
    expect(result("ip('::2') in {ip('::1'): 1}")).toBe(false);
  });
});

describe('a variable of optMap with a leading dot', () => {
  it.each(['optMap', 'optFlatMap'])('is looked for outside by %s', (macro) => {
    const body = macro === 'optMap' ? '1' : 'optional.of(1)';
    expect(result(`optional.of(1).${macro}(.w, ${body})`)).toContain("undeclared reference to '.w'");
    expect(result(`optional.of(1).${macro}(.object, ${body}).value()`)).toBe(1);
  });
});

describe('the cost of a call that fails on an optional', () => {
  it.each([
    ["((true ? object.spec.?long : oldObject.x) + b'')", 4],
    ["((true ? object.spec.?none : oldObject.x) + b'')", 2],
  ])('counts what it holds: %s', (source, cost) => {
    expect(result(source)).toEqual({ error: 'no such overload: _+_', cost });
  });
});

describe('error texts with Go types', () => {
  it.each([
    ['[dyn(1)][variables.v]', "dyn({'a': 1})", 'invalid qualifier type: *types.baseMap'],
    ['[dyn(1)][object.spec.map]', '1', 'invalid qualifier type: map[string]interface {}'],
    ['object.spec.strings[format.date()]', '1', 'invalid qualifier type: cel.Format'],
    ["object.spec.strings[quantity('1')]", '1', 'invalid qualifier type: cel.Quantity'],
    ["object.spec.strings[quantity('1').add(1)]", '1', 'invalid qualifier type: *cel.Quantity'],
    ['object.spec.map.flatten()', '1', 'no such overload: map(dyn, dyn).flatten()'],
  ])('tells them for %s', (source, variable, error) => {
    expect(result(source, variable)).toMatchObject({ error });
  });
});

describe('functions with a leading dot', () => {
  it('looks at their literals as at those of others', () => {
    expect(result(".timestamp('')")).toContain('invalid timestamp argument');
  });
});

describe('the smallest int64 as a quantity', () => {
  it.each([
    ["quantity('1Gi').add(-9223372036854775808).sub(quantity('1Gi'))", '-9223372036854775808'],
    ["quantity('1Gi').add(-4611686018427387904).sub(quantity('1Gi'))", '-4Ei'],
  ])('has no suffix, unlike others: %s', (source, text) => {
    expect(String(result(source))).toBe(text);
  });
});

describe('has() of a choice that fails before anything was counted', () => {
  it.each(['has((dyn([]) ? {} : {}).a) || true', 'variables.v'])('spends the budget: %s', (source) => {
    expect(result(source, 'has((dyn([]) ? {} : {}).a)')).toBe('the budget is spent');
  });

  it('only fails where something was', () => {
    expect(result('1 + 1 == 2 && has((dyn([]) ? {} : {}).a)')).toEqual({
      error: 'no such overload',
      cost: 1,
    });
  });
});

describe('a constant pattern on what is a text to Go', () => {
  it.each([
    "dyn(string).matches('^string$')",
    "dyn(google.protobuf.Timestamp).find('T.*') == 'Timestamp'",
    "dyn(optional.of('abc')).findAll('b', dyn(optional.of(1))) == ['b']",
    "matches(dyn(optional.of(optional.of('abc'))), 'b')",
  ])('finds it: %s', (source) => {
    expect(result(source)).toBe(true);
  });

  it('finds nothing in an empty optional', () => {
    expect(result("dyn(optional.none()).find('b')")).toMatchObject({ error: 'no such overload' });
  });
});
