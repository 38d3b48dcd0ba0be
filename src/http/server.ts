/** A listener: Fastify over HTTPS (or, where told so, HTTP), HTTP/1.1, with every wait and every size bounded. */
import type { Server, ServerOptions } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname } from 'node:path';
import type { SecureContextOptions } from 'node:tls';
import { LogController, fastify, type FastifyInstance } from 'fastify';
import type { Clock } from '../clock.ts';
import { GateError, messageOf } from '../errors.ts';
import { readBodiesAsBytes } from './body.ts';
import { BODY_LIMIT_BYTES, type HeadTest } from './body-collector.ts';
import { checkBundle } from './certificate.ts';
import { answerClientErrors } from './client-errors.ts';
import { closeConnections, trackConnections } from './connections.ts';
import { answerFaults, answerRouterFaults } from './faults.ts';
import type { OnRefusal } from './refusals.ts';
import type { TlsSource } from './tls.ts';
import { readTogether, watchFiles } from './watched-files.ts';

/** Every wait of a listener, in milliseconds. */
interface Timeouts {
  readonly keepAliveMs: number;
  readonly headersMs: number;
  readonly requestMs: number;
  readonly handshakeMs: number;
  readonly stalledMs: number;
  readonly checkEveryMs: number;
}

/** Each with its reason; all but `stalledMs` are measured in platform.md §3.4. */
const TIMEOUTS: Timeouts = {
  // An API server closes idle connections after 90 s: ours must not be the first (webhook-operations.md W03).
  keepAliveMs: 95_000,
  headersMs: 5_000,
  requestMs: 10_000,
  handshakeMs: 5_000,
  // Neither read nor written: longer than the longest time an API server waits for an answer (30 s, W04), so that it
  // ends only those that do not read what they asked for.
  stalledMs: 35_000,
  checkEveryMs: 1_000,
};

/**
 * Three API servers with 200 mutating requests in flight each (the API server's default) and some webhooks called
 * in parallel for each of them; at about 50 KiB a TLS connection this is also what a small pod can hold.
 */
const MAX_CONNECTIONS = 1_024;
/** Node's own default, said aloud; a bearer token is at most some KiB. */
const MAX_HEADER_BYTES = 16 * 1024;
/** After this long a closing listener ends connections that still work; our own budget for a review is 8 s (R6). */
const CLOSE_GRACE_MS = 10_000;

/** What a listener must know of the way down; made by drain.ts. */
export interface DrainSignal {
  readonly draining: boolean;
}

export interface ListenerOptions {
  /** For messages and metrics: `admission`, `metrics`, `probes`. */
  readonly name: string;
  readonly host: string;
  /** 0 picks a free one. */
  readonly port: number;
  /** Section of the configuration that host and port come from, for messages: `webhooks`, `metrics`, `health`. */
  readonly section?: string;
  /** Left out: plain HTTP. */
  readonly tls?: TlsSource;
  /** PEM bundle; callers must then show a client certificate of one of these CAs. Followed while it is served. */
  readonly clientCaFile?: string;
  readonly maxConnections?: number;
  readonly bodyLimitBytes?: number;
  /**
   * Which bodies over the limit, or without room, reach their handler by their beginning, the rest thrown away. Left
   * out: none; they are refused.
   */
  readonly keepsHead?: HeadTest;
  readonly timeouts?: Partial<Timeouts>;
  readonly closeGraceMs?: number;
  readonly drain?: DrainSignal;
  readonly clock: Clock;
  /** Told of our own faults: an unexpected error of a handler, a reload that was refused. Never of a caller's. */
  readonly onError: (error: unknown) => void;
  /** Told of every answer that no handler gave: what is refused before or instead of it. */
  readonly onRefusal?: OnRefusal;
}

interface ListenerStats {
  readonly connections: number;
  /** Connections turned away because there were too many. */
  readonly dropped: number;
  /** Handshakes that did not come about: old protocol, no or foreign client certificate, plain HTTP, silence. */
  readonly failedHandshakes: number;
}

export interface Listener {
  readonly name: string;
  readonly host: string;
  /** Whether it speaks TLS. */
  readonly secure: boolean;
  /** Routes, hooks and decorators go here before `listen()`. */
  readonly app: FastifyInstance;
  /** @throws GateError GATE_CONFIG_INVALID where the address is taken or not ours. */
  listen(): Promise<{ readonly url: string; readonly port: number }>;
  /** Stops accepting, lets requests end, ends what is left after the grace. Safe to call twice. */
  close(): Promise<void>;
  connections(): number;
  stats(): ListenerStats;
}

/**
 * Makes a listener; nothing listens before `listen()`.
 * @throws GateError GATE_TLS_FILE for a client CA that cannot be read, GATE_CONFIG_INVALID for one without TLS.
 */
export async function createListener(options: ListenerOptions): Promise<Listener> {
  const clientCa = await loadClientCa(options);
  const onRefusal = options.onRefusal ?? (() => undefined);
  const timeouts = { ...TIMEOUTS, ...options.timeouts };
  const server = makeServer(options, timeouts, clientCa?.pem);
  const connections = trackConnections(server, options.clock);
  const stopReloads = followReloads(options, server, clientCa);
  const app = fastify({
    serverFactory: (handler) => {
      server.on('request', handler);
      return server;
    },
    bodyLimit: options.bodyLimitBytes ?? BODY_LIMIT_BYTES,
    return503OnClosing: false,
    // Two lines a request cost more than half the throughput (platform.md §3.1); a decision has a line of its own.
    logController: new LogController({ disableRequestLogging: true }),
    clientErrorHandler: answerClientErrors(connections, onRefusal),
    frameworkErrors: answerRouterFaults(options.onError),
  });
  app.decorate('onRefusal', onRefusal);
  answerFaults(app, options.onError);
  readBodiesAsBytes(app, {
    limitBytes: options.bodyLimitBytes ?? BODY_LIMIT_BYTES,
    clock: options.clock,
    ...(options.keepsHead !== undefined && { keepsHead: options.keepsHead }),
  });
  closeWhileDraining(app, options.drain);
  let closing: Promise<void> | undefined;
  return {
    name: options.name,
    host: options.host,
    secure: options.tls !== undefined,
    app,
    async listen() {
      try {
        await app.listen({ host: options.host, port: options.port });
      } catch (error) {
        throw cannotListen(options, error);
      }
      const { port } = server.address() as AddressInfo;
      return { url: urlOf(options, port), port };
    },
    close() {
      closing ??= (async () => {
        stopReloads();
        const closed = app.close();
        await closeConnections(server, connections, options.clock, options.closeGraceMs ?? CLOSE_GRACE_MS);
        await closed;
      })();
      return closing;
    },
    connections: () => connections.open.size,
    stats: () => ({
      connections: connections.open.size,
      dropped: connections.dropped,
      failedHandshakes: connections.failedHandshakes,
    }),
  };
}

/** What the system says, in words, and the setting that changes it. */
const LISTEN_FAULTS: Readonly<Record<string, { readonly why: string; readonly of: 'host' | 'port' }>> = {
  EADDRINUSE: { why: 'the port is taken, perhaps by a pacto-gate that still runs', of: 'port' },
  EACCES: { why: 'the system allows this port to privileged processes only', of: 'port' },
  EADDRNOTAVAIL: { why: 'this machine has no such address', of: 'host' },
  ENOTFOUND: { why: 'there is no host of this name', of: 'host' },
  EAFNOSUPPORT: { why: 'this machine has no addresses of this family', of: 'host' },
};

function cannotListen({ name, host, port, section }: ListenerOptions, error: unknown): GateError {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  const { why, of } = LISTEN_FAULTS[code] ?? { why: messageOf(error), of: 'host' };
  const setting = section === undefined ? '' : ` by ${section}.${of} (--${section}-${of})`;
  const choice =
    of === 'port'
      ? `choose another${setting}, 0 takes any free one`
      : `choose an address of this machine${setting}, such as 127.0.0.1 or 0.0.0.0`;
  return new GateError(
    'GATE_CONFIG_INVALID',
    `listener ${name}: cannot listen on ${host.includes(':') ? `[${host}]` : host}:${String(port)}: ${why}: ${choice}`,
    { cause: error },
  );
}

function makeServer(options: ListenerOptions, timeouts: Timeouts, clientCa: string | undefined): Server {
  const shared: ServerOptions = {
    keepAliveTimeout: timeouts.keepAliveMs,
    headersTimeout: timeouts.headersMs,
    requestTimeout: timeouts.requestMs,
    connectionsCheckingInterval: timeouts.checkEveryMs,
    maxHeaderSize: MAX_HEADER_BYTES,
    // Node would answer without a word to anybody; faults.ts does with one.
    requireHostHeader: false,
  };
  // An import statement would read every export of the module, and one of them loads Node's own HTTP client: 30 ms and
  // 3 MiB at each start for something nobody here uses.
  const { createServer } = process.getBuiltinModule('node:http');
  const { createServer: createSecureServer } = process.getBuiltinModule('node:https');
  const server =
    options.tls === undefined
      ? createServer(shared)
      : // Only its type differs from that of a plain server for what is used of it here.
        (createSecureServer({
          ...shared,
          ...contextOf(options.tls, clientCa),
          handshakeTimeout: timeouts.handshakeMs,
          requestCert: clientCa !== undefined,
          rejectUnauthorized: clientCa !== undefined,
        }) as Server);
  // As above, with 417; RFC 9110 §10.1.1 lets a server pass over expectations that it does not know.
  server.on('checkExpectation', (request, response) => server.emit('request', request, response));
  server.timeout = timeouts.stalledMs;
  server.maxConnections = options.maxConnections ?? MAX_CONNECTIONS;
  return server;
}

function contextOf(tls: TlsSource, clientCa: string | undefined): SecureContextOptions {
  const { certPem, keyPem } = tls.current();
  return {
    cert: certPem,
    key: keyPem,
    minVersion: 'TLSv1.2',
    ...(clientCa === undefined ? {} : { ca: clientCa }),
  };
}

interface ClientCa {
  readonly path: string;
  pem: string;
}

async function loadClientCa(options: ListenerOptions): Promise<ClientCa | undefined> {
  const path = options.clientCaFile;
  if (path === undefined) return undefined;
  if (options.tls === undefined) {
    throw new GateError(
      'GATE_CONFIG_INVALID',
      `listener ${options.name}: a client CA needs TLS: give a certificate, or leave the client CA out`,
    );
  }
  const [pem = ''] = await readTogether([path]);
  checkBundle(pem, path);
  return { path, pem };
}

/** New certificates and a new client CA reach the connections opened from then on (platform.md §3.4). */
function followReloads(options: ListenerOptions, server: Server, clientCa: ClientCa | undefined): () => void {
  const { tls } = options;
  if (tls === undefined) return () => undefined;
  const apply = (): void => {
    (server as unknown as { setSecureContext(context: SecureContextOptions): void }).setSecureContext(
      contextOf(tls, clientCa?.pem),
    );
  };
  const stop = tls.onReload(apply);
  if (clientCa === undefined) return stop;
  const watch = watchFiles({
    paths: [clientCa.path],
    first: [clientCa.pem],
    directories: [dirname(clientCa.path)],
    clock: options.clock,
    take: ([pem = '']) => {
      checkBundle(pem, clientCa.path);
      clientCa.pem = pem;
      apply();
    },
    onError: options.onError,
  });
  return () => {
    stop();
    watch.close();
  };
}

function closeWhileDraining(app: FastifyInstance, drain: DrainSignal | undefined): void {
  if (drain === undefined) return;
  app.addHook('onSend', (_request, reply, payload, done) => {
    if (drain.draining) reply.header('connection', 'close');
    done(null, payload);
  });
}

function urlOf(options: ListenerOptions, port: number): string {
  const host = options.host.includes(':') ? `[${options.host}]` : options.host;
  return `${options.tls === undefined ? 'http' : 'https'}://${host}:${String(port)}`;
}
