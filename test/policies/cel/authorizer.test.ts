import { describe, expect, it } from 'vitest';

import {
  authorizerLibrary,
  authorizerSelectorsLibrary,
  bindAuthorizer,
} from '../../../src/policies/cel/libraries/authorizer.ts';
import {
  type AuthorizationAnswer,
  AuthorizationPending,
  type AuthorizationQuery,
} from '../../../src/policies/cel/signals.ts';
import { CelError, type Opaque, type Value } from '../../../src/policies/cel/values.ts';
import { callOverload, costOfOverload, shown } from './support/overload.ts';

const USER = { username: 'alice', uid: 'u1', groups: ['dev'], extra: { scopes: ['x'] } };
const REQUESTED = {
  group: 'apps',
  resource: 'deployments',
  subresource: 'scale',
  namespace: 'shop',
  name: 'api',
};
const RESOURCE = {
  kind: 'resource',
  user: USER,
  version: '*',
  group: '',
  subresource: '',
  namespace: '',
  name: '',
};

function bound(answer: AuthorizationAnswer | undefined = { decision: 'allow', reason: 'because' }) {
  const asked: AuthorizationQuery[] = [];
  const binding = bindAuthorizer(USER, REQUESTED, (query) => {
    asked.push(query);
    return answer;
  });
  return { ...binding, asked };
}

function call(id: string, ...args: readonly Value[]): Value {
  const library = id.endsWith('selector') ? authorizerSelectorsLibrary : authorizerLibrary;
  return callOverload(library, id, ...args);
}

function pods(authorizer: Value): Value {
  return call('groupcheck_resource', call('authorizer_group', authorizer, ''), 'pods');
}

describe('the authorizer', () => {
  it('asks about what the request is about', () => {
    const { requestResource, asked } = bound();
    const decision = call('resourcecheck_check', requestResource, 'update');
    expect(asked).toEqual([{ ...RESOURCE, ...REQUESTED, verb: 'update' }]);
    expect(call('decision_allowed', decision)).toBe(true);
    expect(call('decision_reason', decision)).toBe('because');
    expect(call('decision_errored', decision)).toBe(false);
    expect(call('decision_error', decision)).toBe('');
  });

  it('asks about paths', () => {
    const { authorizer, asked } = bound();
    call('pathcheck_check', call('authorizer_path', authorizer, '/healthz'), 'get');
    expect(asked).toEqual([{ kind: 'path', user: USER, verb: 'get', path: '/healthz' }]);
  });

  it('narrows a check without changing the one before', () => {
    const { authorizer, asked } = bound();
    const check = pods(authorizer);
    const narrow = call('resourcecheck_name', call('resourcecheck_namespace', check, 'shop'), 'web');
    call('resourcecheck_check', call('resourcecheck_subresource', narrow, 'log'), 'get');
    call('resourcecheck_check', check, 'list');
    expect(asked).toEqual([
      { ...RESOURCE, resource: 'pods', namespace: 'shop', name: 'web', subresource: 'log', verb: 'get' },
      { ...RESOURCE, resource: 'pods', verb: 'list' },
    ]);
  });

  it('hands over selectors, and why they cannot be read', () => {
    const { authorizer, asked } = bound();
    const fields = call('authorizer_fieldselector', pods(authorizer), 'a=b');
    call('resourcecheck_check', call('authorizer_labelselector', fields, '!!'), 'list');
    call('resourcecheck_check', call('authorizer_labelselector', pods(authorizer), ''), 'list');
    expect(asked).toEqual([
      {
        ...RESOURCE,
        resource: 'pods',
        verb: 'list',
        fieldSelector: { terms: [{ key: 'a', operator: 'In', values: ['b'], text: 'a = b' }] },
        labelSelector: { terms: [], error: "unable to parse requirement: found '!', expected: identifier" },
      },
      { ...RESOURCE, resource: 'pods', verb: 'list' },
    ]);
  });

  it('asks for a service account', () => {
    const { authorizer, asked } = bound();
    call('resourcecheck_check', pods(call('authorizer_serviceaccount', authorizer, 'shop', 'robot')), 'get');
    expect(asked[0]?.user).toEqual({
      username: 'system:serviceaccount:shop:robot',
      uid: '',
      groups: ['system:serviceaccounts', 'system:serviceaccounts:shop'],
      extra: {},
    });
  });

  it.each([
    ['authorizer_serviceaccount', ['shop', 'Robot'], 'Invalid service account name'],
    ['authorizer_serviceaccount', ['a.b', 'robot'], 'Invalid service account namespace'],
    ['authorizer_path', ['\u0085 '], 'path must not be empty'],
  ])('refuses %s of %j', (id, args, reason) => {
    expect(shown(call(id, bound().authorizer, ...args))).toBe(`error: ${reason}`);
  });

  it('refuses a blank resource', () => {
    const group = call('authorizer_group', bound().authorizer, '');
    expect(call('groupcheck_resource', group, ' \t')).toEqual(new CelError('resource must not be empty'));
  });

  it('ends the evaluation where the answer is not known yet', () => {
    const { requestResource } = bindAuthorizer(USER, REQUESTED, () => undefined);
    expect(() => call('resourcecheck_check', requestResource, 'get')).toThrow(AuthorizationPending);
  });

  it('tells an error beside the decision', () => {
    const { requestResource } = bound({ decision: 'noopinion', reason: '', error: 'no answer' });
    const decision = call('resourcecheck_check', requestResource, 'get');
    expect(call('decision_allowed', decision)).toBe(false);
    expect(call('decision_errored', decision)).toBe(true);
    expect(call('decision_error', decision)).toBe('no answer');
  });

  it('has values that are equal to nothing', () => {
    const { authorizer, requestResource } = bound();
    expect((authorizer as Opaque).equals(authorizer)).toBeUndefined();
    expect((requestResource as Opaque).equals(requestResource)).toBeUndefined();
  });

  it('costs so much that two checks fit into an expression', () => {
    const cost = (library: typeof authorizerLibrary, overloadId: string, ...args: readonly Value[]) =>
      costOfOverload(library, { overloadId, args, result: null });
    expect(cost(authorizerLibrary, 'resourcecheck_check', null, 'get')).toBe(350_000);
    expect(cost(authorizerLibrary, 'authorizer_group', null, '')).toBe(1);
    expect(cost(authorizerSelectorsLibrary, 'authorizer_fieldselector', null, 'spec.nodeName=mynode')).toBe(
      512,
    );
    expect(cost(authorizerSelectorsLibrary, 'authorizer_labelselector', null, '')).toBe(10);
  });
});
