/** Tags and their digests, asked for once for all Pactos of a repository that a round of the mirror comes to. */
import type { Clock } from '../clock.ts';
import { GateError } from '../errors.ts';
import { ExpiringCache, TAG_LIST_TTL_MS } from '../registry/cache.ts';
import type { PullClient } from '../registry/pull.ts';
import { showReference, type RegistryReference, type Repository } from '../registry/reference.ts';

/** Two repositories with as many tags as are mirrored, for each that is read at the same time. */
const DIGESTS = 1_000;
const TAG_LISTS = 100;
/** Of all lists together, by their texts. */
const TAG_LISTS_LENGTH = 16 * 1024 * 1024;

/**
 * For clients with the credentials of everybody alone: what others may read only some may (operator.md §3.3).
 * @returns the same client for one round of the mirror, whose answers and refusals about tags count for all of the round,
 *   or for five minutes of a long one; it does not use `known`.
 */
export function shareAnswers(client: PullClient, clock: Clock): PullClient {
  const weightOf = (tags: readonly string[]): number => tags.reduce((sum, tag) => sum + tag.length, 0);
  const tagLists = new ExpiringCache<readonly string[]>({
    clock,
    ttlMs: TAG_LIST_TTL_MS,
    maxEntries: TAG_LISTS,
    bound: { maxWeight: TAG_LISTS_LENGTH, weightOf },
  });
  const digests = new ExpiringCache<string>({ clock, ttlMs: TAG_LIST_TTL_MS, maxEntries: DIGESTS });
  return {
    tags: (repository: Repository, signal) =>
      tagLists.get(showReference(repository), () => client.tags(repository), {
        signal,
        keepsError: isOfRegistry,
      }),
    resolveTag: (reference: RegistryReference, signal) =>
      digests.get(showReference(reference), () => client.resolveTag(reference), {
        signal,
        keepsError: isOfRegistry,
      }),
    manifest: (reference, signal) => client.manifest(reference, signal),
    blob: (repository, descriptor, options) => client.blob(repository, descriptor, options),
  };
}

function isOfRegistry(error: unknown): boolean {
  return error instanceof GateError && error.code.startsWith('GATE_REGISTRY_');
}
