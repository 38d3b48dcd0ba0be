/** A small HTTP(S) client for tests: one request, the whole answer, no retries, no pooling unless an agent is given. */
import { request as plainRequest, type Agent, type ClientRequest, type IncomingHttpHeaders } from 'node:http';
import { request as secureRequest, type Agent as SecureAgent, type RequestOptions } from 'node:https';
import { connect as connectPlain, type Socket } from 'node:net';
import { connect as connectTls, type ConnectionOptions, type TLSSocket } from 'node:tls';

export interface Ask {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string | number>>;
  /** Sent with its length, unless `chunked`. An object is sent as JSON with its media type. */
  readonly body?: string | Buffer | object;
  readonly chunked?: boolean;
  /** PEM of what to trust; without it the answer of an https server is not verified. */
  readonly ca?: string;
  /** Client certificate. */
  readonly cert?: string;
  readonly key?: string;
  /** Keeps connections; otherwise each request has its own. */
  readonly agent?: Agent | SecureAgent;
  readonly signal?: AbortSignal;
}

export interface Answered {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  readonly text: string;
  /** @throws where the body is no JSON. */
  json(): unknown;
  /** Of a refusal, which is text with its code at the end. */
  refusal(): { readonly code: string; readonly message: string };
}

/** Sends one request. Rejects with Node's error where no answer came. */
export function ask(url: string, options: Ask = {}): Promise<Answered> {
  const { promise, resolve, reject } = Promise.withResolvers<Answered>();
  const body = bytesOf(options.body);
  const headers: Record<string, string | number> = { ...options.headers };
  if (body !== undefined && !Buffer.isBuffer(options.body) && typeof options.body === 'object') {
    headers['content-type'] ??= 'application/json';
  }
  // Said in either case: Node would find out the length of a body that it is given whole.
  if (options.chunked === true) headers['transfer-encoding'] = 'chunked';
  else if (body !== undefined) headers['content-length'] ??= body.byteLength;
  const settings: RequestOptions = {
    method: options.method ?? (body === undefined ? 'GET' : 'POST'),
    headers,
    agent: options.agent ?? false,
    ...(options.ca === undefined ? { rejectUnauthorized: false } : { ca: options.ca }),
    ...(options.cert === undefined ? {} : { cert: options.cert, key: options.key }),
    ...(options.signal === undefined ? {} : { signal: options.signal }),
  };
  const sent: ClientRequest = url.startsWith('https:')
    ? secureRequest(url, settings)
    : plainRequest(url, settings);
  sent.on('response', (response) => {
    const chunks: Buffer[] = [];
    response.on('data', (chunk: Buffer) => chunks.push(chunk));
    response.on('error', reject);
    response.on('end', () => {
      const whole = Buffer.concat(chunks);
      const text = whole.toString('utf8');
      resolve({
        status: response.statusCode ?? 0,
        headers: response.headers,
        body: whole,
        text,
        json: () => JSON.parse(text) as unknown,
        refusal: () => {
          const [, message = text, code = ''] = /^(.*) \[(GATE_\w+)\]\n$/s.exec(text) ?? [];
          return { code, message };
        },
      });
    });
  });
  sent.on('error', reject);
  sent.end(body);
  return promise;
}

function bytesOf(body: Ask['body']): Buffer | undefined {
  if (body === undefined || Buffer.isBuffer(body)) return body;
  return Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
}

/** A bare connection for tests of what no client library would send. */
export interface Wire {
  readonly socket: Socket;
  /** Everything received so far. */
  received(): string;
  /** Resolves with everything received, when the other side has closed or reset the connection. */
  readonly closed: Promise<string>;
}

/** Opens a TCP connection and waits until it is accepted. */
export async function openPlain(port: number): Promise<Wire> {
  const socket = connectPlain({ host: '127.0.0.1', port });
  const wire = wireOf(socket);
  await new Promise<void>((resolve, reject) => socket.once('connect', resolve).once('error', reject));
  return wire;
}

/** Opens a TLS connection and waits for the handshake. Rejects where the server refuses it. */
export async function openTls(
  port: number,
  options: ConnectionOptions = {},
): Promise<Wire & { readonly socket: TLSSocket }> {
  const socket = connectTls({
    host: '127.0.0.1',
    port,
    rejectUnauthorized: options.ca !== undefined,
    ...options,
  });
  const wire = wireOf(socket);
  await new Promise<void>((resolve, reject) => socket.once('secureConnect', resolve).once('error', reject));
  return { ...wire, socket };
}

function wireOf(socket: Socket): Wire {
  const chunks: Buffer[] = [];
  const received = (): string => Buffer.concat(chunks).toString('latin1');
  socket.on('data', (chunk: Buffer) => chunks.push(chunk));
  // A reset is one of the ways to be closed.
  socket.on('error', () => undefined);
  const closed = new Promise<string>((resolve) => socket.once('close', () => resolve(received())));
  return { socket, received, closed };
}
