import { readdir, readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';

import type { Webhook } from '../../src/webhooks/webhook.ts';
import { namingWebhooks } from './bad-input/case.ts';
import { policyWriters, webhooksWith } from './decide-by.ts';
import { serveWebhooks, type Served } from './served.ts';

const GOLDEN = new URL('../golden/reviews/', import.meta.url);

interface Recorded {
  readonly id: string;
  readonly review: {
    readonly apiVersion: string;
    readonly request: { readonly uid: string; readonly dryRun?: boolean };
  };
}

async function recordedReviews(): Promise<readonly Recorded[]> {
  const names = (await readdir(GOLDEN)).filter((name) => name.endsWith('.json'));
  return Promise.all(
    names.map(async (name) => JSON.parse(await readFile(new URL(name, GOLDEN), 'utf8')) as Recorded),
  );
}

/** Every webhook of the program, and two whose answers are known. */
function allWebhooks(): readonly Webhook[] {
  return [...webhooksWith({ policyWriters: policyWriters() }), ...namingWebhooks()];
}

interface Response {
  readonly uid: string;
  readonly allowed: boolean;
  readonly status?: { readonly code: number; readonly reason: string; readonly message: string };
}

async function responseTo(served: Served, path: string, review: object): Promise<[string, Response]> {
  const answer = await served.ask(`${path}?timeout=10s`, { body: review });
  expect(answer.status).toBe(200);
  const document = answer.json() as { kind: string; apiVersion: string; response: Response };
  expect(document).toMatchObject({ kind: 'AdmissionReview', apiVersion: 'admission.k8s.io/v1' });
  return [answer.text, document.response];
}

describe('recorded reviews over HTTPS', () => {
  it('are all there', async () => {
    const recorded = await recordedReviews();
    expect(recorded).toHaveLength(278);
    expect(recorded.every(({ review }) => review.apiVersion === 'admission.k8s.io/v1')).toBe(true);
  });

  it.each(allWebhooks().map(({ name, path }) => ({ name, path })))(
    'allows every one of people and controllers at $name, under its uid, and a dry-run as the real one',
    async ({ path }) => {
      const served = await serveWebhooks(allWebhooks());
      const wrong: unknown[] = [];
      for (const { id, review } of await recordedReviews()) {
        const { request } = review;
        const [text, response] = await responseTo(served, path, review);
        const flipped = { ...review, request: { ...request, dryRun: request.dryRun !== true } };
        const [flippedText] = await responseTo(served, path, flipped);
        if (response.uid !== request.uid || !response.allowed || flippedText !== text)
          wrong.push([id, response]);
      }
      expect(wrong).toEqual([]);
    },
  );

  it('denies every one that is renamed to what the rule denies, and a dry-run as the real one', async () => {
    const served = await serveWebhooks(allWebhooks());
    for (const { review } of await recordedReviews()) {
      const denied = { ...review, request: { ...review.request, name: 'denied' } };
      const [text, response] = await responseTo(served, '/validate/closed', denied);
      expect(response).toMatchObject({
        uid: review.request.uid,
        allowed: false,
        status: { code: 403, reason: 'Forbidden' },
      });
      const flipped = { ...denied, request: { ...denied.request, dryRun: review.request.dryRun !== true } };
      expect((await responseTo(served, '/validate/closed', flipped))[0]).toBe(text);
    }
  });
});
