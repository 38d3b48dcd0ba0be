/** Callers prove themselves: who they are by TokenReview, what they may by SubjectAccessReview (design §5). */
import { createHash } from 'node:crypto';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Clock } from '../clock.ts';
import type { AccessAnswer, AccessQuestion, Cluster, TokenReviewResult } from '../cluster/cluster.ts';
import type { UserInfo } from '../cluster/objects.ts';
import { GateError, messageOf, quote } from '../errors.ts';
import type { Lane, ReviewCap } from './review-cap.ts';

/** A token that was revoked is believed this much longer, and so is a right that was taken away. */
const POSITIVE_MS = 10_000;
/** A token that has just become valid is refused this much longer, and so is who was just given a right. */
const NEGATIVE_MS = 1_000;
/** Of each kind; the oldest is forgotten first, which costs one more review. */
const REMEMBERED = 1_000;
/** An address that had a good token is expected back with a new one this long: a token's usual life. */
const RETURNING_MS = 3_600_000;
/** A review that takes longer has no answer that its caller still waits for. */
const REVIEW_TIMEOUT_MS = 5_000;

export interface CallersOptions {
  readonly cluster: Pick<Cluster, 'reviewToken' | 'reviewAccess'>;
  readonly clock: Clock;
  readonly cap: ReviewCap;
  /** At least one of them must be among those that the token was issued for; empty: the API server's own. */
  readonly audiences: readonly string[];
}

export interface Callers {
  /**
   * @param authorization the header field as sent.
   * @param peer address of the caller, if it is known: then it can keep nobody else from being recognised.
   * @throws GateError GATE_CALLER_UNAUTHENTICATED (401), GATE_CALLER_UNVERIFIED (503: the API server did not say),
   *   GATE_OVERLOADED (429).
   */
  authenticate(authorization: string | undefined, peer?: string): Promise<UserInfo>;
  /** @throws GateError GATE_CALLER_FORBIDDEN (403), GATE_CALLER_UNVERIFIED (503), GATE_OVERLOADED (429). */
  authorize(user: UserInfo, question: Omit<AccessQuestion, 'user'>): Promise<void>;
}

export function createCallers(options: CallersOptions): Callers {
  return new ReviewedCallers(options);
}

/** Who may call; throws a GateError otherwise. */
export type Guard = (authorization: string | undefined, peer?: string) => Promise<void>;

/** Lets in who may `get` the path `/metrics`, as controller-runtime's metrics servers do. */
export function metricsGuard(callers: Callers): Guard {
  return async (authorization, peer) => {
    const user = await callers.authenticate(authorization, peer);
    await callers.authorize(user, { nonResource: { verb: 'get', path: '/metrics' } });
  };
}

/** Lets in the given users: for webhooks, whom the API server's admission kubeconfig names. */
export function usernamesGuard(callers: Callers, usernames: readonly string[]): Guard {
  const allowed = new Set(usernames);
  return async (authorization, peer) => {
    const { username = '' } = await callers.authenticate(authorization, peer);
    if (!allowed.has(username)) {
      throw new GateError(
        'GATE_CALLER_FORBIDDEN',
        `caller: ${quote(username)} may not call webhooks: add it to the allowed callers if it is an API server`,
      );
    }
  };
}

/** Asks `guard` before a body is read. Call it before `limitBodies`: a stranger gets no room. */
export function guardRequests(app: FastifyInstance, guard: Guard): void {
  const ask = async (request: FastifyRequest, done: (error?: Error) => void): Promise<void> => {
    try {
      await guard(request.headers.authorization, request.raw.socket.remoteAddress);
    } catch (error) {
      done(error as Error);
      return;
    }
    done();
  };
  app.addHook('onRequest', (request, _reply, done) => {
    void ask(request, done);
  });
}

interface Remembered<T> {
  readonly result: T;
  readonly untilMs: number;
}

type Memory<T> = Map<string, Remembered<T>>;

class ReviewedCallers implements Callers {
  readonly #options: CallersOptions;
  // Keyed by a hash: a token itself is kept nowhere. Good ones stay after their time, as `known`.
  readonly #good: Memory<TokenReviewResult> = new Map();
  readonly #bad: Memory<TokenReviewResult> = new Map();
  /** Those that had a good token, until when they are expected back. */
  readonly #returning = new Map<string, number>();
  readonly #asking = new Map<string, Promise<TokenReviewResult>>();
  // Apart from each other: whoever may do nothing, and asks for everything, makes us forget no right of others.
  readonly #allowed: Memory<AccessAnswer> = new Map();
  readonly #denied: Memory<AccessAnswer> = new Map();
  readonly #asked = new Map<string, Promise<AccessAnswer>>();

  constructor(options: CallersOptions) {
    this.#options = options;
  }

  async authenticate(authorization: string | undefined, address?: string): Promise<UserInfo> {
    const token = bearerOf(authorization);
    if (token === undefined) {
      throw new GateError(
        'GATE_CALLER_UNAUTHENTICATED',
        `caller: no bearer token in the header field Authorization: send one${this.#forAudiences()}`,
      );
    }
    const peer = address === undefined ? undefined : networkOf(address);
    const result = await this.#review(token, peer);
    if (!this.#accepts(result)) {
      throw new GateError(
        'GATE_CALLER_UNAUTHENTICATED',
        `caller: the API server does not accept the token: send a valid one${this.#forAudiences()}`,
      );
    }
    if (peer !== undefined) this.#expectBack(peer);
    return result.user;
  }

  async authorize(user: UserInfo, question: Omit<AccessQuestion, 'user'>): Promise<void> {
    const answer = await this.#access({ ...question, user });
    if (!mayDo(answer)) {
      throw new GateError(
        'GATE_CALLER_FORBIDDEN',
        `caller: ${quote(user.username ?? '')} may not ${describe(question)}: grant it by RBAC`,
      );
    }
  }

  /** Rights are reviewed for seconds as tokens are: whoever asks often is answered, and costs the API server little. */
  async #access(question: AccessQuestion): Promise<AccessAnswer> {
    const key = hashOf(JSON.stringify(question));
    const nowMs = this.#options.clock.monotonic();
    const remembered = this.#allowed.get(key) ?? this.#denied.get(key);
    if (remembered !== undefined && nowMs < remembered.untilMs) return remembered.result;
    const under = this.#asked.get(key);
    if (under !== undefined) return await under;
    const asking = this.#ask('known', (signal) =>
      this.#options.cluster.reviewAccess(question, { signal }),
    ).then((answer) => {
      this.#allowed.delete(key);
      this.#denied.delete(key);
      if (mayDo(answer)) this.#put(this.#allowed, { key, result: answer, lifeMs: POSITIVE_MS });
      else this.#put(this.#denied, { key, result: answer, lifeMs: NEGATIVE_MS });
      return answer;
    });
    this.#asked.set(key, asking);
    try {
      return await asking;
    } finally {
      this.#asked.delete(key);
    }
  }

  async #review(token: string, peer: string | undefined): Promise<TokenReviewResult> {
    const key = hashOf(token);
    const nowMs = this.#options.clock.monotonic();
    const good = this.#good.get(key);
    const remembered = good ?? this.#bad.get(key);
    if (remembered !== undefined && nowMs < remembered.untilMs) return remembered.result;
    const under = this.#asking.get(key);
    if (under !== undefined) return under;
    const [lane, share] = good === undefined ? this.#laneOf(peer) : (['known', undefined] as const);
    const asking = this.#ask(
      lane,
      (signal) => this.#options.cluster.reviewToken(token, this.#options.audiences, { signal }),
      share,
    ).then((result) => {
      this.#remember(key, result);
      return result;
    });
    this.#asking.set(key, asking);
    try {
      return await asking;
    } finally {
      this.#asking.delete(key);
    }
  }

  /** For a token that was not good before. */
  #laneOf(peer: string | undefined): readonly [Lane, string | undefined] {
    const untilMs = peer === undefined ? undefined : this.#returning.get(peer);
    const isBack = untilMs !== undefined && this.#options.clock.monotonic() < untilMs;
    return [isBack ? 'returning' : 'new', peer];
  }

  #expectBack(peer: string): void {
    this.#returning.delete(peer);
    this.#returning.set(peer, this.#options.clock.monotonic() + RETURNING_MS);
    const [oldest] = this.#returning.keys();
    if (this.#returning.size > REMEMBERED && oldest !== undefined) this.#returning.delete(oldest);
  }

  #remember(key: string, result: TokenReviewResult): void {
    this.#good.delete(key);
    this.#bad.delete(key);
    if (this.#accepts(result)) this.#put(this.#good, { key, result, lifeMs: POSITIVE_MS });
    else this.#put(this.#bad, { key, result, lifeMs: NEGATIVE_MS });
  }

  #put<T>(
    memory: Memory<T>,
    { key, result, lifeMs }: { readonly key: string; readonly result: T; readonly lifeMs: number },
  ): void {
    memory.set(key, { result, untilMs: this.#options.clock.monotonic() + lifeMs });
    const [oldest] = memory.keys();
    if (memory.size > REMEMBERED && oldest !== undefined) memory.delete(oldest);
  }

  /**
   * An authenticator that knows nothing of audiences answers without any: such a token was meant for the API server
   * and proves nothing to us.
   */
  #accepts(result: TokenReviewResult): boolean {
    const { audiences } = this.#options;
    if (!result.authenticated) return false;
    return audiences.length === 0 || audiences.some((audience) => result.audiences.includes(audience));
  }

  #forAudiences(): string {
    const { audiences } = this.#options;
    return audiences.length === 0 ? '' : ` for the audience ${audiences.map(quote).join(' or ')}`;
  }

  async #ask<T>(lane: Lane, review: (signal: AbortSignal) => Promise<T>, peer?: string): Promise<T> {
    const run = async (): Promise<T> => {
      const controller = new AbortController();
      const timer = this.#options.clock.setTimer(REVIEW_TIMEOUT_MS, () => {
        controller.abort(new Error(`no answer within ${String(REVIEW_TIMEOUT_MS)} ms`));
      });
      try {
        return await review(controller.signal);
      } catch (error) {
        throw new GateError(
          'GATE_CALLER_UNVERIFIED',
          'caller: the API server cannot be asked who this is: see the log of pacto-gate',
          { cause: error, fields: { cause: messageOf(error) } },
        );
      } finally {
        timer.cancel();
      }
    };
    return await this.#options.cap.run(lane, run, peer);
  }
}

function mayDo({ allowed, denied }: AccessAnswer): boolean {
  return allowed && !denied;
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('base64');
}

/** An IPv6 host can send from each of the 2^64 addresses of its network. */
function networkOf(address: string): string {
  if (!address.includes(':') || address.includes('.')) return address.replace(/^::ffff:/i, '');
  const [head = '', tail] = address.split('::');
  const groups = head === '' ? [] : head.split(':');
  const after = tail === undefined || tail === '' ? [] : tail.split(':');
  const missing = tail === undefined ? 0 : Math.max(0, 8 - groups.length - after.length);
  const all = [...groups, ...Array.from({ length: missing }, () => '0'), ...after];
  return `${all.slice(0, 4).join(':')}::/64`;
}

/** `Bearer` in any case, one token (RFC 6750 §2.1). */
const BEARER = /^Bearer +([\w.~+/-]+=*)$/i;

function bearerOf(authorization: string | undefined): string | undefined {
  return BEARER.exec(authorization ?? '')?.[1];
}

function describe(question: Omit<AccessQuestion, 'user'>): string {
  if (question.nonResource !== undefined) return `${question.nonResource.verb} ${question.nonResource.path}`;
  const { resource } = question;
  if (resource === undefined) return 'do this';
  const kind =
    resource.subresource === undefined ? resource.resource : `${resource.resource}/${resource.subresource}`;
  return `${resource.verb} ${kind}`;
}
