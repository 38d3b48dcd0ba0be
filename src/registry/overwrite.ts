/** Whether a tag still names what it named (platform.md §1.3 rule 10, operator.md §3.6). */
import { GateError } from '../errors.ts';
import type { RegistryClient } from './client.ts';
import { parseRegistryReference } from './reference.ts';

export type TagNow =
  | { readonly state: 'unchanged'; readonly digest: string }
  /** Somebody pushed another content under the same tag. */
  | { readonly state: 'overwritten'; readonly digest: string }
  | { readonly state: 'gone' };

/**
 * @param reference with a tag.
 * @param known the digest that the tag had.
 * @throws GateError as RegistryClient says: a registry that does not answer has overwritten nothing.
 */
export async function tagNow(
  client: Pick<RegistryClient, 'resolveTag'>,
  reference: string,
  known: string,
  signal?: AbortSignal,
): Promise<TagNow> {
  const { registry, repository, tag } = parseRegistryReference(reference);
  if (tag === undefined)
    throw new GateError('GATE_REGISTRY_REFERENCE', 'only a reference with a tag can be overwritten');
  try {
    const digest = await client.resolveTag({ registry, repository, tag }, signal, known);
    return { state: digest === known ? 'unchanged' : 'overwritten', digest };
  } catch (error) {
    if (error instanceof GateError && error.code === 'GATE_REGISTRY_NOT_FOUND') return { state: 'gone' };
    throw error;
  }
}
