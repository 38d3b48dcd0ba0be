import { describe, expect, it } from 'vitest';
import { labelPredicate } from '../../src/cluster/selectors.ts';
import { selects } from '../../src/policies/vap/label-selector.ts';
import { selectorText } from '../../src/webhooks/label-selector-text.ts';

const requirement = (operator: string, ...values: string[]) => ({ key: 'x.io/tier', operator, values });
const OBJECTS: readonly Readonly<Record<string, string>>[] = [
  {},
  { 'x.io/tier': '' },
  { 'x.io/tier': 'a' },
  { 'x.io/tier': 'b', other: 'c' },
  { other: 'c' },
];

describe('a selector as text', () => {
  it.each<[string, Readonly<Record<string, string>>, ReturnType<typeof requirement>[], string]>([
    ['everything', {}, [], ''],
    ['labels', { 'x.io/tier': 'a', other: 'c' }, [], 'x.io/tier=a,other=c'],
    ['an empty value', { 'x.io/tier': '' }, [], 'x.io/tier='],
    ['In one', {}, [requirement('In', 'a')], 'x.io/tier=a'],
    ['In several, some twice', {}, [requirement('In', 'a', 'b', 'a')], 'x.io/tier in (a,b)'],
    ['In with an empty one', {}, [requirement('In', '', 'b')], 'x.io/tier in (,b)'],
    ['In with an empty one at the end', {}, [requirement('In', 'b', '')], 'x.io/tier in (b,)'],
    ['NotIn one', {}, [requirement('NotIn', 'a')], 'x.io/tier!=a'],
    ['NotIn several', {}, [requirement('NotIn', 'a', '')], 'x.io/tier notin (a,)'],
    ['Exists', {}, [requirement('Exists')], 'x.io/tier'],
    ['DoesNotExist', {}, [requirement('DoesNotExist')], '!x.io/tier'],
    ['both', { other: 'c' }, [requirement('Exists')], 'other=c,x.io/tier'],
  ])('is read as it was meant: %s', (_what, matchLabels, matchExpressions, text) => {
    const selector = { matchLabels, matchExpressions };
    expect(selectorText(selector)).toBe(text);
    const predicate = labelPredicate(text);
    const selected = OBJECTS.filter((labels) =>
      predicate({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a', labels } }),
    );
    expect(selected).toEqual(OBJECTS.filter((labels) => selects(selector, labels)));
  });

  it.each<[string, Readonly<Record<string, string>>, ReturnType<typeof requirement>[]]>([
    ['a key that would be another selector', { 'a=b,c': 'd' }, []],
    ['an empty key', { '': 'd' }, []],
    ['a value that would be another selector', { a: 'b,c!=d' }, []],
    ['a value in a list that would close it', {}, [requirement('In', 'a', 'b),other')]],
    ['an operator that is none', {}, [requirement('Like', 'a')]],
    ['In without values', {}, [requirement('In')]],
  ])('is refused for %s', (_what, matchLabels, matchExpressions) => {
    expect(selectorText({ matchLabels, matchExpressions })).toBeUndefined();
  });
});
