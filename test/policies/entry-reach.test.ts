import { describe, expect, it } from 'vitest';
import type { AdmissionRequest, Operation } from '../../src/cluster/objects.ts';
import type { EntrySelector, WebhookRule } from '../../src/policies/entry.ts';
import {
  entryReaches,
  EntryReach,
  type ReachableEntry,
  type ReachContext,
} from '../../src/policies/entry-reach.ts';

const AGENTS: EntrySelector = {
  matchExpressions: [{ key: 'kubernetes.io/metadata.name', operator: 'In', values: ['agents'] }],
};

function entry(rule: Partial<WebhookRule>, change: Partial<ReachableEntry> = {}): ReachableEntry {
  return {
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
    namespaceSelector: AGENTS,
    objectSelector: {},
    ...change,
  };
}

interface RequestChange {
  readonly group?: string;
  readonly version?: string;
  readonly resource?: string;
  readonly subResource?: string;
  readonly operation?: Operation;
  readonly namespace?: string | null;
  readonly object?: unknown;
  readonly oldObject?: unknown;
}

function request(of: RequestChange): AdmissionRequest {
  const { group = 'coordination.k8s.io', version = 'v1', resource = 'leases', namespace = 'agents' } = of;
  return {
    uid: 'u',
    kind: { group, version, kind: 'K' },
    resource: { group, version, resource },
    ...(of.subResource === undefined ? {} : { subResource: of.subResource }),
    ...(namespace === null ? {} : { namespace }),
    operation: of.operation ?? 'UPDATE',
    userInfo: { username: 'me' },
    object: of.object ?? { metadata: {} },
    oldObject: of.oldObject ?? null,
  };
}

const labelled = (labels: Readonly<Record<string, string>>): object => ({ metadata: { labels } });
const called = { reach: 'called' };
const passed = (by: string): object => ({ reach: 'passed', by });

describe('the rules of an entry', () => {
  it.each<[string, Partial<WebhookRule>, RequestChange, boolean]>([
    ['reach by resource, group, version and operation', {}, {}, true],
    ['pass another group', {}, { group: 'apps' }, false],
    ['pass another version', {}, { version: 'v1beta1' }, false],
    ['pass another operation', {}, { operation: 'DELETE' }, false],
    ['pass another resource', {}, { resource: 'configmaps' }, false],
    ['pass a subresource they do not name', {}, { subResource: 'status' }, false],
    ['reach a subresource they name', { resources: ['leases/status'] }, { subResource: 'status' }, true],
    ['pass the main resource where they name the subresource', { resources: ['leases/status'] }, {}, false],
    ['reach all subresources by leases/*', { resources: ['leases/*'] }, { subResource: 'scale' }, true],
    ['reach the main resource by leases/*', { resources: ['leases/*'] }, {}, true],
    ['reach every main resource by *', { resources: ['*'] }, { resource: 'pods' }, true],
    ['pass subresources by *', { resources: ['*'] }, { subResource: 'status' }, false],
    ['reach one subresource of everything', { resources: ['*/status'] }, { subResource: 'status' }, true],
    ['reach everything by */*', { resources: ['*/*'] }, { resource: 'pods', subResource: 'log' }, true],
    [
      'reach by wildcards',
      { apiGroups: ['*'], apiVersions: ['*'], operations: ['*'] },
      { operation: 'DELETE' },
      true,
    ],
    ['pass cluster-scoped objects by the scope Namespaced', {}, { namespace: null }, false],
    ['pass namespaced objects by the scope Cluster', { scope: 'Cluster' }, {}, false],
    ['reach either by every scope', { scope: '*' }, {}, true],
    [
      'pass Namespaces by the scope Namespaced',
      { apiGroups: [''], resources: ['namespaces'] },
      { group: '', resource: 'namespaces', object: labelled({ 'kubernetes.io/metadata.name': 'agents' }) },
      false,
    ],
    [
      'reach Namespaces by the scope Cluster',
      { apiGroups: [''], resources: ['namespaces'], scope: 'Cluster' },
      { group: '', resource: 'namespaces', object: labelled({ 'kubernetes.io/metadata.name': 'agents' }) },
      true,
    ],
  ])('%s', (_name, rule, of, expected) => {
    expect(entryReaches(entry(rule), request(of))).toBe(expected);
  });

  it('pass everything where there are none', () => {
    expect(new EntryReach().of({ rules: [] }, request({}))).toEqual(passed('match'));
  });

  it.each([
    'validatingwebhookconfigurations',
    'mutatingwebhookconfigurations',
    'validatingadmissionpolicies',
    'validatingadmissionpolicybindings',
    'mutatingadmissionpolicies',
    'mutatingadmissionpolicybindings',
  ])('pass %s, about which no webhook is asked', (resource) => {
    const all = entry({ apiGroups: ['*'], operations: ['*'], resources: ['*/*'], scope: '*' });
    const of = { group: 'admissionregistration.k8s.io', resource, namespace: null };
    expect(new EntryReach().of(all, request(of))).toEqual(passed('kind'));
    expect(new EntryReach().of(all, request({ ...of, group: 'example.com' }))).toEqual(called);
  });

  it('reach another version of the resource where the match is equivalent', () => {
    const equivalents = [{ group: 'coordination.k8s.io', version: 'v1', resource: 'leases' }];
    const old = request({ version: 'v1beta1' });
    expect(new EntryReach().of(entry({}), old, { equivalents })).toEqual(called);
    const exact = entry({}, { matchPolicy: 'Exact' });
    expect(new EntryReach().of(exact, old, { equivalents })).toEqual(passed('match'));
  });

  it('reach a review that was converted by the version it was converted to', () => {
    const converted = { ...request({}), requestResource: { ...request({}).resource, version: 'v1beta1' } };
    expect(entryReaches(entry({}), converted)).toBe(true);
    expect(entryReaches(entry({}, { matchPolicy: 'Exact' }), converted)).toBe(false);
  });
});

describe('the selectors of an entry', () => {
  const all = { scope: '*' } as const;
  const having = (key: string, operator: string, values?: readonly string[]): EntrySelector => ({
    matchExpressions: [{ key, operator, ...(values === undefined ? {} : { values }) }],
  });

  it.each<[string, EntrySelector, RequestChange, ReachContext, unknown]>([
    ['pass another namespace', AGENTS, { namespace: 'other' }, {}, passed('match')],
    [
      'know the name of a namespace better than its labels',
      AGENTS,
      { namespace: 'other' },
      { namespaceLabels: { 'kubernetes.io/metadata.name': 'agents' } },
      passed('match'),
    ],
    ['reach what is cluster-scoped', AGENTS, { namespace: null }, {}, called],
    ['reach by matchLabels', { matchLabels: { a: 'b' } }, {}, { namespaceLabels: { a: 'b' } }, called],
    [
      'pass by matchLabels',
      { matchLabels: { a: 'b' } },
      {},
      { namespaceLabels: { a: 'c' } },
      passed('match'),
    ],
    ['pass by NotIn', having('a', 'NotIn', ['b']), {}, { namespaceLabels: { a: 'b' } }, passed('match')],
    ['reach by NotIn where the label is missing', having('a', 'NotIn', ['b']), {}, {}, called],
    ['reach by Exists', having('a', 'Exists'), {}, { namespaceLabels: { a: '' } }, called],
    ['pass by Exists', having('a', 'Exists'), {}, {}, passed('match')],
    ['reach by DoesNotExist', having('a', 'DoesNotExist'), {}, {}, called],
    [
      'refuse where the Namespace is gone',
      having('a', 'Exists'),
      {},
      { namespaceLabels: null },
      { reach: 'refused', error: 'namespaces "agents" not found' },
    ],
    [
      'pass where the rules do not fit and the Namespace is gone',
      having('a', 'Exists'),
      { resource: 'pods' },
      { namespaceLabels: null },
      passed('match'),
    ],
    [
      'refuse an operator that there is not',
      having('a', 'Like'),
      {},
      {},
      { reach: 'refused', error: 'Internal error occurred: "Like" is not a valid label selector operator' },
    ],
  ])('of namespaces: %s', (_name, namespaceSelector, of, context, expected) => {
    expect(new EntryReach().of(entry(all, { namespaceSelector }), request(of), context)).toEqual(expected);
  });

  it.each<[string, RequestChange, unknown]>([
    ['reach by the object', { object: labelled({ a: 'b' }) }, called],
    ['reach by the old object', { oldObject: labelled({ a: 'b' }) }, called],
    [
      'pass where neither has the label',
      { object: labelled({ a: 'c' }), oldObject: labelled({}) },
      passed('match'),
    ],
    ['pass what has no metadata', { object: {} }, passed('match')],
  ])('of objects: %s', (_name, of, expected) => {
    const selecting = entry({}, { objectSelector: { matchLabels: { a: 'b' } } });
    expect(new EntryReach().of(selecting, request(of))).toEqual(expected);
  });
});

describe('the match conditions of an entry', () => {
  const given = (expression: string, failurePolicy: 'Fail' | 'Ignore' = 'Fail'): ReachableEntry =>
    entry({}, { failurePolicy, matchConditions: [{ name: 'c', expression }] });

  it.each<[string, ReachableEntry, unknown]>([
    ['reach what is true', given("request.userInfo.username == 'me'"), called],
    ['pass what is false', given("request.userInfo.username == 'you'"), passed('conditions')],
    [
      'see the request',
      given("request.resource.group + request.operation == 'coordination.k8s.ioUPDATE'"),
      called,
    ],
    ['see no namespace', given('namespaceObject == null'), called],
    [
      'refuse what fails under Fail',
      given('object.spec.x == 1'),
      { reach: 'refused', error: "expression 'object.spec.x == 1' resulted in error: no such key: spec" },
    ],
    ['pass what fails under Ignore', given('object.spec.x == 1', 'Ignore'), passed('conditions')],
    [
      'leave open what only an authorizer knows',
      given("authorizer.group('apps').resource('deployments').check('get').allowed()"),
      { reach: 'unknown', question: expect.objectContaining({ verb: 'get', resource: 'deployments' }) },
    ],
  ])('%s', (_name, of, expected) => {
    expect(new EntryReach().of(of, request({}))).toEqual(expected);
  });

  it('ask the authorizer where there is one', () => {
    const of = given("authorizer.group('apps').resource('deployments').check('get').allowed()");
    const authorize = (decision: 'allow' | 'deny'): ReachContext => ({
      authorize: () => ({ decision, reason: '' }),
    });
    expect(new EntryReach().of(of, request({}), authorize('allow'))).toEqual(called);
    expect(new EntryReach().of(of, request({}), authorize('deny'))).toEqual(passed('conditions'));
  });
});
