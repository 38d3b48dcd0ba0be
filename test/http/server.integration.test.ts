import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/clock.ts';
import { createListener, type Listener, type ListenerOptions } from '../../src/http/server.ts';
import { ask, openPlain, openTls } from '../support/http-client.ts';
import { testTls, type TestTls } from '../support/tls.ts';

let tls: TestTls;
const open: Listener[] = [];
const errors: unknown[] = [];

beforeAll(async () => {
  tls = await testTls();
});
afterEach(async () => {
  await Promise.all(open.splice(0).map((listener) => listener.close()));
  errors.length = 0;
});

async function serve(
  options: Partial<ListenerOptions> = {},
): Promise<{ url: string; port: number; listener: Listener }> {
  const listener = await createListener({
    name: 'test',
    host: '127.0.0.1',
    port: 0,
    tls: tls.source,
    clock: systemClock,
    closeGraceMs: 200,
    onError: (error) => errors.push(error),
    ...options,
  });
  listener.app.post('/echo', (request, reply) => {
    const body = request.body as Buffer | undefined;
    return reply.send({ bytes: body?.byteLength ?? 0, buffer: Buffer.isBuffer(body) });
  });
  listener.app.get('/fault', () => {
    throw new Error('with a secret');
  });
  open.push(listener);
  return { ...(await listener.listen()), listener };
}

describe('a listener', () => {
  it('hands a body of any media type to the handler as bytes, with and without a length', async () => {
    const { url } = await serve();
    for (const type of ['application/json', 'text/plain', 'application/x-made-up', undefined]) {
      for (const chunked of [false, true]) {
        const headers = type === undefined ? {} : { 'content-type': type };
        const answer = await ask(`${url}/echo`, { body: '{"__proto__":1}', chunked, ca: tls.ca, headers });
        expect([answer.status, answer.json()]).toEqual([200, { bytes: 15, buffer: true }]);
      }
    }
  });

  it('answers 404 and 405 without reading a body', async () => {
    const { url } = await serve();
    const unknown = await ask(`${url}/nowhere?a=b`, { body: Buffer.alloc(1_000_000), ca: tls.ca });
    expect([unknown.status, unknown.refusal()]).toEqual([
      404,
      { code: 'GATE_HTTP_NOT_FOUND', message: '"/nowhere": nothing is served here' },
    ]);
    const method = await ask(`${url}/echo`, { method: 'PUT', body: 'x', ca: tls.ca });
    expect([method.status, method.headers.allow, method.refusal()]).toEqual([
      405,
      'POST',
      { code: 'GATE_HTTP_METHOD', message: '"/echo": "PUT" is not served here: use POST' },
    ]);
  });

  it('answers 500 without the cause when a handler fails, and reports the cause', async () => {
    const { url } = await serve();
    const answer = await ask(`${url}/fault`, { ca: tls.ca });
    expect([answer.status, answer.refusal()]).toEqual([
      500,
      { code: 'GATE_INTERNAL', message: 'internal error: see the log of pacto-gate' },
    ]);
    expect(errors).toEqual([new Error('with a secret')]);
  });

  it('denies a body of one byte too many with 413, with and without a length', async () => {
    const { url } = await serve();
    const limit = 8 * 1024 * 1024;
    for (const chunked of [false, true]) {
      const taken = await ask(`${url}/echo`, { body: Buffer.alloc(limit), chunked, ca: tls.ca });
      expect(taken.json()).toEqual({ bytes: limit, buffer: true });
      const refused = await ask(`${url}/echo`, { body: Buffer.alloc(limit + 1), chunked, ca: tls.ca });
      expect([refused.status, refused.headers.connection, refused.refusal()]).toEqual([
        413,
        'close',
        {
          code: 'GATE_REVIEW_TOO_LARGE',
          message: 'request body: more than 8388608 bytes: send a smaller one',
        },
      ]);
    }
  });

  it('says which listener cannot listen, and where', async () => {
    const { port } = await serve();
    await expect(serve({ port })).rejects.toMatchObject({
      code: 'GATE_CONFIG_INVALID',
      message: `listener test: cannot listen on 127.0.0.1:${String(port)}: the port is taken, perhaps by a pacto-gate that still runs: choose another, 0 takes any free one`,
    });
  });

  it('denies plain HTTP on the TLS port with 400 in plain HTTP', async () => {
    const { port } = await serve();
    const wire = await openPlain(port);
    wire.socket.write('POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}');
    expect(await wire.closed).toBe(
      [
        'HTTP/1.1 400 Bad Request',
        'Content-Type: text/plain; charset=utf-8',
        'Content-Length: 68',
        'Connection: close',
        '',
        'request: plain HTTP on an HTTPS port: use https [GATE_HTTP_NOT_TLS]\n',
      ].join('\r\n'),
    );
  });

  it('denies TLS 1.1 in the handshake', async () => {
    const { port } = await serve();
    await expect(
      openTls(port, {
        minVersion: 'TLSv1.1',
        maxVersion: 'TLSv1.1',
        ciphers: 'DEFAULT@SECLEVEL=0',
        ca: tls.ca,
      }),
    ).rejects.toMatchObject({ code: 'ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION' });
  });
});
