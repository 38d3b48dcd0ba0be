/**
 * A token server as registries have beside them: answers the bearer challenge with a signed token for what was asked
 * (distribution's spec/auth: token.md for GET, oauth.md for POST). Tokens are signed with ES256 and carry their
 * certificate (`x5c`), which docker-registry checks against the authority it was given.
 */
import { X509Certificate, createPrivateKey, randomUUID, sign } from 'node:crypto';
import { createServer as createPlainServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { systemClock } from '../../../src/clock.ts';
import { issueAuthority, issueLeaf } from '../../../src/http/issue.ts';
import type { TlsPair } from '../../../src/http/certificate.ts';

/** Long enough for any test; one that is about expiry sets its own. */
const LIFETIME_SECONDS = 300;

export interface TokenServerOptions {
  readonly user: { readonly username: string; readonly password: string };
  /** Serves https with this certificate; plain http without. */
  readonly tls?: TlsPair;
  /** True: who names no user gets a token that may pull. @defaultValue false */
  readonly anonymousPull?: boolean;
}

/** What a client asked for, without its credential. */
export interface TokenRequest {
  readonly method: string;
  readonly service: string | undefined;
  readonly scopes: readonly string[];
  /** How the client said who it is. */
  readonly by: 'nobody' | 'basic' | 'password' | 'identity token';
  readonly granted: boolean;
}

export interface TokenServer {
  /** The URL of the challenge. */
  readonly realm: string;
  readonly service: string;
  readonly issuer: string;
  /** PEM; what a registry trusts the tokens by. */
  readonly authorityPem: string;
  /** What a login left on a user's disk: exchanged by POST for a token (`grant_type=refresh_token`). */
  readonly identityToken: string;
  readonly requests: readonly TokenRequest[];
  /** What it answers from now on as `expires_in`, and how long its tokens count. */
  lifetimeSeconds: number;
  /** A token made without a request, for a user who keeps one (`registrytoken`). `actions` of one repository. */
  issue(repository: string, actions: readonly string[]): string;
  close(): Promise<void>;
}

interface Access {
  readonly type: string;
  readonly name: string;
  readonly actions: readonly string[];
}

export async function startTokenServer(options: TokenServerOptions): Promise<TokenServer> {
  const authority = await issueAuthority({ nowMs: systemClock.now(), commonName: 'token authority' });
  const signer = await issueLeaf(authority, {
    nowMs: systemClock.now(),
    dnsNames: ['token-signer'],
    ipAddresses: [],
  });
  const requests: TokenRequest[] = [];
  const issuing = { issuer: 'token server of a test', service: 'registry of a test', signer };
  const answer = (request: IncomingMessage, response: ServerResponse): void => {
    void respond(request, response).catch((error: unknown) => response.destroy(error as Error));
  };
  const server = options.tls
    ? createSecureServer({ cert: options.tls.certPem, key: options.tls.keyPem }, answer)
    : createPlainServer(answer);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const tokens: TokenServer = {
    realm: `${options.tls ? 'https' : 'http'}://127.0.0.1:${port}/token`,
    service: issuing.service,
    issuer: issuing.issuer,
    authorityPem: authority.certPem,
    identityToken: randomUUID(),
    requests,
    lifetimeSeconds: LIFETIME_SECONDS,
    issue: (name, actions) =>
      signToken(issuing, [{ type: 'repository', name, actions }], tokens.lifetimeSeconds),
    async close() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };

  async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const asked = await readRequest(request);
    const by = identify(asked, request.headers.authorization);
    const user = by !== 'nobody' && isUser(by, asked, request.headers.authorization);
    const granted = user || (by === 'nobody' && options.anonymousPull === true);
    const scopes = asked.getAll('scope').flatMap((scope) => scope.split(' '));
    requests.push({
      method: request.method ?? '',
      service: asked.get('service') ?? undefined,
      scopes,
      by,
      granted,
    });
    if (!granted) {
      sendJson(response, 401, { errors: [{ code: 'UNAUTHORIZED', message: 'who are you' }] });
      return;
    }
    const access = scopes.flatMap((scope) => readScope(scope, user ? undefined : ['pull']));
    const token = signToken(issuing, access, tokens.lifetimeSeconds);
    // GET answers `token`, OAuth 2 `access_token`: a client must take either.
    const named = request.method === 'POST' ? { access_token: token } : { token };
    sendJson(response, 200, { ...named, expires_in: tokens.lifetimeSeconds });
  }

  function isUser(by: TokenRequest['by'], asked: URLSearchParams, header: string | undefined): boolean {
    const { username, password } = options.user;
    if (by === 'identity token') return asked.get('refresh_token') === tokens.identityToken;
    if (by === 'password') return asked.get('username') === username && asked.get('password') === password;
    return header === `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;
  }

  return tokens;
}

/** The parameters of either way to ask: a query, or a form. */
async function readRequest(request: IncomingMessage): Promise<URLSearchParams> {
  if (request.method === 'POST') return new URLSearchParams(await text(request));
  return new URL(request.url ?? '/', 'http://r.test').searchParams;
}

function identify(asked: URLSearchParams, header: string | undefined): TokenRequest['by'] {
  if (asked.get('grant_type') === 'refresh_token') return 'identity token';
  if (asked.get('grant_type') === 'password') return 'password';
  return header === undefined ? 'nobody' : 'basic';
}

/** `repository:a/b:pull,push`: a name may hold a colon (a port), the actions hold none. */
function readScope(scope: string, only: readonly string[] | undefined): Access[] {
  const match = /^(\w+):(.+):([^:]*)$/.exec(scope);
  if (match === null) return [];
  const [, type = '', name = '', actions = ''] = match;
  const asked = actions.split(',');
  return [{ type, name, actions: only === undefined ? asked : asked.filter((one) => only.includes(one)) }];
}

function signToken(
  { issuer, service, signer }: { issuer: string; service: string; signer: TlsPair },
  access: readonly Access[],
  lifetimeSeconds: number,
): string {
  const now = Math.floor(systemClock.now() / 1000);
  const header = {
    typ: 'JWT',
    alg: 'ES256',
    x5c: [new X509Certificate(signer.certPem).raw.toString('base64')],
  };
  const claims = {
    iss: issuer,
    sub: 'user',
    aud: service,
    iat: now,
    nbf: now - 10,
    exp: now + lifetimeSeconds,
    jti: randomUUID(),
    access,
  };
  const signed = [header, claims]
    .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
    .join('.');
  const key = { key: createPrivateKey(signer.keyPem), dsaEncoding: 'ieee-p1363' } as const;
  return `${signed}.${sign('sha256', Buffer.from(signed), key).toString('base64url')}`;
}

function sendJson(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(body));
}
