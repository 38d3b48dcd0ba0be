import { describe, expect, it } from 'vitest';

import { GateError } from '../../src/errors.ts';
import type { FailurePolicy } from '../../src/policies/verdict.ts';
import { createWebhooks } from '../../src/webhooks/registry.ts';
import { aLease, anAgent, aReview, aUser, type ReviewOptions } from '../support/builders.ts';
import { identity } from './decide-by.ts';
import { edgeOf, rawRequest, type EdgeUnderTest } from './edge-parts.ts';

const MIB = 1024 * 1024;
const NODE_IDENTITY = '/validate/node-identity';

const own = aLease({ name: 'node-a' });
const foreign = aLease({ name: 'node-b' });

/** A review as text, with the value of one of its objects written by hand. */
function reviewWith(options: ReviewOptions, field: 'object' | 'oldObject', value: string): Buffer {
  const text = JSON.stringify(aReview(options));
  const plain = `"${field}":${JSON.stringify(options[field])}`;
  if (!text.includes(plain)) throw new Error(`no ${field} in the review`);
  return Buffer.from(text.replace(plain, () => `"${field}":${value}`));
}

/** A Lease of node-b with a list of owners written by hand. */
const leaseWith = (owners: string): string =>
  JSON.stringify(foreign).replace('"metadata":{', () => `"metadata":{"ownerReferences":${owners},`);

/** What a person can write within the 3 MiB of the API server, as the API server then writes it. */
const UNREADABLE: readonly (readonly [what: string, value: string, code: string])[] = [
  [
    'that is larger than 8 MiB once its signs are escaped',
    leaseWith(`[{"name":"${String.raw`\u003c`.repeat(1_450_000)}"}]`),
    'GATE_REVIEW_TOO_LARGE',
  ],
  ['that nests 9,000 deep', leaseWith('['.repeat(9_000) + ']'.repeat(9_000)), 'GATE_REVIEW_TOO_DEEP'],
  ['with a million values', leaseWith(`[${'[],'.repeat(1_000_000)}[]]`), 'GATE_REVIEW_TOO_LARGE'],
  ['that is not UTF-8', leaseWith('["\u0000"]').replace('\u0000', '\ufffe'), 'GATE_REVIEW_NOT_UTF8'],
  ['with a number of 400 digits', leaseWith(`[${'9'.repeat(400)}]`), 'GATE_REVIEW_NOT_JSON'],
];

function bodyOf(options: ReviewOptions, field: 'object' | 'oldObject', value: string): Buffer {
  const body = reviewWith(options, field, value);
  // U+FFFE stands for a byte that no text has.
  const at = body.indexOf(Buffer.from('\ufffe'));
  if (at !== -1) body.fill(0xff, at, at + 3);
  return body;
}

function edgeFor(failurePolicy: FailurePolicy): EdgeUnderTest {
  const policy = { enabled: true, failurePolicy };
  return edgeOf(
    createWebhooks({
      identity: identity({
        failurePolicy,
        tokens: policy,
        pods: { ...identity().pods, failurePolicy },
      }),
      serverVersion: () => ({ major: 1, minor: 36 }),
    }),
  );
}

interface Response {
  readonly uid: string;
  readonly allowed: boolean;
  readonly status?: { readonly code: number; readonly message: string };
  readonly warnings?: readonly string[];
  readonly auditAnnotations?: Readonly<Record<string, string>>;
}

async function answerOf(
  edge: EdgeUnderTest,
  path: string,
  body: Buffer,
  more: Parameters<typeof rawRequest>[2] = {},
): Promise<Response> {
  const answer = await edge.edge.answer(rawRequest(path, body, more));
  expect(answer.status).toBe(200);
  return (JSON.parse(answer.body) as { response: Response }).response;
}

const OPERATIONS: readonly (readonly [string, ReviewOptions, 'object' | 'oldObject'])[] = [
  ['create', { object: foreign }, 'object'],
  ['update', { object: foreign, oldObject: foreign }, 'object'],
  ['delete', { oldObject: foreign }, 'oldObject'],
];

describe.each(UNREADABLE)('an object %s', (_what, value, code) => {
  describe.each<FailurePolicy>(['Fail', 'Ignore'])('under %s', (failurePolicy) => {
    it.each(OPERATIONS)('denies an agent to %s it', async (_operation, options, field) => {
      const edge = edgeFor(failurePolicy);
      const asked = { ...options, user: anAgent() };
      const response = await answerOf(edge, NODE_IDENTITY, bodyOf(asked, field, value));
      expect(response).toMatchObject({
        uid: aReview(asked).request.uid,
        allowed: false,
        status: {
          code: 403,
          reason: 'Forbidden',
          message: expect.stringMatching(
            /^request: the object of an agent could not be read, .* \[NODE_REVIEW_UNREADABLE\]$/,
          ) as string,
        },
        auditAnnotations: { proof: 'none' },
      });
      expect(edge.decisions).toMatchObject([{ verdict: 'denied', code: 'NODE_REVIEW_UNREADABLE' }]);
      expect(edge.refusals).toEqual([]);
      expect(edge.lines).toHaveLength(1);
      expect(JSON.parse(edge.lines[0]!)).toMatchObject({
        level: 'warn',
        operation: aReview(asked).request.operation,
        codes: ['NODE_REVIEW_UNREADABLE'],
        err: { code },
      });
    });

    it('allows everybody else, of whom nothing is read', async () => {
      const edge = edgeFor(failurePolicy);
      const response = await answerOf(
        edge,
        NODE_IDENTITY,
        bodyOf({ object: foreign, user: aUser() }, 'object', value),
      );
      expect(response.allowed).toBe(true);
      expect(edge.decisions).toMatchObject([{ verdict: 'allowed' }]);
    });

    it('answers by the failure policy where the entry must see the object', async () => {
      const edge = edgeFor(failurePolicy);
      const body = bodyOf({ object: foreign, user: anAgent() }, 'object', value);
      const response = await answerOf(edge, '/validate/node-identity/pods', body);
      expect(response.allowed).toBe(failurePolicy === 'Ignore');
      const verdict = failurePolicy === 'Ignore' ? 'failed-open' : 'failed-closed';
      expect(edge.decisions).toMatchObject([{ verdict, code, operation: 'CREATE' }]);
    });
  });
});

describe('the head of a review', () => {
  const tooLarge = new GateError('GATE_REVIEW_TOO_LARGE', 'request body: more than 8388608 bytes');
  const overload = new GateError('GATE_OVERLOADED', 'no room');
  const body = bodyOf({ object: foreign, user: anAgent() }, 'object', UNREADABLE[0]![1]);
  const head = body.subarray(0, 64 * 1024);

  it('is enough to deny an agent, overloaded or not', async () => {
    for (const more of [{}, { overload }]) {
      const edge = edgeFor('Ignore');
      const response = await answerOf(edge, NODE_IDENTITY, head, { unread: tooLarge, ...more });
      expect(response.status?.message).toContain('[NODE_REVIEW_UNREADABLE]');
    }
  });

  it('is enough to answer overload by the failure policy', async () => {
    const edge = edgeFor('Ignore');
    const response = await answerOf(edge, NODE_IDENTITY, head, { unread: overload, overload });
    expect(response.allowed).toBe(true);
    expect(edge.decisions).toMatchObject([{ verdict: 'failed-open', code: 'GATE_OVERLOADED' }]);
  });

  it('is answered by the failure policy where it ends before it says who asks', async () => {
    for (const failurePolicy of ['Fail', 'Ignore'] as const) {
      const edge = edgeFor(failurePolicy);
      const response = await answerOf(edge, NODE_IDENTITY, head.subarray(0, 300), { unread: tooLarge });
      expect(response.allowed).toBe(failurePolicy === 'Ignore');
      expect(edge.decisions).toMatchObject([{ code: 'GATE_REVIEW_TOO_LARGE' }]);
    }
  });

  it.each([
    ['an envelope without a user', { userInfo: undefined }],
    ['an envelope with an unknown operation', { operation: 'PATCH' }],
  ])('is answered by the failure policy with %s', async (_what, fields) => {
    const broken = bodyOf({ object: foreign, user: anAgent(), with: fields }, 'object', UNREADABLE[0]![1]);
    const edge = edgeFor('Fail');
    const response = await answerOf(edge, NODE_IDENTITY, broken);
    expect(response.status).toMatchObject({ code: 500 });
    expect(edge.decisions).toMatchObject([{ verdict: 'failed-closed', code: 'GATE_REVIEW_TOO_LARGE' }]);
  });

  it('is refused with 413, or 429 under overload, where it is not that of a review', async () => {
    for (const [unread, status] of [
      [tooLarge, 413],
      [overload, 429],
    ] as const) {
      const edge = edgeFor('Fail');
      const answer = await edge.edge.answer(rawRequest(NODE_IDENTITY, Buffer.from('{"a":'), { unread }));
      expect(answer.status).toBe(status);
      expect(edge.refusals).toEqual([unread.code]);
    }
  });
});

describe('a large review that can be read', () => {
  const padding = (megabytes: number): string => JSON.stringify('<'.repeat(megabytes * MIB));
  const large = (value: object, megabytes: number): string =>
    JSON.stringify(value).replace('"spec":{', () => `"spec":{"padding":${padding(megabytes)},`);

  it('is decided on its objects, which are read one after the other', async () => {
    for (const [old, allowed] of [
      [own, true],
      [foreign, false],
    ] as const) {
      const edge = edgeFor('Ignore');
      const body = reviewWith({ object: old, oldObject: old, user: anAgent() }, 'object', large(old, 2));
      expect((await answerOf(edge, NODE_IDENTITY, body)).allowed).toBe(allowed);
    }
  });

  it('may have a quarter of a million values in each of its objects', async () => {
    const values = `[${'1,'.repeat(200_000)}1]`;
    const many = JSON.stringify(own).replace('"spec":{', () => `"spec":{"many":${values},`);
    const text = JSON.stringify(aReview({ object: own, oldObject: own, user: anAgent() }));
    const body = Buffer.from(text.replaceAll(JSON.stringify(own), () => many));
    expect((await answerOf(edgeFor('Fail'), NODE_IDENTITY, body)).allowed).toBe(true);
  });

  it('is decided on the last of two objects, in whatever spelling', async () => {
    for (const name of ['"object"', String.raw`"\u006fbject"`]) {
      const edge = edgeFor('Ignore');
      const text = reviewWith({ object: own, user: anAgent() }, 'object', large(own, 1)).toString();
      const body = Buffer.from(text.replace(/\}\}$/, () => `,${name}:${JSON.stringify(foreign)}}}`));
      const response = await answerOf(edge, NODE_IDENTITY, body);
      expect(response.status?.message).toContain('[NODE_NAME_MISMATCH]');
    }
  });
});
