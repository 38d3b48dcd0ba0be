import { describe, expect, it } from 'vitest';
import { asks } from '../../src/cli/entry-match.ts';
import type { AdmissionRequest, Operation } from '../../src/cluster/objects.ts';
import type { ValidatingEntry, WebhookRule } from '../../src/policies/entry.ts';

function entry(rule: Partial<WebhookRule>, namespaces: readonly string[] = ['agents']): ValidatingEntry {
  return {
    name: 'x.example.com',
    clientConfig: { url: 'https://x.invalid/validate' },
    rules: [
      {
        apiGroups: ['coordination.k8s.io'],
        apiVersions: ['v1'],
        operations: ['CREATE', 'UPDATE'],
        resources: ['leases'],
        scope: 'Namespaced',
        ...rule,
      },
    ],
    failurePolicy: 'Fail',
    matchPolicy: 'Equivalent',
    namespaceSelector: {
      matchExpressions: [{ key: 'kubernetes.io/metadata.name', operator: 'In', values: namespaces }],
    },
    objectSelector: {},
    sideEffects: 'None',
    timeoutSeconds: 10,
    admissionReviewVersions: ['v1'],
  };
}

function request(of: {
  group?: string;
  version?: string;
  resource?: string;
  subResource?: string;
  operation?: Operation;
  namespace?: string | null;
}): AdmissionRequest {
  const { group = 'coordination.k8s.io', version = 'v1', resource = 'leases', namespace = 'agents' } = of;
  return {
    uid: 'u',
    kind: { group, version, kind: 'K' },
    resource: { group, version, resource },
    ...(of.subResource === undefined ? {} : { subResource: of.subResource }),
    ...(namespace === null ? {} : { namespace }),
    operation: of.operation ?? 'UPDATE',
    userInfo: {},
    object: {},
    oldObject: null,
  };
}

describe('an entry is asked', () => {
  it.each([
    ['by resource, group, version and operation', {}, {}, true],
    ['not about another group', {}, { group: 'apps' }, false],
    ['not about another version', {}, { version: 'v1beta1' }, false],
    ['not about another operation', {}, { operation: 'DELETE' as const }, false],
    ['not about another resource', {}, { resource: 'configmaps' }, false],
    ['not about a subresource it does not name', {}, { subResource: 'status' }, false],
    ['about a subresource it names', { resources: ['leases/status'] }, { subResource: 'status' }, true],
    [
      'not about the main resource where it names the subresource',
      { resources: ['leases/status'] },
      {},
      false,
    ],
    ['about all subresources of a resource', { resources: ['leases/*'] }, { subResource: 'scale' }, true],
    ['about the main resource by leases/*', { resources: ['leases/*'] }, {}, true],
    ['about every main resource by *', { resources: ['*'] }, { resource: 'pods' }, true],
    ['not about subresources by *', { resources: ['*'] }, { subResource: 'status' }, false],
    ['about one subresource of everything', { resources: ['*/status'] }, { subResource: 'status' }, true],
    ['about everything by */*', { resources: ['*/*'] }, { resource: 'pods', subResource: 'log' }, true],
    [
      'by wildcards',
      { apiGroups: ['*'], apiVersions: ['*'], operations: ['*'] },
      { operation: 'DELETE' as const },
      true,
    ],
    ['not about another namespace', {}, { namespace: 'other' }, false],
    ['not about cluster-scoped objects', {}, { namespace: null }, false],
    [
      'not about Namespaces by the scope of what is in them',
      { apiGroups: [''], resources: ['namespaces'] },
      { group: '', resource: 'namespaces' },
      false,
    ],
    [
      'about Namespaces by the scope of the cluster',
      { apiGroups: [''], resources: ['namespaces'], scope: 'Cluster' as const },
      { group: '', resource: 'namespaces' },
      true,
    ],
    ['not about namespaced objects by the scope of the cluster', { scope: 'Cluster' as const }, {}, false],
    ['about either by every scope', { scope: '*' as const }, {}, true],
  ])('%s', (_name, rule, of, expected) => {
    expect(asks(entry(rule), request(of))).toBe(expected);
  });

  it('by the labels of the Namespace, of which the name cannot be forged', () => {
    const labels = { 'kubernetes.io/metadata.name': 'agents' };
    const other = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'other', labels } };
    expect(asks(entry({}), request({ namespace: 'other' }), other)).toBe(false);
  });
});
