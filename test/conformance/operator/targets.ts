/** What the recording's probe target answers, by the path (README of the set): on loopback, under a turned clock. */
import { createServer, type Server, type ServerResponse } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';

export interface ProbeTargets {
  readonly port: number;
  close(): Promise<void>;
}

const EXPOSITION = '# TYPE up gauge\nup 1\n';

/** @param elapsedMs of the scenario's clock */
export async function startTargets(elapsedMs: () => number): Promise<ProbeTargets> {
  let flipMs: number | undefined;
  const server: Server = createServer((request, response) => {
    const path = request.url ?? '/';
    if (path === '/flip') {
      flipMs ??= elapsedMs();
      const sinceMs = elapsedMs() - flipMs;
      response.writeHead(sinceMs >= 4_000 && sinceMs < 8_000 ? 200 : 404).end();
      return;
    }
    // Its answer comes when nobody waits any more.
    if (path === '/slow') return;
    answer(path, response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

function answer(path: string, response: ServerResponse): void {
  const status = /^\/s\/(\d{3})$/.exec(path)?.[1];
  if (status !== undefined) {
    response.writeHead(Number(status), { location: '/s/404' }).end();
    return;
  }
  const typed = (type: string, body: string): void =>
    void response.writeHead(200, { 'content-type': type }).end(body);
  switch (path) {
    case '/m/ok':
      return typed('text/plain; version=0.0.4', EXPOSITION);
    case '/m/html':
      return typed('text/html', '<html></html>');
    case '/m/json':
      return typed('application/json', EXPOSITION);
    case '/m/bad':
      return typed('text/plain', 'this is {no metric');
    default:
      response.writeHead(200).end();
  }
}
