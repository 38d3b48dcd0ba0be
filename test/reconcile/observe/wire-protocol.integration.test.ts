import { once } from 'node:events';
import { createServer as createHttpServer, type RequestListener } from 'node:http';
import { createServer as createHttp2Server, type Http2Server, type ServerHttp2Stream } from 'node:http2';
import { createServer as createHttpsServer } from 'node:https';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { afterEach, describe, expect, it } from 'vitest';
import { speaks } from '../../../src/reconcile/observe/wire-protocol.ts';
import { testTls } from '../../support/tls.ts';

const servers: (Server | Http2Server)[] = [];
const sockets = new Set<Socket>();

afterEach(() => {
  for (const socket of sockets) socket.destroy();
  sockets.clear();
  for (const server of servers.splice(0)) server.close();
});

async function listen(server: Server | Http2Server): Promise<number> {
  servers.push(server);
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
  });
  server.on('sessionError', () => undefined);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

const ask = (port: number, limitMs = 5_000): Promise<readonly string[]> =>
  speaks({ host: '127.0.0.1', port }, AbortSignal.timeout(limitMs));
const raw = (handler: (socket: Socket) => void): Server => createServer(handler);
/** Answers the first words of a client. */
const answering = (words: string | Buffer): Server =>
  raw((socket) => void socket.once('data', () => socket.write(words)));
const http = (handler: RequestListener): Server => createHttpServer(handler);
const http2 = (headers: Record<string, string | number>): Http2Server =>
  createHttp2Server().on('stream', (stream: ServerHttp2Stream) => {
    stream.on('error', () => undefined);
    stream.respond(headers, { endStream: true });
  });
const GRPC = { ':status': 200, 'content-type': 'application/grpc', 'grpc-status': '12' };
const PAGE = { ':status': 200, 'content-type': 'text/html' };
/** Of a proxy, or of a router in front of one gRPC service: what is behind it nobody can tell. */
const NO_PAGE = { ':status': 404, 'content-type': 'text/html' };

const PREFACE_BYTES = 24;
const HEADERS = 1;

/** Whether headers are among the frames behind the preface. */
function hasHeaders(said: Buffer): boolean {
  for (let at = PREFACE_BYTES; at + 9 <= said.length; at += 9 + said.readUIntBE(at, 3)) {
    if (said[at + 3] === HEADERS) return true;
  }
  return false;
}

/** Hands each connection to a server by its first words, as cmux does. */
function both(http1Port: number, http2Port: number, isEnough: (said: Buffer) => boolean): Server {
  return raw((socket) => {
    let said = Buffer.alloc(0);
    const onData = (piece: Buffer): void => {
      said = Buffer.concat([said, piece]);
      const isHttp2 = said.toString('latin1').startsWith('PRI *');
      if (isHttp2 && !isEnough(said)) return;
      socket.off('data', onData);
      const behind = connect(isHttp2 ? http2Port : http1Port, '127.0.0.1');
      behind.on('error', () => socket.destroy());
      socket.on('error', () => behind.destroy());
      behind.write(said);
      socket.pipe(behind).pipe(socket);
    };
    socket.on('data', onData);
  });
}

describe('a port that speaks for certain', () => {
  it.each([
    ['HTTP/1.1', http((_request, response) => void response.end('ok')), ['http']],
    [
      'HTTP/1.1, and does not know the page',
      http((_request, response) => void response.writeHead(404).end()),
      ['http'],
    ],
    ['HTTP/1.1, and is broken', http((_request, response) => void response.writeHead(500).end()), ['http']],
    [
      'HTTP/1.1, and leads elsewhere',
      http((_request, response) => void response.writeHead(301).end()),
      ['http'],
    ],
    [
      'HTTP/1.1, and hangs up on all else',
      raw(
        (socket) =>
          void socket.once('data', (first: Buffer) =>
            socket.end(first.toString('latin1').startsWith('GET ') ? 'HTTP/1.1 200 OK\r\n\r\n' : ''),
          ),
      ),
      ['http'],
    ],
    [
      'HTTP/1.1, and answers all else with a page without a head',
      raw(
        (socket) =>
          void socket.once('data', (first: Buffer) =>
            socket.end(
              first.toString('latin1').startsWith('GET ')
                ? 'HTTP/1.0 404 None\r\n\r\n'
                : '<!DOCTYPE html>505',
            ),
          ),
      ),
      ['http'],
    ],
    ['HTTP/2', http2(PAGE), ['http']],
    ['gRPC', http2(GRPC), ['grpc']],
    [
      'gRPC, by its type alone',
      http2({ ':status': 200, 'content-type': 'application/grpc+proto' }),
      ['grpc'],
    ],
    ['mail', raw((socket) => void socket.write('220 mail.test ESMTP\r\n')), ['other']],
    ['SSH', raw((socket) => void socket.write('SSH-2.0-OpenSSH_9.6\r\n')), ['other']],
    ['Redis', answering("-ERR unknown command 'PRI'\r\n"), ['other']],
    [
      'MySQL',
      raw((socket) => void socket.write('J\u0000\u0000\u0000\u000a8.0.36\u0000', 'latin1')),
      ['other'],
    ],
  ])('%s', async (_what, server, wanted) => {
    expect(await ask(await listen(server))).toEqual(wanted);
  });

  it.each([
    ['as soon as it is offered', () => true],
    ['once it has seen the headers of a call', hasHeaders],
  ])('both gRPC, %s, and HTTP/1.1', async (_when, isEnough) => {
    const plain = await listen(http((_request, response) => void response.end('ok')));
    const grpc = await listen(http2(GRPC));
    expect(await ask(await listen(both(plain, grpc, isEnough)))).toEqual(['grpc', 'http']);
  });

  it('HTTP, byte by byte', async () => {
    const server = raw((socket) => {
      const words = 'HTTP/1.1 200 OK\r\n\r\n'.split('');
      const next = (): void => {
        const word = words.shift();
        if (word !== undefined && !socket.destroyed) socket.write(word, () => setImmediate(next));
      };
      socket.once('data', next);
    });
    expect(await ask(await listen(server))).toEqual(['http']);
  });
});

describe('a port of which nothing is certain', () => {
  it.each<[string, (pair: { cert: string; key: string }) => Server | Http2Server]>([
    ['HTTP/2 that knows no such path', () => http2(NO_PAGE)],
    ['TLS', (pair) => createTlsServer(pair)],
    ['HTTPS', (pair) => createHttpsServer(pair, (_request, response) => void response.end('ok'))],
    [
      'TLS that complains over HTTP to whoever speaks plainly',
      (pair) => {
        const tls = createTlsServer(pair);
        tls.on('tlsClientError', () => undefined);
        return raw(
          (socket) =>
            void socket.once('data', (first: Buffer) => {
              if (first[0] !== 0x16) {
                socket.end(
                  'HTTP/1.0 400 Bad Request\r\n\r\nClient sent an HTTP request to an HTTPS server.\n',
                );
                return;
              }
              socket.pause();
              socket.unshift(first);
              tls.emit('connection', socket);
            }),
        );
      },
    ],
    ['bytes of nobody', () => answering(Buffer.alloc(600, 7))],
    ['a few bytes, and the end', () => raw((socket) => void socket.end('hi'))],
    ['nothing, and the end', () => raw((socket) => void socket.end())],
    ['HTTP/2 that asks who is there', () => http2({ ':status': 401 })],
    ['HTTP/2 that is broken', () => http2({ ':status': 503 })],
    [
      'HTTP/2 that hangs up',
      () => createHttp2Server().on('stream', (stream: ServerHttp2Stream) => stream.session?.destroy()),
    ],
    ['settings, and nothing more', () => answering(Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0, 1, 2, 3]))],
  ])('%s', async (_what, server) => {
    const { certPem: cert, keyPem: key } = (await testTls()).pair;
    expect(await ask(await listen(server({ cert, key })), 1_500)).toEqual([]);
  });

  it('one that is silent, to all or to the offer of HTTP/2 alone', async () => {
    expect(await ask(await listen(raw(() => undefined)), 200)).toEqual([]);
    const half = raw(
      (socket) =>
        void socket.once('data', (first: Buffer) => {
          if (first.toString('latin1').startsWith('GET ')) socket.end('HTTP/1.1 200 OK\r\n\r\n');
        }),
    );
    expect(await ask(await listen(half), 500)).toEqual([]);
  });

  it('one where nobody listens, or that is asked too late', async () => {
    const port = await listen(raw(() => undefined));
    servers.splice(0).forEach((server) => server.close());
    expect(await ask(port)).toEqual([]);
    const late = await listen(http((_request, response) => void response.end('ok')));
    expect(await speaks({ host: '127.0.0.1', port: late }, AbortSignal.abort())).toEqual([]);
  });
});
