import { describe, expect, it } from 'vitest';
import { parse, stringify } from 'yaml';
import type { AdmissionRequest, UserInfo } from '../../../src/cluster/objects.ts';
import { EntryReach } from '../../../src/policies/entry-reach.ts';
import type { ValidatingEntry } from '../../../src/policies/entry.ts';
import type { PolicyEntriesInput } from '../../../src/policies/vap/entries.ts';
import type { NamedRule } from '../../../src/policies/vap/types.ts';
import { probe, wrongReach } from './entry-probes.ts';
import { entryOf, EVERYTHING, EXCLUDED, served, type One } from './entry-support.ts';
import { rule } from './support.ts';

const NAMESPACES = [...EXCLUDED, 'pacto-system'];

function rulesOf(rules: readonly Partial<NamedRule>[], change: Partial<PolicyEntriesInput> = {}): unknown {
  return entryOf({ resourceRules: rules.map(rule) }, change).entry?.rules.map(
    ({ apiGroups, resources }) => `${apiGroups.join()}: ${resources.join()}`,
  );
}

const conditionsOf = ({ entry }: One): readonly string[] =>
  entry?.matchConditions?.map(({ expression }) => expression) ?? [];
const old = { kubeMinor: 27, served };

describe('what no entry reaches', () => {
  const wide: readonly (readonly [string, Partial<NamedRule>])[] = [
    ['*/*', EVERYTHING],
    ['* of all groups', { apiGroups: ['*'], apiVersions: ['*'], resources: ['*'] }],
    ['*/status', { apiGroups: ['*'], apiVersions: ['*'], resources: ['*/status'] }],
    ['pods/* of all groups', { apiGroups: ['*'], resources: ['pods/*'] }],
    ['events of all groups', { apiGroups: ['*'], resources: ['events'] }],
    ['* of the core', { resources: ['*'] }],
    ['events of the core', { resources: ['events', 'pods'] }],
    ['* of events.k8s.io', { apiGroups: ['events.k8s.io'], resources: ['*'] }],
    ['named kinds', { resources: ['nodes', 'nodes/status', 'nodes/proxy', 'configmaps'] }],
    [
      'our own group',
      { apiGroups: ['gate.pacto.trianalab.io', 'apps'], apiVersions: ['*'], resources: ['*/*'] },
    ],
    ['reviews', { apiGroups: ['authorization.k8s.io', 'authentication.k8s.io'], resources: ['*'] }],
    ['requests for certificates', { apiGroups: ['certificates.k8s.io'], resources: ['*/*'] }],
    ['leases', { apiGroups: ['coordination.k8s.io'], resources: ['leases'] }],
  ];
  const versions: readonly (readonly [string, Partial<PolicyEntriesInput>])[] = [
    ['1.36', {}],
    ['1.28', { kubeMinor: 28 }],
    ['1.27', old],
    ['1.36 with no namespace excluded', { excludedNamespaces: [] }],
    ['1.27 with no namespace excluded', { ...old, excludedNamespaces: [] }],
  ];
  it.each(
    versions.flatMap(([version, change]) => wide.map(([name, of]) => [name, version, of, change] as const)),
  )('is not reached by %s on %s', (_name, _version, of, change) => {
    const { entry } = entryOf({ resourceRules: [rule(of)] }, change);
    const excluded = change.excludedNamespaces === undefined ? NAMESPACES : ['pacto-system'];
    const read = entry === undefined ? { rules: [] } : (parse(stringify(entry)) as ValidatingEntry);
    expect(wrongReach(read, excluded)).toEqual([]);
    expect(change.kubeMinor === 27 && 'matchConditions' in read).toBe(false);
  });

  const role = (userInfo: UserInfo): AdmissionRequest => ({
    ...probe({ group: 'rbac.authorization.k8s.io', resource: 'clusterroles', operation: 'CREATE' }),
    userInfo,
  });
  it.each<[string, UserInfo, string]>([
    [
      'passes',
      { username: 'system:apiserver', groups: ['system:authenticated', 'system:masters'] },
      'passed',
    ],
    ['is sent', { username: 'system:apiserver', groups: ['system:authenticated'] }, 'called'],
    ['is sent', { username: 'system:apiserver' }, 'called'],
    ['is sent', { username: 'admin', groups: ['system:masters'] }, 'called'],
    ['is sent', {}, 'called'],
  ])('a role that an API server needs for its start %s for %j', (_name, user, reach) => {
    for (const of of [EVERYTHING, rule({ apiGroups: ['rbac.authorization.k8s.io'], resources: ['*'] })]) {
      const { entry } = entryOf({ resourceRules: [of] });
      if (entry === undefined) throw new Error('no entry');
      expect(new EntryReach().of(entry, role(user)).reach).toBe(reach);
    }
  });

  it('is seen to be reached by an entry that is wider', () => {
    const { entry } = entryOf({ resourceRules: [EVERYTHING] });
    if (entry === undefined) throw new Error('no entry');
    const { matchConditions: _left, ...bare } = entry;
    expect(wrongReach(bare, NAMESPACES)).toContain('UPDATE /nodes status');
    expect(wrongReach(bare, NAMESPACES)).toContain(
      'DELETE gate.pacto.trianalab.io/validatingadmissionpolicies',
    );
    const selecting = { ...entry, namespaceSelector: {} };
    expect(wrongReach(selecting, NAMESPACES)).toContain('CREATE /pods  kube-system');
    expect(wrongReach(selecting, NAMESPACES)).toContain('UPDATE /namespaces  pacto-system');
    expect(wrongReach(entry, [...NAMESPACES, 'shop'])).toContain('DELETE apps/deployments  shop');
    const leases = entryOf({ resourceRules: [EVERYTHING] }, { excludedNamespaces: [] }).entry;
    const [kinds] = leases?.matchConditions ?? [];
    expect(
      wrongReach({ ...entry, ...leases, matchConditions: kinds === undefined ? [] : [kinds] }, []),
    ).toEqual(
      ['CREATE', 'UPDATE', 'DELETE', 'CONNECT'].map(
        (one) => `${one} coordination.k8s.io/leases  kube-node-lease`,
      ),
    );
  });

  it.each<[string, readonly Partial<NamedRule>[], readonly string[]]>([
    ['what is named is dropped', [{ resources: ['nodes', 'nodes/*', 'pods'] }], [': pods']],
    ['a rule of which nothing is left is dropped', [{ resources: ['nodes'] }, {}], [': configmaps']],
    [
      'a kind of one group is kept in another',
      [{ apiGroups: ['', 'metrics.k8s.io', 'apps'], resources: ['nodes', 'pods'] }],
      [': pods', 'metrics.k8s.io,apps: nodes,pods'],
    ],
    ['wildcards stay', [{ apiGroups: ['*'], resources: ['*/*'] }], ['*: */*']],
    [
      'our own group is dropped',
      [{ apiGroups: ['gate.pacto.trianalab.io', 'apps'], resources: ['*'] }],
      ['apps: *'],
    ],
    [
      'what no webhook is asked about is dropped',
      [
        {
          apiGroups: ['admissionregistration.k8s.io', 'apps'],
          resources: ['validatingwebhookconfigurations', 'deployments'],
        },
      ],
      ['admissionregistration.k8s.io: deployments', 'apps: validatingwebhookconfigurations,deployments'],
    ],
  ])('from 1.28 on, %s', (_name, rules, expected) => {
    expect(rulesOf(rules)).toEqual(expected);
  });

  it.each<[string, Partial<NamedRule>, readonly unknown[]]>([
    [
      'of the core alone',
      { resources: ['*'] },
      [
        "!(request.resource.group == '' && request.resource.resource in ['events', 'nodes']) && !(request.resource.group == 'events.k8s.io' && request.resource.resource in ['events'])",
        expect.stringContaining("request.userInfo.username == 'system:apiserver'"),
      ],
    ],
    ['not of apps', { apiGroups: ['apps'], resources: ['*/*'] }, []],
    ['not of what is named', { resources: ['pods/*'] }, []],
    [
      'of our own group alone',
      { apiGroups: ['*'], resources: ['pods'] },
      ["request.resource.group != 'gate.pacto.trianalab.io'"],
    ],
  ])('match conditions are those %s', (_name, of, expected) => {
    expect(conditionsOf(entryOf({ resourceRules: [rule(of)] }))).toEqual(expected);
  });

  it.each<[string, Partial<NamedRule>, readonly string[]]>([
    ['* of the core', { resources: ['*'] }, [': configmaps,namespaces,pods']],
    ['*/* of the core', { resources: ['*/*'] }, [': configmaps/*,namespaces/*,pods/*']],
    ['*/status of the core', { resources: ['*/status'] }, [': pods/status']],
    [
      '* and a subresource of the core',
      { resources: ['*', 'pods/log'] },
      [': configmaps,namespaces,pods,pods/log'],
    ],
    ['* with all of one resource', { resources: ['pods/*', '*'] }, [': pods/*,configmaps,namespaces']],
    ['pods/*, which reaches nothing else', { resources: ['pods/*'] }, [': pods/*']],
    ['*/* of apps, which reaches nothing else', { apiGroups: ['apps'], resources: ['*/*'] }, ['apps: */*']],
    [
      'a group that is not served, which reaches nothing else',
      { apiGroups: ['x.io'], resources: ['*'] },
      ['x.io: *'],
    ],
    [
      '*/* of all groups',
      { apiGroups: ['*'], apiVersions: ['*'], resources: ['*/*'] },
      [
        ': configmaps/*,namespaces/*,pods/*',
        'apps,coordination.k8s.io: */*',
        'certificates.k8s.io: clustertrustbundles/*',
      ],
    ],
    ['*/scale of all groups', { apiGroups: ['*'], resources: ['*/scale'] }, ['apps: */scale']],
    ['deployments of all groups', { apiGroups: ['*'], resources: ['deployments'] }, ['apps: deployments']],
    [
      'the versions of the rule',
      { apiGroups: ['certificates.k8s.io'], apiVersions: ['v1'], resources: ['*'] },
      [],
    ],
  ])('before 1.28 wildcards are written out: %s', (_name, of, expected) => {
    expect(rulesOf([of], old) ?? []).toEqual(expected);
  });

  it('is told of, where wildcards were written out', () => {
    const later =
      'requests about resources that the API server did not serve when the entry was written are not sent to the gate';
    const { reach, notes } = entryOf({ resourceRules: [EVERYTHING] }, old);
    expect(reach?.notEnforced).toContain(later);
    expect(notes).toHaveLength(1);
    const named = entryOf({}, old);
    expect(named.reach?.notEnforced).not.toContain(later);
    expect(named.notes).toEqual([]);
  });

  it('takes the whole entry before 1.28 where nobody tells what is served', () => {
    const { entry, reach } = entryOf({ resourceRules: [EVERYTHING] }, { kubeMinor: 27 });
    expect(entry).toBeUndefined();
    expect(reach?.notEnforced).toEqual([expect.stringContaining('what it serves is not known')]);
    expect(entryOf({}, { kubeMinor: 27 }).entry?.rules).toHaveLength(1);
  });

  it('is all of kube-node-lease before 1.28 for a policy of Leases, if the list leaves it out', () => {
    const leases = { resourceRules: [rule({ apiGroups: ['coordination.k8s.io'], resources: ['leases'] })] };
    const change = { ...old, excludedNamespaces: ['kube-system'] };
    const [expression] = entryOf(leases, change).entry?.namespaceSelector.matchExpressions ?? [];
    expect(expression?.values).toEqual(['kube-node-lease', 'kube-system', 'pacto-system']);
    expect(entryOf({}, change).entry?.namespaceSelector.matchExpressions?.[0]?.values).toHaveLength(2);
  });
});
