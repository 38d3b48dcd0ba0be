/** Who may write policies and bindings of our group, over HTTPS (vap.md F10, design decision 17). */
import { describe, expect, it } from 'vitest';

import type { Reader } from '../../src/cluster/cluster.ts';
import { GateError } from '../../src/errors.ts';
import { readerOver } from './decide-by.ts';
import {
  ALICE,
  GROUP,
  MASTER,
  SHOWN,
  binding,
  messageOf,
  named,
  overLimits,
  overMaps,
  overSecrets,
  policy,
  review,
  selected,
  writers,
  type Given,
  type Write,
} from './policy-writes.ts';

const getAll = { verb: 'get', name: '*', namespace: '*' };
const MAPS = { group: '', version: 'v1', resource: 'configmaps' };
const LIMITS = { group: 'rules.example.com', version: 'v1', resource: 'replicalimits' };
const EVERYTHING = { group: '*', version: '*', resource: '*' };

describe('whoever writes a policy', () => {
  it.each<[string, Write, object]>([
    ['a policy over ConfigMaps', { object: policy(overMaps) }, { ...getAll, ...MAPS }],
    [
      'a policy over a kind of a group',
      { object: policy(overLimits), dryRun: true },
      { ...getAll, ...LIMITS },
    ],
    [
      'an update that gives a policy parameters',
      { object: policy(overMaps), old: policy() },
      { ...getAll, ...MAPS },
    ],
    [
      'an update to another kind',
      { object: policy(overMaps), old: policy(overLimits) },
      { ...getAll, ...MAPS },
    ],
    [
      'a binding that names an object',
      { object: binding(named) },
      { verb: 'get', name: 'limits', namespace: 'shop', ...MAPS },
    ],
    ['a binding that selects', { object: binding(selected) }, { verb: 'list', ...MAPS }],
    [
      'an update that names another object',
      {
        object: binding(named),
        old: binding({ paramRef: { ...named.paramRef, name: 'others' } }),
      },
      { verb: 'get', name: 'limits', namespace: 'shop', ...MAPS },
    ],
    [
      'an update that binds elsewhere',
      { object: binding(named), old: binding({ ...named, validationActions: ['Warn'] }) },
      { verb: 'get', name: 'limits', namespace: 'shop', ...MAPS },
    ],
  ])('needs rights for %s: refused without, allowed with them', async (_title, write, resource) => {
    const stored = [policy(overMaps)];
    const without = await writers({ stored });
    const refused = await without.write(write);
    expect(refused).toMatchObject({ allowed: false, status: { code: 422, reason: 'Invalid' } });
    expect(messageOf(refused)).toContain(`Forbidden: user ${SHOWN} `);
    expect(without.asked).toEqual([{ user: ALICE, resource }]);
    const able = await writers({ stored, may: () => true });
    expect(await able.write(write)).toEqual({ uid: 'u-1', allowed: true });
    expect(able.asked).toEqual([{ user: ALICE, resource }]);
  });

  it('is refused with the sentence, code, reason and details of the API server', async () => {
    const { write } = await writers({ stored: [policy(overMaps)] });
    const sentence = `user ${SHOWN} must have "get" permission on all objects of the referenced paramKind (kind=ConfigMap, apiVersion=v1)`;
    const cause = {
      reason: 'FieldValueForbidden',
      message: `Forbidden: ${sentence}`,
      field: 'spec.paramKind',
    };
    expect((await write({ object: policy(overMaps) })).status).toEqual({
      metadata: {},
      status: 'Failure',
      message: `ValidatingAdmissionPolicy.${GROUP} "limits.example.com" is invalid: spec.paramKind: Forbidden: ${sentence}`,
      reason: 'Invalid',
      details: {
        name: 'limits.example.com',
        group: GROUP,
        kind: 'ValidatingAdmissionPolicy',
        causes: [cause],
      },
      code: 422,
    });
    expect(messageOf(await write({ object: binding(selected) }))).toBe(
      `ValidatingAdmissionPolicyBinding.${GROUP} "limits" is invalid: spec.paramRef: Forbidden: user ${SHOWN} does not have "list" permission on the object referenced by paramRef`,
    );
  });

  it.each<[string, Write]>([
    ['a policy without parameters', { object: policy() }],
    ['a binding without parameters', { object: binding() }],
    ['a policy over ConfigMaps by a superuser', { object: policy(overMaps), user: MASTER }],
    ['a binding by a superuser', { object: binding(named), user: MASTER }],
    [
      'another expression of a policy over ConfigMaps',
      { object: policy({ ...overMaps, failurePolicy: 'Ignore' }), old: policy(overMaps) },
    ],
    [
      'a label of a policy over ConfigMaps',
      { object: policy(overMaps, { labels: { a: 'b' } }), old: policy(overMaps) },
    ],
    [
      'a label of a binding with parameters',
      { object: binding(named, { labels: { a: 'b' } }), old: binding(named) },
    ],
    ['a policy that goes', { object: policy(overMaps), old: policy(overMaps), operation: 'DELETE' }],
    ['its status', { object: policy(overMaps), old: policy(), subResource: 'status' }],
  ])('needs no rights for %s', async (_title, write) => {
    const { write: send, asked } = await writers({ stored: [policy(overMaps)] });
    expect(await send(write)).toEqual({ uid: 'u-1', allowed: true });
    expect(asked).toEqual([]);
  });

  it('is asked about with all that is known of the user', async () => {
    const user = { username: 'bob', uid: 'u9', groups: ['g'], extra: { 'example.com/scope': ['secret'] } };
    const { write, asked } = await writers();
    const refused = await write({ object: policy(overMaps), user });
    expect(asked).toEqual([{ user, resource: { ...getAll, ...MAPS } }]);
    expect(JSON.stringify(refused)).not.toContain('secret');
  });

  it.each<[string, Given]>([
    ['nobody can be asked', { alone: true }],
    [
      'the question fails',
      {
        may: () => {
          throw new GateError('GATE_CLUSTER_UNREACHABLE', 'no answer');
        },
      },
    ],
    [
      'the authorizer reports a fault beside a yes',
      { may: () => ({ allowed: true, denied: false, reason: '', evaluationError: 'half of it is down' }) },
    ],
  ])('is refused where %s', async (_title, given) => {
    const stored = [policy(overMaps)];
    for (const object of [policy(overMaps), binding(named)]) {
      const { write } = await writers({ ...given, stored });
      expect(await write({ object })).toMatchObject({ allowed: false });
    }
  });

  it('is refused at the deadline where the question hangs', async () => {
    const { served, asked } = await writers({ may: () => new Promise<never>(() => undefined) });
    const body = review({ object: policy(overMaps) });
    const answer = await served.ask('/validate/policy-writers?timeout=300ms', { body });
    expect(answer.json()).toMatchObject({
      response: { allowed: false, status: { code: 500, reason: 'InternalError' } },
    });
    expect(answer.text).toContain('GATE_DEADLINE_EXCEEDED');
    expect(asked).toHaveLength(1);
  });

  it('is refused where the policy of a binding cannot be read', async () => {
    const reader: Reader = {
      ...readerOver([]),
      get: () => Promise.reject(new GateError('GATE_CLUSTER_UNREACHABLE', 'no answer')),
    };
    const unread = await writers({ may: () => true, reader });
    expect(await unread.write({ object: binding(named) })).toMatchObject({
      allowed: false,
      status: { code: 500 },
    });
    const unknown = await writers({
      may: () => true,
      unknown: new GateError('GATE_UNSYNCED', 'policies are not read yet'),
    });
    expect(await unknown.write({ object: binding(named) })).toMatchObject({
      allowed: false,
      status: { code: 500 },
    });
  });
});

describe('a binding', () => {
  const file = { source: 'file', path: 'p.yaml' } as const;
  const map = { source: 'configMap', namespace: 'n', name: 'c', key: 'p.yaml' } as const;
  const own = { source: 'customResource' } as const;
  const get = { verb: 'get', name: 'limits', namespace: 'shop' };

  it.each<[string, Given, object]>([
    ['a policy that is not there: everything', {}, { ...get, ...EVERYTHING }],
    ['a stored policy', { stored: [policy(overLimits)] }, { ...get, ...LIMITS }],
    [
      'the policy as it is stored, not as a watch has it',
      { stored: [policy(overLimits)], known: [{ object: policy(overMaps), source: own }] },
      { ...get, ...LIMITS },
    ],
    [
      'a policy that was just deleted: everything',
      { known: [{ object: policy(overMaps), source: own }] },
      { ...get, ...EVERYTHING },
    ],
    [
      'a policy of a file, before a stored one',
      { stored: [policy(overLimits)], known: [{ object: policy(overMaps), source: file }] },
      { ...get, ...MAPS },
    ],
    ['a policy of a ConfigMap', { known: [{ object: policy(overMaps), source: map }] }, { ...get, ...MAPS }],
    [
      'a stored policy, before one of a ConfigMap',
      { stored: [policy(overLimits)], known: [{ object: policy(overMaps), source: map }] },
      { ...get, ...LIMITS },
    ],
    [
      'a policy of a ConfigMap, where the stored one cannot be read',
      {
        stored: [policy({ validations: 1 })],
        known: [{ object: policy(overMaps), source: map }],
      },
      { ...get, ...MAPS },
    ],
    [
      'a policy over a kind that is not listed: everything of the group',
      { stored: [policy({ paramKind: { apiVersion: 'rules.example.com/v1', kind: 'Other' } })] },
      { ...get, group: 'rules.example.com', version: 'v1', resource: '*' },
    ],
  ])('is judged by %s', async (_title, given, resource) => {
    const { write, asked } = await writers(given);
    expect(await write({ object: binding(named) })).toMatchObject({ allowed: false, status: { code: 422 } });
    expect(asked).toEqual([{ user: ALICE, resource }]);
  });
});

describe('the paramKind', () => {
  it.each<[string, Write, string]>([
    ['Secrets, on creation', { object: policy(overSecrets), user: MASTER }, 'Secrets are never parameters'],
    [
      'Secrets, on update',
      { object: policy(overSecrets), old: policy(overMaps), user: MASTER },
      'Secrets are never parameters',
    ],
    [
      'a kind that is not listed',
      { object: policy({ paramKind: { apiVersion: 'v1', kind: 'Pod' } }), user: MASTER },
      'policies.paramKinds',
    ],
    [
      'a kind that is not listed any more, with another spec',
      {
        object: policy({ ...overSecrets, failurePolicy: 'Ignore' }),
        old: policy(overSecrets),
        user: MASTER,
      },
      'Secrets are never parameters',
    ],
  ])('may not be %s, whoever writes', async (_title, write, text) => {
    const { write: send, asked } = await writers({ may: () => true });
    const refused = await send(write);
    expect(refused).toMatchObject({
      allowed: false,
      status: { code: 422, reason: 'Invalid', details: { causes: [{ field: 'spec.paramKind' }] } },
    });
    expect(messageOf(refused)).toContain(text);
    expect(asked).toEqual([]);
  });

  it('may stay where only labels change', async () => {
    const { write } = await writers();
    const object = policy(overSecrets, { labels: { a: 'b' } });
    expect(await write({ object, old: policy(overSecrets) })).toEqual({ uid: 'u-1', allowed: true });
  });
});
