/** Objects of the wrong shape: a verdict each time, never an exception, and never an allow for an agent. */
import { anything, assert, constantFrom, property } from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { AdmissionRequest } from '../../../src/cluster/objects.ts';
import { decideNodeIdentity } from '../../../src/policies/identity/decide.ts';
import { at, isEmpty, sameJson, typeName } from '../../../src/policies/identity/foreign.ts';
import { changedOwners } from '../../../src/policies/identity/subject.ts';
import { decideAgentPod } from '../../../src/policies/identity/pods.ts';
import { decideAgentToken } from '../../../src/policies/identity/tokens.ts';
import type { Verdict } from '../../../src/policies/verdict.ts';
import { quote } from '../../../src/policies/quote.ts';
import {
  AGENT_NAMESPACE,
  aLease,
  aPod,
  anAdmissionRequest,
  anAgent,
  aServiceAccountUser,
} from '../../support/builders.ts';
import { answer } from './answer.ts';
import { settings } from './settings.ts';

const own = aLease();
const request = (changes: object, operation: AdmissionRequest['operation'] = 'CREATE'): AdmissionRequest => ({
  ...anAdmissionRequest({ user: anAgent(), object: own, oldObject: own, operation }),
  ...changes,
});
const decide = (given: AdmissionRequest): Verdict =>
  answer((evidence) => decideNodeIdentity(given, settings(), evidence), {});
const lease = (metadata: object, more: object = {}): object => ({
  ...own,
  metadata: { ...own.metadata, ...metadata },
  ...more,
});
const double = (value: number): unknown => Object(value);

describe('metadata with very many values', () => {
  const many = (count: number): string[] => Array.from({ length: count }, (_, index) => String(index));
  const labels = (count: number): object => Object.fromEntries(many(count).map((key) => [key, '']));
  it.each<[string, (count: number) => object]>([
    ['labels', (count) => ({ labels: labels(count) })],
    ['finalizers', (count) => ({ finalizers: many(count) })],
    ['ownerReferences', (count) => ({ ownerReferences: many(count) })],
    ['ownerReferences inside each other', (count) => ({ ownerReferences: [[labels(count - 2)]] })],
  ])('denies more than a thousand %s without comparing them, old or new', (field, metadata) => {
    const crowded = lease(metadata(1_001));
    for (const change of [{ object: crowded }, { oldObject: crowded }]) {
      expect(decide(request(change, 'UPDATE'))).toMatchObject({
        allowed: false,
        codes: ['NODE_OBJECT_MALFORMED'],
        message: expect.stringContaining(field.split(' ')[0]!) as string,
      });
    }
    const full = lease(metadata(1_000));
    expect(decide(request({ object: full, oldObject: full }, 'UPDATE')).allowed).toBe(true);
  });
});

describe('objects of the wrong shape', () => {
  it.each<[string, object, AdmissionRequest['operation']?]>([
    ['no object on CREATE', { object: null }],
    ['no object on UPDATE', { object: null }, 'UPDATE'],
    ['no old object on UPDATE', { oldObject: null }, 'UPDATE'],
    ['no old object on DELETE', { oldObject: null }, 'DELETE'],
    ['both null', { object: null, oldObject: null }],
    ['both null on DELETE', { object: null, oldObject: null }, 'DELETE'],
    ['an object that is a list', { object: [] }],
    ['an object that is a string', { object: 'node-a' }],
    ['an object that is a double', { object: double(1) }],
    ['no metadata', { object: { spec: {} } }],
    ['metadata that is a list', { object: { metadata: ['node-a'] } }],
    ['a name that is a number', { object: lease({ name: 5 }) }],
    ['a name that is a double', { object: lease({ name: double(5) }) }],
    ['a name that is a large number', { object: lease({ name: 2n ** 60n }) }],
    ['a name that is a list of the node', { object: lease({ name: ['node-a'] }) }],
    ['a name that is null', { object: lease({ name: null }) }],
    ['a namespace that is not the request’s', { object: lease({ namespace: 'default' }) }],
    ['a namespace that is a number', { object: lease({ namespace: 7 }) }],
    ['a request without namespace', { namespace: undefined }],
    ['a request with a namespace that is a list', { namespace: [AGENT_NAMESPACE] }],
    ['a request name of another node', { name: 'node-b' }],
    ['a request name that is a number', { name: 3 }],
    ['finalizers that are a string', { object: lease({ finalizers: 'x' }) }],
    ['finalizers that are a number', { object: lease({ finalizers: 1 }) }],
    ['owners that are an object', { object: lease({ ownerReferences: { a: 1 } }) }],
    ['an owner that is a string', { object: lease({ ownerReferences: ['node-a'] }) }],
    ['an owner that is null', { object: lease({ ownerReferences: [null] }) }],
    ['labels that are a list', { object: lease({ labels: ['a'] }) }, 'UPDATE'],
    ['a spec that is a string', { object: lease({}, { spec: 'x' }) }],
    ['a holder that is a number', { object: lease({}, { spec: { holderIdentity: 1 } }) }],
    ['a holder that is a list', { object: lease({}, { spec: { holderIdentity: ['node-a'] } }) }],
    ['an empty holder', { object: lease({}, { spec: { holderIdentity: '' } }) }],
    [
      'groups that are a string',
      { userInfo: { ...anAgent(), groups: `system:serviceaccounts:${AGENT_NAMESPACE}` } },
    ],
    ['no groups', { userInfo: { username: aServiceAccountUser().username } }],
    ['a resource that is missing', { resource: undefined }],
    ['a resource that is a string', { resource: 'leases' }],
    ['a subresource that is a number', { subResource: 1 }],
    ['another subresource', { subResource: 'scale' }],
    ['CONNECT', {}, 'CONNECT'],
  ])('denies an agent %s', (_what, changes, operation) => {
    const verdict = decide(request(changes, operation));
    expect(verdict).toMatchObject({ allowed: false, code: 403 });
  });

  const key = 'authentication.kubernetes.io/node-name';
  it.each<[string, unknown, string]>([
    ['extra that is null', null, 'NODE_CLAIM_MISSING'],
    ['extra that is a list', [key], 'NODE_CLAIM_MALFORMED'],
    ['extra that is a string', key, 'NODE_CLAIM_MALFORMED'],
    ['a claim that is null', { [key]: null }, 'NODE_CLAIM_MALFORMED'],
    ['a claim that is a string', { [key]: 'node-a' }, 'NODE_CLAIM_MALFORMED'],
    ['a claim that is a number', { [key]: 1 }, 'NODE_CLAIM_MALFORMED'],
    ['a claim of a number', { [key]: [1] }, 'NODE_CLAIM_MALFORMED'],
    ['a claim of null', { [key]: [null] }, 'NODE_CLAIM_MALFORMED'],
    ['a claim of a list', { [key]: [['node-a']] }, 'NODE_CLAIM_MALFORMED'],
    ['a claim of an object with a length', { [key]: { 0: 'node-a', length: 1 } }, 'NODE_CLAIM_MALFORMED'],
    ['10,000 node names', { [key]: Array.from({ length: 10_000 }, () => 'node-a') }, 'NODE_CLAIM_MALFORMED'],
    ['a claim in the prototype', JSON.parse(`{"__proto__":{"${key}":["node-a"]}}`), 'NODE_CLAIM_MISSING'],
  ])('denies %s', (_what, extra, code) => {
    const verdict = decide(request({ userInfo: { ...anAgent(), extra } }));
    expect(verdict).toMatchObject({ allowed: false, codes: [code] });
  });

  it.each([
    ['a missing user', undefined],
    ['a user that is null', null],
    ['a username that is a list', { username: [aServiceAccountUser().username] }],
    ['a username that is a number', { username: 1 }],
  ])('allows %s, who is no agent', (_what, userInfo) => {
    expect(decide(request({ userInfo })).allowed).toBe(true);
  });

  it('denies keys that the prototype has, as data', () => {
    const object = JSON.parse('{"metadata":{"__proto__":{"name":"node-a"},"constructor":{"name":"node-a"}}}');
    expect(decide(request({ object, name: '' }))).toMatchObject({ codes: ['NODE_NAME_MISMATCH'] });
  });

  it('denies without control or direction characters of the name in the message', () => {
    const name = 'x\n\u0000\u202Egpj.elpmaxe';
    const verdict = decide(request({ object: lease({ name }), name }));
    const message = verdict.allowed ? '' : verdict.message;
    expect(message).toContain(String.raw`"x\n\u0000\u202egpj.elpmaxe"`);
    expect(message).not.toMatch(/[\p{Cc}\u202a-\u202e]/u);
  });

  it.each([
    ['10,000 characters', 'x'.repeat(10_000)],
    ['a percent sign', '%00'],
    ['dots', '../node-a'],
  ])('denies a name with %s in a message of bounded length', (_what, name) => {
    const verdict = decide(request({ object: lease({ name }), name }));
    expect(verdict).toMatchObject({ allowed: false, codes: ['NODE_NAME_MISMATCH'] });
    expect((verdict.allowed ? '' : verdict.message).length).toBeLessThan(400);
  });
});

describe('tokens and Pods of the wrong shape', () => {
  const token = (changes: object): AdmissionRequest => ({
    ...anAdmissionRequest({ user: anAgent(), namespace: AGENT_NAMESPACE, name: 'pacto-node-agent' }),
    resource: { group: '', version: 'v1', resource: 'serviceaccounts' },
    subResource: 'token',
    ...changes,
  });
  it.each([
    ['no object', { object: null }],
    ['a spec that is a list', { object: { spec: [] } }],
    ['a bound object that is a string', { object: { spec: { boundObjectRef: 'Pod' } } }],
    ['a kind that is a list', { object: { spec: { boundObjectRef: { kind: ['Pod'] } } } }],
    ['a name that is a number', { name: 1 }],
    ['no name', { name: undefined }],
    ['an empty name', { name: '' }],
    ['the name in the body only', { name: 'other', object: { metadata: { name: 'pacto-node-agent' } } }],
  ])('denies a token request with %s', (_what, changes) => {
    expect(decideAgentToken(token(changes), settings())).toMatchObject({ allowed: false, code: 403 });
  });

  const pod = aPod({ namespace: AGENT_NAMESPACE });
  const pods = (changes: object, operation: AdmissionRequest['operation'] = 'CREATE'): Verdict => {
    const given = { ...anAdmissionRequest({ object: pod, oldObject: pod, operation }), ...changes };
    return answer((evidence) => decideAgentPod(given, settings(), evidence), {});
  };
  it.each<[string, object, AdmissionRequest['operation']?]>([
    ['no object', { object: null }],
    ['no metadata', { object: { spec: {} } }],
    ['no spec', { object: { metadata: {} } }],
    ['a spec that is a string', { object: { metadata: {}, spec: 'x' } }],
    [
      'an account that is a list',
      { object: { metadata: {}, spec: { serviceAccountName: ['pacto-node-agent'] } } },
    ],
    ['an account that is a double', { object: { metadata: {}, spec: { serviceAccount: double(1) } } }],
    ['no old object', { oldObject: null }, 'UPDATE'],
    [
      'an account that was another before',
      { object: { metadata: {}, spec: { serviceAccountName: 'pacto-node-agent' } } },
      'UPDATE',
    ],
  ])('denies a Pod with %s', (_what, changes, operation) => {
    expect(pods(changes, operation)).toMatchObject({ allowed: false, code: 403 });
  });

  it('allows deleting any Pod', () => {
    expect(pods({ object: null }, 'DELETE').allowed).toBe(true);
  });

  it('denies a Pod without account where the agents use the default one', () => {
    const given = anAdmissionRequest({ object: { ...pod, spec: {} } });
    const verdict = answer(
      (evidence) => decideAgentPod(given, settings({ agents: [`${AGENT_NAMESPACE}/default`] }), evidence),
      {},
    );
    expect(verdict).toMatchObject({ codes: ['AGENT_POD_CREATOR', 'AGENT_POD_OWNER'] });
  });
});

describe('any input', () => {
  const value = anything({ withBigInt: true, withBoxedValues: true, withNullPrototype: true, maxDepth: 4 });
  const operations = constantFrom<AdmissionRequest['operation'][]>('CREATE', 'UPDATE', 'DELETE', 'CONNECT');

  it('gives a verdict, and never an allow for an agent without a claim', () => {
    assert(
      property(value, value, value, operations, (object, oldObject, extra, operation) => {
        const given = request({ object, oldObject, userInfo: { ...anAgent(), extra } }, operation);
        expect(decide(given).allowed).toBe(false);
        decideAgentToken(given, settings());
        answer((evidence) => decideAgentPod(given, settings(), evidence), {});
      }),
    );
  });
});

describe('reading foreign objects', () => {
  it.each([
    [double(1), 1, true],
    [double(1), double(1), true],
    [1, 2, false],
    [1n, 1n, true],
    [[1, 2], [2, 1], false],
    [{ a: 1, b: 2 }, { b: 2, a: 1 }, true],
    [{ a: undefined }, { b: undefined }, false],
    [{ a: 1 }, { a: 1, b: 1 }, false],
    [[], {}, false],
    [null, undefined, false],
  ])('compares %o and %o: %s', (left, right, same) => {
    expect(sameJson(left, right)).toBe(same);
  });

  it.each([
    [undefined, true, 'nothing'],
    [null, true, 'null'],
    [[], true, 'a list of 0'],
    [{}, true, 'an object'],
    [double(0), false, 'a number'],
    [0n, false, 'a number'],
    [0, false, 'a number'],
    ['', false, 'a string'],
    [false, false, 'a boolean'],
  ])('knows %o: empty %s, %s', (value, empty, name) => {
    expect(isEmpty(value)).toBe(empty);
    expect(typeName(value)).toBe(name);
  });

  it('reads own keys only', () => {
    expect(at({}, 'constructor')).toBeUndefined();
    expect(at({ a: { b: 1 } }, 'a', 'b')).toBe(1);
    expect(at('text', 'length')).toBeUndefined();
  });

  it('quotes like the errors do', async () => {
    const errors = await import('../../../src/errors.ts');
    for (const text of ['plain', 'a"b\\c', '\u0000\n\u007f\u202e\u200b\ufeff', 'y'.repeat(500), '\ud800'])
      expect(quote(text)).toBe(errors.quote(text));
  });
});

describe('lists of a stranger', () => {
  /** Own property reads that a decision makes: the cost of a comparison, without a watch. */
  function readsFor(count: number): number {
    let reads = 0;
    const counted = (index: number): object =>
      new Proxy(
        { apiVersion: 'v1', kind: 'Node', name: `node-${String(index)}`, uid: String(index) },
        { ownKeys: (target) => (reads++, Reflect.ownKeys(target)) },
      );
    const request = {
      ...anAdmissionRequest({ operation: 'UPDATE' }),
      object: { metadata: { ownerReferences: Array.from({ length: count }, (_, index) => counted(index)) } },
      oldObject: {
        metadata: { ownerReferences: Array.from({ length: count }, (_, index) => counted(index + count)) },
      },
    };
    expect(changedOwners(request)).toHaveLength(2 * count);
    return reads;
  }

  it('are compared in time that grows as they do, not with its square', () => {
    expect(readsFor(2_000)).toBeLessThanOrEqual(2 * readsFor(1_000));
  });
});
