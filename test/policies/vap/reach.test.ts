import { describe, expect, it } from 'vitest';
import { policyEntries, type PolicyEntriesInput } from '../../../src/policies/vap/entries.ts';
import type { MatchResources, Policy } from '../../../src/policies/vap/types.ts';
import { entryOf, EVERYTHING, input } from './entry-support.ts';
import { matchResources, policy, rule, selector } from './support.ts';

const byApiServer = 'requests that the API server makes itself (system:apiserver) are not sent';

describe('what is told of a reach', () => {
  const namespaces = 'requests in the namespaces kube-node-lease, kube-public, kube-system and pacto-system';
  const told = (
    match: Partial<MatchResources>,
    change: Partial<PolicyEntriesInput> = {},
  ): readonly string[] => entryOf(match, change).reach?.notEnforced ?? [];
  const having = (sentences: readonly string[]): readonly unknown[] =>
    sentences.map((one) => expect.stringContaining(one));

  it.each<[string, Partial<MatchResources>, readonly string[]]>([
    ['namespaces', {}, [namespaces]],
    [
      'namespaces that its own selector does not leave out',
      {
        namespaceSelector: selector({}, [
          {
            key: 'kubernetes.io/metadata.name',
            operator: 'NotIn',
            values: ['kube-system', 'kube-public', 'kube-node-lease'],
          },
        ]),
      },
      ['requests in the namespace pacto-system are not sent'],
    ],
    [
      'nothing where its own selector takes another namespace',
      { namespaceSelector: selector({ 'kubernetes.io/metadata.name': 'shop' }) },
      [],
    ],
    [
      'nothing for what has no namespace',
      { resourceRules: [rule({ apiGroups: ['storage.k8s.io'], resources: ['storageclasses'] })] },
      [],
    ],
    [
      'requests of the API server itself',
      { resourceRules: [rule({ apiGroups: ['rbac.authorization.k8s.io'], resources: ['clusterroles'] })] },
      [byApiServer],
    ],
    ['nothing for the scope Cluster', { resourceRules: [rule({ scope: 'Cluster' })] }, []],
    [
      'Namespaces',
      { resourceRules: [rule({ resources: ['namespaces'] })] },
      [
        'requests about the Namespaces kube-node-lease, kube-public, kube-system and pacto-system are not sent',
        byApiServer,
      ],
    ],
    [
      'everything',
      { resourceRules: [EVERYTHING] },
      [
        `${namespaces} and about these Namespaces themselves are not sent`,
        'requests about events, nodes, certificatesigningrequests.certificates.k8s.io, events.events.k8s.io and the kinds of gate.pacto.trianalab.io are not sent',
        'requests about mutatingwebhookconfigurations.admissionregistration.k8s.io and validatingwebhookconfigurations.admissionregistration.k8s.io can be refused by a policy of the API server alone',
        byApiServer,
      ],
    ],
    [
      'only what lies in a namespace for the scope Namespaced',
      { resourceRules: [rule({ resources: ['*'], scope: 'Namespaced' })] },
      [namespaces, 'requests about events and events.events.k8s.io are not sent', byApiServer],
    ],
    [
      'nothing that the policy leaves out itself',
      {
        resourceRules: [rule({ resources: ['*', 'pods/*'], scope: 'Cluster' })],
        excludeResourceRules: [rule({ resources: ['nodes'] })],
      },
      ['requests about the Namespaces', byApiServer],
    ],
    [
      'subresources of what the policy leaves out',
      {
        resourceRules: [rule({ resources: ['nodes/*'] })],
        excludeResourceRules: [rule({ resources: ['nodes'] })],
      },
      [
        'requests about nodes are not sent',
        'has no entry, so that webhooks enforce nothing of it: nothing of what its rules name can be sent',
      ],
    ],
    [
      'that reviews alone have no entry, which no policy is about',
      { resourceRules: [rule({ apiGroups: ['authentication.k8s.io'], resources: ['tokenreviews'] })] },
      ['has no entry'],
    ],
  ])('tells of %s', (_name, match, expected) => {
    expect(told(match)).toEqual(having(expected));
  });

  it('knows what has a namespace from what is served', () => {
    const custom = { resourceRules: [rule({ apiGroups: ['x.io'], resources: ['things'] })] };
    expect(told(custom)).toHaveLength(1);
    const thing = { group: 'x.io', version: 'v1', resource: 'things', namespaced: false };
    expect(told(custom, { served: [thing] })).toEqual([]);
  });

  it('tells of kubelets’ Leases where their namespace is not excluded', () => {
    const leases = { resourceRules: [rule({ apiGroups: ['coordination.k8s.io'], resources: ['leases'] })] };
    expect(told(leases, { excludedNamespaces: [] })).toEqual(
      having(['namespace pacto-system', 'requests about leases in kube-node-lease are not sent']),
    );
  });

  it.each<[string, Partial<Policy>, string]>([
    ['whose name is no DNS name', { name: 'A_b' }, 'its name cannot be in a path'],
    [
      'whose entry would have too long a name',
      { name: 'a'.repeat(230) },
      'would have 263 characters and may have 253',
    ],
    ['without rules', { matchConstraints: matchResources({ resourceRules: [] }) }, 'it has no resourceRules'],
    [
      'with rules that no API server takes',
      { matchConstraints: matchResources({ resourceRules: [rule({ operations: ['LOOK'] })] }) },
      'no API server would take it: spec.matchConstraints.resourceRules[0].operations[0]: Unsupported value: "LOOK"',
    ],
    [
      'with a selector that no API server takes',
      { matchConstraints: matchResources({ objectSelector: selector({ 'a b': 'c' }) }) },
      'no API server would take it: spec.matchConstraints.objectSelector.matchLabels',
    ],
  ])('leaves out a policy %s, and keeps the others', (_name, of, sentence) => {
    const { configuration, reach } = policyEntries(input([policy(of), policy({ name: 'good.example.com' })]));
    expect(configuration.webhooks.map(({ name }) => name)).toEqual(['good.example.com']);
    expect(reach.find(({ policy: name }) => name !== 'good.example.com')).toMatchObject({
      entry: undefined,
      notEnforced: [expect.stringContaining(sentence)],
    });
  });

  it('tells that the gate may be in its own way where nobody says in which namespace it is', () => {
    const { ownNamespace: _left, ...outside } = input([policy()]);
    expect(policyEntries(outside).notes).toEqual([
      expect.stringContaining('the namespace of the gate is not known'),
    ]);
    expect(policyEntries({ ...outside, policies: [] }).notes).toEqual([]);
    expect(policyEntries(input([policy()])).notes).toEqual([]);
  });

  it('leaves out a policy without matchConstraints', () => {
    const { matchConstraints: _left, ...bare } = policy();
    expect(policyEntries(input([bare])).reach[0]?.notEnforced[0]).toContain('it has no matchConstraints');
  });
});
