/**
 * A scripted stand-in for an API server on loopback: lists by pages, watches with resume and bookmarks, and whatever
 * fault a test asks for. It keeps its objects while it is down. It is no model of admission, validation or selectors:
 * the in-memory cluster and the real API server are.
 */
import { once } from 'node:events';
import {
  createServer as createHttpServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import { createServer as createHttpsServer, type ServerOptions } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { apiVersionOf, type Kind } from '../../src/cluster/kinds.ts';
import type { KubeObject } from '../../src/cluster/objects.ts';

export interface RecordedRequest {
  readonly method: string;
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly headers: IncomingHttpHeaders;
  readonly body: unknown;
  readonly isWatch: boolean;
  /** Common name of the client certificate that was presented. */
  readonly clientName?: string;
}

/** Answers a request itself and returns true, or leaves it to the server. */
export type Script = (request: RecordedRequest, response: ServerResponse) => boolean;

interface Change {
  readonly path: string;
  readonly version: number;
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly object: KubeObject;
}

interface Watch {
  readonly path: string;
  readonly wantsBookmarks: boolean;
  readonly partial: boolean;
  readonly response: ServerResponse;
}

/** `{kind: Status}` as the API server writes it. */
export function statusBody(code: number, reason: string, message: string, details: object = {}): string {
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Status',
    metadata: {},
    status: 'Failure',
    code,
    reason,
    message,
    details,
  });
}

export function sendStatus(
  response: ServerResponse,
  code: number,
  reason: string,
  message = `scripted ${reason}`,
  headers: Record<string, string> = {},
): true {
  response
    .writeHead(code, { 'content-type': 'application/json', ...headers })
    .end(statusBody(code, reason, message));
  return true;
}

export class FakeApiServer {
  readonly requests: RecordedRequest[] = [];
  readonly #tls: ServerOptions | undefined;
  readonly #objects = new Map<string, Map<string, KubeObject>>();
  readonly #history: Change[] = [];
  readonly #watches = new Set<Watch>();
  readonly #sockets = new Set<Socket>();
  #scripts: Script[] = [];
  #server: Server | undefined;
  #port = 0;
  #version = 100;
  #oldestVersion = 0;

  constructor(tls?: ServerOptions) {
    this.#tls = tls;
  }

  get url(): string {
    return `${this.#tls === undefined ? 'http' : 'https'}://127.0.0.1:${this.#port}`;
  }

  get version(): string {
    return String(this.#version);
  }

  /** Watches that are open at this moment. */
  get openWatches(): number {
    return this.#watches.size;
  }

  get connections(): number {
    return this.#sockets.size;
  }

  /** Requests that listed, or that watched. */
  count(what: 'list' | 'watch'): number {
    return this.requests.filter((r) => r.method === 'GET' && r.isWatch === (what === 'watch')).length;
  }

  /** On a free port the first time, on the same one again after stop(). */
  async start(): Promise<void> {
    const listener = (request: IncomingMessage, response: ServerResponse): void =>
      void this.#handle(request, response);
    const server =
      this.#tls === undefined ? createHttpServer(listener) : createHttpsServer(this.#tls, listener);
    server.on('connection', (socket: Socket) => {
      this.#sockets.add(socket);
      socket.on('error', () => undefined);
      socket.once('close', () => this.#sockets.delete(socket));
    });
    server.listen(this.#port, '127.0.0.1');
    await once(server, 'listening');
    this.#port = (server.address() as AddressInfo).port;
    this.#server = server;
  }

  /** As a killed process: every connection is reset. */
  async stop(): Promise<void> {
    const server = this.#server;
    if (server === undefined) return;
    this.#server = undefined;
    const closed = once(server, 'close');
    server.close();
    for (const socket of this.#sockets) socket.resetAndDestroy();
    this.#watches.clear();
    await closed;
  }

  /** Asks this before anything else, for as long as it stays. @returns what removes it. */
  script(script: Script): () => void {
    this.#scripts.push(script);
    return () => {
      this.#scripts = this.#scripts.filter((one) => one !== script);
    };
  }

  /** Asks this for requests that match, `times` times, then never again. */
  scriptNext(matches: (request: RecordedRequest) => boolean, answer: Script, times = 1): void {
    let left = times;
    const remove = this.script((request, response) => {
      if (!matches(request)) return false;
      if (--left <= 0) remove();
      return answer(request, response);
    });
  }

  /** Writes an object as if somebody else had, and tells the watches. @returns it with its resourceVersion. */
  put(kind: Kind, object: KubeObject): KubeObject {
    const path = collectionPath(kind);
    const stored = {
      ...object,
      metadata: { ...object.metadata, resourceVersion: String(++this.#version) },
    };
    const objects = this.#collection(path);
    const key = keyOf(object);
    this.#record(path, objects.has(key) ? 'MODIFIED' : 'ADDED', stored);
    objects.set(key, stored);
    return stored;
  }

  remove(kind: Kind, namespace: string, name: string): void {
    const path = collectionPath(kind);
    const object = this.#collection(path).get(`${namespace}/${name}`);
    if (object === undefined) throw new Error(`nothing to remove at ${path} ${namespace}/${name}`);
    this.#collection(path).delete(`${namespace}/${name}`);
    const version = String(++this.#version);
    this.#record(path, 'DELETED', {
      ...object,
      metadata: { ...object.metadata, resourceVersion: version },
    });
  }

  /** Moves the version on and sends it as a bookmark to the watches that asked. */
  bookmark(): void {
    this.#version++;
    for (const watch of this.#watches)
      if (watch.wantsBookmarks)
        writeEvent(watch.response, 'BOOKMARK', { metadata: { resourceVersion: this.version } });
  }

  /** Forgets the history, so that watches from before now are too old. */
  compact(): void {
    this.#oldestVersion = this.#version;
    this.#history.length = 0;
  }

  /** Ends every watch as a server does whose `timeoutSeconds` are over. */
  endWatches(): void {
    for (const watch of this.#watches) watch.response.end();
    this.#watches.clear();
  }

  /** Resets every watch's connection. */
  resetWatches(): void {
    for (const watch of this.#watches) watch.response.socket?.resetAndDestroy();
    this.#watches.clear();
  }

  /** Raw bytes into every open watch. */
  writeToWatches(bytes: string | Buffer): void {
    for (const watch of this.#watches) watch.response.write(bytes);
  }

  #record(path: string, type: Change['type'], object: KubeObject): void {
    const change = { path, version: this.#version, type, object };
    this.#history.push(change);
    for (const watch of this.#watches)
      if (covers(watch.path, path, object)) writeEvent(watch.response, type, shape(object, watch.partial));
  }

  #collection(path: string): Map<string, KubeObject> {
    const existing = this.#objects.get(path);
    if (existing !== undefined) return existing;
    const fresh = new Map<string, KubeObject>();
    this.#objects.set(path, fresh);
    return fresh;
  }

  async #handle(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const request = await recorded(incoming);
    this.requests.push(request);
    response.on('error', () => undefined);
    for (const script of this.#scripts) if (script(request, response)) return;
    if (request.method !== 'GET') {
      sendStatus(response, 405, 'MethodNotAllowed');
      return;
    }
    if (request.isWatch) this.#watch(request, response);
    else this.#read(request, response);
  }

  #read(request: RecordedRequest, response: ServerResponse): void {
    const { collection, namespace, name } = parsePath(request.path);
    const objects = this.#objects.get(collection);
    if (objects === undefined) {
      response.writeHead(404, { 'content-type': 'text/plain' }).end('404 page not found\n');
      return;
    }
    const partial = isPartial(request);
    response.setHeader('content-type', 'application/json');
    if (name !== undefined) {
      const object = objects.get(`${namespace ?? ''}/${name}`);
      if (object === undefined) {
        const message = `${collection} "${name}" not found`;
        response.writeHead(404).end(statusBody(404, 'NotFound', message, { name, kind: collection }));
      } else response.end(JSON.stringify(shape(object, partial)));
      return;
    }
    const all = [...objects.values()].filter(
      (o) => namespace === undefined || o.metadata.namespace === namespace,
    );
    const limit = Number(request.query['limit'] ?? all.length);
    const [from = 0, version = this.#version] = (request.query['continue'] ?? '')
      .split('.')
      .filter((part) => part !== '')
      .map(Number);
    const to = from + limit;
    response.end(
      JSON.stringify({
        apiVersion: 'v1',
        kind: 'List',
        metadata: {
          resourceVersion: String(version),
          ...(to < all.length && { continue: `${to}.${version}` }),
        },
        // Items of a typed list carry neither apiVersion nor kind.
        items: all.slice(from, to).map((object) => {
          const { apiVersion: _version, kind: _kind, ...item } = shape(object, partial);
          return item;
        }),
      }),
    );
  }

  #watch(request: RecordedRequest, response: ServerResponse): void {
    const from = Number(request.query['resourceVersion']);
    response.writeHead(200, { 'content-type': 'application/json', 'transfer-encoding': 'chunked' });
    response.flushHeaders();
    if (from < this.#oldestVersion) {
      const status = statusBody(410, 'Expired', `too old resource version: ${from} (${this.#oldestVersion})`);
      response.end(`{"type":"ERROR","object":${status}}\n`);
      return;
    }
    const { collection, namespace } = parsePath(request.path);
    const watch: Watch = {
      path: namespace === undefined ? collection : request.path,
      wantsBookmarks: request.query['allowWatchBookmarks'] === 'true',
      partial: isPartial(request),
      response,
    };
    for (const change of this.#history)
      if (change.version > from && covers(watch.path, change.path, change.object))
        writeEvent(response, change.type, shape(change.object, watch.partial));
    this.#watches.add(watch);
    response.once('close', () => this.#watches.delete(watch));
  }
}

export async function startFakeApiServer(tls?: ServerOptions): Promise<FakeApiServer> {
  const server = new FakeApiServer(tls);
  await server.start();
  return server;
}

async function recorded(incoming: IncomingMessage): Promise<RecordedRequest> {
  const url = new URL(incoming.url ?? '/', 'http://localhost');
  let text = '';
  for await (const chunk of incoming) text += String(chunk);
  const query = Object.fromEntries(url.searchParams);
  const socket = incoming.socket as Socket & { getPeerCertificate?: () => { subject?: { CN?: string } } };
  const clientName = socket.getPeerCertificate?.().subject?.CN;
  return {
    method: incoming.method ?? '',
    path: url.pathname,
    query,
    headers: incoming.headers,
    body: text === '' ? undefined : JSON.parse(text),
    isWatch: query['watch'] === '1',
    ...(clientName !== undefined && { clientName }),
  };
}

function collectionPath(kind: Kind): string {
  return `${kind.group === '' ? '/api' : '/apis'}/${apiVersionOf(kind)}/${kind.resource}`;
}

/** `/api/v1/namespaces/web/pods/a` → the collection `/api/v1/pods`, `web` and `a`. */
function parsePath(path: string): { collection: string; namespace?: string; name?: string } {
  const match =
    /^(?<root>\/api\/[^/]+|\/apis\/[^/]+\/[^/]+)(?:\/namespaces\/(?<namespace>[^/]+))?\/(?<resource>[^/]+)(?:\/(?<name>[^/]+))?$/.exec(
      path,
    );
  // `/api/v1/namespaces/web` reads a Namespace.
  const single = /^(?<root>\/api\/v1)\/(?<resource>namespaces)\/(?<name>[^/]+)$/.exec(path);
  const { root, namespace, resource, name } = (single ?? match)?.groups ?? {};
  return {
    collection: `${root ?? ''}/${resource ?? ''}`,
    ...(namespace !== undefined && { namespace: decodeURIComponent(namespace) }),
    ...(name !== undefined && { name: decodeURIComponent(name) }),
  };
}

function covers(watchPath: string, collection: string, object: KubeObject): boolean {
  const { collection: watched, namespace } = parsePath(watchPath);
  return watched === collection && (namespace === undefined || object.metadata.namespace === namespace);
}

function keyOf(object: KubeObject): string {
  return `${object.metadata.namespace ?? ''}/${object.metadata.name ?? ''}`;
}

function isPartial(request: RecordedRequest): boolean {
  return (request.headers.accept ?? '').includes('as=PartialObjectMetadata');
}

function shape(object: KubeObject, partial: boolean): KubeObject {
  return partial
    ? { apiVersion: 'meta.k8s.io/v1', kind: 'PartialObjectMetadata', metadata: object.metadata }
    : object;
}

function writeEvent(response: ServerResponse, type: string, object: unknown): void {
  response.write(`${JSON.stringify({ type, object })}\n`);
}
