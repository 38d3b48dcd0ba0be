import { describe, expect, it } from 'vitest';
import {
  compareConditions,
  compareRules,
  compareSelectors,
  joinWidths,
  type Width,
} from '../../src/install/preflight/entry-width.ts';
import type { LiveRule } from '../../src/install/preflight/live-entry.ts';
import type { EntrySelector } from '../../src/policies/entry.ts';

const RULE: LiveRule = {
  apiGroups: ['apps'],
  apiVersions: ['v1'],
  operations: ['CREATE', 'UPDATE'],
  resources: ['deployments'],
  scope: '*',
};
const rule = (over: Partial<LiveRule>): LiveRule => ({ ...RULE, ...over });

describe('rules', () => {
  it.each<[Width, string, readonly LiveRule[], readonly LiveRule[]]>([
    ['same', 'what is the same', [RULE], [RULE]],
    ['same', 'another order', [rule({ operations: ['UPDATE', 'CREATE'] })], [RULE]],
    ['same', 'one rule or two', [rule({ operations: ['CREATE'] }), rule({ operations: ['UPDATE'] })], [RULE]],
    [
      'same',
      'all operations or *',
      [rule({ operations: ['*'] })],
      [rule({ operations: ['CREATE', 'UPDATE', 'DELETE', 'CONNECT'] })],
    ],
    ['same', 'both scopes or *', [rule({ scope: 'Cluster' }), rule({ scope: 'Namespaced' })], [RULE]],
    [
      'same',
      '* that has the others in it',
      [rule({ resources: ['*', 'deployments'] })],
      [rule({ resources: ['*'] })],
    ],
    ['wider', 'another operation', [rule({ operations: ['CREATE', 'UPDATE', 'DELETE'] })], [RULE]],
    ['wider', 'another resource', [rule({ resources: ['deployments', 'daemonsets'] })], [RULE]],
    ['wider', 'subresources', [rule({ resources: ['deployments/*'] })], [RULE]],
    ['wider', 'every resource', [rule({ resources: ['*'] })], [RULE]],
    ['wider', 'every group', [rule({ apiGroups: ['*'] })], [RULE]],
    ['wider', 'every version', [rule({ apiVersions: ['*'] })], [RULE]],
    ['wider', 'a wider scope', [RULE], [rule({ scope: 'Namespaced' })]],
    ['narrower', 'no rule', [], [RULE]],
    ['narrower', 'one operation less', [rule({ operations: ['CREATE'] })], [RULE]],
    ['narrower', 'main resources alone', [rule({ resources: ['*'] })], [rule({ resources: ['*/*'] })]],
    [
      'narrower',
      'one subresource',
      [rule({ resources: ['deployments/scale'] })],
      [rule({ resources: ['*/scale'] })],
    ],
    ['narrower', 'one scope', [rule({ scope: 'Namespaced' })], [RULE]],
    ['differs', 'another resource instead', [rule({ resources: ['daemonsets'] })], [RULE]],
    ['differs', 'a subresource instead', [rule({ resources: ['deployments/scale'] })], [RULE]],
  ])('are %s: %s', (want, _what, live, wanted) => {
    expect(compareRules(live, wanted)).toBe(want);
  });
});

const NAME = 'kubernetes.io/metadata.name';
const not = (...values: readonly string[]): EntrySelector => ({
  matchExpressions: [{ key: NAME, operator: 'NotIn', values }],
});
const within = (...values: readonly string[]): EntrySelector => ({
  matchExpressions: [{ key: NAME, operator: 'In', values }],
});
const there = (operator: string): EntrySelector => ({ matchExpressions: [{ key: 'team', operator }] });

describe('selectors', () => {
  it.each<[Width, string, EntrySelector, EntrySelector]>([
    ['same', 'none and none', {}, {}],
    ['same', 'another order of values', not('b', 'a'), not('a', 'b')],
    ['same', 'a label or its expression', { matchLabels: { [NAME]: 'a' } }, within('a')],
    ['wider', 'none', {}, not('a')],
    ['wider', 'one left out less', not('a'), not('a', 'b')],
    ['wider', 'one selected more', within('a', 'b'), within('a')],
    ['wider', 'any value', there('Exists'), { matchLabels: { team: 'a' } }],
    ['wider', 'all but one, where one should be', not('b'), within('a')],
    ['narrower', 'one where all should be', not('a'), {}],
    ['narrower', 'one left out more', not('a', 'b'), not('a')],
    [
      'narrower',
      'none that has the label',
      there('DoesNotExist'),
      { matchExpressions: [{ key: 'team', operator: 'NotIn', values: ['a'] }] },
    ],
    ['narrower', 'a requirement more', { ...not('a'), matchLabels: { team: 'a' } }, not('a')],
    ['differs', 'another value', within('a'), within('b')],
    ['differs', 'another key', { matchLabels: { team: 'a' } }, { matchLabels: { tier: 'a' } }],
    ['differs', 'the contrary', there('Exists'), there('DoesNotExist')],
    ['differs', 'one left out less and one more', not('a', 'c'), not('a', 'b')],
  ])('are %s: %s', (want, _what, live, wanted) => {
    expect(compareSelectors(live, wanted)).toBe(want);
  });
});

describe('conditions', () => {
  const one = { name: 'one', expression: 'true' };
  const two = { name: 'two', expression: 'false' };
  it.each<[Width, string, readonly (typeof one)[], readonly (typeof one)[]]>([
    ['same', 'in another order', [two, one], [one, two]],
    ['same', 'under another name', [{ ...one, name: 'x' }], [one]],
    ['wider', 'one less', [], [one]],
    ['narrower', 'one more', [one, two], [one]],
    ['differs', 'another one', [two], [one]],
  ])('are %s: %s', (want, _what, live, wanted) => {
    expect(compareConditions(live, wanted)).toBe(want);
  });

  it('of several parts are as wide as all of them together', () => {
    expect(joinWidths(['same', 'same'])).toBe('same');
    expect(joinWidths(['wider', 'same', 'wider'])).toBe('wider');
    expect(joinWidths(['wider', 'narrower'])).toBe('differs');
  });
});
