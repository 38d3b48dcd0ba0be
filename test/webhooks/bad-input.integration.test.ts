import { describe, expect, it } from 'vitest';

import { namingWebhooks, requestOf, type BadInputCase } from './bad-input/case.ts';
import { badInputCases } from './bad-input/cases.ts';
import { serveWebhooks, type Served } from './served.ts';

async function send(served: Served, badInput: BadInputCase): ReturnType<Served['ask']> {
  const { method, path, query, headers, body } = requestOf(badInput);
  return served.ask(`${path}?${query}`, { method, headers, body: Buffer.from(body) });
}

describe('bad input over HTTPS', () => {
  const cases = badInputCases();

  it.each(cases.filter((c) => c.refused !== undefined))('refuses $name', async (badInput) => {
    const answer = await send(await serveWebhooks(namingWebhooks()), badInput);
    const { status, code, message } = badInput.refused!;
    expect(answer.status).toBe(status);
    // A listener that answers before the edge is asked has words of its own, and the same code.
    expect(answer.text).toContain(badInput.listenerAnswers === true ? code : `${message} [${code}]\n`);
  });

  it.each(cases.filter((c) => c.response !== undefined))('answers $name with a review', async (badInput) => {
    const answer = await send(await serveWebhooks(namingWebhooks()), badInput);
    expect(answer.status).toBe(200);
    expect(answer.headers['content-type']).toMatch(/^application\/json\b/);
    const { uid, ...response } = (answer.json() as { response: { uid: string } }).response;
    expect(uid).not.toBe('');
    expect(response).toEqual(badInput.response);
  });
});
