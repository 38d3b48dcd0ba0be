/** What a pointer names: revisions as Flux writes them (delivery.md §2.1) and the pin of each kind of pointer. */
import { at, isRecord } from '../identity/foreign.ts';
import type { Pin } from './change.ts';
import type { StagePointer } from './stage.ts';

const SHA256 = /^sha256:[0-9a-f]{64}$/;
const COMMIT = /^[0-9a-f]{40}(?:[0-9a-f]{24})?$/;
/** A version and no range: what is after it is a prerelease or build (Masterminds reads a bare one as `=`). */
const EXACT_VERSION =
  /^=?\s*v?(?:0|[1-9]\d*)\.(?:0|[1-9]\d*)\.(?:0|[1-9]\d*)(?:-[0-9A-Za-z.-]+)?(?:\+[0-9A-Za-z.-]+)?$/;
/** Longer ones name nothing that a registry or Git has. */
const MOST = 1_024;

export interface Revision {
  /** `main`, `refs/heads/main`, `v1.2.3`, a chart's version; undefined where there is none. */
  readonly name: string | undefined;
  /** `sha256:…` of an artifact, the bare commit of Git; empty where the revision has none. */
  readonly digest: string;
}

/**
 * RFC-0005: `[<name>]@<algo>:<hex>`, split on the last `@`, which names may contain; a bare `<algo>:<hex>`; else a name alone.
 */
export function revisionOf(text: unknown): Revision | undefined {
  if (typeof text !== 'string' || text === '' || text.length > MOST) return undefined;
  const split = text.lastIndexOf('@');
  const name = split > 0 ? text.slice(0, split) : undefined;
  const rest = text.slice(split + 1);
  const [, algorithm = '', hex = ''] = /^([a-z0-9]+):([0-9a-f]+)$/.exec(rest) ?? [];
  if (hex === '') return { name: text, digest: '' };
  // A commit is named without its algorithm, as `spec.ref.commit` has it.
  return { name, digest: algorithm === 'sha1' ? hex : rest };
}

/** @returns the pin; undefined where the object is none, so that there is no pin at all */
export function pinOf(object: unknown, { field, key }: Pick<StagePointer, 'field' | 'key'>): Pin | undefined {
  if (!isRecord(object)) return undefined;
  switch (field) {
    case 'ociDigest':
      return ociPin(at(object, 'spec', 'ref'));
    case 'gitCommit':
      return gitPin(at(object, 'spec', 'ref'));
    case 'chartVersion':
      return chartPin(at(object, 'spec'));
    case 'kustomizeImageDigest':
      return imagePin(at(object, 'spec', 'images'), key);
    case 'configKey':
      return configPin(at(object, 'data', key));
  }
}

/** Digest over semver over tag, `latest` without any (delivery.md §2.1). */
function ociPin(ref: unknown): Pin {
  const digest = text(at(ref, 'digest'));
  if (digest !== '') return { value: digest, isPinned: SHA256.test(digest) };
  return { value: text(at(ref, 'semver')) || text(at(ref, 'tag')) || 'latest', isPinned: false };
}

/** A commit counts whatever branch stands beside it; a tag may be moved. */
function gitPin(ref: unknown): Pin {
  const commit = text(at(ref, 'commit'));
  if (commit !== '') return { value: commit, isPinned: COMMIT.test(commit) };
  const floating = ['name', 'semver', 'tag', 'branch'].map((key) => text(at(ref, key)));
  return { value: floating.find((one) => one !== '') ?? 'master', isPinned: false };
}

/** With `chartRef` the version is that of a source of its own, which is the pointer then. */
function chartPin(spec: unknown): Pin {
  if (isRecord(at(spec, 'chartRef'))) return { value: '', isPinned: true };
  const version = text(at(spec, 'chart', 'spec', 'version'));
  return { value: version === '' ? '*' : version, isPinned: EXACT_VERSION.test(version) };
}

function imagePin(images: unknown, name: string): Pin {
  const found = Array.isArray(images) ? images.find((image) => at(image, 'name') === name) : undefined;
  const digest = text(at(found, 'digest'));
  if (digest !== '') return { value: digest, isPinned: SHA256.test(digest) };
  return { value: text(at(found, 'newTag')), isPinned: false };
}

/** A digest, a commit, or a reference that ends in a digest. */
function configPin(value: unknown): Pin {
  const found = text(value).trim();
  const { digest = '' } = revisionOf(found) ?? {};
  if (SHA256.test(digest)) return { value: digest, isPinned: true };
  return { value: found, isPinned: COMMIT.test(found) };
}

function text(value: unknown): string {
  return typeof value === 'string' && value.length <= MOST ? value : '';
}
