/**
 * A proxy in front of a real registry that answers as broken, overloaded and malicious registries do (platform.md
 * §1.4). It passes everything on until a fault is put in; what a fault does is in faults.ts.
 */
import {
  createServer as createPlainServer,
  request as plainRequest,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http';
import { createServer as createSecureServer, request as secureRequest } from 'node:https';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import type { TlsPair } from '../../../src/http/certificate.ts';

/** An answer of the registry behind, whole. */
export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/** One request that a fault may spoil. */
export interface ProxyCall {
  readonly method: string;
  /** As the client asked: path and query. */
  readonly url: URL;
  readonly headers: IncomingHttpHeaders;
  readonly response: ServerResponse;
  /** How often this path was asked for since the fault was put in, this time included. */
  readonly attempt: number;
  /** Asks the registry behind. @param path and headers: others than the client's. */
  readonly ask: (path?: string, headers?: IncomingHttpHeaders) => Promise<Answer>;
  /** Answers the client; the content-length is made to fit. */
  readonly send: (answer: Answer) => void;
  /** Asks and answers, unchanged. */
  readonly pass: () => Promise<void>;
}

/** Answers the call in its own way, or by `call.pass()`. */
export type Fault = (call: ProxyCall) => Promise<void> | void;

/** What a client sent; never the credential itself. */
export interface SeenRequest {
  readonly method: string;
  readonly path: string;
  /** The scheme of its Authorization header, in lower case; undefined without one. */
  readonly authorization: string | undefined;
  /** Milliseconds of a monotonic clock. */
  readonly atMs: number;
}

export interface FaultProxy {
  readonly host: string;
  readonly origin: string;
  readonly requests: readonly SeenRequest[];
  /** Puts a fault in, or with undefined takes it out, and forgets what was seen. */
  use(fault: Fault | undefined): void;
  close(): Promise<void>;
}

export interface FaultProxyOptions {
  /** Of the registry behind, such as `https://127.0.0.1:5000`. */
  readonly upstream: string;
  /** What the registry behind is trusted by. */
  readonly ca?: string;
  /** Serves https with this certificate; plain http without. */
  readonly tls?: TlsPair;
}

export async function startFaultProxy(options: FaultProxyOptions): Promise<FaultProxy> {
  let fault: Fault | undefined;
  const requests: SeenRequest[] = [];
  const attempts = new Map<string, number>();
  const answer = (request: IncomingMessage, response: ServerResponse): void => {
    const path = request.url ?? '/';
    requests.push({
      method: request.method ?? '',
      path,
      authorization: request.headers.authorization?.split(' ', 1)[0]?.toLowerCase(),
      atMs: performance.now(),
    });
    const attempt = (attempts.get(path) ?? 0) + 1;
    attempts.set(path, attempt);
    void serve(options, request, response, attempt, fault).catch((error: unknown) => {
      response.destroy(error as Error);
    });
  };
  const server = options.tls
    ? createSecureServer({ cert: options.tls.certPem, key: options.tls.keyPem }, answer)
    : createPlainServer(answer);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const host = `127.0.0.1:${port}`;
  return {
    host,
    origin: `${options.tls ? 'https' : 'http'}://${host}`,
    requests,
    use(next) {
      fault = next;
      requests.length = 0;
      attempts.clear();
    },
    async close() {
      const closed = once(server, 'close');
      server.close();
      // A hanging answer would keep its connection open for ever.
      server.closeAllConnections();
      await closed;
    },
  };
}

async function serve(
  options: FaultProxyOptions,
  request: IncomingMessage,
  response: ServerResponse,
  attempt: number,
  fault: Fault | undefined,
): Promise<void> {
  const body = await buffer(request);
  const path = request.url ?? '/';
  const call: ProxyCall = {
    method: request.method ?? 'GET',
    url: new URL(path, 'http://r.test'),
    headers: request.headers,
    response,
    attempt,
    ask: (other = path, headers = request.headers) =>
      ask(options, request.method ?? 'GET', other, headers, body),
    send: (answer) => send(response, request.method ?? 'GET', answer),
    pass: async () => {
      call.send(await call.ask());
    },
  };
  await (fault ?? ((one: ProxyCall) => one.pass()))(call);
}

async function ask(
  options: FaultProxyOptions,
  method: string,
  path: string,
  given: IncomingHttpHeaders,
  body: Buffer,
): Promise<Answer> {
  const url = new URL(path, options.upstream);
  const { connection: _connection, ...headers } = given;
  const settings = {
    method,
    // The registry makes URLs for uploads from these two.
    headers: { ...headers, 'x-forwarded-proto': options.tls ? 'https' : 'http' },
    agent: false as const,
  };
  const outgoing =
    url.protocol === 'https:'
      ? secureRequest(url, { ...settings, ...(options.ca ? { ca: options.ca } : {}) })
      : plainRequest(url, settings);
  outgoing.end(body);
  const [incoming] = (await once(outgoing, 'response')) as [IncomingMessage];
  return { status: incoming.statusCode ?? 502, headers: incoming.headers, body: await buffer(incoming) };
}

function send(response: ServerResponse, method: string, { status, headers, body }: Answer): void {
  const { connection: _connection, 'transfer-encoding': _encoding, ...kept } = headers;
  // The length that HEAD tells is that of a body which does not come.
  const length = method === 'HEAD' ? {} : { 'content-length': String(body.length) };
  response.writeHead(status, { ...kept, ...length });
  response.end(body);
}
