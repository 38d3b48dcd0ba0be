import { describe, expect, it } from 'vitest';

import type { AdmissionRequest } from '../../../src/cluster/objects.ts';
import { Attributes } from '../../../src/policies/vap/attributes.ts';
import { matches, mayMatch, namespaceForSelector } from '../../../src/policies/vap/match.ts';
import type { Equivalent } from '../../../src/policies/vap/needs.ts';
import type { MatchResources } from '../../../src/policies/vap/types.ts';
import { matchResources, namespace, request, rule, selector } from './support.ts';

const WIDGET_V2: Equivalent = {
  resource: { group: 'things.example.com', version: 'v2', resource: 'widgets' },
  kind: { group: 'things.example.com', version: 'v2', kind: 'Widget' },
};

const widget: Partial<AdmissionRequest> = {
  kind: { group: 'things.example.com', version: 'v1', kind: 'Widget' },
  resource: { group: 'things.example.com', version: 'v1', resource: 'widgets' },
};

const widgetRule = rule({ apiGroups: ['things.example.com'], apiVersions: ['v2'], resources: ['widgets'] });

const namespaceObject: Partial<AdmissionRequest> = {
  kind: { group: '', version: 'v1', kind: 'Namespace' },
  resource: { group: '', version: 'v1', resource: 'namespaces' },
  name: 'shop',
  object: namespace('shop', { team: 'new' }),
  oldObject: namespace('shop', { team: 'old' }),
};

function match(
  of: Partial<AdmissionRequest>,
  by: Partial<MatchResources>,
  { stored = namespace('shop', { team: 'stored' }), equivalents = [] as readonly Equivalent[] } = {},
) {
  return matches(matchResources(by), {
    attributes: new Attributes(request(of)),
    equivalents,
    namespace: stored,
  });
}

describe('rules', () => {
  it.each<[string, Partial<AdmissionRequest>, Parameters<typeof rule>[0], boolean]>([
    ['another group', {}, { apiGroups: ['apps'] }, false],
    ['any group', {}, { apiGroups: ['*'] }, true],
    ['another version', {}, { apiVersions: ['v2'] }, false],
    ['another operation', {}, { operations: ['UPDATE', 'DELETE'] }, false],
    ['the operation', {}, { operations: ['UPDATE', 'CREATE'] }, true],
    ['the main resource by name', {}, { resources: ['configmaps'] }, true],
    ['the main resource by name/*', {}, { resources: ['configmaps/*'] }, true],
    ['the main resource by *', {}, { resources: ['*'] }, true],
    ['the main resource by */*', {}, { resources: ['*/*'] }, true],
    ['the main resource by */scale', {}, { resources: ['*/scale'] }, false],
    ['a subresource by the main name', { subResource: 'scale' }, { resources: ['configmaps'] }, false],
    ['a subresource by *', { subResource: 'scale' }, { resources: ['*'] }, false],
    ['a subresource by name/*', { subResource: 'scale' }, { resources: ['configmaps/*'] }, true],
    ['a subresource by */scale', { subResource: 'scale' }, { resources: ['*/scale'] }, true],
    ['another subresource', { subResource: 'status' }, { resources: ['*/scale'] }, false],
    ['scope Namespaced, with a namespace', {}, { scope: 'Namespaced' }, true],
    ['scope Cluster, with a namespace', {}, { scope: 'Cluster' }, false],
    ['scope Namespaced, without', { namespace: '' }, { scope: 'Namespaced' }, false],
    ['scope Cluster, without', { namespace: '' }, { scope: 'Cluster' }, true],
    ['scope Namespaced, a Namespace', namespaceObject, { scope: 'Namespaced', resources: ['*'] }, false],
    ['scope Cluster, a Namespace', namespaceObject, { scope: 'Cluster', resources: ['*'] }, true],
    ['an unknown scope', {}, { scope: 'Nowhere' }, false],
    ['the name', {}, { resourceNames: ['other', 'cm'] }, true],
    ['another name', {}, { resourceNames: ['cm2'] }, false],
    ['a name, of a collection', { name: '' }, { resourceNames: ['cm'] }, false],
  ])('%s', (_name, of, by, matched) => {
    expect(match(of, { resourceRules: [rule(by)] }) !== undefined).toBe(matched);
  });

  it('matches everything without rules', () => {
    expect(match({}, { resourceRules: [] })).toEqual({ resource: request().resource, kind: request().kind });
  });

  it('matches nothing that is excluded, even in another version', () => {
    expect(match({}, { excludeResourceRules: [rule()] })).toBeUndefined();
    const by = { resourceRules: [rule({ apiGroups: ['*'], apiVersions: ['*'], resources: ['*'] })] };
    const equivalents = [WIDGET_V2];
    expect(match(widget, { ...by, excludeResourceRules: [widgetRule] }, { equivalents })).toBeUndefined();
    const exact = { ...by, excludeResourceRules: [widgetRule], matchPolicy: 'Exact' } as const;
    expect(match(widget, exact, { equivalents })).toBeDefined();
  });
});

describe('equivalents', () => {
  it('matches in the version of the rule', () => {
    expect(match(widget, { resourceRules: [widgetRule] }, { equivalents: [WIDGET_V2] })).toEqual(WIDGET_V2);
  });

  it('matches directly first, whatever the order of the rules', () => {
    const resourceRules = [widgetRule, { ...widgetRule, apiVersions: ['v1'] }];
    expect(match(widget, { resourceRules }, { equivalents: [WIDGET_V2] })).toEqual({
      resource: widget.resource,
      kind: widget.kind,
    });
  });

  it('does not match with Exact, nor by another name', () => {
    const equivalents = [WIDGET_V2];
    expect(
      match(widget, { resourceRules: [widgetRule], matchPolicy: 'Exact' }, { equivalents }),
    ).toBeUndefined();
    const named = { ...widgetRule, resourceNames: ['other'] };
    expect(match(widget, { resourceRules: [named] }, { equivalents })).toBeUndefined();
  });

  it('fails where the kind is not known', () => {
    const equivalents = [{ resource: WIDGET_V2.resource, kind: undefined }];
    expect(match(widget, { resourceRules: [widgetRule] }, { equivalents })).toEqual({
      error: 'unable to convert to things.example.com/v2, Resource=widgets: unknown kind',
    });
  });
});

describe('objectSelector', () => {
  const labelled = (labels: unknown): unknown => ({ metadata: { labels } });
  it.each<[string, unknown, unknown, boolean]>([
    ['the object', labelled({ a: 'b' }), null, true],
    ['the old object alone', labelled({}), labelled({ a: 'b' }), true],
    ['neither', labelled({}), labelled({ a: 'c' }), false],
    ['an object without labels', { metadata: {} }, null, false],
    ['labels that are no map', labelled(['a']), null, false],
    ['labels that are no texts', labelled({ a: 1 }), null, false],
    ['a label of the prototype', labelled(JSON.parse('{"__proto__": {"a": "b"}}')), null, false],
  ])('looks at %s', (_name, object, oldObject, matched) => {
    const found = match({ object, oldObject }, { objectSelector: selector({ a: 'b' }) });
    expect(found !== undefined).toBe(matched);
  });

  it('never matches what has no metadata, unless it is empty', () => {
    const absent = selector({}, [{ key: 'a', operator: 'DoesNotExist', values: [] }]);
    expect(match({ object: { kind: 'PodExecOptions' } }, { objectSelector: absent })).toBeUndefined();
    expect(match({ object: { metadata: {} } }, { objectSelector: absent })).toBeDefined();
    expect(match({ object: { kind: 'PodExecOptions' } }, {})).toBeDefined();
  });

  it.each([
    ['Equals', [], '"Equals" is not a valid label selector operator'],
    ['In', [], "values: Invalid value: []: for 'in', 'notin' operators, values set can't be empty"],
    ['Exists', ['x'], 'values: Invalid value: [x]: values set must be empty for exists and does not exist'],
  ])('fails where the operator is %s with %j', (operator, values, fault) => {
    const objectSelector = selector({}, [{ key: 'a', operator, values }]);
    expect(match({}, { objectSelector })).toEqual({ error: `Internal error occurred: ${fault}` });
    expect(match({}, { objectSelector, resourceRules: [widgetRule] })).toBeUndefined();
  });
});

describe('namespaceSelector', () => {
  const team = (value: string): Partial<MatchResources> => ({
    namespaceSelector: selector({ team: value }),
    resourceRules: [rule({ resources: ['*', '*/*'] })],
  });
  it.each<[string, Partial<AdmissionRequest>, string]>([
    ['the stored labels', {}, 'stored'],
    ['the new labels of a Namespace that is created', namespaceObject, 'new'],
    ['the new labels of a Namespace that is changed', { ...namespaceObject, operation: 'UPDATE' }, 'new'],
    [
      'the stored labels of a Namespace that is deleted',
      { ...namespaceObject, operation: 'DELETE' },
      'stored',
    ],
    ['the stored labels for a subresource', { ...namespaceObject, subResource: 'status' }, 'stored'],
  ])('uses %s', (_name, of, value) => {
    expect(match(of, team(value))).toBeDefined();
    expect(match(of, team('other'))).toBeUndefined();
  });

  it('matches everything that is cluster-scoped', () => {
    expect(match({ namespace: '' }, team('other'))).toBeDefined();
  });

  it('fails without the namespace, but only where all else fits', () => {
    const gone = { stored: null as never };
    expect(match({}, team('a'), gone)).toEqual({ error: 'namespaces "shop" not found' });
    expect(match({}, { ...team('a'), resourceRules: [widgetRule] }, gone)).toBeUndefined();
    expect(match({}, { ...team('a'), objectSelector: selector({ x: 'y' }) }, gone)).toBeUndefined();
  });

  it('fails where all Namespaces are deleted at once', () => {
    const all = { ...namespaceObject, operation: 'DELETE', name: '', namespace: '' } as const;
    const error = 'Internal error occurred: resource name may not be empty';
    expect(match(all, team('a'))).toEqual({ error });
    expect(namespaceForSelector(matchResources(team('a')), new Attributes(request(all)))).toBeUndefined();
  });

  it('asks for a namespace only where it decides', () => {
    const attributes = new Attributes(request());
    const named = matchResources(team('a'));
    expect(namespaceForSelector(named, attributes)).toBe('shop');
    expect(namespaceForSelector(matchResources(), attributes)).toBeUndefined();
    expect(namespaceForSelector(named, new Attributes(request({ namespace: '' })))).toBeUndefined();
    expect(namespaceForSelector(named, new Attributes(request(namespaceObject)))).toBeUndefined();
    expect(mayMatch(named, { attributes, equivalents: [] })).toBe(true);
    const other = matchResources({ ...team('a'), resourceRules: [widgetRule] });
    expect(mayMatch(other, { attributes, equivalents: [] })).toBe(false);
  });

  it.each<[string, string, readonly string[], boolean]>([
    ['In', 'team', ['a', 'stored'], true],
    ['In', 'team', ['a'], false],
    ['In', 'absent', ['a'], false],
    ['NotIn', 'team', ['stored'], false],
    ['NotIn', 'absent', ['a'], true],
    ['Exists', 'team', [], true],
    ['Exists', 'toString', [], false],
    ['DoesNotExist', 'team', [], false],
    ['DoesNotExist', 'constructor', [], true],
  ])('%s %s %j', (operator, key, values, matched) => {
    const namespaceSelector = selector({}, [{ key, operator, values }]);
    expect(match({}, { namespaceSelector }) !== undefined).toBe(matched);
  });
});
