import { describe, expect, it } from 'vitest';

import { allow, type Verdict } from '../../src/policies/verdict.ts';
import type { Webhook, WebhookEntry } from '../../src/webhooks/webhook.ts';
import { aLease, aReview } from '../support/builders.ts';
import { serveWebhooks } from './served.ts';

const review = aReview({ object: aLease() });

function webhook(decide: WebhookEntry['decide']): Webhook {
  const entry = { name: 'test.gate.example.com', failurePolicy: 'Fail', decide } as const;
  return {
    name: 'test',
    path: '/validate/policies/{policy}',
    entry: ({ policy }) => (policy === 'b' ? undefined : entry),
  };
}

describe('webhooks on a listener', () => {
  it('answers at the deadline for a decision that never comes', async () => {
    const served = await serveWebhooks([webhook(() => Promise.withResolvers<Verdict>().promise)]);
    const answer = await served.ask('/validate/policies/a?timeout=300ms', { body: review });
    expect(answer.status).toBe(200);
    expect(answer.text).toContain('no decision within 0.2 s of the 0.3 s');
    expect(answer.json()).toMatchObject({ response: { allowed: false, status: { code: 500 } } });
  });

  it('aborts a decision when its caller goes away', async () => {
    const aborted = Promise.withResolvers<unknown>();
    const begun = Promise.withResolvers<void>();
    const served = await serveWebhooks([
      webhook((_request, { signal }) => {
        signal.addEventListener('abort', () => aborted.resolve(signal.reason));
        begun.resolve();
        return Promise.withResolvers<Verdict>().promise;
      }),
    ]);
    const caller = new AbortController();
    const pending = served
      .ask('/validate/policies/a?timeout=30s', { body: review, signal: caller.signal })
      .then(
        () => 'answered',
        (error: unknown) => (error as Error).name,
      );
    await begun.promise;
    caller.abort();
    expect(await pending).toBe('AbortError');
    expect(await aborted.promise).toMatchObject({ code: 'GATE_CALLER_GONE' });
  });

  it('answers by the failure policy, with the uid, where there is no turn for a request', async () => {
    const begun = Promise.withResolvers<void>();
    const first = Promise.withResolvers<Verdict>();
    const served = await serveWebhooks(
      [
        webhook(() => {
          begun.resolve();
          return first.promise;
        }),
      ],
      { limits: { maxConcurrent: 1 }, waitMs: 50 },
    );
    const deciding = served.ask('/validate/policies/a?timeout=30s', { body: review });
    await begun.promise;
    const turnedAway = await served.ask('/validate/policies/a?timeout=30s', { body: review });
    expect(turnedAway.status).toBe(200);
    expect(turnedAway.json()).toMatchObject({
      response: { uid: review.request.uid, allowed: false, status: { code: 500, reason: 'InternalError' } },
    });
    expect(turnedAway.text).toContain('GATE_OVERLOADED');
    first.resolve(allow());
    expect((await deciding).json()).toMatchObject({ response: { allowed: true } });
  });

  it('answers 503 for a policy that it does not know', async () => {
    const served = await serveWebhooks([webhook(() => allow())]);
    const answer = await served.ask('/validate/policies/b', { body: review });
    expect([answer.status, answer.headers['content-type']]).toEqual([503, 'text/plain; charset=utf-8']);
    expect(answer.text).toContain('GATE_WEBHOOK_UNKNOWN');
  });

  it.each(['a'.repeat(253), 'a%20b', '%2e%2e%2fa'])(
    'finds the policy %s by its decoded name',
    async (name) => {
      const served = await serveWebhooks([webhook(() => allow())]);
      const answer = await served.ask(`/validate/policies/${name}`, { body: review });
      expect(answer.json()).toMatchObject({ response: { uid: review.request.uid, allowed: true } });
    },
  );
});
