/**
 * An HTTPS proxy between one of our processes and the API server that reads each request, can answer it itself, hold it or
 * break it, and knows when each was begun.
 */
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, request as send } from 'node:https';
import type { AddressInfo } from 'node:net';
import { createAuthority } from './certificates.ts';
import type { ControlPlane } from './control-plane.ts';

export interface PassingRequest {
  readonly method: string;
  /** With query. */
  readonly path: string;
  readonly isWatch: boolean;
  /** Anything but GET, and no review. */
  readonly isWrite: boolean;
  /** performance.now() when its body was here. */
  readonly atMs: number;
  readonly body: Buffer;
}

/** What becomes of a request: `reset` breaks its connection, and undefined hands it on. */
export type Fate =
  | { readonly status: number; readonly headers?: Readonly<Record<string, string>>; readonly body: object }
  | 'reset'
  | undefined;

export interface ProxyRules {
  /** Asked before a request is handed on, which waits for it. */
  before?: (request: PassingRequest) => Promise<Fate> | Fate;
  /** Called when the API server has answered, before the one who asked knows. */
  after?: (request: PassingRequest, status: number) => Promise<Fate> | Fate;
}

export interface HttpProxy {
  readonly url: string;
  /** PEM of the authority that vouches for it. */
  readonly ca: string;
  /** In force from now on; `{}` hands everything over. */
  rules(rules: ProxyRules): void;
  /** All that came, oldest first. */
  requests(): readonly PassingRequest[];
  /** Breaks every open connection, watches among them. */
  cut(): void;
  close(): Promise<void>;
}

export async function startHttpProxy(plane: Pick<ControlPlane, 'url' | 'caFile'>): Promise<HttpProxy> {
  const authority = await createAuthority('proxy-ca');
  const { certificate, key } = await authority.issue({ commonName: 'proxy', ipAddresses: ['127.0.0.1'] });
  const ca = readFileSync(plane.caFile, 'utf8');
  const seen: PassingRequest[] = [];
  let rules: ProxyRules = {};
  const server = createServer({ cert: certificate, key }, (incoming, answer) => {
    incoming.on('error', () => undefined);
    answer.on('error', () => undefined);
    pass(incoming, answer).catch(() => incoming.socket.destroy());
  });

  async function pass(incoming: IncomingMessage, answer: ServerResponse): Promise<void> {
    const request = await readRequest(incoming);
    seen.push(request);
    if (settle(await rules.before?.(request), incoming, answer)) return;
    const onward = send(`${plane.url}${request.path}`, {
      method: request.method,
      headers: incoming.headers,
      ca,
      agent: false,
    });
    answer.on('close', () => onward.destroy());
    onward.end(request.body);
    const [response] = (await once(onward, 'response')) as [IncomingMessage];
    response.on('error', () => incoming.socket.destroy());
    if (settle(await rules.after?.(request, response.statusCode ?? 0), incoming, answer)) return;
    answer.writeHead(response.statusCode ?? 502, response.headers);
    answer.flushHeaders();
    response.pipe(answer);
    response.on('aborted', () => incoming.socket.destroy());
  }

  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `https://127.0.0.1:${(server.address() as AddressInfo).port}`,
    ca: authority.certificate,
    rules(next) {
      rules = next;
    },
    requests: () => seen,
    cut: () => server.closeAllConnections(),
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

async function readRequest(incoming: IncomingMessage): Promise<PassingRequest> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Buffer);
  const { method = 'GET', url = '/' } = incoming;
  return {
    method,
    path: url,
    isWatch: /[?&]watch=(?:1|true)/.test(url),
    isWrite: method !== 'GET' && !/\/(?:tokenreviews|subjectaccessreviews)$/.test(url),
    atMs: performance.now(),
    body: Buffer.concat(chunks),
  };
}

/** @returns whether nothing is left to do. */
function settle(fate: Fate, incoming: IncomingMessage, answer: ServerResponse): boolean {
  if (fate === undefined) return false;
  if (fate === 'reset') {
    incoming.socket.destroy();
    return true;
  }
  answer.writeHead(fate.status, { 'content-type': 'application/json', ...fate.headers });
  answer.end(JSON.stringify(fate.body));
  return true;
}
