import { readFileSync, readdirSync } from 'node:fs';

import { describe, expect, it } from 'vitest';

import { Cel } from '../../../src/policies/cel/cel.ts';
import type { EnvironmentOptions } from '../../../src/policies/cel/environment.ts';
import { estimateCost } from '../../../src/policies/cel/estimate.ts';
import { typeString } from '../../../src/policies/cel/type-format.ts';

const cel = new Cel();
const FULL: EnvironmentOptions = { minor: 36, mode: 'stored', params: true, authorizer: true };

function outcome(source: string, options: Partial<EnvironmentOptions> = {}): string {
  const checked = cel.check(source, cel.environment({ ...FULL, ...options }));
  return checked.ok ? typeString(checked.type) : `${checked.phase}: ${checked.error}`;
}

/** Messages alone, in order. */
function messages(source: string, options: Partial<EnvironmentOptions> = {}): readonly string[] {
  const found = [...outcome(source, options).matchAll(/ERROR: <input>:(.*)/g)];
  return found.map(([, message = '']) => message);
}

describe('static types', () => {
  it.each([
    ['object.spec.replicas', 'dyn'],
    ['request.userInfo.groups', 'list(string)'],
    ['request.namespace', 'string'],
    ['namespaceObject.metadata.creationTimestamp', 'google.protobuf.Timestamp'],
    ['authorizer.requestResource', 'kubernetes.authorization.ResourceCheck'],
    ['[]', 'list(dyn)'],
    ['[[], [1]]', 'list(list(int))'],
    ['{}', 'map(dyn, dyn)'],
    ['[1].map(x, string(x))', 'list(string)'],
    ['[1].filter(x, x > 0)', 'list(int)'],
    ['{"a": 1}.transformMap(k, v, [v])', 'map(string, list(int))'],
    ['["b"].sortBy(x, size(x))', 'list(string)'],
    ['object.?a.b', 'optional_type(dyn)'],
    ['optional.of(1).optMap(x, [x])', 'optional_type(list(int))'],
    ['[optional.none(), optional.of(1)]', 'list(optional_type(int))'],
    ['true ? 1 : dyn("a")', 'dyn'],
    ['type([1])', 'type(list(int))'],
    ['list', 'type(list(dyn))'],
    ['optional_type', 'type(optional_type)'],
    ['google.protobuf.Int64Value{value: 1}', 'wrapper(int)'],
    ['google.protobuf.Struct{}', 'map(string, dyn)'],
    ['google.protobuf.NullValue.NULL_VALUE', 'int'],
    ['kubernetes.UserInfo{username: "a"}', 'kubernetes.UserInfo'],
    ['1 < 1.0 && 2u > 1', 'bool'],
    ['dyn(1) == 1.0', 'bool'],
  ])('gives %s the type %s', (source, type) => {
    expect(outcome(source)).toBe(type);
  });
});

describe('refusing what does not fit', () => {
  it.each([
    ["1 + 'a'", "1:3: found no matching overload for '_+_' applied to '(int, string)'"],
    ['1 == 1.0', "1:3: found no matching overload for '_==_' applied to '(int, double)'"],
    ["'a'.size(1)", "1:9: found no matching overload for 'size' applied to 'string.(int)'"],
    ['nope', "1:1: undeclared reference to 'nope' (in container '')"],
    ['request.uid', "1:8: undefined field 'uid'"],
    ['request.object.spec', "1:8: undefined field 'object'"],
    ['authorizer.foo', "1:11: unexpected failed resolution of 'kubernetes.authorization.Authorizer'"],
    ["'a'.b", "1:4: type 'string' does not support field selection"],
    ['1 && true', "1:1: expected type 'bool' but found 'int'"],
    ['[1].all(x, x)', "1:12: expected type 'bool' but found 'int'"],
    [
      '[1].filter(x, x)',
      "1:11: found no matching overload for '_?_:_' applied to '(int, list(int), list(int))'",
    ],
    [
      "'abc'.all(c, true)",
      "1:1: expression of type 'string' cannot be range of a comprehension (must be list, map, or dynamic)",
    ],
    ["[1, 'a']", "1:5: expected type 'int' but found 'string'"],
    ['[object.a, 1]', "1:12: expected type 'dyn' but found 'int'"],
    ["{'a': 1, 'b': 'c'}", "1:15: expected type 'int' but found 'string'"],
    ['[?1]', "1:3: expected type 'optional_type(int)' but found 'int'"],
    ["duration('x')", '1:10: invalid duration argument'],
    ["timestamp('x')", '1:11: invalid timestamp argument'],
    ["'a'.matches('(')", '1:13: invalid matches argument'],
    [
      "'%d'.format(['a'])",
      '1:14: error during formatting: decimal clause can only be used on integers, was given string',
    ],
    ['int{}', "1:4: 'int' is not a message type"],
    ['object{}', "1:7: 'dyn' is not a type"],
    [
      "google.protobuf.Int64Value{value: 'a'}",
      "1:33: expected type of field 'value' is 'int' but provided type is 'string'",
    ],
  ])('says of %s: %s', (source, message) => {
    expect(messages(source)).toEqual([message]);
  });

  it('allows arguments of different types for format alone', () => {
    expect(outcome("'%s %d'.format(['a', 1])")).toBe('string');
    expect(messages("[['a', 1]]")).toEqual(["1:8: expected type 'string' but found 'int'"]);
  });

  it('reports every error, in the order of places', () => {
    expect(messages("nope + [1].map(x, y) == ['a' + 1]")).toEqual([
      "1:1: undeclared reference to 'nope' (in container '')",
      "1:19: undeclared reference to 'y' (in container '')",
      "1:30: found no matching overload for '_+_' applied to '(string, int)'",
    ]);
  });

  it('says twice what is wrong with an optional that a macro copies', () => {
    expect(messages('nope.optMap(x, x)')).toHaveLength(2);
  });

  it('counts errors beyond a hundred, and takes no time exponential in the length of a chain', () => {
    const text = outcome(`nope${'.optMap(x, x)'.repeat(40)}`);
    expect(text.endsWith(`${2 ** 40 - 100} more errors were truncated`)).toBe(true);
  });

  it('refuses as a panic what the API server panics on', () => {
    expect(outcome('[?dyn(1)]')).toBe('panic: runtime error: index out of range [0] with length 0');
  });
});

describe('environments', () => {
  /** First minor of the compatibility version that has it. */
  const GATES: readonly (readonly [since: number, source: string])[] = [
    [27, "authorizer.path('/').check('get').allowed()"],
    [28, '1 < 1.0'],
    [28, 'object.?a.hasValue()'],
    [28, 'optional.of(1).optMap(x, x).or(optional.none()).hasValue()'],
    [28, "isQuantity('1')"],
    [29, 'sets.contains([1], [1])'],
    [29, "'%s'.format(['a']) == 'a'"],
    [30, "isIP('::1')"],
    [30, "isCIDR('::/0')"],
    [31, "format.named('uuid').hasValue()"],
    [32, '[1].all(i, v, true)'],
    [33, "isSemver('1.0.0')"],
    [34, '[1].reverse() == [1]'],
    [37, '[1].includes(1)'],
  ];

  it.each(GATES)('have from 1.%i on: %s', (since, source) => {
    expect(outcome(source, { minor: since, mode: 'new' })).toBe('bool');
    expect(outcome(source, { minor: since - 1, mode: 'new' })).toMatch(/^check: /);
  });

  it('know everything of 1.36 in stored expressions, whatever the version', () => {
    for (const [since, source] of GATES) {
      expect(outcome(source, { minor: 26 }).startsWith('check')).toBe(since > 36);
    }
  });

  it('never have what Kubernetes leaves out', () => {
    for (const source of [
      'math.least(1, 2)',
      "base64.encode(b'a')",
      'cel.bind(x, 1, x)',
      "'a'.reverse()",
      'a.`b`',
    ]) {
      expect(outcome(source)).toMatch(/^check: /);
    }
  });

  it('declare params and authorizer only where they are asked for', () => {
    expect(outcome('params.x')).toBe('dyn');
    expect(outcome('params.x', { params: false })).toContain("undeclared reference to 'params'");
    expect(outcome('authorizer.path("/")', { authorizer: false })).toContain(
      "undeclared reference to 'authorizer'",
    );
  });

  it('compare numbers of different types before 1.28 behind a macro alone, as the API server does', () => {
    const old = { minor: 27, mode: 'new' } as const;
    expect(outcome('1 < 1.0 || [1].all(x, true)', old)).toMatch(/^check: /);
    expect(outcome('[1].all(x, true) || 1 < 1.0', old)).toBe('bool');
  });
});

describe('static costs', () => {
  it('are those that the API server estimates, for every recorded expression', () => {
    const folder = new URL('../../golden/cel/', import.meta.url);
    let count = 0;
    for (const file of readdirSync(folder).filter((one) => one.endsWith('.jsonl'))) {
      for (const line of readFileSync(new URL(file, folder), 'utf8').split('\n')) {
        if (!line.includes('"estimate"')) continue;
        const { id, expr, env, mode, declares, estimate } = JSON.parse(line) as {
          id: string;
          expr: string;
          env: string;
          mode: 'new' | 'stored';
          declares?: readonly string[];
          estimate: { min: number | string; max: number | string };
        };
        const has = (name: string) => declares?.includes(name) ?? true;
        const options = {
          minor: Number(env.slice(2)),
          mode,
          params: has('params'),
          authorizer: has('authorizer'),
        };
        const checked = cel.check(expr, cel.environment(options));
        const { min, max } = checked.ok ? estimateCost(checked) : { min: -1, max: -1 };
        const given = { id, min: String(min), max: String(max) };
        expect(given).toEqual({ id, min: String(estimate.min), max: String(estimate.max) });
        count++;
      }
    }
    expect(count).toBeGreaterThan(7000);
  });

  it('are found for long chains of macros in no time', () => {
    const source = `optional.of(1)${'.optMap(x, x)'.repeat(100)}`;
    const checked = cel.check(source, cel.environment(FULL));
    expect(checked.ok && estimateCost(checked).max).toBe(2n ** 64n - 1n);
  });
});
