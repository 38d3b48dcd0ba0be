/**
 * HTTP to one API server: credentials, timeouts, limits, and retries where they are safe. undici is loaded with the
 * first call, so that a process without a cluster never pays for it (platform.md §3.5).
 */
import { createSecureContext } from 'node:tls';
import type { Agent, Dispatcher, ProxyAgent } from 'undici';
import { abortable, linkSignals } from '../abort.ts';
import { type Clock, sleep } from '../clock.ts';
import { GateError } from '../errors.ts';
import { errorFromAnswer, malformedAnswer, unreachable, type Question } from './answers.ts';
import type { Connection, Credentials } from './connection.ts';
import { parseJson } from './exact-json.ts';

export interface TransportLimits {
  readonly connectTimeoutMs: number;
  /** From the request until the headers of the answer. */
  readonly headersTimeoutMs: number;
  /** Between two pieces of a body. */
  readonly bodyTimeoutMs: number;
  /** A watch that is silent for longer is broken. */
  readonly watchIdleMs: number;
}

const TRANSPORT_LIMITS: TransportLimits = {
  connectTimeoutMs: 5_000,
  headersTimeoutMs: 30_000,
  bodyTimeoutMs: 15_000,
  // Two bookmarks of one a minute are missing by then, and a fresh watch still has 20 s before its store would count
  // as unsynced (STALE_AFTER_MS in watch.ts).
  watchIdleMs: 130_000,
};

/** An error's body is a Status of some hundred bytes. */
const ERROR_BODY_BYTES = 64 * 1024;
/** Below the 90 s after which the API server closes an idle connection (k8s.io/apiserver, secure_serving.go). */
const KEEP_ALIVE_MS = 60_000;
/** TCP keep-alive as in client-go, below the idle limits of common load balancers. */
const TCP_KEEP_ALIVE_MS = 30_000;
const THROTTLE_RETRIES = 2;

/** A connection that broke before the answer was there. */
const RESET_CODES: ReadonlySet<unknown> = new Set(['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET']);

export interface Call extends Question {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Below the server's address, escaped, with its query. */
  readonly path: string;
  readonly accept?: string;
  readonly body?: unknown;
  /** Of the body; default: application/json. */
  readonly contentType?: string;
  /** Repeating it changes nothing, so that it is sent again once when the connection breaks. */
  readonly repeatable: boolean;
  /** For the whole call with its retries, milliseconds. */
  readonly timeoutMs: number;
  /** Largest body of an answer. */
  readonly maxBytes: number;
  /** As ReadOptions.exact. */
  readonly exact?: boolean;
  readonly signal?: AbortSignal;
}

export interface TransportOptions {
  readonly connection: Connection;
  readonly clock: Clock;
  readonly limits?: Partial<TransportLimits>;
}

interface OpenAgent {
  readonly credentials: Credentials;
  readonly agent: Dispatcher;
}

type Answer = Dispatcher.ResponseData;

interface Undici {
  readonly Agent: typeof Agent;
  readonly ProxyAgent: typeof ProxyAgent;
}

export class Transport {
  readonly #connection: Connection;
  readonly #clock: Clock;
  readonly #limits: TransportLimits;
  readonly #server: URL;
  readonly #closing = new AbortController();
  /** All that may still have calls under way; the last one is in use. */
  #agents: OpenAgent[] = [];

  constructor(options: TransportOptions) {
    this.#connection = options.connection;
    this.#clock = options.clock;
    this.#limits = { ...TRANSPORT_LIMITS, ...options.limits };
    this.#server = new URL(options.connection.server);
  }

  /** @returns the parsed body of a 2xx answer; anything else throws as cluster.ts says. */
  async json(call: Call): Promise<unknown> {
    const linked = linkSignals([call.signal, this.#closing.signal]);
    const deadlineMs = this.#clock.monotonic() + call.timeoutMs;
    const timer = this.#clock.setTimer(call.timeoutMs, () =>
      linked.abort(unreachable(call, new Error(`no whole answer within ${call.timeoutMs} ms`))),
    );
    try {
      const answer = await this.#sendWithRetries(call, linked.signal, deadlineMs);
      return parseAnswer(call, answer.body, answer.contentType);
    } catch (error) {
      throw linked.signal.aborted ? linked.signal.reason : error;
    } finally {
      timer.cancel();
      linked.release();
    }
  }

  /**
   * Opens an answer without end and hands over its body as it comes. The iterator must be run to its end or returned
   * from, else the connection stays open.
   */
  async *stream(
    call: Omit<Call, 'timeoutMs' | 'maxBytes' | 'repeatable'>,
    onOpen?: () => void,
  ): AsyncGenerator<Buffer, void> {
    const linked = linkSignals([call.signal, this.#closing.signal]);
    try {
      let credentials = await abortable(this.#connection.credentials.current(), linked.signal);
      let answer = await this.#send(call, credentials, linked.signal, this.#limits.watchIdleMs);
      if (answer.statusCode === 401) {
        await readBody(call, answer, ERROR_BODY_BYTES);
        credentials = await abortable(this.#connection.credentials.renew(credentials), linked.signal);
        answer = await this.#send(call, credentials, linked.signal, this.#limits.watchIdleMs);
      }
      if (answer.statusCode !== 200)
        throw refusal(call, answer, await readBody(call, answer, ERROR_BODY_BYTES));
      onOpen?.();
      for await (const chunk of answer.body) yield chunk as Buffer;
    } catch (error) {
      if (linked.signal.aborted) throw linked.signal.reason;
      throw error instanceof GateError ? error : unreachable(call, error);
    } finally {
      // Also where the consumer stops early: the request is aborted and its connection closed.
      linked.abort(new Error('the watch is no longer read'));
      linked.release();
    }
  }

  /** Breaks what is under way and closes every connection. */
  async close(): Promise<void> {
    if (!this.#closing.signal.aborted)
      this.#closing.abort(
        new GateError('GATE_CLUSTER_UNREACHABLE', 'the connection to the cluster is closed'),
      );
    const agents = this.#agents;
    this.#agents = [];
    await Promise.all(agents.map(({ agent }) => agent.destroy()));
  }

  async #sendWithRetries(
    call: Call,
    signal: AbortSignal,
    deadlineMs: number,
  ): Promise<{ body: Buffer; contentType: string }> {
    let credentials = await abortable(this.#connection.credentials.current(), signal);
    let mayRenew = true;
    let mayResend = call.repeatable;
    for (let throttled = 0; ;) {
      let answer: Answer;
      let body: Buffer;
      try {
        answer = await this.#send(call, credentials, signal, this.#limits.bodyTimeoutMs);
        const isError = answer.statusCode < 200 || answer.statusCode > 299;
        body = await readBody(call, answer, isError ? ERROR_BODY_BYTES : call.maxBytes);
        if (!isError) return { body, contentType: headerOf(answer, 'content-type') ?? 'no content type' };
      } catch (error) {
        if (error instanceof GateError || signal.aborted) throw error;
        if (!mayResend || !isReset(error)) throw unreachable(call, error);
        mayResend = false;
        continue;
      }
      if (answer.statusCode === 401 && mayRenew) {
        mayRenew = false;
        const renewed = await abortable(this.#connection.credentials.renew(credentials), signal);
        const isNew = !sameCredentials(renewed, credentials);
        credentials = renewed;
        if (isNew) continue;
      }
      const error = refusal(call, answer, body);
      const waitMs = waitOf(error);
      const fits = waitMs !== undefined && this.#clock.monotonic() + waitMs < deadlineMs;
      if (!fits || throttled++ >= THROTTLE_RETRIES) throw error;
      await sleep(this.#clock, waitMs, signal);
    }
  }

  async #send(
    call: Omit<Call, 'timeoutMs' | 'maxBytes' | 'repeatable'>,
    credentials: Credentials,
    signal: AbortSignal,
    bodyTimeoutMs: number,
  ): Promise<Answer> {
    signal.throwIfAborted();
    const agent = await this.#agentFor(credentials);
    signal.throwIfAborted();
    return agent.request({
      origin: this.#server.origin,
      path: `${this.#server.pathname.replace(/\/+$/, '')}${call.path}`,
      method: call.method,
      headers: {
        accept: call.accept ?? 'application/json',
        'user-agent': 'pacto-gate',
        ...(credentials.authorization !== undefined && { authorization: credentials.authorization }),
        ...impersonationHeaders(this.#connection),
        ...(call.body !== undefined && { 'content-type': call.contentType ?? 'application/json' }),
      },
      body: call.body === undefined ? null : JSON.stringify(call.body),
      signal,
      headersTimeout: this.#limits.headersTimeoutMs,
      bodyTimeout: bodyTimeoutMs,
    });
  }

  /** One agent for as long as certificates stay the same; the one before ends when its last call has ended. */
  async #agentFor(credentials: Credentials): Promise<Dispatcher> {
    const open = this.#agents.at(-1);
    if (open !== undefined && sameTls(open.credentials, credentials)) return open.agent;
    const undici = await import('undici');
    // Another call may have opened it while undici was loading.
    const current = this.#agents.at(-1);
    if (current !== undefined && sameTls(current.credentials, credentials)) return current.agent;
    const agent = this.#openAgent(undici, credentials);
    this.#agents.push({ credentials, agent });
    if (current !== undefined)
      void current.agent.close().finally(() => {
        this.#agents = this.#agents.filter((one) => one !== current);
      });
    return agent;
  }

  #openAgent(undici: Undici, credentials: Credentials): Dispatcher {
    const connection = this.#connection;
    const tls = {
      secureContext: secureContextOf(connection, credentials),
      rejectUnauthorized: connection.insecureSkipTlsVerify !== true,
      ...(connection.tlsServerName !== undefined && { servername: connection.tlsServerName }),
    };
    const connect = {
      timeout: this.#limits.connectTimeoutMs,
      keepAlive: true,
      keepAliveInitialDelay: TCP_KEEP_ALIVE_MS,
    };
    const common = {
      // HTTP/2 to the API server is unproved here (platform.md, Not measured), and one lost connection would take all
      // watches with it.
      allowH2: false,
      keepAliveTimeout: KEEP_ALIVE_MS,
      keepAliveMaxTimeout: KEEP_ALIVE_MS,
    };
    return connection.proxyUrl === undefined
      ? new undici.Agent({ ...common, connect: { ...connect, ...tls } })
      : new undici.ProxyAgent({
          ...common,
          uri: connection.proxyUrl,
          requestTls: { ...connect, ...tls },
          connect,
        });
  }
}

/** A prepared context costs a third of what handing PEM to each connection costs (platform.md §1.3). */
function secureContextOf(
  connection: Connection,
  credentials: Credentials,
): ReturnType<typeof createSecureContext> {
  try {
    return createSecureContext({
      ...(credentials.ca !== undefined && { ca: credentials.ca }),
      ...(credentials.certificate !== undefined && { cert: credentials.certificate }),
      ...(credentials.key !== undefined && { key: credentials.key }),
    });
  } catch (cause) {
    throw new GateError(
      'GATE_KUBECONFIG',
      `${connection.origin}: the CA, client certificate and key cannot be used together; check that each is PEM and that the key belongs to the certificate`,
      { cause },
    );
  }
}

function impersonationHeaders({ impersonate }: Connection): Record<string, string | string[]> {
  if (impersonate === undefined) return {};
  const headers: Record<string, string | string[]> = { 'impersonate-user': impersonate.user };
  if (impersonate.uid !== undefined) headers['impersonate-uid'] = impersonate.uid;
  if (impersonate.groups !== undefined) headers['impersonate-group'] = [...impersonate.groups];
  for (const [key, values] of Object.entries(impersonate.extra ?? {}))
    // Keys hold characters that header names cannot (node-identity.md NI29); the API server decodes them.
    headers[`impersonate-extra-${encodeURIComponent(key.toLowerCase())}`] = [...values];
  return headers;
}

async function readBody(question: Question, answer: Answer, maxBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of answer.body) {
    const piece = chunk as Buffer;
    bytes += piece.length;
    // Leaving the loop destroys the body and with it the connection.
    if (bytes > maxBytes) throw malformedAnswer(question, `more than ${maxBytes} bytes`);
    chunks.push(piece);
  }
  return Buffer.concat(chunks, bytes);
}

function parseAnswer(call: Call, body: Buffer, contentType: string): unknown {
  try {
    return parseJson(body, call.exact);
  } catch {
    // The parser's own message repeats the text.
    throw malformedAnswer(call, `${body.length} bytes of ${contentType.slice(0, 60)} that are not JSON`);
  }
}

function refusal(question: Question, answer: Answer, body: Buffer): GateError {
  let parsed: unknown;
  try {
    parsed = JSON.parse(body.toString('utf8'));
  } catch {
    parsed = undefined;
  }
  return errorFromAnswer(question, answer.statusCode, parsed, headerOf(answer, 'retry-after'));
}

/** How long to wait before the same request may be sent again; undefined: it may not. */
function waitOf(error: GateError): number | undefined {
  const seconds = error.fields['retryAfterSeconds'];
  return error.code === 'GATE_CLUSTER_THROTTLED' && typeof seconds === 'number' ? seconds * 1000 : undefined;
}

function headerOf(answer: Answer, name: string): string | undefined {
  const value = answer.headers[name];
  return typeof value === 'string' ? value : undefined;
}

function isReset(error: unknown): boolean {
  return error instanceof Error && 'code' in error && RESET_CODES.has(error.code);
}

function sameTls(a: Credentials, b: Credentials): boolean {
  return a.ca === b.ca && a.certificate === b.certificate && a.key === b.key;
}

function sameCredentials(a: Credentials, b: Credentials): boolean {
  return a.authorization === b.authorization && sameTls(a, b);
}
