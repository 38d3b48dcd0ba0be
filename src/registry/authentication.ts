/**
 * How a registry is answered that asks who we are: which credentials there are, in which order they are tried
 * (contract.md §11.6), and what a challenge turns them into (platform.md §1.3 rules 6 and 7).
 */
import { createHash } from 'node:crypto';
import { GateError } from '../errors.ts';
import { headerOf, readError, readWhole } from './bodies.ts';
import type { Challenge } from './challenge.ts';
import type { Credential, CredentialSource } from './credential.ts';
import type { Dialer } from './dialer.ts';
import { field, refused, silent, statusFailure, type Subject, wrongAnswer, shownHost } from './failures.ts';
import { HostList } from './hosts.ts';
import type { RegistrySettings } from './options.ts';
import { Patience } from './patience.ts';
import { checkRealm } from './realm-policy.ts';
import { isRedirect } from './redirects.ts';
import type { Repository } from './reference.ts';
import { retryAfterMs } from './retry.ts';
import { type Token, TokenCache } from './tokens.ts';

export type Action = 'pull' | 'pull,push';

/** Credentials, or none, to try on a registry. */
export interface Candidate {
  readonly name: string;
  readonly credential: Credential | undefined;
}

export interface Proof {
  /** The header; undefined: nothing is known to be needed. */
  readonly authorization: string | undefined;
  /** Forgets the token in it, where there is one. */
  readonly drop?: () => void;
}

/** On whose behalf, for what, and how long it is waited for. */
export interface ProofRequest {
  readonly registry: URL;
  readonly repository: Repository;
  readonly action: Action;
  readonly subject: Subject;
  readonly patience: Patience;
}

/** Tokens of the large clouds are some kilobytes. */
const TOKEN_ANSWER_BYTES = 64 * 1024;
const TOKEN_LENGTH = 16 * 1024;
/** What may stand in a header. */
const HEADER_SAFE = /^[\x21-\x7e]+$/;
/** Docker's OAuth2 page asks clients to name themselves. */
const CLIENT_ID = 'pacto-gate';

const ANONYMOUS: Candidate = { name: 'anonymous', credential: undefined };

export class Authentication {
  readonly #settings: RegistrySettings;
  readonly #dialer: Dialer;
  readonly #realms: HostList;
  readonly #tokens: TokenCache;

  constructor(settings: RegistrySettings, dialer: Dialer) {
    this.#settings = settings;
    this.#dialer = dialer;
    this.#realms = new HostList(settings.realms ?? []);
    this.#tokens = new TokenCache(settings.clock);
  }

  /**
   * What is to be tried, in order. Anonymous only where there is nothing else.
   * @throws GateError GATE_REGISTRY_AUTHENTICATION where a source fails.
   */
  async *candidates(
    sources: readonly CredentialSource[],
    { registry, repository }: Repository,
    patience: Patience,
  ): AsyncGenerator<Candidate, void> {
    let hasAny = false;
    for (const source of sources) {
      let credential: Credential | undefined;
      try {
        credential = await patience.orAborted(source.for(registry, repository));
      } catch (error) {
        if (error instanceof GateError || patience.signal.aborted) throw error;
        // Not as a cause: what fails while reading credentials may quote them.
        throw new GateError(
          'GATE_REGISTRY_AUTHENTICATION',
          `${registry}: the credential source ${source.name} cannot be read; check it`,
        );
      }
      if (credential === undefined) continue;
      hasAny = true;
      yield { name: source.name, credential };
    }
    if (!hasAny) yield ANONYMOUS;
  }

  /**
   * @param challenge what the registry asks for; undefined: it has not asked yet.
   * @returns undefined: these credentials do not get in.
   */
  async prove(
    { credential }: Candidate,
    challenge: Challenge | undefined,
    request: ProofRequest,
  ): Promise<Proof | undefined> {
    if (credential?.kind === 'bearer')
      return HEADER_SAFE.test(credential.token) ? { authorization: `Bearer ${credential.token}` } : undefined;
    if (challenge === undefined) return { authorization: undefined };
    if (challenge.scheme === 'basic') {
      // Some registries ask for a password for one repository and not for the next.
      if (credential === undefined) return { authorization: undefined };
      return credential.kind === 'basic' ? { authorization: basicOf(credential) } : undefined;
    }
    const realm = checkRealm(
      challenge.parameters.get('realm') ?? '',
      request.registry,
      this.#realms,
      request.subject,
    );
    const question: TokenQuestion = {
      realm,
      service: challenge.parameters.get('service'),
      // Ours, not the challenge's: a registry does not choose what a token of ours may do elsewhere.
      scope: `repository:${request.repository.repository}:${request.action}`,
      credential,
    };
    const key = keyOf(request.repository.registry, question);
    const token = await request.patience.orAborted(
      this.#tokens.get(key, () => this.#fetchToken(question, request)),
    );
    return token === undefined
      ? undefined
      : { authorization: `Bearer ${token}`, drop: () => this.#tokens.drop(key, token) };
  }

  /** With patience of its own: others may wait for the same token. */
  async #fetchToken(
    question: TokenQuestion,
    { registry, subject: asked }: ProofRequest,
  ): Promise<Token | undefined> {
    const { limits, clock } = this.#settings;
    const subject: Subject = {
      reference: asked.reference,
      wanted: `a token of ${shownHost(question.realm)}`,
    };
    const patience = new Patience(clock, limits, subject, [this.#dialer.closing]);
    try {
      const answer = await this.#dialer.send({ ...tokenCall(question), registry, subject, patience });
      const status = answer.statusCode;
      if (isRedirect(status))
        throw refused(
          subject,
          `the token server ${shownHost(question.realm)} leads elsewhere; nothing was sent there`,
        );
      if (status === 200)
        return readToken(await readWhole(answer, TOKEN_ANSWER_BYTES, patience, subject), subject);
      await readError(answer, patience, subject);
      // 400 is how OAuth2 refuses a refresh token (RFC 6749 §5.2).
      if (status === 400 || status === 401 || status === 403) return undefined;
      if (status === 404) throw silent(subject, 'HTTP 404');
      throw statusFailure(
        subject,
        status,
        undefined,
        retryAfterMs(headerOf(answer, 'retry-after'), clock.now()),
      );
    } finally {
      patience.release();
    }
  }
}

interface TokenQuestion {
  readonly realm: URL;
  readonly service: string | undefined;
  readonly scope: string;
  readonly credential: Credential | undefined;
}

function tokenCall({ realm, service, scope, credential }: TokenQuestion): {
  readonly url: URL;
  readonly method: 'GET' | 'POST';
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Uint8Array;
} {
  if (credential?.kind === 'identity') {
    const form = new URLSearchParams({
      grant_type: 'refresh_token',
      ...(service !== undefined && { service }),
      client_id: CLIENT_ID,
      scope,
      refresh_token: credential.token,
    });
    return {
      url: realm,
      method: 'POST',
      headers: { accept: 'application/json', 'content-type': 'application/x-www-form-urlencoded' },
      body: Buffer.from(form.toString()),
    };
  }
  const url = new URL(realm.href);
  if (service !== undefined) url.searchParams.set('service', service);
  url.searchParams.set('scope', scope);
  return {
    url,
    method: 'GET',
    headers: {
      accept: 'application/json',
      ...(credential?.kind === 'basic' && { authorization: basicOf(credential) }),
    },
  };
}

function readToken(body: Buffer, subject: Subject): Token {
  let parsed: unknown;
  try {
    parsed = JSON.parse(body.toString('utf8'));
  } catch {
    // The parser's message repeats the text, which holds the token.
    throw wrongAnswer(subject, 'is no JSON');
  }
  const token = field(parsed, 'token') ?? field(parsed, 'access_token');
  if (typeof token !== 'string' || token.length > TOKEN_LENGTH || !HEADER_SAFE.test(token))
    throw wrongAnswer(subject, 'is not one that a header can carry');
  const seconds = field(parsed, 'expires_in');
  return {
    token,
    expiresInSeconds: typeof seconds === 'number' && Number.isFinite(seconds) ? seconds : undefined,
  };
}

function basicOf({ username, password }: Extract<Credential, { kind: 'basic' }>): string {
  return `Basic ${Buffer.from(`${username}:${password}`, 'utf8').toString('base64')}`;
}

/** Digested, so that no secret is a key of a map. */
function keyOf(registry: string, { realm, service, scope, credential }: TokenQuestion): string {
  return createHash('sha256')
    .update(JSON.stringify([registry, realm.href, service ?? null, scope, credential ?? null]))
    .digest('base64');
}
