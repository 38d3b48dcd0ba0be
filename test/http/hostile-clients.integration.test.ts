import { connect, type Socket } from 'node:net';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/clock.ts';
import { createListener, type Listener, type ListenerOptions } from '../../src/http/server.ts';
import { until } from '../support/conditions.ts';
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
  // Nothing that a client does is a fault of ours.
  if (errors.length > 0) throw new AggregateError(errors.splice(0));
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
    closeGraceMs: 100,
    onError: (error) => errors.push(error),
    ...options,
    timeouts: { checkEveryMs: 20, ...options.timeouts },
  });
  listener.app.post('/', (request) => ({ bytes: (request.body as Buffer).byteLength }));
  listener.app.get('/large', (_request, reply) => reply.send(Buffer.alloc(64 * 1024 * 1024)));
  open.push(listener);
  return { ...(await listener.listen()), listener };
}

const SLOW = [
  'HTTP/1.1 408 Request Timeout',
  'Content-Type: text/plain; charset=utf-8',
  'Content-Length: 96',
  'Connection: close',
  '',
  'request: the head or the body did not arrive in time: send it without pauses [GATE_REVIEW_SLOW]\n',
].join('\r\n');

/** Sends a byte now and then until the connection ends: a timeout for silence would not help. */
function trickle(socket: Socket, byte: string): void {
  const timer = setInterval(() => socket.write(byte), 10);
  socket.once('close', () => clearInterval(timer));
}

describe('a slow client', () => {
  it('is denied with 408 when its head does not end', async () => {
    const { port } = await serve({ timeouts: { headersMs: 100, requestMs: 60_000 } });
    const wire = await openTls(port, { ca: tls.ca });
    wire.socket.write('POST / HTTP/1.1\r\nHost: x\r\nX-Slow: ');
    trickle(wire.socket, 'a');
    expect(await wire.closed).toBe(SLOW);
  });

  it('is denied with 408 when its body does not end', async () => {
    const { port } = await serve({ timeouts: { headersMs: 100, requestMs: 150 } });
    const wire = await openTls(port, { ca: tls.ca });
    wire.socket.write('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\n{');
    trickle(wire.socket, ' ');
    expect(await wire.closed).toBe(SLOW);
  });

  it('is denied with 408 when a chunked body does not end', async () => {
    const { port } = await serve({ timeouts: { headersMs: 100, requestMs: 150 } });
    const wire = await openTls(port, { ca: tls.ca });
    wire.socket.write('POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n');
    trickle(wire.socket, '1\r\n \r\n');
    expect(await wire.closed).toBe(SLOW);
  });

  it('is closed without a word when it never begins its handshake', async () => {
    const { port, listener } = await serve({ timeouts: { handshakeMs: 100 } });
    const wire = await openPlain(port);
    expect(await wire.closed).toBe('');
    await until('the connection is gone', () => listener.connections() === 0);
    expect(listener.stats()).toEqual({ connections: 0, dropped: 0, failedHandshakes: 1 });
  });

  it('is closed when it goes away half-way and leaves its socket open', async () => {
    const { port, listener } = await serve({ timeouts: { headersMs: 100, requestMs: 150 } });
    const wire = await openTls(port, { ca: tls.ca });
    wire.socket.write('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{');
    // From here on this side neither reads nor writes.
    wire.socket.pause();
    await until('the connection is gone', () => listener.connections() === 0);
    expect(wire.received()).toBe('');
  });

  it('is closed when it never reads its answer', async () => {
    const { port, listener } = await serve({ timeouts: { stalledMs: 200 } });
    const wire = await openTls(port, { ca: tls.ca });
    wire.socket.pause();
    wire.socket.write('GET /large HTTP/1.1\r\nHost: x\r\n\r\n');
    await until('the request is there', () => listener.connections() === 1);
    await until('the connection is gone', () => listener.connections() === 0);
    expect(wire.received()).toBe('');
  });

  it('is closed when it sends one request after the other and never reads', async () => {
    const { port, listener } = await serve({ timeouts: { stalledMs: 200 } });
    const wire = await openTls(port, { ca: tls.ca });
    wire.socket.pause();
    const request = 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}';
    wire.socket.write(request.repeat(100_000));
    await until('the connection is gone', () => listener.connections() === 0);
    expect(wire.received()).toBe('');
  });
});

describe('a client that does not speak HTTP', () => {
  it.each([
    ['an unreadable request line', 'nonsense\r\n\r\n', '400 Bad Request', 'GATE_HTTP_MALFORMED'],
    [
      'both a length and chunks',
      'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
      '400 Bad Request',
      'GATE_HTTP_MALFORMED',
    ],
    [
      'a negative length',
      'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n',
      '400 Bad Request',
      'GATE_HTTP_MALFORMED',
    ],
    [
      'header fields of 20 KiB',
      `POST / HTTP/1.1\r\nHost: x\r\nX-Large: ${'a'.repeat(20 * 1024)}\r\n\r\n`,
      '431 Request Header Fields Too Large',
      'GATE_HTTP_HEADERS',
    ],
  ])('is denied for %s', async (_what, text, status, code) => {
    const { port } = await serve();
    const wire = await openTls(port, { ca: tls.ca });
    wire.socket.write(text);
    const answer = await wire.closed;
    expect(answer.split('\r\n', 1)[0]).toBe(`HTTP/1.1 ${status}`);
    expect(answer).toContain(` [${code}]\n`);
  });

  it('is denied with 400 for a path that cannot be decoded', async () => {
    const { url } = await serve();
    const answer = await ask(`${url}/%ZZ`, { ca: tls.ca });
    expect([answer.status, answer.refusal()]).toEqual([
      400,
      { code: 'GATE_HTTP_MALFORMED', message: 'request: cannot be read: check its path and header fields' },
    ]);
  });

  it('is denied with 415 for a media type that is none', async () => {
    const { url } = await serve();
    const answer = await ask(url, { body: '{}', headers: { 'content-type': ';;;' }, ca: tls.ca });
    expect([answer.status, answer.refusal()]).toEqual([
      415,
      { code: 'GATE_REVIEW_MEDIA_TYPE', message: 'content-type: not a media type: send application/json' },
    ]);
  });

  it('is closed after random bytes in the place of a handshake', async () => {
    const { port } = await serve();
    const wire = await openPlain(port);
    wire.socket.write(Buffer.alloc(4096, 0xa5));
    const answer = await wire.closed;
    // At most a TLS alert record (type 21), never HTTP.
    expect(['', '\u0015']).toContain(answer.slice(0, 1));
  });
});

describe('too many connections', () => {
  it('are dropped at once while established ones go on being answered', async () => {
    const { port, listener } = await serve({ maxConnections: 50, timeouts: { handshakeMs: 60_000 } });
    const established = await openTls(port, { ca: tls.ca });
    const sockets: Socket[] = [];
    let closed = 0;
    const answers = (): number => established.received().split('{"bytes":2}').length - 1;
    for (let batch = 1; batch <= 10; batch++) {
      // As fast as a loader can without running out of its own file descriptors.
      for (let count = 0; count < 500; count++) {
        const socket = connect({ host: '127.0.0.1', port });
        socket.on('error', () => undefined);
        socket.once('close', () => closed++);
        sockets.push(socket);
      }
      await until('the surplus is closed', () => closed >= sockets.length - 49);
      expect(listener.connections()).toBe(50);
      established.socket.write('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}');
      await until('the established one is answered', () => answers() === batch);
    }
    expect(listener.stats()).toMatchObject({ connections: 50, dropped: 4_951 });
    for (const socket of sockets) socket.destroy();
    established.socket.destroy();
    await until('all are gone', () => listener.connections() === 0);
    expect((await ask(`https://127.0.0.1:${String(port)}/`, { body: '{}', ca: tls.ca })).status).toBe(200);
  });
});
