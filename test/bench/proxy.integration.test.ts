import { once } from 'node:events';
import { createServer as createHttpServer, type Server as HttpServer } from 'node:http';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';

import { ReadinessProxy, type Backend } from './proxy.ts';

const SEEN_MS = 10_000;

/** Says its name to every line it gets, and is as ready as it is told to be. */
class TestBackend implements Backend {
  readonly name: string;
  isReady = true;
  readonly server: Server;
  private readonly probes: HttpServer;
  private readonly sockets = new Set<Socket>();

  constructor(name: string) {
    this.name = name;
    this.server = createServer((socket) => {
      this.sockets.add(socket);
      socket.on('error', () => undefined);
      socket.on('data', (data) => socket.write(`${name}:${data.toString()}`));
    });
    this.probes = createHttpServer((_, response) => {
      response.statusCode = this.isReady ? 200 : 503;
      response.end();
    });
  }

  async listen(): Promise<this> {
    for (const server of [this.server, this.probes]) {
      server.listen(0, '127.0.0.1');
      await once(server, 'listening');
    }
    return this;
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  get readyUrl(): string {
    return `http://127.0.0.1:${(this.probes.address() as AddressInfo).port}/readyz`;
  }

  resetAll(): void {
    for (const socket of this.sockets) socket.resetAndDestroy();
  }

  close(): void {
    this.resetAll();
    this.server.close();
    this.probes.closeAllConnections();
    this.probes.close();
  }
}

let proxy: ReadinessProxy;
let a: TestBackend;
let b: TestBackend;

beforeEach(async () => {
  proxy = await ReadinessProxy.start();
  a = await new TestBackend('a').listen();
  b = await new TestBackend('b').listen();
  for (const backend of [a, b]) proxy.add(backend);
  for (const backend of [a, b]) await proxy.seen(backend, true, SEEN_MS);
});

afterEach(async () => {
  a.close();
  b.close();
  await proxy.close();
});

async function dial(): Promise<Socket> {
  const socket = connect(proxy.port, '127.0.0.1');
  await once(socket, 'connect');
  return socket;
}

async function ask(socket: Socket, word: string): Promise<string> {
  socket.write(word);
  const [data] = (await once(socket, 'data')) as [Buffer];
  return data.toString();
}

describe('the proxy', () => {
  test('gives new connections to the ready backends in turn', async () => {
    const sockets = [await dial(), await dial(), await dial(), await dial()];
    const answers = await Promise.all(sockets.map((socket) => ask(socket, 'x')));
    expect(answers.toSorted()).toEqual(['a:x', 'a:x', 'b:x', 'b:x']);
  });

  test('keeps a connection to a backend that is ready no more, and sends new ones elsewhere', async () => {
    const [first, second] = [await dial(), await dial()];
    const kept = (await ask(first, 'x')) === 'a:x' ? first : second;
    a.isReady = false;
    await proxy.seen(a, false, SEEN_MS);
    const fresh = [await dial(), await dial(), await dial()];
    expect(await Promise.all(fresh.map((socket) => ask(socket, 'y')))).toEqual(['b:y', 'b:y', 'b:y']);
    expect(await ask(kept, 'z')).toBe('a:z');
  });

  test('uses a backend again when it is ready again', async () => {
    b.isReady = false;
    await proxy.seen(b, false, SEEN_MS);
    b.isReady = true;
    await proxy.seen(b, true, SEEN_MS);
    const answers = [await ask(await dial(), 'x'), await ask(await dial(), 'x')];
    expect(answers.toSorted()).toEqual(['a:x', 'b:x']);
  });

  test('resets a connection and counts it when no backend is ready', async () => {
    for (const backend of [a, b]) proxy.remove(backend);
    const socket = connect(proxy.port, '127.0.0.1');
    await expect(once(socket, 'data')).rejects.toMatchObject({ code: 'ECONNRESET' });
    expect(proxy.refused).toBe(1);
  });

  test('passes the loss of a backend on: nothing is mended on the way', async () => {
    proxy.remove(b);
    const socket = await dial();
    expect(await ask(socket, 'x')).toBe('a:x');
    const lost = once(socket, 'close');
    a.resetAll();
    await expect(lost).rejects.toMatchObject({ code: 'ECONNRESET' });
  });

  test('says which backend it never saw ready', async () => {
    a.isReady = false;
    await proxy.seen(a, false, SEEN_MS);
    await expect(proxy.seen(a, true, 20)).rejects.toThrow('a was not ready within 20 ms');
  });
});
