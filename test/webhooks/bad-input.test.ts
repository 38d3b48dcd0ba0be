import { describe, expect, it } from 'vitest';

import { GOOD_UID, namingWebhooks, requestOf } from './bad-input/case.ts';
import { badInputCases } from './bad-input/cases.ts';
import { edgeOf } from './edge-parts.ts';

describe('bad input at the edge', () => {
  const cases = badInputCases();

  it.each(cases.filter((c) => c.refused !== undefined))('refuses $name', async (badInput) => {
    const { edge, lines, refusals, decisions } = edgeOf(namingWebhooks());
    const answer = await edge.answer({ ...requestOf(badInput), receivedMs: 0 });
    const { status, code, message } = badInput.refused!;
    expect(answer).toMatchObject({
      status,
      headers: { 'content-type': 'text/plain; charset=utf-8' },
      body: `${message} [${code}]\n`,
    });
    expect(refusals).toEqual([code]);
    expect(decisions).toEqual([]);
    expect(lines).toHaveLength(1);
    expect(JSON.parse(lines[0]!)).toMatchObject({
      level: 'warn',
      message: 'admission request refused',
      code,
    });
  });

  it.each(cases.filter((c) => c.response !== undefined))('answers $name with a review', async (badInput) => {
    const { edge, lines, refusals } = edgeOf(namingWebhooks());
    const answer = await edge.answer({ ...requestOf(badInput), receivedMs: 0 });
    expect(answer.status).toBe(200);
    expect(answer.headers).toEqual({ 'content-type': 'application/json' });
    const document = JSON.parse(answer.body) as { response: { uid: string } };
    const { uid, ...response } = document.response;
    expect(document).toMatchObject({
      kind: 'AdmissionReview',
      apiVersion: badInput.apiVersion ?? 'admission.k8s.io/v1',
    });
    expect(uid).toBe((JSON.parse(Buffer.from(requestOf(badInput).body).toString()) as AnyReview).request.uid);
    expect(response).toEqual(badInput.response);
    expect(refusals).toEqual([]);
    expect(lines).toHaveLength(1);
    // One line, whatever the names in it are, and nothing in it that moves a cursor or turns the text around.
    expect(lines[0]).toMatch(/^[^\p{Cc}\u200b-\u200f\u2028-\u202e\u2060-\u2069]+\n$/u);
  });

  it('has no case without an answer, and none with two', () => {
    const odd = cases.filter((c) => (c.refused === undefined) === (c.response === undefined));
    expect(odd.map((c) => c.name)).toEqual([]);
    expect(new Set(cases.map((c) => c.name)).size).toBe(cases.length);
    expect(GOOD_UID).toMatch(/^[0-9a-f-]{36}$/);
  });
});

interface AnyReview {
  readonly request: { readonly uid: string };
}
