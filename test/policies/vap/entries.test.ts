import { describe, expect, it } from 'vitest';
import { policyEntries } from '../../../src/policies/vap/entries.ts';
import { policyEntryName } from '../../../src/policies/vap/entry-name.ts';
import { entryOf, EXCLUDED, input } from './entry-support.ts';
import { binding, policy, rule, selector } from './support.ts';

describe('the entry of a policy', () => {
  it('has its rules, selectors and failure policy, and nothing of what the gate decides itself', () => {
    const { entry } = entryOf(
      {
        resourceRules: [
          rule({ operations: ['CREATE', 'UPDATE'], resourceNames: ['a'], scope: 'Namespaced' }),
          rule({
            apiGroups: ['apps'],
            apiVersions: ['v1', 'v1beta1'],
            resources: ['deployments', 'deployments/*'],
          }),
        ],
        excludeResourceRules: [rule({ resourceNames: ['b'] })],
        namespaceSelector: selector({ zone: 'b', area: 'a' }, [{ key: 'x', operator: 'Exists', values: [] }]),
        objectSelector: selector({}, [{ key: 'y', operator: 'In', values: ['2', '1'] }]),
        matchPolicy: 'Exact',
      },
      { timeoutSeconds: 7, caBundle: 'PEM' },
      { failurePolicy: 'Ignore', matchConditions: [{ name: 'c', expression: 'true' }] },
    );
    expect(entry).toEqual({
      name: 'p.example.com',
      clientConfig: {
        service: {
          namespace: 'pacto-system',
          name: 'pacto-gate',
          path: '/validate/policies/p.example.com',
          port: 443,
        },
        caBundle: btoa('PEM'),
      },
      rules: [
        {
          apiGroups: [''],
          apiVersions: ['v1'],
          operations: ['CREATE', 'UPDATE'],
          resources: ['configmaps'],
          scope: 'Namespaced',
        },
        {
          apiGroups: ['apps'],
          apiVersions: ['v1', 'v1beta1'],
          operations: ['*'],
          resources: ['deployments', 'deployments/*'],
          scope: '*',
        },
      ],
      failurePolicy: 'Ignore',
      matchPolicy: 'Exact',
      namespaceSelector: {
        matchLabels: { area: 'a', zone: 'b' },
        matchExpressions: [
          { key: 'x', operator: 'Exists' },
          {
            key: 'kubernetes.io/metadata.name',
            operator: 'NotIn',
            values: ['kube-node-lease', 'kube-public', 'kube-system', 'pacto-system'],
          },
        ],
      },
      objectSelector: { matchExpressions: [{ key: 'y', operator: 'In', values: ['2', '1'] }] },
      sideEffects: 'None',
      timeoutSeconds: 7,
      admissionReviewVersions: ['v1', 'v1beta1'],
    });
    expect(Object.keys(entry?.namespaceSelector.matchLabels ?? {})).toEqual(['area', 'zone']);
  });

  it('is there for policies with a binding only', () => {
    const policies = ['a.b.c', 'd.e.f'].map((name) => policy({ name }));
    const { configuration, reach } = policyEntries(
      input(policies, { bindings: [binding({ policyName: 'd.e.f' }), binding({ policyName: 'x.y.z' })] }),
    );
    expect(configuration.webhooks.map(({ name }) => name)).toEqual(['d.e.f']);
    expect(reach.map(({ policy: name, entry }) => [name, entry])).toEqual([
      ['a.b.c', undefined],
      ['d.e.f', 'd.e.f'],
    ]);
  });

  it('is the same in bytes, in whatever order policies, bindings and namespaces come', () => {
    const policies = ['b.c.d', 'a', 'z.policies.gate.pacto.trianalab.io', 'Z.b', 'm.n.o'].map((name) =>
      policy({ name: name.toLowerCase() }),
    );
    const first = policyEntries(input(policies, { writers: true }));
    const given = input(policies.toReversed(), { writers: true, excludedNamespaces: EXCLUDED.toReversed() });
    const second = policyEntries({ ...given, bindings: given.bindings.toReversed() });
    expect(JSON.stringify(second)).toBe(JSON.stringify(first));
    const names = first.configuration.webhooks.map(({ name }) => name);
    expect(names).toEqual(names.toSorted());
    expect(names).toHaveLength(6);
  });

  it('says that writers are checked where policies come from the cluster', () => {
    const [writers] = policyEntries(input([], { writers: true })).configuration.webhooks;
    expect(writers).toMatchObject({
      name: 'policy-writers.gate.pacto.trianalab.io',
      clientConfig: { service: { path: '/validate/policy-writers' } },
      rules: [
        {
          apiGroups: ['gate.pacto.trianalab.io'],
          operations: ['CREATE', 'UPDATE'],
          resources: ['validatingadmissionpolicies', 'validatingadmissionpolicybindings'],
          scope: 'Cluster',
        },
      ],
      failurePolicy: 'Fail',
      namespaceSelector: {},
      objectSelector: {},
    });
    expect(writers).not.toHaveProperty('matchConditions');
  });
});

describe('names of entries', () => {
  it.each([
    ['a', 'a.policies.gate.pacto.trianalab.io'],
    ['a.b', 'a.b.policies.gate.pacto.trianalab.io'],
    ['a.b.c', 'a.b.c'],
    [
      'a.policies.gate.pacto.trianalab.io',
      'a.policies.gate.pacto.trianalab.io.policies.gate.pacto.trianalab.io',
    ],
    [
      'policy-writers.gate.pacto.trianalab.io',
      'policy-writers.gate.pacto.trianalab.io.policies.gate.pacto.trianalab.io',
    ],
    ['gate.pacto.trianalab.io', 'gate.pacto.trianalab.io'],
  ])('%s is %s', (name, entry) => {
    expect(policyEntryName(name)).toBe(entry);
  });

  it('are different for different policies', () => {
    const names = ['a', 'a.b', 'x.policies', 'policies.gate.pacto.trianalab.io'].flatMap((name) => [
      name,
      policyEntryName(name),
      policyEntryName(policyEntryName(name)),
    ]);
    const different = new Set(names);
    expect(new Set([...different].map(policyEntryName)).size).toBe(different.size);
  });
});
