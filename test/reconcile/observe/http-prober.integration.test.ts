import { once } from 'node:events';
import { createServer as createHttpServer, type RequestListener } from 'node:http';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/clock.ts';
import { probePath } from '../../../src/reconcile/observe/capability-port.ts';
import { createHttpProber } from '../../../src/reconcile/observe/http-prober.ts';
import type { HttpAnswer, ProbeTarget } from '../../../src/reconcile/observe/prober.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { until } from '../../support/until.ts';

const servers: Server[] = [];
const sockets = new Set<Socket>();

afterEach(() => {
  for (const socket of sockets) socket.destroy();
  for (const server of servers.splice(0)) server.close();
});

async function listen(server: Server): Promise<number> {
  servers.push(server);
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', () => undefined);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

const http = (handler: RequestListener): Promise<number> => listen(createHttpServer(handler));
const raw = (handler: (socket: Socket) => void): Promise<number> => listen(createServer(handler));
const prober = (clock = systemClock): ReturnType<typeof createHttpProber> =>
  createHttpProber({ clock, resolve: ({ port }) => ({ host: '127.0.0.1', port }) });
const target = (port: number, namespace = 'shop'): ProbeTarget => ({ service: 'web', namespace, port });
const never = (): AbortSignal => new AbortController().signal;

async function get(port: number, path = '/healthz'): Promise<HttpAnswer> {
  return await prober().get(target(port), path, never());
}

function textOf(answer: HttpAnswer): string {
  return answer.answered ? Buffer.from(answer.body).toString() : answer.reason;
}

describe('a question over HTTP', () => {
  it('gives status, type and body, asks by GET without anything secret, and closes its connection', async () => {
    const seen: unknown[] = [];
    const port = await http((request, response) => {
      const { method, url, headers } = request;
      seen.push([method, url, headers['connection'], headers['authorization'], headers['cookie']]);
      response.setHeader('content-type', 'text/plain; version=0.0.4').end('up 1\n');
    });
    const answer = await get(port, '/q?x=1');
    expect(answer).toMatchObject({ answered: true, status: 200, contentType: 'text/plain; version=0.0.4' });
    expect(textOf(answer)).toBe('up 1\n');
    expect(seen).toEqual([['GET', '/q?x=1', 'close', undefined, undefined]]);
    await until('all connections are closed', () => sockets.size === 0);
  });

  it('is to the name of the Service and to no other, whatever a path says', async () => {
    const names: string[] = [];
    const paths: (string | undefined)[] = [];
    const port = await http((request, response) => {
      paths.push(request.url);
      response.end();
    });
    const named = createHttpProber({
      clock: systemClock,
      resolve: ({ service, namespace, port: of }) => {
        names.push(`${service}.${namespace}.svc:${String(of)}`);
        return { host: '127.0.0.1', port };
      },
    });
    const written = [
      'http://evil.test/',
      '//evil.test/x',
      '@evil.test',
      '/a b#c',
      '/ü\r\nhost: evil.test',
      '/a%20b',
    ];
    for (const path of written) {
      expect(await named.get(target(80), probePath(path), never())).toMatchObject({ status: 200 });
    }
    expect(new Set(names)).toEqual(new Set(['web.shop.svc:80']));
    expect(paths).toEqual([
      '/http://evil.test/',
      '//evil.test/x',
      '/@evil.test',
      '/a%20b%23c',
      '/%C3%BC%0D%0Ahost:%20evil.test',
      '/a%20b',
    ]);
  });

  it.each([204, 301, 302, 304, 401, 404, 500, 503])(
    'takes %i as it is, and follows nowhere',
    async (status) => {
      let asked = 0;
      const port = await http((_request, response) => {
        asked += 1;
        response.writeHead(status, { location: '/elsewhere' }).end();
      });
      expect(await get(port)).toMatchObject({ answered: true, status });
      expect(asked).toBe(1);
    },
  );

  it('reads no more than 4,096 bytes of a body that never ends', async () => {
    const port = await http((_request, response) => {
      response.on('error', () => undefined);
      const more = (): void => {
        while (!response.destroyed && response.write('x'.repeat(1_000)));
        if (!response.destroyed) response.once('drain', more);
      };
      more();
    });
    const answer = await get(port);
    expect(answer.answered && answer.body.length).toBe(4_096);
    await until('all connections are closed', () => sockets.size === 0);
  });

  it('takes what came of a body that breaks off', async () => {
    const port = await raw((socket) => {
      socket.once('data', () => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nup 1\n'));
    });
    expect(textOf(await get(port))).toBe('up 1\n');
  });

  it.each<[string, (socket: Socket) => void]>([
    ['hangs up', (socket) => socket.destroy()],
    ['says something else', (socket) => socket.end('220 mail.test ESMTP\r\n')],
    ['sends a head without end', (socket) => socket.write(`HTTP/1.1 200 OK\r\nx: ${'y'.repeat(40_000)}`)],
    [
      'switches protocols unasked',
      (socket) =>
        socket.write('HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n'),
    ],
  ])('has no answer from a server that %s', async (_what, handler) => {
    const port = await raw((socket) => void socket.once('data', () => handler(socket)));
    expect(await get(port)).toMatchObject({ answered: false });
  });

  it('has no answer where nobody listens', async () => {
    const port = await http(() => undefined);
    servers.splice(0).forEach((server) => server.close());
    expect(await get(port)).toMatchObject({ answered: false });
  });

  it('goes past proxies of the environment', async () => {
    const port = await http((_request, response) => void response.end('direct'));
    const names = ['http_proxy', 'HTTP_PROXY', 'all_proxy', 'NODE_USE_ENV_PROXY'];
    const before = names.map((name) => process.env[name]);
    for (const name of names) process.env[name] = name === 'NODE_USE_ENV_PROXY' ? '1' : 'http://127.0.0.1:9';
    try {
      expect(textOf(await get(port))).toBe('direct');
    } finally {
      names.forEach((name, index) => {
        const value = before[index];
        if (value === undefined) delete process.env[name];
        else process.env[name] = value;
      });
    }
  });
});

describe('a question that nobody answers', () => {
  it('ends after five seconds, and is told from one that was given up', async () => {
    const clock = new FakeClock();
    const port = await raw((socket) => void socket.resume());
    const asked = prober(clock);
    const silent = asked.get(target(port), '/', never());
    await until('it is connected', () => sockets.size === 1);
    await clock.advance(4_999);
    expect(sockets.size).toBe(1);
    await clock.advance(1);
    expect(await silent).toEqual({ answered: false, reason: 'no answer within 5000 ms' });

    const control = new AbortController();
    const questions = [
      asked.get(target(port), '/', control.signal),
      asked.protocols(target(port), control.signal),
    ].map((question) => expect(question).rejects.toThrow('given up'));
    await until('all are connected', () => sockets.size >= 3);
    control.abort(new Error('given up'));
    await Promise.all(questions);
    await until('all connections are closed', () => sockets.size === 0);
    expect(clock.waiting).toBe(0);
  });

  it('holds up nobody in another namespace, however many there are', async () => {
    const clock = new FakeClock();
    const silentPort = await raw((socket) => void socket.resume());
    const port = await http((_request, response) => void response.end('here'));
    const asked = prober(clock);
    const silent = Array.from({ length: 200 }, () => asked.get(target(silentPort, 'slow'), '/', never()));
    await until('half of all turns are taken', () => sockets.size === 32);
    expect(textOf(await asked.get(target(port), '/', never()))).toBe('here');

    const control = new AbortController();
    const waiting = asked.get(target(silentPort, 'slow'), '/', control.signal);
    control.abort(new Error('given up'));
    await expect(waiting).rejects.toThrow('given up');

    await asked.close();
    expect((await Promise.all(silent)).filter(({ answered }) => answered)).toEqual([]);
    expect(clock.waiting).toBe(0);
  });
});
