/** Objects and policies that are made to break the evaluation, over HTTPS: each has the API server's answer. */
import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../src/cluster/objects.ts';
import { readerOver } from './decide-by.ts';
import {
  aBinding,
  aPolicy,
  aReview,
  responseIn,
  shop,
  webhookOf,
  type PolicyResponse,
} from './policy-webhook.ts';
import { serveWebhooks } from './served.ts';

type Ask = (object: string, policy?: string) => Promise<PolicyResponse>;

/** @returns what asks about an object, given as the JSON of its own members. */
async function serve(objects: readonly KubeObject[]): Promise<Ask> {
  const served = await serveWebhooks([webhookOf({ objects })], { reader: readerOver([shop]) });
  const review = JSON.stringify(aReview({ object: 'OBJECT' }));
  return async (object, policy = 'p') => {
    const whole = `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","namespace":"shop"},${object}}`;
    const body = Buffer.from(review.replace('"OBJECT"', () => whole));
    const headers = { 'content-type': 'application/json' };
    const { status, text } = await served.ask(`/validate/policies/${policy}?timeout=10s`, {
      method: 'POST',
      body,
      headers,
    });
    expect(status).toBe(200);
    return responseIn(text);
  };
}

const only = (expression: string, more: object = {}): readonly KubeObject[] => [
  aPolicy('p', { validations: [{ expression, ...more }] }),
  aBinding('p'),
];

const denied = (response: PolicyResponse): string => {
  expect(response.allowed).toBe(false);
  return response.status?.message.replace(/^.* denied request: /s, '') ?? '';
};

describe('an object', () => {
  it('of 50,000 labels is read whole', async () => {
    const labels = Array.from({ length: 50_000 }, (_, n) => `"l${String(n)}":"v"`).join();
    const selected = aBinding('p', {
      matchResources: { objectSelector: { matchLabels: { l49999: 'v' } } },
    });
    const [policy] = only('size(object.metadata.labels) < 50000', {
      messageExpression: "string(size(object.metadata.labels)) + ' labels'",
    }) as [KubeObject];
    const ask = await serve([policy, selected]);
    // The last of two members of a name counts.
    expect(denied(await ask(`"metadata":{"name":"a","namespace":"shop","labels":{${labels}}}`))).toBe(
      '50000 labels',
    );
    expect(await ask('"data":{}')).toMatchObject({ allowed: true });
  });

  it.each<[string, string, string]>([
    ['keys that objects inherit', '"data":{"__proto__":"a","constructor":"b","toString":"c"}', 'a b c'],
    ['keys that it does not have', '"data":{}', 'no such key: __proto__'],
  ])('may have %s', async (_what, object, found) => {
    const ask = await serve(
      only("object.data.__proto__ + ' ' + object.data.constructor + ' ' + object.data.toString == ''", {
        messageExpression:
          "object.data.__proto__ + ' ' + object.data['constructor'] + ' ' + object.data.toString",
      }),
    );
    expect(denied(await ask(object))).toContain(found);
  });

  it.each<[string, string, string]>([
    ['a pair of surrogates is one character', '"data":{"x":"\u{1f600}"}', 'size(object.data.x) == 1'],
    ['so is one that is escaped', String.raw`"data":{"x":"\ud83d\ude00"}`, "object.data.x == '\u{1f600}'"],
    ['half a pair is U+FFFD', String.raw`"data":{"x":"\ud83d"}`, String.raw`object.data.x == '\ufffd'`],
    ['the other half, too', String.raw`"data":{"x":"a\ude00b"}`, String.raw`object.data.x == 'a\ufffdb'`],
    ['U+0000 is a character', String.raw`"data":{"x":"a\u0000b"}`, String.raw`object.data.x == 'a\u0000b'`],
    [
      'the largest int64',
      '"n":9223372036854775807',
      'object.n == 9223372036854775807 && type(object.n) == int',
    ],
    ['the least int64', '"n":-9223372036854775808', 'object.n == -9223372036854775808'],
    ['beyond 2^53', '"n":9007199254740993', 'object.n == 9007199254740993 && object.n != 9007199254740992'],
    ['beyond int64 is a double', '"n":9223372036854775808', 'type(object.n) == double'],
    ['far beyond int64', '"n":1234567890123456789012345678901234567890', 'object.n > 1e39'],
    ['the last of a name counts', '"n":1,"n":2', 'object.n == 2'],
    ['not a number is not itself', '"n":0.0', '(object.n / 0.0) != (object.n / 0.0)'],
    ['infinity', '"n":1.5', 'object.n / 0.0 > 1.7e308 && -object.n / 0.0 < -1.7e308'],
    ['infinity less itself', '"n":1.5', "string(object.n / 0.0 - object.n / 0.0) == 'NaN'"],
    ['infinity as a text', '"n":1.5', "string(object.n / 0.0) == '+Inf'"],
  ])('is what its JSON says: %s', async (_what, object, expression) => {
    expect(await (await serve(only(expression)))(object)).toEqual({ uid: 'u-1', allowed: true });
    expect(denied(await (await serve(only(`!(${expression})`)))(object))).toBe(
      `failed expression: !(${expression})`,
    );
  });

  it.each<[string, string, string, string]>([
    ['more than int64 by addition', '"n":9223372036854775807', 'object.n + 1 > 0', 'integer overflow'],
    ['less than int64 by negation', '"n":-9223372036854775808', '-object.n > 0', 'integer overflow'],
    ['an int by zero', '"n":1', 'object.n / 0 == 1', 'division by zero'],
    ['infinity to an int', '"n":1.5', 'int(object.n / 0.0) == 1', 'integer overflow'],
    ['not a number to an int', '"n":0.0', 'int(object.n / 0.0) == 1', 'integer overflow'],
    ['a path into a number', '"n":1', 'object.n.a == 1', 'no such key: a'],
  ])('that makes an expression fail denies: %s', async (_what, object, expression, error) => {
    const message = denied(await (await serve(only(expression)))(object));
    expect(message).toMatch(/ resulted in error: /);
    expect(message).toContain(error);
    const [policy, binding] = only(expression) as [KubeObject, KubeObject];
    const ignoring = { ...policy, spec: { ...(policy['spec'] as object), failurePolicy: 'Ignore' } };
    expect(await (await serve([ignoring, binding]))(object)).toEqual({ uid: 'u-1', allowed: true });
  });

  it('with a number that no double can hold is not read, and is answered by the failure policy', async () => {
    const ask = await serve(only('true'));
    const { allowed, status } = await ask('"n":1e400');
    expect([allowed, status?.code, status?.reason]).toEqual([false, 500, 'InternalError']);
    expect(status?.message).toContain('[GATE_REVIEW_NOT_JSON]');
  });

  it('may be quoted in a message and an annotation, with what a terminal would not show', async () => {
    const ask = await serve([
      aPolicy('p', {
        validations: [{ expression: 'false', messageExpression: "'<' + object.data.x + '>'" }],
        auditAnnotations: [
          { key: 'constructor', valueExpression: 'string(object.data.x)' },
          { key: 'toString', valueExpression: "'<' + object.data.x" },
        ],
      }),
      aBinding('p'),
    ]);
    const response = await ask(String.raw`"data":{"x":"a\u0000\ud83d\u202eb"}`);
    expect(denied(response)).toBe('<a\u0000\ufffd\u202eb>');
    expect(response.auditAnnotations).toEqual({
      constructor: 'a\u0000\ufffd\u202eb',
      toString: '<a\u0000\ufffd\u202eb',
    });
  });
});

describe('policies', () => {
  it('of 10,000 bindings decide within the deadline, and let others pass meanwhile', async () => {
    const bindings = Array.from({ length: 10_000 }, (_, n) =>
      aBinding('p', { validationActions: n === 9_999 ? ['Deny'] : ['Audit'] }, `b${String(n)}`),
    );
    const quick = [aPolicy('quick', { validations: [{ expression: 'true' }] }), aBinding('quick')];
    const ask = await serve([
      aPolicy('p', { validations: [{ expression: 'object.n == 1' }] }),
      ...bindings,
      ...quick,
    ]);
    const ended: string[] = [];
    const slow = ask('"n":2').then((response) => {
      ended.push('slow');
      return response;
    });
    const others = Array.from({ length: 5 }, async () => {
      expect(await ask('"n":2', 'quick')).toMatchObject({ allowed: true });
      ended.push('quick');
    });
    expect((await slow).status?.message).toContain(
      "with binding 'b9999' denied request: failed expression: object.n == 1",
    );
    await Promise.all(others);
    expect(ended.filter((one) => one === 'quick')).toHaveLength(5);
    expect(ended.at(-1)).toBe('slow');
    expect(await ask('"n":1')).toEqual({ uid: 'u-1', allowed: true });
  });

  it('of 64 matchConditions and 1,000 validations are evaluated to the last', async () => {
    const matchConditions = Array.from({ length: 64 }, (_, n) => ({
      name: `c${String(n)}`,
      expression: `object.skip != ${String(n)}`,
    }));
    const validations = Array.from({ length: 1_000 }, (_, n) => ({
      expression: `object.n != ${String(n)}`,
      message: `not ${String(n)}`,
    }));
    const ask = await serve([aPolicy('p', { matchConditions, validations }), aBinding('p')]);
    expect(denied(await ask('"n":999,"skip":64'))).toBe('not 999');
    expect(denied(await ask('"n":0,"skip":64'))).toBe('not 0');
    expect(await ask('"n":999,"skip":63')).toMatchObject({ allowed: true });
    expect(await ask('"n":1000,"skip":64')).toMatchObject({ allowed: true });
  });

  it('with a syntax error follow their failurePolicy, and those beside them are enforced', async () => {
    const broken = (name: string, failurePolicy: string): readonly KubeObject[] => [
      aPolicy(name, { failurePolicy, validations: [{ expression: 'object.(' }] }),
      aBinding(name),
    ];
    const ask = await serve([...broken('bad', 'Fail'), ...broken('lax', 'Ignore'), ...only('object.n == 1')]);
    expect(denied(await ask('"n":2'))).toBe('failed expression: object.n == 1');
    expect(await ask('"n":1')).toMatchObject({ allowed: true });
    expect(denied(await ask('"n":1', 'bad'))).toContain('compilation error: compilation failed: ERROR: ');
    expect(await ask('"n":1', 'lax')).toMatchObject({ allowed: true });
  });
});
