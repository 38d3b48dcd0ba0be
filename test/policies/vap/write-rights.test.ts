import { describe, expect, it } from 'vitest';
import type { UserInfo } from '../../../src/cluster/objects.ts';
import type { Binding, ParamKind, ParamRef, Policy } from '../../../src/policies/vap/types.ts';
import {
  bindingWriterQuestion,
  paramKindError,
  policyWriterQuestion,
  type ParamResource,
} from '../../../src/policies/vap/write-rights.ts';

const CONFIG_MAPS: ParamResource = { group: '', version: 'v1', kind: 'ConfigMap', resource: 'configmaps' };
const LIMITS: ParamResource = {
  group: 'rules.example.com',
  version: 'v1',
  kind: 'ReplicaLimit',
  resource: 'replicalimits',
};
const PARAM_KINDS = [CONFIG_MAPS, LIMITS];
const CONFIG_MAP: ParamKind = { apiVersion: 'v1', kind: 'ConfigMap' };
const LIMIT: ParamKind = { apiVersion: 'rules.example.com/v1', kind: 'ReplicaLimit' };
const UNLISTED: ParamKind = { apiVersion: 'rules.example.com/v2', kind: 'ReplicaLimit' };

const ALICE: UserInfo = { username: 'alice', uid: 'u1', groups: ['dev', 'system:authenticated'] };
const MASTER: UserInfo = { username: 'root', groups: ['dev', 'system:masters'] };
const SHOWN = '&{alice u1 [dev system:authenticated] map[]}';

const policy = (paramKind?: ParamKind): Policy => ({
  name: 'p',
  ...(paramKind === undefined ? {} : { paramKind }),
  validations: [{ expression: 'true' }],
  failurePolicy: 'Fail',
  auditAnnotations: [],
  matchConditions: [],
  variables: [],
});

const binding = (paramRef?: ParamRef, change: Partial<Binding> = {}): Binding => ({
  name: 'b',
  policyName: 'p',
  ...(paramRef === undefined ? {} : { paramRef }),
  validationActions: ['Deny'],
  ...change,
});

const NO = { allowed: false };
const YES = { allowed: true };

describe('the writer of a policy', () => {
  const ask = (written: Policy, old?: Policy, user = ALICE): ReturnType<typeof policyWriterQuestion> =>
    policyWriterQuestion({ written, old, user, paramKinds: PARAM_KINDS });

  it.each<[string, Policy, Policy | undefined, UserInfo]>([
    ['a policy without paramKind', policy(), undefined, ALICE],
    ['an update that takes the paramKind away', policy(), policy(CONFIG_MAP), ALICE],
    ['an update that leaves the paramKind', policy(CONFIG_MAP), policy({ ...CONFIG_MAP }), ALICE],
    ['a member of system:masters', policy(CONFIG_MAP), undefined, MASTER],
  ])('is not asked about: %s', (_title, written, old, user) => {
    expect(ask(written, old, user)).toBeUndefined();
  });

  it.each<[string, ParamKind, Policy | undefined, object]>([
    ['a core kind', CONFIG_MAP, undefined, { group: '', version: 'v1', resource: 'configmaps' }],
    [
      'a kind of a group',
      LIMIT,
      undefined,
      { group: 'rules.example.com', version: 'v1', resource: 'replicalimits' },
    ],
    [
      'a kind that is not listed, of whose group everything is asked for',
      UNLISTED,
      undefined,
      { group: 'rules.example.com', version: 'v2', resource: '*' },
    ],
    [
      'a version that cannot be read, for which everything is asked for',
      { apiVersion: 'a/b/c', kind: 'X' },
      undefined,
      { group: '*', version: '*', resource: '*' },
    ],
    [
      'an update that adds a paramKind',
      CONFIG_MAP,
      policy(),
      { group: '', version: 'v1', resource: 'configmaps' },
    ],
    [
      'an update to another paramKind',
      CONFIG_MAP,
      policy(LIMIT),
      { group: '', version: 'v1', resource: 'configmaps' },
    ],
  ])('must get all objects of %s', (_title, paramKind, old, resource) => {
    expect(ask(policy(paramKind), old)?.access).toEqual({
      verb: 'get',
      name: '*',
      namespace: '*',
      ...resource,
    });
  });

  it('is refused in the sentence of the API server, and allowed on a yes', () => {
    const question = ask(policy(LIMIT));
    expect(question?.refusal(YES)).toBeUndefined();
    expect(question?.refusal(NO)).toEqual({
      type: 'FieldValueForbidden',
      field: 'spec.paramKind',
      body: `Forbidden: user ${SHOWN} must have "get" permission on all objects of the referenced paramKind (kind=ReplicaLimit, apiVersion=rules.example.com/v1)`,
    });
  });

  it('is refused where the authorizer reports a fault, also beside a yes', () => {
    for (const allowed of [true, false]) {
      const error = ask(policy(LIMIT))?.refusal({ allowed, evaluationError: 'webhook\u001b[2J down' });
      expect(error).toMatchObject({
        field: 'spec.paramKind',
        body: String.raw`Forbidden: webhook\u001b[2J down`,
      });
    }
  });

  it('is shown without the values of what else is known of them, and cut where it is long', () => {
    const shown = (user: UserInfo): string => ask(policy(LIMIT), undefined, user)?.refusal(NO)?.body ?? '';
    const extra = { scopes: ['secret-value'], 'example.com/a': ['b', 'c'] };
    expect(shown({ username: 'bob', extra })).toContain(
      'user &{bob  [] map[example.com/a:[…] scopes:[…]]} must have',
    );
    expect(shown({ username: 'a\u202Eb\nc' })).toContain(String.raw`&{a\u202eb\u000ac  [] map[]}`);
    expect(
      shown({ username: 'x', groups: Array.from({ length: 9_000 }, () => 'group') }).length,
    ).toBeLessThan(2_300);
  });
});

describe('the writer of a binding', () => {
  const ask = (
    written: Binding,
    {
      old,
      user = ALICE,
      of = policy(CONFIG_MAP),
    }: { old?: Binding; user?: UserInfo; of?: Policy | null } = {},
  ): ReturnType<typeof bindingWriterQuestion> =>
    bindingWriterQuestion({ written, old, user, policy: of ?? undefined, paramKinds: PARAM_KINDS });
  const named: ParamRef = { name: 'limits', namespace: 'shop', parameterNotFoundAction: 'Deny' };
  const selected: ParamRef = {
    selector: { matchLabels: { a: 'b' }, matchExpressions: [] },
    parameterNotFoundAction: 'Deny',
  };
  const maps = { group: '', version: 'v1', resource: 'configmaps' };
  const everything = { group: '*', version: '*', resource: '*' };

  it.each<[string, Binding, Parameters<typeof ask>[1]]>([
    ['a binding without paramRef', binding(), {}],
    ['an update that takes the paramRef away', binding(), { old: binding(named) }],
    ['an update that leaves all of it', binding(named), { old: binding({ ...named }) }],
    ['a member of system:masters', binding(named), { user: MASTER }],
  ])('is not asked about: %s', (_title, written, given) => {
    expect(ask(written, given)).toBeUndefined();
  });

  it.each<[string, Binding, Parameters<typeof ask>[1], object]>([
    ['get the named object', binding(named), {}, { verb: 'get', name: 'limits', namespace: 'shop', ...maps }],
    [
      'get the objects of that name in all namespaces where the binding names none',
      binding({ name: 'limits' }),
      {},
      { verb: 'get', name: 'limits', ...maps },
    ],
    ['list what a selector chooses from', binding(selected), {}, { verb: 'list', ...maps }],
    [
      'list one namespace',
      binding({ ...selected, namespace: 'shop' }),
      {},
      { verb: 'list', namespace: 'shop', ...maps },
    ],
    [
      'get everything of that name where nobody knows the policy',
      binding(named),
      { of: null },
      { verb: 'get', name: 'limits', namespace: 'shop', ...everything },
    ],
    [
      'get everything of that name where the policy has no paramKind',
      binding(named),
      { of: policy() },
      { verb: 'get', name: 'limits', namespace: 'shop', ...everything },
    ],
    [
      'get everything of the group where the kind is not listed',
      binding(named),
      { of: policy(UNLISTED) },
      {
        verb: 'get',
        name: 'limits',
        namespace: 'shop',
        group: 'rules.example.com',
        version: 'v2',
        resource: '*',
      },
    ],
    [
      'get another object after an update',
      binding({ ...named, name: 'other' }),
      { old: binding(named) },
      { verb: 'get', name: 'other', namespace: 'shop', ...maps },
    ],
    [
      'get the same object for another policy',
      binding(named),
      { old: binding(named, { policyName: 'q' }) },
      { verb: 'get', name: 'limits', namespace: 'shop', ...maps },
    ],
    [
      'get the same object for other actions, as the API server has it',
      binding(named),
      { old: binding(named, { validationActions: ['Warn'] }) },
      { verb: 'get', name: 'limits', namespace: 'shop', ...maps },
    ],
  ])('must %s', (_title, written, given, access) => {
    expect(ask(written, given)?.access).toEqual(access);
  });

  it.each<[string, Policy | null, string]>([
    [
      'knows the resource',
      policy(CONFIG_MAP),
      `user ${SHOWN} does not have "get" permission on the object referenced by paramRef`,
    ],
    [
      'finds no paramKind',
      policy(),
      `user ${SHOWN} does not have "get" permission on the object referenced by paramRef`,
    ],
    [
      'finds no policy',
      null,
      `unable to get policy p to determine minimum required permissions and user ${SHOWN} does not have "get" permission for all groups, versions and resources`,
    ],
    [
      'cannot read the version of the kind',
      policy({ apiVersion: 'a/b/c', kind: 'X' }),
      `unable to parse paramKind &{a/b/c X} to determine minimum required permissions and user ${SHOWN} does not have "get" permission for all groups, versions and resources`,
    ],
    [
      'does not know the resource of the kind',
      policy(UNLISTED),
      `unable to resolve paramKind &{rules.example.com/v2 ReplicaLimit} to determine minimum required permissions and user ${SHOWN} does not have "get" permission for all groups, versions and resources`,
    ],
  ])('is refused in the sentence of the API server where it %s', (_title, of, sentence) => {
    const question = ask(binding(named), { of });
    expect(question?.refusal(YES)).toBeUndefined();
    expect(question?.refusal(NO)).toEqual({
      type: 'FieldValueForbidden',
      field: 'spec.paramRef',
      body: `Forbidden: ${sentence}`,
    });
  });

  it('is refused where the authorizer reports a fault, also beside a yes', () => {
    for (const allowed of [true, false]) {
      expect(ask(binding(named))?.refusal({ allowed, evaluationError: 'down' })?.body).toBe(
        'Forbidden: failed to authorize request: down',
      );
    }
  });
});

describe('the paramKind of a policy', () => {
  it.each<[string, ParamKind | undefined]>([
    ['none', undefined],
    ['a core kind that is listed', CONFIG_MAP],
    ['a kind of a group that is listed', LIMIT],
    [
      'a kind of another group that is called Secret and is listed',
      { apiVersion: 'x.io/v1', kind: 'Secret' },
    ],
  ])('may be %s', (_title, paramKind) => {
    const own = { group: 'x.io', version: 'v1', kind: 'Secret', resource: 'secrets' };
    expect(paramKindError(policy(paramKind), [...PARAM_KINDS, own])).toBeUndefined();
  });

  it.each<[string, ParamKind, string]>([
    ['a Secret', { apiVersion: 'v1', kind: 'Secret' }, 'Secrets are never parameters'],
    ['a Secret of another version', { apiVersion: 'v9', kind: 'Secret' }, 'Secrets are never parameters'],
    ['another version', UNLISTED, '(kind=ReplicaLimit, apiVersion=rules.example.com/v2)'],
    ['another kind', { apiVersion: 'v1', kind: 'Pod' }, 'policies.paramKinds'],
    ['no version at all', { apiVersion: 'a/b/c', kind: 'ConfigMap' }, 'policies.paramKinds'],
  ])('may not be %s, whatever is listed', (_title, paramKind, text) => {
    const secrets = { group: '', version: 'v1', kind: 'Secret', resource: 'secrets' };
    const error = paramKindError(policy(paramKind), [...PARAM_KINDS, secrets]);
    expect(error).toMatchObject({ type: 'FieldValueForbidden', field: 'spec.paramKind' });
    expect(error?.body).toContain(text);
  });
});
