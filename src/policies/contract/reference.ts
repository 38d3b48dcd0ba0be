/**
 * What a reference of a contract names (contract.md §9.1, §9.2), as the rules judge it. What a registry client may send is
 * narrower and judged there.
 */
import { quote } from '../quote.ts';

export type Reference = LocalReference | RegistryReference | MalformedReference;

/** A path, for development only. */
export interface LocalReference {
  readonly scheme: 'local';
  readonly location: string;
  readonly problem?: undefined;
}

export interface RegistryReference {
  readonly scheme: 'oci';
  /** Everything after `oci://`. */
  readonly location: string;
  readonly registry: string;
  readonly repository: string;
  readonly tag?: string;
  /** Where both are given, the digest identifies. */
  readonly digest?: string;
  readonly problem?: undefined;
}

/** Says `oci://`, and then nothing that names an artifact. */
export interface MalformedReference {
  readonly scheme: 'oci';
  readonly location: string;
  readonly problem: string;
}

const OCI = 'oci://';
const FILE = 'file://';

const TAG = /^[a-zA-Z0-9_][a-zA-Z0-9._-]{0,127}$/;
const DIGEST = /^(?:sha256:[0-9a-f]{64}|sha512:[0-9a-f]{128})$/;

/** Never throws: what is wrong with a reference to a registry is its `problem`. */
export function parseReference(ref: string): Reference {
  if (ref.startsWith(OCI)) return parseLocation(ref.slice(OCI.length));
  return { scheme: 'local', location: ref.startsWith(FILE) ? ref.slice(FILE.length) : ref };
}

function parseLocation(location: string): RegistryReference | MalformedReference {
  const malformed = (problem: string): MalformedReference => ({ scheme: 'oci', location, problem });
  const at = location.indexOf('@');
  const named = at === -1 ? location : location.slice(0, at);
  const digest = at === -1 ? '' : location.slice(at + 1);
  const colon = tagColon(named);
  const name = colon === -1 ? named : named.slice(0, colon);
  const tag = colon === -1 ? '' : named.slice(colon + 1);
  const slash = name.indexOf('/');

  if (slash === -1) return malformed(`missing repository in ${quote(name)}`);
  const registry = name.slice(0, slash);
  const repository = name.slice(slash + 1);
  if (registry === '') return malformed('empty registry');
  if (repository === '') return malformed('empty repository');
  if (tag !== '' && !TAG.test(tag)) return malformed(`malformed tag ${quote(tag)}`);
  if (digest !== '' && !DIGEST.test(digest)) {
    return malformed(
      `malformed digest ${quote(digest)}: it must be sha256 with 64 or sha512 with 128 lower-case hex digits`,
    );
  }
  return {
    scheme: 'oci',
    location,
    registry,
    repository,
    ...(tag !== '' && { tag }),
    ...(digest !== '' && { digest }),
  };
}

/**
 * Whether a location is used exactly as it is written, however little its tag or digest is one (contract.md §9.2, §9.3);
 * otherwise the best tag is chosen.
 */
export function hasExplicitTag(location: string): boolean {
  return location.includes('@') || tagColon(location) !== -1;
}

/** The last colon, unless it belongs to a port. */
function tagColon(name: string): number {
  const colon = name.lastIndexOf(':');
  return colon > name.lastIndexOf('/') ? colon : -1;
}
