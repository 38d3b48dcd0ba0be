import { describe, expect, it } from 'vitest';

import type { AdmissionRequest, KubeObject } from '../../../src/cluster/objects.ts';
import { Cel } from '../../../src/policies/cel/cel.ts';
import { withoutItsSources } from '../../../src/policies/vap/native-form.ts';
import { createPolicySet } from '../../../src/policies/vap/policy-set.ts';
import { readBinding, readPolicy } from '../../../src/policies/vap/read.ts';
import { evaluate } from '../../../src/policies/vap/vap.ts';

const EVERYTHING = { apiGroups: ['*'], apiVersions: ['*'], operations: ['*'], resources: ['*/*'] };
const BINDING = {
  apiVersion: 'admissionregistration.k8s.io/v1',
  kind: 'ValidatingAdmissionPolicyBinding',
  metadata: { name: 'nothing' },
  spec: { policyName: 'nothing', validationActions: ['Deny'] },
};

function specOf(constraints: object): object {
  return { matchConstraints: constraints, validations: [{ expression: 'false' }] };
}

function nativeOf(spec: unknown, namespaces: readonly string[]): unknown {
  const read = readPolicy({
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingAdmissionPolicy',
    metadata: { name: 'nothing' },
    spec,
  });
  return withoutItsSources(spec, (read.ok && read.value.matchConstraints?.resourceRules) || [], namespaces);
}

function isDenied(spec: unknown, request: AdmissionRequest): boolean {
  const object = {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingAdmissionPolicy',
    metadata: { name: 'nothing' },
    spec,
  };
  const [policy, binding] = [readPolicy(object), readBinding(BINDING)];
  if (!policy.ok || !binding.ok) throw new Error('not readable');
  const set = createPolicySet({
    cel: new Cel(),
    minor: 36,
    policies: [policy.value],
    bindings: [binding.value],
  });
  const labelled = (name: string): KubeObject => ({
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name, labels: { 'kubernetes.io/metadata.name': name } },
  });
  const outcome = evaluate(set, request, {
    namespace: labelled,
    paramKind: () => undefined,
    params: () => undefined,
    authorize: () => undefined,
    conversion: () => undefined,
  });
  if (!('verdict' in outcome)) throw new Error('not decided');
  return !outcome.verdict.allowed;
}

function about(group: string, resource: string, namespace?: string, operation = 'DELETE'): AdmissionRequest {
  const kind = { group, version: 'v1', kind: 'Any' };
  const of = { group, version: 'v1', resource };
  return {
    uid: 'u',
    kind,
    resource: of,
    requestKind: kind,
    requestResource: of,
    name: 'x',
    ...(namespace === undefined ? {} : { namespace }),
    operation,
    userInfo: { username: 'somebody' },
    object: null,
    oldObject: { apiVersion: 'v1', kind: 'Any', metadata: { name: 'x' } },
    dryRun: false,
  } as unknown as AdmissionRequest;
}

describe('a native policy that denies everything', () => {
  const spec = nativeOf(specOf({ resourceRules: [EVERYTHING] }), ['gate', 'platform', 'gate']);

  it.each([
    ['its own custom resource', 'gate.pacto.trianalab.io', 'validatingadmissionpolicies', undefined],
    ['its own binding', 'gate.pacto.trianalab.io', 'validatingadmissionpolicybindings', undefined],
    ['the ConfigMap that it comes from', '', 'configmaps', 'platform'],
    ['a Lease of the gate', 'coordination.k8s.io', 'leases', 'gate'],
  ])('allows to delete %s', (_what, group, resource, namespace) => {
    expect(isDenied(specOf({ resourceRules: [EVERYTHING] }), about(group, resource, namespace))).toBe(true);
    expect(isDenied(spec, about(group, resource, namespace))).toBe(false);
  });

  const API_SERVER = { username: 'system:apiserver', groups: ['system:authenticated', 'system:masters'] };
  const role = about('rbac.authorization.k8s.io', 'clusterroles');

  it('allows an API server that starts to write its roles, and nobody else', () => {
    expect(isDenied(specOf({ resourceRules: [EVERYTHING] }), { ...role, userInfo: API_SERVER })).toBe(true);
    expect(isDenied(spec, { ...role, userInfo: API_SERVER })).toBe(false);
    expect(isDenied(spec, { ...role, userInfo: { username: 'system:apiserver' } })).toBe(true);
    expect(isDenied(spec, { ...role, userInfo: { groups: ['system:masters'] } })).toBe(true);
    expect(isDenied(spec, role)).toBe(true);
  });

  it('keeps the match conditions that it has, and gets no more than API servers take', () => {
    const having = (count: number): unknown => {
      const matchConditions = Array.from({ length: count }, (_, at) => ({
        name: `c${at}`,
        expression: 'true',
      }));
      const written = nativeOf({ ...specOf({ resourceRules: [EVERYTHING] }), matchConditions }, []);
      return (written as { matchConditions: readonly { name: string }[] }).matchConditions.map(
        ({ name }) => name,
      );
    };
    expect(having(1)).toEqual(['c0', 'gate.pacto.trianalab.io/no-api-server']);
    expect(having(64)).toHaveLength(64);
  });

  it('denies the rest', () => {
    expect(isDenied(spec, about('', 'configmaps', 'shop'))).toBe(true);
    expect(isDenied(spec, about('', 'nodes'))).toBe(true);
  });
});

describe('what a policy says itself', () => {
  it('stays, with selectors and rules of its own', () => {
    const own = {
      resourceRules: [{ ...EVERYTHING, apiGroups: ['apps'] }],
      namespaceSelector: {
        matchLabels: { tier: 'web' },
        matchExpressions: [{ key: 'a', operator: 'Exists' }],
      },
      excludeResourceRules: [{ ...EVERYTHING, resources: ['scale'] }],
      matchPolicy: 'Exact',
    };
    expect(nativeOf(specOf(own), ['gate'])).toEqual(
      specOf({
        ...own,
        namespaceSelector: {
          matchLabels: { tier: 'web' },
          matchExpressions: [
            { key: 'a', operator: 'Exists' },
            { key: 'kubernetes.io/metadata.name', operator: 'NotIn', values: ['gate'] },
          ],
        },
      }),
    );
  });

  it.each([undefined, null, 'text', {}, { matchConstraints: null }])(
    'stays as it is where there is nothing to match: %j',
    (spec) => {
      expect(nativeOf(spec, ['gate'])).toBe(spec);
    },
  );
});
