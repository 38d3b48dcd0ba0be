/** Pulling a bundle: reference → tag → digest → files, each step once, so that digest and bytes agree (contract.md §9.3). */
import { GateError } from '../errors.ts';
import { readBundleArchive } from './bundle-archive.ts';
import type { BundleCache, Files, PullResult } from './bundle-cache.ts';
import { childOf, identityOf, layerOf, readManifest, type Descriptor } from './bundle-manifest.ts';
import type { Manifest, RegistryClient } from './client.ts';
import type { ReadContract } from './pack.ts';
import { parseRegistryReference, showReference, type RegistryReference } from './reference.ts';

export type PullClient = Pick<RegistryClient, 'resolveTag' | 'manifest' | 'blob' | 'tags'>;

export interface PullOptions {
  readonly readContract: ReadContract;
  /**
   * Of the tags of an untagged reference the one that is meant: the rules' `bestTag`.
   * @returns undefined where none is.
   */
  readonly chooseTag: (tags: readonly string[]) => string | undefined;
  /** As the contract writes it, where `chooseTag` is bound by one: for the error when nothing is left. */
  readonly constraint?: string | undefined;
  readonly cache?: BundleCache | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Called as the bytes of the layer come; none come for a bundle that is cached. */
  readonly onProgress?: ((receivedBytes: number, totalBytes: number) => void) | undefined;
}

export interface PulledBundle {
  readonly files: Files;
  /** What the reference named: of the index, where it is one. */
  readonly digest: string;
  /** With registry, tag or digest as resolved, without a scheme. */
  readonly ref: string;
}

/**
 * @param reference with or without `oci://`. A tag or digest is used as it is written; without one a tag is chosen.
 * @throws GateError as RegistryClient says; GATE_BUNDLE_INVALID; GATE_REGISTRY_NO_VERSION where the constraint leaves no
 *   tag.
 */
export async function pullBundle(
  client: PullClient,
  reference: string,
  options: PullOptions,
): Promise<PulledBundle> {
  const parsed = parseRegistryReference(reference);
  const { cache, constraint = '', signal } = options;
  if (cache?.keepsResults !== true) return pullNow(client, parsed, options);
  let fresh: PulledBundle | undefined;
  const pull = async (): Promise<PullResult> => {
    fresh = await pullNow(client, parsed, { ...options, signal: undefined });
    return { digest: fresh.digest, ref: fresh.ref };
  };
  const { digest, ref } = await cache.result(`${showReference(parsed)} ${constraint}`, pull, signal);
  const files =
    fresh?.files ??
    cache.files(parsed, digest) ??
    (await pullNow(client, { ...parsed, digest }, options)).files;
  return { files, digest, ref };
}

async function pullNow(
  client: PullClient,
  reference: RegistryReference,
  options: PullOptions,
): Promise<PulledBundle> {
  const asked = await withTag(client, reference, options);
  const { digest, manifest } = await observe(client, asked, options);
  const exact = { ...asked, digest };
  const ref = showReference(asked);
  const cached = options.cache?.files(asked, digest);
  if (cached !== undefined) return { files: cached, digest, ref };
  const layer = await findLayer(client, exact, manifest, options);
  const files = await readLayer(client, exact, layer, options);
  identityOf(files, options.readContract);
  options.cache?.keepFiles(asked, digest, files);
  return { files, digest, ref };
}

/** The reference of an untagged one with the tag that is meant. */
async function withTag(
  client: Pick<PullClient, 'tags'>,
  reference: RegistryReference,
  { cache, signal, ...options }: PullOptions,
): Promise<RegistryReference> {
  if (reference.tag !== undefined || reference.digest !== undefined) return reference;
  const tags =
    cache === undefined
      ? await client.tags(reference, signal)
      : await cache.tags(reference, () => client.tags(reference), signal);
  const tag = options.chooseTag(tags);
  if (tag !== undefined) return { ...reference, tag };
  const name = showReference(reference);
  if (options.constraint === undefined)
    throw new GateError(
      'GATE_REGISTRY_NOT_FOUND',
      `${name}: none of its ${String(tags.length)} tags is a version; push one, or name a tag`,
    );
  throw new GateError(
    'GATE_REGISTRY_NO_VERSION',
    `${name}: none of its ${String(tags.length)} tags satisfies the constraint; widen it, or push a version`,
    { fields: { constraint: options.constraint.slice(0, 120) } },
  );
}

/** Resolves the tag once; where the registry refuses to, what the tag gives in one answer counts. */
async function observe(
  client: PullClient,
  reference: RegistryReference,
  { signal }: PullOptions,
): Promise<{ digest: string; manifest: Manifest | undefined }> {
  if (reference.digest !== undefined) return { digest: reference.digest, manifest: undefined };
  try {
    return { digest: await client.resolveTag(reference, signal), manifest: undefined };
  } catch (error) {
    if (!isUnwilling(error)) throw error;
    const manifest = await client.manifest(reference, signal);
    return { digest: manifest.digest, manifest };
  }
}

/** It answered, and not that it is missing, forbidden, overloaded or broken. */
function isUnwilling(error: unknown): boolean {
  if (!(error instanceof GateError) || error.code !== 'GATE_REGISTRY_UNREACHABLE') return false;
  const { status } = error.fields;
  return typeof status === 'number' && status >= 400 && status < 500 && status !== 408 && status !== 429;
}

type Exact = RegistryReference & { readonly digest: string };

async function findLayer(
  client: PullClient,
  reference: Exact,
  given: Manifest | undefined,
  options: PullOptions,
): Promise<Descriptor> {
  const first = given ?? (await manifestOf(client, reference, options));
  const manifest = readManifest(first.bytes);
  const child = childOf(manifest, first.mediaType);
  if (child === undefined) return layerOf(manifest);
  const second = await manifestOf(client, { ...reference, digest: child.digest }, options);
  return layerOf(readManifest(second.bytes));
}

async function manifestOf(
  client: PullClient,
  reference: Exact,
  { cache, signal }: PullOptions,
): Promise<Pick<Manifest, 'bytes' | 'mediaType'>> {
  const kept = await cache?.blobs?.get(reference, reference.digest);
  // What it is it says itself, or its content shows it.
  if (kept !== undefined) return { bytes: kept, mediaType: '' };
  const manifest = await client.manifest(reference, signal);
  await cache?.blobs?.set(reference, reference.digest, manifest.bytes);
  return manifest;
}

async function readLayer(
  client: PullClient,
  reference: Exact,
  layer: Descriptor,
  { cache, signal, onProgress }: PullOptions,
): Promise<Files> {
  const kept = await cache?.blobs?.get(reference, layer.digest);
  if (kept !== undefined) return readBundleArchive(kept);
  const pieces: Uint8Array[] = [];
  const keeps = cache?.blobs !== undefined;
  async function* received(): AsyncGenerator<Uint8Array> {
    let receivedBytes = 0;
    for await (const piece of client.blob(reference, layer, signal === undefined ? {} : { signal })) {
      receivedBytes += piece.length;
      onProgress?.(receivedBytes, layer.size);
      if (keeps) pieces.push(piece);
      yield piece;
    }
  }
  const files = await readBundleArchive(received());
  await cache?.blobs?.set(reference, layer.digest, Buffer.concat(pieces));
  return files;
}
