/** Pushing a bundle (contract.md §12.1): never over another one, unless that is asked for. */
import { GateError } from '../errors.ts';
import { identityOf } from './bundle-manifest.ts';
import type { RegistryClient } from './client.ts';
import { packBundle, type PackedBlob, type ReadContract } from './pack.ts';
import {
  checkReference,
  parseRegistryReference,
  showReference,
  type RegistryReference,
} from './reference.ts';

export type PushClient = Pick<RegistryClient, 'resolveTag' | 'hasBlob' | 'pushBlob' | 'pushManifest'>;

export interface PushOptions {
  readonly readContract: ReadContract;
  /** Writes over whatever has the tag. */
  readonly force: boolean;
  readonly signal?: AbortSignal | undefined;
}

export interface PushedBundle {
  readonly digest: string;
  /** With the tag that it has now, without a scheme. */
  readonly ref: string;
  /** False: the registry had exactly this under the tag, and nothing was sent. */
  readonly isNew: boolean;
}

/**
 * @param reference begins with `oci://`; without tag and digest the tag is the version of the contract.
 * @param files what is to be in the bundle: validated, and without what `.pactoignore` leaves out.
 * @throws GateError GATE_REGISTRY_EXISTS where the tag has another content; GATE_BUNDLE_INVALID; and as RegistryClient
 *   says, also where it cannot be known whether the tag exists.
 */
export async function pushBundle(
  client: PushClient,
  reference: string,
  files: ReadonlyMap<string, Uint8Array>,
  { readContract, force, signal }: PushOptions,
): Promise<PushedBundle> {
  if (!reference.startsWith('oci://'))
    throw new GateError(
      'GATE_REGISTRY_REFERENCE',
      'a bundle is pushed to a reference that begins with oci://',
    );
  const target = targetOf(parseRegistryReference(reference), identityOf(files, readContract).version);
  const packed = packBundle(files, readContract);
  const ref = showReference(target);
  if (target.digest !== undefined && target.digest !== packed.digest)
    throw new GateError(
      'GATE_REGISTRY_REFERENCE',
      `${ref}: the bundle has the digest ${packed.digest}; leave the digest out, or push what it names`,
    );
  if (!force) {
    const existing = await existingDigest(client, target, signal);
    if (existing === packed.digest) return { digest: packed.digest, ref, isNew: false };
    if (existing !== undefined)
      throw new GateError(
        'GATE_REGISTRY_EXISTS',
        `${ref} exists with another content (${existing}): raise the version, or push with force (--force)`,
      );
  }
  for (const blob of [packed.layer, packed.config]) await pushBlob(client, target, blob, signal);
  await client.pushManifest(target, packed.manifest.bytes, packed.manifest.mediaType, signal);
  return { digest: packed.digest, ref, isNew: true };
}

function targetOf(reference: RegistryReference, version: string): RegistryReference {
  if (reference.tag !== undefined || reference.digest !== undefined) return reference;
  if (version.includes('+'))
    throw new GateError(
      'GATE_REGISTRY_REFERENCE',
      `${showReference(reference)}: a version with build metadata (+) is no tag; name one in the reference`,
    );
  return checkReference({ ...reference, tag: version });
}

async function existingDigest(
  client: PushClient,
  target: RegistryReference,
  signal: AbortSignal | undefined,
): Promise<string | undefined> {
  const { registry, repository, tag } = target;
  try {
    // What has the tag, and not whether the digest is there under some other one.
    return await client.resolveTag(tag === undefined ? target : { registry, repository, tag }, signal);
  } catch (error) {
    if (error instanceof GateError && error.code === 'GATE_REGISTRY_NOT_FOUND') return undefined;
    throw error;
  }
}

async function pushBlob(
  client: PushClient,
  target: RegistryReference,
  { bytes, digest }: PackedBlob,
  signal: AbortSignal | undefined,
): Promise<void> {
  if (await client.hasBlob(target, digest, signal)) return;
  await client.pushBlob(target, bytes, digest, signal);
}
