/** A proxy as companies have at their border: tunnels for https (CONNECT), whole URLs for http (RFC 9110 §9.3.6, §7.1). */
import { createServer, request as plainRequest, type IncomingMessage } from 'node:http';
import { once } from 'node:events';
import { connect, type AddressInfo, type Socket } from 'node:net';

export interface ForwardProxy {
  /** With user and password where it wants them. */
  readonly url: string;
  /** `CONNECT host:port` or `GET host:port`, of those that were let through. */
  readonly passed: readonly string[];
  /** Those that were not: nobody said who asks, or not rightly. */
  readonly denied: number;
  close(): Promise<void>;
}

/** @param user who may pass; undefined: everybody. */
export async function startForwardProxy(user?: {
  readonly username: string;
  readonly password: string;
}): Promise<ForwardProxy> {
  const passed: string[] = [];
  let denied = 0;
  const sockets = new Set<Socket>();
  const wanted = user && `Basic ${Buffer.from(`${user.username}:${user.password}`).toString('base64')}`;
  const isDenied = (request: IncomingMessage): boolean => {
    const isStranger = wanted !== undefined && request.headers['proxy-authorization'] !== wanted;
    if (isStranger) denied += 1;
    return isStranger;
  };
  const server = createServer((request, response) => {
    if (isDenied(request)) {
      response.writeHead(407, { 'proxy-authenticate': 'Basic realm="border"' }).end();
      return;
    }
    const url = URL.parse(request.url ?? '');
    if (url === null) {
      response.writeHead(400).end();
      return;
    }
    passed.push(`${request.method ?? ''} ${url.host}`);
    const { 'proxy-authorization': _ours, 'proxy-connection': _hop, ...headers } = request.headers;
    const outgoing = plainRequest(url, { method: request.method ?? 'GET', headers, agent: false });
    outgoing.on('response', (incoming) => {
      response.writeHead(incoming.statusCode ?? 502, incoming.headers);
      incoming.pipe(response);
    });
    outgoing.on('error', () => response.destroy());
    request.pipe(outgoing);
  });
  server.on('connect', (request: IncomingMessage, client: Socket) => {
    if (isDenied(request)) {
      client.end('HTTP/1.1 407 Who are you\r\nproxy-authenticate: Basic realm="border"\r\n\r\n');
      return;
    }
    const [host = '', port = ''] = (request.url ?? '').split(':');
    passed.push(`CONNECT ${host}:${port}`);
    const target = connect(Number(port), host, () => client.write('HTTP/1.1 200 Connected\r\n\r\n'));
    for (const [one, another] of [
      [client, target],
      [target, client],
    ] as const) {
      sockets.add(one);
      one.pipe(another);
      one.on('error', () => another.destroy());
      one.on('close', () => {
        sockets.delete(one);
        another.destroy();
      });
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://${user ? `${user.username}:${user.password}@` : ''}127.0.0.1:${port}`,
    passed,
    get denied() {
      return denied;
    },
    async close() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      // A tunnel is no connection of the server's any more.
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}
