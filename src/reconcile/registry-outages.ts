/**
 * Registries that do not answer, known to all who ask: hundreds of Pactos of one registry that is away would each wait for
 * it, try again, and hold up the others.
 */
import type { Clock } from '../clock.ts';
import { GateError } from '../errors.ts';
import type { Manifest } from '../registry/client.ts';
import type { PullClient } from '../registry/pull.ts';
import { showReference, type RegistryReference, type Repository } from '../registry/reference.ts';

/** Calls that failed in a row, with no answer to anybody in between: one repository alone may be at fault for fewer. */
const FAILURES = 3;
/** Then one call may try whether it is back. */
const AWAY_MS = 30_000;
/** Registries that are remembered; the one that was heard of first is forgotten. */
const REMEMBERED = 1_000;
/** A proxy answers, and nothing behind it does. */
const GATEWAY_STATUSES: ReadonlySet<unknown> = new Set([502, 503, 504]);

interface Outage {
  failures: number;
  /** Since when nobody but one asks, on the monotonic clock; undefined: it still counts as there. */
  awaySinceMs: number | undefined;
  /** What is said of it, without whose reference it was: that may be somebody else's. */
  why: string;
  isTried: boolean;
}

export class RegistryOutages {
  readonly #clock: Clock;
  readonly #registries = new Map<string, Outage>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /**
   * The same client, which asks no registry that is known to be away. The pieces of a blob are not watched: that one is
   * slow says nothing of its registry, and it is asked for by what the manifest said.
   * @returns throws as the client does; GATE_REGISTRY_UNREACHABLE at once for a registry that is away.
   */
  guard(client: PullClient): PullClient {
    return {
      resolveTag: (reference, signal, known): Promise<string> =>
        this.#ask(reference, () => client.resolveTag(reference, signal, known)),
      manifest: (reference, signal): Promise<Manifest> =>
        this.#ask(reference, () => client.manifest(reference, signal)),
      tags: (repository, signal): Promise<readonly string[]> =>
        this.#ask(repository, () => client.tags(repository, signal)),
      blob: (repository, descriptor, options) => client.blob(repository, descriptor, options),
    };
  }

  /** Whether at most one call at a time reaches it. */
  isAway(registry: string): boolean {
    return this.#registries.get(registry)?.awaySinceMs !== undefined;
  }

  async #ask<T>(reference: RegistryReference | Repository, call: () => Promise<T>): Promise<T> {
    const { registry } = reference;
    const isTrial = this.#begin(reference);
    try {
      const answer = await call();
      this.#registries.delete(registry);
      return answer;
    } catch (error) {
      this.#failed(reference, error);
      throw error;
    } finally {
      const outage = this.#registries.get(registry);
      if (isTrial && outage !== undefined) outage.isTried = false;
    }
  }

  /**
   * @returns whether this call is the one that tries whether the registry is back.
   * @throws GateError GATE_REGISTRY_UNREACHABLE
   */
  #begin(reference: RegistryReference | Repository): boolean {
    const outage = this.#registries.get(reference.registry);
    if (outage?.awaySinceMs === undefined) return false;
    if (outage.isTried || this.#clock.monotonic() < outage.awaySinceMs + AWAY_MS)
      throw new GateError('GATE_REGISTRY_UNREACHABLE', `${showReference(reference)}: ${outage.why}`);
    outage.isTried = true;
    return true;
  }

  #failed(reference: RegistryReference | Repository, error: unknown): void {
    const { registry } = reference;
    if (!isAway(error)) {
      if (isAnswer(error)) this.#registries.delete(registry);
      return;
    }
    const outage = this.#registries.get(registry) ?? this.#remember(registry);
    outage.failures += 1;
    outage.why = whyOf(reference, error);
    if (outage.failures >= FAILURES) outage.awaySinceMs = this.#clock.monotonic();
  }

  #remember(registry: string): Outage {
    const [first] = this.#registries.keys();
    if (first !== undefined && this.#registries.size >= REMEMBERED) this.#registries.delete(first);
    const outage: Outage = { failures: 0, awaySinceMs: undefined, why: '', isTried: false };
    this.#registries.set(registry, outage);
    return outage;
  }
}

function isAway(error: unknown): error is GateError {
  if (!(error instanceof GateError) || error.code !== 'GATE_REGISTRY_UNREACHABLE') return false;
  const { status } = error.fields;
  return status === undefined || GATEWAY_STATUSES.has(status);
}

/** It spoke, if only to say no; what our own rules refuse never reached it. */
function isAnswer(error: unknown): boolean {
  return (
    error instanceof GateError &&
    /^GATE_REGISTRY_(?:UNREACHABLE|NOT_FOUND|AUTHENTICATION|ANSWER)$/.test(error.code)
  );
}

/** In the same words as if it had been asked again, so that what is said of an outage does not change with who asked. */
function whyOf(reference: RegistryReference | Repository, error: GateError): string {
  const prefix = `${showReference(reference)}: `;
  return error.message.startsWith(prefix)
    ? error.message.slice(prefix.length)
    : 'the registry does not answer; try again later';
}
