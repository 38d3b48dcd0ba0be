import { describe, expect, it } from 'vitest';

import { GateError } from '../../src/errors.ts';
import { allow } from '../../src/policies/verdict.ts';
import type { Webhook, WebhookEntry } from '../../src/webhooks/webhook.ts';
import { aLease, aReview } from '../support/builders.ts';
import { edgeOf, rawRequest } from './edge-parts.ts';

const PATH = '/validate/test';
const ENTRY = 'test.gate.example.com';
const review = aReview({ object: aLease() });
const { uid } = review.request;

const refusing = (reason: Error) => (): Promise<never> => Promise.reject(reason);

function testWebhook(decide: WebhookEntry['decide']): readonly Webhook[] {
  return [{ name: 'test', path: PATH, entry: () => ({ name: ENTRY, failurePolicy: 'Fail', decide }) }];
}

function parse(body: string): { readonly response: Readonly<Record<string, unknown>> } {
  return JSON.parse(body) as { readonly response: Readonly<Record<string, unknown>> };
}

describe('what the review tells alone', () => {
  const overload = new GateError('GATE_OVERLOADED', 'pacto-gate is overloaded: send again in a second');
  const plainly = (decidePlain: NonNullable<WebhookEntry['decidePlain']>): readonly Webhook[] => [
    {
      name: 'test',
      path: PATH,
      entry: () => ({
        name: ENTRY,
        failurePolicy: 'Fail',
        decidePlain,
        decide: refusing(new Error('asked')),
      }),
    },
  ];

  it.each([{}, { overload }])('is allowed, overloaded or not, without a decision', async (more) => {
    const { edge, decisions } = edgeOf(plainly(() => allow({ auditAnnotations: { class: 'Same' } })));
    const answer = await edge.answer(rawRequest(PATH, review, more));
    expect(parse(answer.body).response).toEqual({
      uid,
      allowed: true,
      auditAnnotations: { class: 'Same' },
    });
    expect(decisions).toMatchObject([{ verdict: 'allowed' }]);
  });

  it('is allowed when the time is over', async () => {
    const { edge } = edgeOf(plainly(() => allow()));
    const answer = await edge.answer(rawRequest(PATH, review, { receivedMs: -60_000 }));
    expect(parse(answer.body).response).toMatchObject({ uid, allowed: true });
  });

  it('leaves the rest to the failure policy under overload', async () => {
    const { edge, decisions } = edgeOf(plainly(() => undefined));
    const answer = await edge.answer(rawRequest(PATH, review, { overload }));
    expect(parse(answer.body).response).toMatchObject({ uid, allowed: false, status: { code: 500 } });
    expect(decisions).toMatchObject([{ verdict: 'failed-closed', code: 'GATE_OVERLOADED' }]);
  });

  it('leaves a review that was not read to its end to the failure policy under overload', async () => {
    const { edge } = edgeOf(plainly(() => allow()));
    const head = Buffer.from(JSON.stringify(review)).subarray(0, 200);
    const answer = await edge.answer(rawRequest(PATH, head, { overload }));
    expect(parse(answer.body).response).toMatchObject({ uid, allowed: false, status: { code: 500 } });
  });
});

describe('a patch', () => {
  it('goes out encoded, with its type', async () => {
    const patch = [{ op: 'add', path: '/spec/a~1b', value: { c: 1 } }] as const;
    const { edge } = edgeOf(testWebhook(() => ({ ...allow(), patch })));
    const { response } = parse((await edge.answer(rawRequest(PATH, review))).body);
    expect(response).toMatchObject({ uid, allowed: true, patchType: 'JSONPatch' });
    const text = Buffer.from(response['patch'] as string, 'base64').toString();
    expect(JSON.parse(text)).toEqual(patch);
  });

  it('is left out where nothing is to be changed', async () => {
    const { edge } = edgeOf(testWebhook(() => ({ ...allow(), patch: [] })));
    const { response } = parse((await edge.answer(rawRequest(PATH, review))).body);
    expect(response).toEqual({ uid, allowed: true });
  });
});

describe('the word on which Flux deletes and makes anew', () => {
  it.each(['is immutable', 'IMMUTABLE field', 'it is\nimmutable'])(
    'is never said of a failure: %j',
    async (text) => {
      const { edge } = edgeOf(testWebhook(refusing(new GateError('GATE_UNSYNCED', text))));
      const { response } = parse((await edge.answer(rawRequest(PATH, review))).body);
      expect(JSON.stringify(response)).not.toMatch(/immutable/i);
      expect(response).toMatchObject({ allowed: false, status: { code: 500, reason: 'InternalError' } });
    },
  );
});
