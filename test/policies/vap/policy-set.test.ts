import { describe, expect, it } from 'vitest';

import type { GroupVersionResource } from '../../../src/cluster/objects.ts';
import { binding, matchResources, policy, policySet, rule } from './support.ts';

const CONFIG_MAPS: GroupVersionResource = { group: '', version: 'v1', resource: 'configmaps' };

function named(name: string, change: Parameters<typeof rule>[0]) {
  return policy({ name, matchConstraints: matchResources({ resourceRules: [rule(change)] }) });
}

describe('candidates', () => {
  const { matchConstraints: _, ...unconstrained } = policy({ name: 'unconstrained' });
  const set = policySet([
    named('any', { apiGroups: ['*'], resources: ['*/*'], operations: ['*'] }),
    named('configmaps', {}),
    named('deletes', { operations: ['DELETE'] }),
    named('scale', { apiGroups: ['apps'], resources: ['deployments/scale'] }),
    named('secrets', { resources: ['secrets'] }),
    policy({ name: 'everything', matchConstraints: matchResources({ resourceRules: [] }) }),
    unconstrained,
  ]);
  const found = (...resources: readonly GroupVersionResource[]) =>
    set.candidates('CREATE', resources).map(({ compiled }) => compiled.policy.name);

  it('are those whose rules may be about the request, by name', () => {
    expect(found(CONFIG_MAPS)).toEqual(['any', 'configmaps', 'everything', 'unconstrained']);
    expect(found({ group: 'apps', version: 'v1', resource: 'deployments' })).toEqual([
      'any',
      'everything',
      'scale',
      'unconstrained',
    ]);
  });

  it('are those of the equivalents too', () => {
    expect(
      found({ group: 'x', version: 'v1', resource: 'ys' }, { ...CONFIG_MAPS, resource: 'secrets' }),
    ).toEqual(['any', 'everything', 'secrets', 'unconstrained']);
  });

  it('do not grow with the number of different requests', () => {
    for (let i = 0; i < 10_000; i++) found({ ...CONFIG_MAPS, resource: `r${String(i)}` });
    expect(found(CONFIG_MAPS)).toContain('configmaps');
  });
});

describe('compiled programs', () => {
  const programOf = (set: ReturnType<typeof policySet>, index = 0) =>
    set.bound[index]?.compiled.validations[0]?.program;

  it('are shared between policies, and by the set that follows', () => {
    const first = policySet([policy({ name: 'a' }), policy({ name: 'b' })]);
    expect(programOf(first)).toBe(programOf(first, 1));
    const second = policySet([policy({ name: 'c' })], undefined, { previous: first });
    expect(programOf(second)).toBe(programOf(first));
  });

  it('are not shared where something else is declared, or in another version', () => {
    const first = policySet([policy({ name: 'a' })]);
    const previous = { previous: first };
    const typed = (expression: string) =>
      programOf(policySet([policy({ variables: [{ name: 'x', expression }] })], undefined, previous));
    expect(typed('1')).not.toBe(programOf(first));
    expect(typed('1')).not.toBe(typed("'a'"));
    const kind = { apiVersion: 'v1', kind: 'ConfigMap' };
    expect(programOf(policySet([policy({ paramKind: kind })], undefined, previous))).not.toBe(
      programOf(first),
    );
    expect(programOf(policySet([policy()], undefined, { ...previous, minor: 35 }))).not.toBe(
      programOf(first),
    );
  });

  it('are forgotten once no set uses them', () => {
    const first = policySet([policy({ validations: [{ expression: '1 == 2' }] })]);
    const second = policySet([policy()], undefined, { previous: first });
    expect([...second.compiler.programs.keys()].filter((key) => key.includes('1 == 2'))).toEqual([]);
  });

  it('do not let a message ask the authorizer', () => {
    const messageExpression = "authorizer.path('/x').check('get').reason()";
    const set = policySet([policy({ validations: [{ expression: 'false', messageExpression }] })]);
    expect(set.problems).toMatchObject([{ field: 'spec.validations[0].messageExpression' }]);
  });
});

it('leaves out policies without a binding and bindings without a policy, and tells what does not compile', () => {
  const set = policySet(
    [policy({ validations: [{ expression: 'nope' }] })],
    [binding({ policyName: 'other' })],
  );
  expect(set.bound).toEqual([]);
  expect(set.problems).toHaveLength(1);
});
