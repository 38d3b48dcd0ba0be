/** Manifests as bundles need them: which of an index, which layer, and what the layer then has to hold (contract.md §11.3). */
import { BUNDLE_CONTRACT, invalidBundle } from './bundle-limits.ts';
import { isDigest } from './digests.ts';
import { field } from './failures.ts';
import type { ReadContract } from './pack.ts';

export interface Descriptor {
  readonly mediaType: string;
  readonly digest: string;
  readonly size: number;
}

export interface BundleIdentity {
  readonly name: string;
  readonly version: string;
}

const INDEX_TYPES: ReadonlySet<unknown> = new Set([
  'application/vnd.oci.image.index.v1+json',
  'application/vnd.docker.distribution.manifest.list.v2+json',
]);

/** @throws GateError GATE_BUNDLE_INVALID where the bytes are no JSON object, or could be read in two ways. */
export function readManifest(bytes: Uint8Array): object {
  let parsed: unknown;
  try {
    parsed = JSON.parse(Buffer.from(bytes).toString('utf8'));
  } catch {
    throw invalidBundle('its manifest is no JSON');
  }
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed))
    throw invalidBundle('its manifest is no JSON object');
  // Which of the two it is would be the registry's word, or a cache's, and one digest two bundles (CVE-2021-41190).
  const isManifest = ['layers', 'config'].some((name) => field(parsed, name) !== undefined);
  if (isManifest && field(parsed, 'manifests') !== undefined)
    throw invalidBundle('its manifest is an index and an image at once');
  return parsed;
}

/**
 * @param mediaType as the registry says, or empty; what the manifest says itself counts where it does.
 * @returns for an image index, the child for linux/amd64, which is also what a child without a platform is for; undefined
 *   for a manifest of one image.
 * @throws GateError GATE_BUNDLE_INVALID where the index has no such child.
 */
export function childOf(manifest: object, mediaType: string): Descriptor | undefined {
  const children = field(manifest, 'manifests');
  const type = field(manifest, 'mediaType') ?? mediaType;
  if (!INDEX_TYPES.has(type) && (type !== '' || children === undefined)) return undefined;
  for (const child of Array.isArray(children) ? (children as readonly unknown[]) : []) {
    const platform = field(child, 'platform');
    const isOurs =
      platform === undefined ||
      platform === null ||
      (field(platform, 'os') === 'linux' && field(platform, 'architecture') === 'amd64');
    if (isOurs) return readDescriptor(child);
  }
  throw invalidBundle('it is an image index without a manifest for linux/amd64');
}

/** @throws GateError GATE_BUNDLE_INVALID unless there is exactly one layer, whatever its media type. */
export function layerOf(manifest: object): Descriptor {
  const found = field(manifest, 'layers');
  const layers = Array.isArray(found) ? (found as readonly unknown[]) : [];
  if (layers.length !== 1) throw invalidBundle(`need exactly one layer, found ${String(layers.length)}`);
  return readDescriptor(layers[0]);
}

export function readDescriptor(value: unknown): Descriptor {
  const mediaType = field(value, 'mediaType');
  const digest = field(value, 'digest');
  const size = field(value, 'size');
  if (typeof digest !== 'string' || !isDigest(digest))
    throw invalidBundle('its manifest names a digest that is none');
  if (typeof size !== 'number' || !Number.isSafeInteger(size) || size < 0)
    throw invalidBundle('its manifest names a size that is none');
  return { mediaType: typeof mediaType === 'string' ? mediaType : '', digest, size };
}

/** @throws GateError GATE_BUNDLE_INVALID where the contract is missing or does not load; no rule is asked. */
export function identityOf(
  files: ReadonlyMap<string, Uint8Array>,
  readContract: ReadContract,
): BundleIdentity & { readonly pactoVersion: string } {
  const contract = files.get(BUNDLE_CONTRACT);
  if (contract === undefined) throw invalidBundle(`it has no ${BUNDLE_CONTRACT}`);
  const read = readContract(contract);
  if (!read.ok) throw invalidBundle(`its ${BUNDLE_CONTRACT} does not load: ${read.reason}`);
  return { name: read.name, version: read.version, pactoVersion: read.pactoVersion };
}
