import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import type { Operation } from '../../../src/cluster/objects.ts';
import type { ValidatingEntry } from '../../../src/policies/entry.ts';
import { EntryReach } from '../../../src/policies/entry-reach.ts';
import { Attributes } from '../../../src/policies/vap/attributes.ts';
import { policyEntries, type ServedResource } from '../../../src/policies/vap/entries.ts';
import { matches } from '../../../src/policies/vap/match.ts';
import type { MatchResources, NamedRule } from '../../../src/policies/vap/types.ts';
import { matchErrors } from '../../../src/policies/vap/validate-match.ts';
import { probe, wrongReach } from './entry-probes.ts';
import { binding, policy, selector } from './support.ts';

/** `group/version/resource`, cluster-scoped ones marked. */
const SERVED: readonly ServedResource[] = [
  '/v1/pods',
  '/v1/pods/log',
  '/v1/nodes !',
  '/v1/nodes/status !',
  '/v1/events',
  '/v1/namespaces !',
  'apps/v1/deployments',
  'apps/v1beta1/deployments',
  'apps/v1/deployments/scale',
  'events.k8s.io/v1/events',
  'coordination.k8s.io/v1/leases',
  'authorization.k8s.io/v1/subjectaccessreviews !',
  'certificates.k8s.io/v1/certificatesigningrequests/approval !',
  'certificates.k8s.io/v1/clustertrustbundles !',
  'gate.pacto.trianalab.io/v1/validatingadmissionpolicies !',
  'admissionregistration.k8s.io/v1/validatingwebhookconfigurations !',
].map((text) => {
  const [group = '', version = '', ...resource] = text.replace(' !', '').split('/');
  return { group, version, resource: resource.join('/'), namespaced: !text.endsWith('!') };
});

const any = (values: readonly string[]): fc.Arbitrary<readonly string[]> =>
  fc.oneof(fc.constant(['*']), fc.uniqueArray(fc.constantFrom(...values), { minLength: 1, maxLength: 3 }));
const mains = [...new Set(SERVED.map(({ resource }) => resource.split('/')[0] ?? ''))];
const patterns = [
  ...SERVED.map(({ resource }) => resource),
  ...mains,
  ...mains.map((one) => `${one}/*`),
  '*/status',
  '*/scale',
  '*',
];

const rule: fc.Arbitrary<NamedRule> = fc.record({
  resourceNames: fc.oneof({ weight: 4, arbitrary: fc.constant([]) }, fc.constant(['x']), fc.constant(['y'])),
  operations: any(['CREATE', 'UPDATE', 'DELETE', 'CONNECT']),
  apiGroups: any([...new Set(SERVED.map(({ group }) => group))]),
  apiVersions: any(['v1', 'v1beta1']),
  resources: fc.oneof(
    fc.constant(['*/*']),
    fc.constant(['*']),
    fc.uniqueArray(fc.constantFrom(...patterns), { minLength: 1, maxLength: 4 }),
  ),
  scope: fc.constantFrom('*', '*', 'Namespaced', 'Cluster'),
});

const labels = fc.constantFrom<Readonly<Record<string, string>>>({}, { a: 'b' }, { a: 'c', d: '' });
const labelSelector = fc.constantFrom(
  selector(),
  selector(),
  selector({ a: 'b' }),
  selector({}, [{ key: 'a', operator: 'Exists', values: [] }]),
  selector({}, [{ key: 'a', operator: 'NotIn', values: ['b'] }]),
  selector({}, [{ key: 'kubernetes.io/metadata.name', operator: 'In', values: ['shop', 'kube-system'] }]),
);

const match: fc.Arbitrary<MatchResources> = fc.record({
  namespaceSelector: labelSelector,
  objectSelector: labelSelector,
  resourceRules: fc.array(rule, { minLength: 1, maxLength: 3 }),
  excludeResourceRules: fc.oneof({ weight: 3, arbitrary: fc.constant([]) }, fc.array(rule, { maxLength: 2 })),
  matchPolicy: fc.constantFrom('Equivalent', 'Exact'),
});

const NAMESPACES = ['shop', 'kube-system', 'kube-node-lease', 'pacto-system'];

const request = fc.record({
  served: fc.constantFrom(...SERVED),
  namespace: fc.constantFrom(...NAMESPACES),
  operation: fc.constantFrom<Operation>('CREATE', 'UPDATE', 'DELETE', 'CONNECT'),
  labels,
});

/** Words of the sentence that has to be there for a request that is not reached. */
function excuses(of: ServedResource, namespace: string | undefined): readonly string[] {
  const [main = ''] = of.resource.split('/');
  const name =
    of.group === 'gate.pacto.trianalab.io' ? of.group : of.group === '' ? main : `${main}.${of.group}`;
  return [
    ...(namespace !== undefined && namespace !== 'shop' ? [namespace] : []),
    ...(of.group === 'coordination.k8s.io' ? ['leases in kube-node-lease'] : []),
    name,
    'has no entry',
  ];
}

interface Asked {
  readonly served: ServedResource;
  readonly namespace: string;
  readonly operation: Operation;
  readonly labels: Readonly<Record<string, string>>;
}

const NAMESPACE_LABELS = { a: 'b' };

/** Whether the policy is about a request, and whether the entry is asked about it. */
function fates(
  { served, namespace, operation, labels: objectLabels }: Asked,
  matchConstraints: MatchResources,
  entry: ValidatingEntry | undefined,
): { readonly isMatched: boolean; readonly isReached: boolean; readonly within: string | undefined } {
  const [resource = '', subresource = ''] = served.resource.split('/');
  const isNamespace = resource === 'namespaces';
  const within = served.namespaced || isNamespace ? namespace : undefined;
  const nameLabel = { 'kubernetes.io/metadata.name': namespace };
  const asked = probe({
    ...served,
    resource,
    subresource,
    operation,
    labels: isNamespace ? { ...objectLabels, ...nameLabel } : objectLabels,
    ...(within === undefined ? {} : { namespace: within }),
  });
  const equivalents = SERVED.filter(
    (one) => one.resource === served.resource && (one.group === served.group || resource === 'events'),
  ).map(({ group, version }) => ({ group, version, resource }));
  const matched = matches(matchConstraints, {
    attributes: new Attributes(asked),
    equivalents: equivalents.map((one) => ({ resource: one, kind: asked.kind })),
    namespace: {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: namespace, labels: { ...NAMESPACE_LABELS, ...nameLabel } },
    },
  });
  const context = { namespaceLabels: NAMESPACE_LABELS, equivalents };
  const isReached = entry !== undefined && new EntryReach().of(entry, asked, context).reach === 'called';
  // Policies are never asked about reviews.
  const isMatched = matched !== undefined && served.group !== 'authorization.k8s.io';
  return { isMatched, isReached, within };
}

function entryFor(
  matchConstraints: MatchResources,
  kubeMinor: number,
  excludedNamespaces: readonly string[],
): { readonly entry: ValidatingEntry | undefined; readonly told: string } {
  const { configuration, reach } = policyEntries({
    policies: [policy({ matchConstraints })],
    bindings: [binding()],
    kubeMinor,
    served: SERVED,
    ownNamespace: 'pacto-system',
    excludedNamespaces,
    target: { url: 'https://gate.invalid' },
    timeoutSeconds: 10,
    writers: false,
  });
  return { entry: configuration.webhooks[0], told: reach[0]?.notEnforced.join('\n') ?? '' };
}

const excludedNamespaces = fc.constantFrom(['kube-system', 'kube-node-lease'], ['kube-system'], []);
const minor = fc.constantFrom(27, 36);

it('an entry never reaches what it must not, and the API server would take it', () => {
  fc.assert(
    fc.property(match, minor, excludedNamespaces, (matchConstraints, kubeMinor, excluded) => {
      const { entry } = entryFor(matchConstraints, kubeMinor, excluded);
      if (entry === undefined) return;
      expect(wrongReach(entry, ['pacto-system', ...excluded])).toEqual([]);
      const rules = entry.rules.map((one) => ({ ...one, resourceNames: [] }));
      const written = { ...matchConstraints, resourceRules: rules, excludeResourceRules: [] };
      expect(matchErrors(written, 'rules')).toEqual([]);
      expect(entry.matchConditions === undefined || kubeMinor >= 28).toBe(true);
    }),
    { numRuns: 200 },
  );
});

it('an entry reaches what its policy is about, or what is taken from it is told', () => {
  let reached = 0;
  let taken = 0;
  const requests = fc.array(request, { minLength: 8, maxLength: 24 });
  fc.assert(
    fc.property(match, minor, excludedNamespaces, requests, (matchConstraints, kubeMinor, excluded, all) => {
      const { entry, told } = entryFor(matchConstraints, kubeMinor, excluded);
      for (const one of all) {
        const { isMatched, isReached, within } = fates(one, matchConstraints, entry);
        if (!isMatched) continue;
        if (isReached) reached += 1;
        else taken += 1;
        const excused = excuses(one.served, within).some((words) => told.includes(words));
        expect(isReached || excused).toBe(true);
      }
    }),
    { numRuns: 300 },
  );
  expect(reached).toBeGreaterThan(100);
  expect(taken).toBeGreaterThan(100);
});
