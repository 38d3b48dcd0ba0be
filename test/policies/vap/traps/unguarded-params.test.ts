import { describe, expect, it } from 'vitest';
import { unguardedTraps } from '../../../../src/policies/vap/traps/unguarded.ts';
import { policyOf, short, subject, traps, TYPES } from './support.ts';

describe('what may be absent in parameters', () => {
  it.each([
    ['a key', 'has(params.data) && params.data.a == "b"', ['PARAMS params.data.a']],
    ['what keys are in', 'params.data.a == "b"', ['PARAMS params.data']],
    ['nothing of an optional', 'params.?data[?"a"].orValue("b") == "b"', []],
    ['nothing behind in', '"a" in params.?data.orValue({}) && params.data.a == "b"', []],
    ['nothing of what is always there', 'params.metadata.name != ""', []],
    ['a variable of it', 'variables.limits.b != ""', ['PARAMS params.data']],
    ['one of several', 'params.data.a != params.binaryData.b', ['PARAMS params.data']],
    [
      'what may be instead',
      '(has(params.data) ? params.data : {}).a == "b"',
      ['PARAMS (has(params.data) ? params.data : {}).a'],
    ],
    ['nothing where there may be none at all', 'params == null || has(params.metadata)', []],
  ])('finds of parameters %s', (_what, expression, found) => {
    const change = {
      paramKind: { apiVersion: 'v1', kind: 'ConfigMap' },
      variables: [{ name: 'limits', expression: 'params.data' }],
    };
    expect(short(traps(expression, change))).toEqual(found);
    const unknown = { ...change, paramKind: { apiVersion: 'example.com/v1', kind: 'Limits' } };
    expect(short(traps(expression, unknown))).toEqual([]);
  });

  it('says of parameters once what is read of them', () => {
    const paramKind = { apiVersion: 'v1', kind: 'ConfigMap' };
    const of = policyOf(['params.data.a == "b"', 'params.binaryData.c != b""'], { paramKind });
    const [found, ...others] = unguardedTraps(subject(of), TYPES);
    expect(others).toEqual([]);
    expect(found?.severity).toBe('note');
    expect(found?.message).toContain('reads params.data, which a ConfigMap may be without');
    expect(found?.message).toContain('(also params.binaryData)');
  });
});
