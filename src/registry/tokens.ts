/** Tokens of token servers: kept as long as they hold, and fetched once for all who need the same (rule 7). */
import type { Clock } from '../clock.ts';

export interface Token {
  readonly token: string;
  /** From when it was asked for; undefined: the server did not say. */
  readonly expiresInSeconds: number | undefined;
}

/** Docker's token specification: what a token lives when the answer does not say. */
const DEFAULT_LIFE_SECONDS = 60;
/** Given up before it ends, so that it does not end on its way. */
const MARGIN_SECONDS = 10;
/** A server that says more may have revoked it long before. */
const LONGEST_LIFE_SECONDS = 3_600;
const KEPT_TOKENS = 1_000;

interface Kept {
  readonly token: string;
  readonly endMs: number;
}

export class TokenCache {
  readonly #clock: Clock;
  readonly #kept = new Map<string, Kept>();
  readonly #pending = new Map<string, Promise<string | undefined>>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /**
   * @param key all that the token depends on: registry, repository, scope, token server and whose credentials.
   * @param fetch undefined: the token server does not give one for these credentials.
   */
  async get(key: string, fetch: () => Promise<Token | undefined>): Promise<string | undefined> {
    const kept = this.#kept.get(key);
    if (kept !== undefined && kept.endMs > this.#clock.monotonic()) return kept.token;
    this.#kept.delete(key);
    const pending = this.#pending.get(key);
    if (pending !== undefined) return pending;
    const fetching = this.#fetch(key, fetch).finally(() => this.#pending.delete(key));
    this.#pending.set(key, fetching);
    return fetching;
  }

  /** The registry does not take it any more. A newer one under the same key stays. */
  drop(key: string, token: string): void {
    if (this.#kept.get(key)?.token === token) this.#kept.delete(key);
  }

  async #fetch(key: string, fetch: () => Promise<Token | undefined>): Promise<string | undefined> {
    const askedMs = this.#clock.monotonic();
    const fetched = await fetch();
    if (fetched === undefined) return undefined;
    const lifeSeconds = Math.min(fetched.expiresInSeconds ?? DEFAULT_LIFE_SECONDS, LONGEST_LIFE_SECONDS);
    const endMs = askedMs + (lifeSeconds - MARGIN_SECONDS) * 1000;
    if (endMs > this.#clock.monotonic()) {
      if (this.#kept.size >= KEPT_TOKENS)
        for (const oldest of [...this.#kept.keys()].slice(0, 100)) this.#kept.delete(oldest);
      this.#kept.set(key, { token: fetched.token, endMs });
    }
    return fetched.token;
  }
}
