/**
 * One question to a registry and its answer: with credentials, redirects, retries and limits. What the answer means is
 * the client's business.
 */
import { type Action, Authentication, type Candidate } from './authentication.ts';
import { headerOf, readError, readWhole } from './bodies.ts';
import { type Challenge, parseChallenges, preferred } from './challenge.ts';
import type { CredentialSource } from './credential.ts';
import { shutOut } from './shut-out.ts';
import { type Answer, Dialer } from './dialer.ts';
import { statusFailure, spokenCode, type Subject, refused } from './failures.ts';
import type { RegistrySettings } from './options.ts';
import { Patience } from './patience.ts';
import { isRedirect, MAX_REDIRECTS, redirectTarget } from './redirects.ts';
import type { Repository } from './reference.ts';
import { retryAfterMs, retrying } from './retry.ts';
import { Turns } from './turns.ts';

export interface Ask {
  readonly repository: Repository;
  /** Below `/v2/<repository>/`, or a whole URL of the registry. */
  readonly at: string | URL;
  readonly method: 'GET' | 'HEAD' | 'POST' | 'PUT';
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array;
  readonly action: Action;
  readonly subject: Subject;
  readonly sources: readonly CredentialSource[];
  /** Beside 2xx: not a failure. */
  readonly alsoFine?: readonly number[];
  readonly signal: AbortSignal | undefined;
}

export interface Whole {
  readonly status: number;
  readonly url: URL;
  readonly header: (name: string) => string | undefined;
  readonly bytes: Buffer;
}

export interface Opened {
  readonly answer: Answer;
  readonly patience: Patience;
  /** Ends what is left of it and lets the next one have its turn. */
  readonly release: () => void;
}

interface Arrived {
  readonly answer: Answer;
  /** Not of the registry itself: what it says about credentials is not about ours. */
  readonly isElsewhere: boolean;
}

type Asking = Ask & { readonly registry: URL; readonly url: URL; readonly patience: Patience };

/** Registries whose challenge is remembered. */
const REMEMBERED_CHALLENGES = 1_000;

export class Transport {
  readonly #settings: RegistrySettings;
  readonly #dialer: Dialer;
  readonly #authentication: Authentication;
  readonly #turns: Turns;
  /** By registry; null: it asks for nothing until it does. */
  readonly #challenges = new Map<string, Challenge | null>();

  constructor(settings: RegistrySettings) {
    this.#settings = settings;
    this.#dialer = new Dialer(settings);
    this.#authentication = new Authentication(settings, this.#dialer);
    this.#turns = new Turns(settings.limits.concurrency);
  }

  /** The address of something in a repository. */
  urlOf({ registry, repository }: Repository, at: string): URL {
    return new URL(`/v2/${repository}/${at}`, this.#dialer.originOf(registry));
  }

  /** @param maxBytes of the answer's body. */
  whole(ask: Ask, maxBytes: number): Promise<Whole> {
    return this.#retrying(ask, async (signal) => {
      const { answer, patience, release } = await this.#open(ask, signal);
      try {
        const isRead = ask.method !== 'HEAD' && answer.statusCode < 300;
        const bytes = isRead
          ? await readWhole(answer, maxBytes, patience, ask.subject)
          : await readError(answer, patience, ask.subject);
        const headers = answer.headers;
        return {
          status: answer.statusCode,
          url: this.#urlFor(ask),
          header: (name) => headerOf({ headers }, name),
          bytes,
        };
      } finally {
        release();
      }
    });
  }

  /** An answer whose body is still to be read; whoever gets it must release it. */
  open(ask: Ask): Promise<Opened> {
    return this.#retrying(ask, (signal) => this.#open(ask, signal));
  }

  /**
   * Several questions with one end for all of them, each with its own limits below it.
   * @param run gets the signal that its questions are to have.
   */
  together<T>(
    subject: Subject,
    signal: AbortSignal | undefined,
    run: (signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    const { clock, random, limits } = this.#settings;
    return retrying({ clock, random, attempts: 1, totalMs: limits.totalMs, subject, signal }, run);
  }

  close(): Promise<void> {
    return this.#dialer.close();
  }

  #retrying<T>(ask: Ask, attempt: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const { clock, random, limits } = this.#settings;
    const { attempts, totalMs } = limits;
    const { subject, signal } = ask;
    return retrying({ clock, random, attempts, totalMs, subject, signal }, attempt);
  }

  #urlFor({ at, repository }: Ask): URL {
    return typeof at === 'string' ? this.urlOf(repository, at) : at;
  }

  /** @param signal ends this attempt until there is an answer; the caller's own goes on to end its body. */
  async #open(ask: Ask, signal: AbortSignal): Promise<Opened> {
    const { clock, limits } = this.#settings;
    const giveBack = await this.#turns.take(ask.repository.registry, signal);
    const patience = new Patience(clock, limits, ask.subject, [signal, ask.signal, this.#dialer.closing]);
    const release = (): void => {
      patience.release();
      giveBack();
    };
    try {
      const registry = this.#dialer.originOf(ask.repository.registry);
      const answer = await this.#asEach({ ...ask, registry, url: this.#urlFor(ask), patience });
      const status = answer.statusCode;
      if ((status < 200 || status > 299) && ask.alsoFine?.includes(status) !== true) {
        const spoken = spokenCode(await readError(answer, patience, ask.subject));
        const afterMs = retryAfterMs(headerOf(answer, 'retry-after'), clock.now());
        throw statusFailure(ask.subject, status, spoken, afterMs);
      }
      return { answer, patience, release };
    } catch (error) {
      release();
      throw error;
    }
  }

  /** Each of the credentials until one gets in (contract.md §11.6). */
  async #asEach(ask: Asking): Promise<Answer> {
    const tried: string[] = [];
    for await (const candidate of this.#authentication.candidates(
      ask.sources,
      ask.repository,
      ask.patience,
    )) {
      const answer = await this.#as(candidate, ask);
      if (answer !== undefined) return answer;
      tried.push(candidate.name);
    }
    throw await shutOut(ask, tried);
  }

  /** @returns undefined where the registry refuses these credentials. */
  async #as(candidate: Candidate, ask: Asking): Promise<Answer | undefined> {
    let challenge = await this.#knownChallenge(candidate, ask);
    // Twice: what is known of the registry, or a token, may be out of date.
    for (let isAgain = false; ; isAgain = true) {
      const proof = await this.#authentication.prove(candidate, challenge, ask);
      if (proof === undefined) return undefined;
      const { answer, isElsewhere } = await this.#follow(ask, proof.authorization);
      const status = answer.statusCode;
      if (isElsewhere || (status !== 401 && status !== 403)) return answer;
      const told = status === 401 ? challengeOf(answer) : undefined;
      await readError(answer, ask.patience, ask.subject);
      proof.drop?.();
      if (told === undefined || isAgain || candidate.credential?.kind === 'bearer') return undefined;
      this.#remember(ask.repository.registry, told);
      const isSentAlready = challenge?.scheme === 'basic' || candidate.credential?.kind !== 'basic';
      if (told.scheme === 'basic' && isSentAlready) return undefined;
      challenge = told;
    }
  }

  /** Credentials are never tried out on a question: what the registry asks for is found out first. */
  async #knownChallenge(candidate: Candidate, ask: Asking): Promise<Challenge | undefined> {
    const { registry } = ask.repository;
    const known = this.#challenges.get(registry);
    if (known !== undefined || candidate.credential === undefined || candidate.credential.kind === 'bearer')
      return known ?? undefined;
    const { patience, subject } = ask;
    const answer = await this.#dialer.send({
      url: new URL('/v2/', ask.registry),
      method: 'GET',
      headers: {},
      registry: ask.registry,
      subject,
      patience,
    });
    await readError(answer, patience, subject);
    const status = answer.statusCode;
    if (status === 408 || status === 429 || status >= 500)
      throw statusFailure(
        subject,
        status,
        undefined,
        retryAfterMs(headerOf(answer, 'retry-after'), this.#settings.clock.now()),
      );
    const told = status === 401 ? challengeOf(answer) : undefined;
    this.#remember(registry, told ?? null);
    return told;
  }

  #remember(registry: string, challenge: Challenge | null): void {
    if (this.#challenges.size >= REMEMBERED_CHALLENGES) this.#challenges.clear();
    this.#challenges.set(registry, challenge);
  }

  async #follow(ask: Asking, authorization: string | undefined): Promise<Arrived> {
    const { method, subject, patience, registry } = ask;
    let url = ask.url;
    let proof = authorization;
    for (let hops = 0; ; hops++) {
      const answer = await this.#dialer.send({
        url,
        method,
        headers: { ...ask.headers, ...(proof !== undefined && { authorization: proof }) },
        ...(ask.body !== undefined && { body: ask.body }),
        registry,
        subject,
        patience,
      });
      if (!isRedirect(answer.statusCode) || (method !== 'GET' && method !== 'HEAD'))
        return { answer, isElsewhere: url.origin !== registry.origin };
      const target = redirectTarget(url, headerOf(answer, 'location'), subject);
      await readError(answer, patience, subject);
      if (hops >= MAX_REDIRECTS)
        throw refused(subject, `the registry leads on and on: more than ${MAX_REDIRECTS} redirects`);
      // For good: whoever was led to may lead back.
      if (target.origin !== registry.origin) proof = undefined;
      url = target;
    }
  }
}

function challengeOf(answer: Answer): Challenge | undefined {
  return preferred(parseChallenges(answer.headers['www-authenticate']));
}
