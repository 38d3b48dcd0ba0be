/** Events as Flux sent them (test/golden/flux-events): each is read, and a signature is taken for what it is. */
import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

import { fluxHints } from '../../../src/reconcile/http/event-bodies.ts';
import { isSigned } from '../../../src/reconcile/http/event-senders.ts';

interface Recorded {
  readonly id: string;
  readonly note: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

const GOLDEN = new URL('../../golden/flux-events/', import.meta.url);
const recorded = readdirSync(GOLDEN)
  .filter((name) => name.endsWith('.json'))
  .map((name) => JSON.parse(readFileSync(new URL(name, GOLDEN), 'utf8')) as Recorded);

const lowered = ({ headers }: Recorded): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));

describe('recorded events of Flux', () => {
  it('are all there', () => {
    expect(recorded).toHaveLength(115);
  });

  it('name each the object that they are about', () => {
    const nameless = recorded.filter(({ body }) => fluxHints(JSON.parse(body)).length === 0);
    expect(nameless.map(({ id }) => id)).toEqual([]);
  });

  const signed = recorded.filter((event) => 'x-signature' in lowered(event));

  it('are proved by their signature, and by no other key or body', () => {
    expect(signed.length).toBeGreaterThan(0);
    const wrong = signed.filter((event) => {
      const key = /HMAC key: (\S+)$/.exec(event.note)?.[1] ?? '';
      const sent = { headers: lowered(event), body: Buffer.from(event.body) };
      const other = { ...sent, body: Buffer.from(`${event.body} `) };
      return !isSigned(sent, () => key) || isSigned(sent, () => `${key}x`) || isSigned(other, () => key);
    });
    expect(wrong.map(({ id }) => id)).toEqual([]);
  });
});
