/** Whatever a listener answers by itself is told: no refusal is silent. */
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/clock.ts';
import { GateError } from '../../src/errors.ts';
import { guardRequests } from '../../src/http/callers.ts';
import { limitBodies } from '../../src/http/limit-bodies.ts';
import { createLimits } from '../../src/http/limits.ts';
import type { Refusal } from '../../src/http/refusals.ts';
import { createListener, type Listener } from '../../src/http/server.ts';
import { until } from '../support/conditions.ts';
import { ask, openPlain, openTls } from '../support/http-client.ts';
import { testTls, type TestTls } from '../support/tls.ts';

const MIB = 1024 * 1024;

let tls: TestTls;
const open: Listener[] = [];

beforeAll(async () => {
  tls = await testTls();
});
afterEach(async () => {
  await Promise.all(open.splice(0).map((listener) => listener.close()));
});

interface Served {
  readonly url: string;
  readonly port: number;
  readonly refusals: Refusal[];
}

/** `/` answers, `/broken` throws; who sends `Authorization` is refused by the error of that code. */
async function serve(): Promise<Served> {
  const refusals: Refusal[] = [];
  const listener = await createListener({
    name: 'test',
    host: '127.0.0.1',
    port: 0,
    tls: tls.source,
    clock: systemClock,
    closeGraceMs: 100,
    timeouts: { headersMs: 1_000, requestMs: 2_000, checkEveryMs: 20 },
    onError: () => undefined,
    onRefusal: ({ status, code }) => void refusals.push({ status, code }),
  });
  guardRequests(listener.app, (authorization) =>
    authorization === undefined
      ? Promise.resolve()
      : Promise.reject(new GateError(authorization as GateError['code'], 'no')),
  );
  limitBodies(listener.app, createLimits({ maxBytesInFlight: 16 * MIB, maxQueued: 0 }), {
    clock: systemClock,
  });
  listener.app.post('/', () => ({}));
  listener.app.post('/broken', () => {
    throw new Error('broken');
  });
  open.push(listener);
  return { ...(await listener.listen()), refusals };
}

async function raw(served: Served, text: string, plain = false): Promise<number> {
  const wire = plain ? await openPlain(served.port) : await openTls(served.port, { ca: tls.ca });
  wire.socket.write(text);
  return Number(/^HTTP\/1\.1 (\d+)/.exec(await wire.closed)?.[1]);
}

async function by(served: Served, authorization: string): Promise<number> {
  return (await ask(served.url, { body: '{}', headers: { authorization }, ca: tls.ca })).status;
}

const REFUSED: readonly (readonly [string, number, string, (served: Served) => Promise<number>])[] = [
  [
    'a path that is not served',
    404,
    'GATE_HTTP_NOT_FOUND',
    async ({ url }) => (await ask(`${url}/other`, { body: '{}', ca: tls.ca })).status,
  ],
  [
    'a method that is not served',
    405,
    'GATE_HTTP_METHOD',
    async ({ url }) => (await ask(url, { method: 'PUT', body: '{}', ca: tls.ca })).status,
  ],
  [
    'a path that cannot be decoded',
    400,
    'GATE_HTTP_MALFORMED',
    async ({ url }) => (await ask(`${url}/%ZZ`, { ca: tls.ca })).status,
  ],
  ['what is no HTTP', 400, 'GATE_HTTP_MALFORMED', (served) => raw(served, 'nonsense\r\n\r\n')],
  [
    'a request without a host',
    400,
    'GATE_HTTP_MALFORMED',
    (served) => raw(served, 'POST / HTTP/1.1\r\nConnection: close\r\n\r\n'),
  ],
  [
    'plain HTTP',
    400,
    'GATE_HTTP_NOT_TLS',
    (served) => raw(served, 'POST / HTTP/1.1\r\nHost: x\r\n\r\n', true),
  ],
  [
    'large header fields',
    431,
    'GATE_HTTP_HEADERS',
    (served) => raw(served, `POST / HTTP/1.1\r\nHost: x\r\nX-Large: ${'a'.repeat(20 * 1024)}\r\n\r\n`),
  ],
  ['a slow head', 408, 'GATE_REVIEW_SLOW', (served) => raw(served, 'POST / HTTP/1.1\r\nHost: x\r\nX-Slow: ')],
  [
    'a slow body',
    408,
    'GATE_REVIEW_SLOW',
    (served) => raw(served, 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n{'),
  ],
  [
    'a body that is too large',
    413,
    'GATE_REVIEW_TOO_LARGE',
    (served) => raw(served, `POST / HTTP/1.1\r\nHost: x\r\nContent-Length: ${String(9 * MIB)}\r\n\r\n{`),
  ],
  [
    'a chunked body that is too large',
    413,
    'GATE_REVIEW_TOO_LARGE',
    async ({ url }) =>
      (await ask(url, { body: Buffer.alloc(8 * MIB + 1), chunked: true, ca: tls.ca })).status,
  ],
  [
    'a media type that is none',
    415,
    'GATE_REVIEW_MEDIA_TYPE',
    async ({ url }) =>
      (await ask(url, { body: '{}', headers: { 'content-type': ';;;' }, ca: tls.ca })).status,
  ],
  [
    'a body without room',
    429,
    'GATE_OVERLOADED',
    async (served) => {
      const first = await openTls(served.port, { ca: tls.ca });
      first.socket.write(`POST / HTTP/1.1\r\nHost: x\r\nContent-Length: ${String(8 * MIB)}\r\n\r\n{`);
      let status = 200;
      await until('the room is taken', async () => {
        ({ status } = await ask(served.url, { body: Buffer.alloc(MIB), ca: tls.ca }));
        return status !== 200;
      });
      return status;
    },
  ],
  [
    'an unknown caller',
    401,
    'GATE_CALLER_UNAUTHENTICATED',
    (served) => by(served, 'GATE_CALLER_UNAUTHENTICATED'),
  ],
  [
    'a caller who may not call',
    403,
    'GATE_CALLER_FORBIDDEN',
    (served) => by(served, 'GATE_CALLER_FORBIDDEN'),
  ],
  [
    'a caller of whom nobody knows',
    503,
    'GATE_CALLER_UNVERIFIED',
    (served) => by(served, 'GATE_CALLER_UNVERIFIED'),
  ],
  [
    'a fault of our own',
    500,
    'GATE_INTERNAL',
    async ({ url }) => (await ask(`${url}/broken`, { body: '{}', ca: tls.ca })).status,
  ],
];

describe('a listener', () => {
  it.each(REFUSED)('tells that it refused %s', async (_what, status, code, send) => {
    const served = await serve();
    expect(await send(served)).toBe(status);
    await until('it is told', () => served.refusals.length > 0);
    // Once and no more, whatever still happens to the connection.
    await Promise.all(open.splice(0).map((listener) => listener.close()));
    expect(served.refusals).toEqual([{ status, code }]);
  });

  it('tells nothing of what it serves, an expectation that it does not know included', async () => {
    const served = await serve();
    for (const headers of [{}, { expect: '200-maybe' }]) {
      expect((await ask(served.url, { body: '{}', headers, ca: tls.ca })).status).toBe(200);
    }
    expect(served.refusals).toEqual([]);
  });
});
