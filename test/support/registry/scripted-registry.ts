/** A registry that answers as a test says, right or wrong, on an address of this machine; it remembers what it was asked. */
import { createHash } from 'node:crypto';
import { createServer as createPlain, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import { createServer as createSecure } from 'node:https';
import type { AddressInfo } from 'node:net';
import { once } from 'node:events';
import type { TlsPair } from '../../../src/http/certificate.ts';

export interface Asked {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  /** Path and query as they came. */
  readonly target: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

export type Answering = (asked: Asked, response: ServerResponse) => void;

export interface ScriptedRegistry {
  /** `127.0.0.1:5000`, as a reference has it. */
  readonly host: string;
  readonly origin: string;
  readonly port: number;
  readonly asked: readonly Asked[];
  /** Answers `GET /v2/`, whatever its query; what no rule is for is 404. The last rule for the same counts. */
  on(methodAndPath: string, answering: Answering): void;
  close(): Promise<void>;
}

export interface ScriptedOptions {
  /** Another address of loopback is another host. */
  readonly address?: string;
  readonly tls?: TlsPair;
}

export async function scriptedRegistry(options: ScriptedOptions = {}): Promise<ScriptedRegistry> {
  const { address = '127.0.0.1', tls } = options;
  const asked: Asked[] = [];
  const rules = new Map<string, Answering>();
  const server = tls === undefined ? createPlain() : createSecure({ cert: tls.certPem, key: tls.keyPem });
  server.on('request', (request, response) => {
    const url = new URL(request.url ?? '/', 'http://registry.test');
    const body: Buffer[] = [];
    request.on('data', (piece: Buffer) => void body.push(piece));
    request.on('end', () => {
      const one: Asked = {
        method: request.method ?? '',
        path: url.pathname,
        query: url.searchParams,
        target: request.url ?? '',
        headers: request.headers,
        body: Buffer.concat(body),
      };
      asked.push(one);
      const answering = rules.get(`${one.method} ${one.path}`);
      if (answering === undefined) response.writeHead(404).end();
      else answering(one, response);
    });
  });
  server.listen(0, address);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const host = `${address}:${String(port)}`;
  return {
    host,
    origin: `${tls === undefined ? 'http' : 'https'}://${host}`,
    port,
    asked,
    on: (methodAndPath, answering) => void rules.set(methodAndPath, answering),
    close: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

export const OCI_MANIFEST = 'application/vnd.oci.image.manifest.v1+json';

export function sha256(bytes: Uint8Array): string {
  return `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
}

/** Sends bytes with a status and headers. */
export function answer(
  status: number,
  body: Uint8Array | string = '',
  headers: Readonly<Record<string, string | readonly string[]>> = {},
): Answering {
  return (asked, response) => {
    response.writeHead(status, headers as Record<string, string | string[]>);
    response.end(asked.method === 'HEAD' ? undefined : body);
  };
}

/** As a registry sends a manifest; `headers` make the one a test is about. */
export function manifestAnswer(bytes: Uint8Array, headers: Readonly<Record<string, string>> = {}): Answering {
  return answer(200, bytes, {
    'content-type': OCI_MANIFEST,
    'docker-content-digest': sha256(bytes),
    ...headers,
  });
}

/** Lets in who has exactly this header, and asks the others. */
export function guarded(authorization: string | undefined, challenge: string, inside: Answering): Answering {
  return (asked, response) =>
    asked.headers.authorization === authorization
      ? inside(asked, response)
      : answer(401, '{"errors":[{"code":"UNAUTHORIZED"}]}', { 'www-authenticate': challenge })(
          asked,
          response,
        );
}

/** One answer after the other; the last one from then on. */
export function inTurn(...answers: readonly Answering[]): Answering {
  let at = 0;
  return (asked, response) => answers[Math.min(at++, answers.length - 1)]?.(asked, response);
}
