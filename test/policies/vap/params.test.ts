import { describe, expect, it } from 'vitest';

import type { KubeObject } from '../../../src/cluster/objects.ts';
import { chooseParams, planParams, unknownParamKind } from '../../../src/policies/vap/params.ts';
import type { ParamRef } from '../../../src/policies/vap/types.ts';
import { selector } from './support.ts';

const KIND = { apiVersion: 'rules.example.com/v1', kind: 'Limit' };
const NAMESPACED = { namespaced: true };
const CLUSTER = { namespaced: false };

function param(name: string, namespace?: string, labels: Readonly<Record<string, string>> = {}): KubeObject {
  return { ...KIND, metadata: { name, labels, ...(namespace === undefined ? {} : { namespace }) } };
}

describe('where parameters are looked for', () => {
  it.each<[string, typeof NAMESPACED, ParamRef, string, unknown]>([
    ['in the namespace of the request', NAMESPACED, { name: 'a' }, 'shop', { namespace: 'shop', name: 'a' }],
    [
      'in the namespace of the reference',
      NAMESPACED,
      { name: 'a', namespace: 'rules' },
      'shop',
      { namespace: 'rules', name: 'a' },
    ],
    [
      'in the namespace of the reference, for what is cluster-scoped',
      NAMESPACED,
      { name: 'a', namespace: 'rules' },
      '',
      { namespace: 'rules', name: 'a' },
    ],
    ['in no namespace', CLUSTER, { name: 'a' }, 'shop', { name: 'a' }],
    ['by a selector', CLUSTER, { selector: selector() }, 'shop', { selector: selector() }],
  ])('%s', (_name, served, ref, namespace, read) => {
    expect(planParams(KIND, served, ref, namespace)).toEqual({
      plan: 'read',
      read: { need: 'params', ...KIND, ...(read as object) },
    });
  });

  it.each<[string, typeof NAMESPACED, ParamRef, string, string]>([
    [
      'a namespaced kind for what is cluster-scoped',
      NAMESPACED,
      { name: 'a' },
      '',
      'cannot use namespaced paramRef in policy binding that matches cluster-scoped resources',
    ],
    [
      'a namespace for a cluster-scoped kind',
      CLUSTER,
      { name: 'a', namespace: 'shop' },
      'shop',
      'paramRef.namespace must not be provided for a cluster-scoped `paramKind`',
    ],
    [
      'name and selector',
      CLUSTER,
      { name: 'a', selector: selector() },
      'shop',
      'paramRef.name and paramRef.selector are mutually exclusive',
    ],
    ['neither', CLUSTER, {}, 'shop', 'one of name or selector must be provided'],
    [
      'a selector that is none',
      CLUSTER,
      { selector: selector({}, [{ key: 'a', operator: 'Like', values: ['b'] }]) },
      'shop',
      '"Like" is not a valid label selector operator',
    ],
  ])('refuses %s', (_name, served, ref, namespace, error) => {
    expect(planParams(KIND, served, ref, namespace)).toEqual({ plan: 'error', error });
  });

  it('needs none without a paramKind or a paramRef', () => {
    expect(planParams(undefined, undefined, { name: 'a' }, 'shop')).toEqual({ plan: 'none' });
    expect(planParams(KIND, NAMESPACED, undefined, 'shop')).toEqual({ plan: 'none' });
  });
});

describe('which parameters are used', () => {
  const read = { need: 'params', ...KIND, namespace: 'shop' } as const;

  it('takes what was asked for alone, in an order of its own', () => {
    const found = [
      param('c', 'shop', { x: 'y' }),
      param('a', 'shop', { x: 'y' }),
      param('b', 'shop'),
      param('a', 'other', { x: 'y' }),
    ];
    const chosen = chooseParams(found, { ...read, selector: selector({ x: 'y' }) }, {});
    expect(Array.isArray(chosen) && chosen.map((one: KubeObject) => one.metadata.name)).toEqual(['a', 'c']);
    expect(chooseParams(found, { ...read, name: 'b' }, {})).toEqual([found[2]]);
  });

  it('takes none where there may be none, and fails where there must be some', () => {
    const absent = { ...read, name: 'nope' };
    expect(chooseParams([], absent, { parameterNotFoundAction: 'Allow' })).toEqual([]);
    expect(chooseParams([param('a', 'shop')], absent, { parameterNotFoundAction: 'Deny' })).toBe(
      'no params found for policy binding with `Deny` parameterNotFoundAction',
    );
  });

  it('fills in the type that lists leave out', () => {
    const bare = { metadata: { name: 'a', namespace: 'shop' } } as unknown as KubeObject;
    expect(chooseParams([bare], { ...read, name: 'a' }, {})).toEqual([{ ...bare, ...KIND }]);
  });

  it.each([
    [
      'rules.example.com/v1',
      "failed to find resource referenced by paramKind: 'rules.example.com/v1, Kind=Limit'",
    ],
    ['v1', "failed to find resource referenced by paramKind: '/v1, Kind=Limit'"],
  ])('says that nobody serves %s', (apiVersion, text) => {
    expect(unknownParamKind({ apiVersion, kind: 'Limit' })).toBe(text);
  });
});
