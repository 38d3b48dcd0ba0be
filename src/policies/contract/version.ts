/**
 * Versions as Masterminds/semver 3.5 reads and orders them (contract.md §10.1): a `v` in front, missing parts and leading
 * zeros are fine, and every part has 64 bits.
 */

/** A part beyond 2^53 is a bigint, any other a number: equal parts are `===`, and `<` compares across the two exactly. */
export type VersionPart = number | bigint;

export interface Version {
  readonly major: VersionPart;
  readonly minor: VersionPart;
  readonly patch: VersionPart;
  /** Without its `-`; empty for a release. */
  readonly prerelease: string;
  /** Without its `+`; empty where there is none. */
  readonly metadata: string;
  /** As it was written. */
  readonly original: string;
}

/** The reader's own limit, in bytes; what is longer is no version. */
const MAXIMUM_BYTES = 256;

const UINT64_MAXIMUM = 2n ** 64n - 1n;

/** Identifiers with dots between them. Each repetition begins with a character that the one before cannot take: linear. */
const IDENTIFIERS = String.raw`[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*`;
const VERSION = new RegExp(
  String.raw`^v?([0-9]+)(?:\.([0-9]+))?(?:\.([0-9]+))?(?:-(${IDENTIFIERS}))?(?:\+(${IDENTIFIERS}))?$`,
);

const NUMERIC = /^[0-9]+$/;
const PADDED_IDENTIFIER = /(?:^|\.)0[0-9]+(?:\.|$)/;

/** @returns undefined for what is no version, however lenient (contract.md §10.1) */
export function parseVersion(text: string): Version | undefined {
  // Units are bytes here: a text with anything beyond ASCII is refused either way.
  if (text.length > MAXIMUM_BYTES) return undefined;
  const match = VERSION.exec(text);
  if (match === null) return undefined;
  const major = parsePart(match[1]);
  const minor = parsePart(match[2]);
  const patch = parsePart(match[3]);
  const prerelease = match[4] ?? '';
  if (major === undefined || minor === undefined || patch === undefined) return undefined;
  if (PADDED_IDENTIFIER.test(prerelease)) return undefined;
  return { major, minor, patch, prerelease, metadata: match[5] ?? '', original: text };
}

/** A missing part is 0. @returns undefined beyond 64 bits */
function parsePart(digits = '0'): VersionPart | undefined {
  const value = Number(digits);
  if (Number.isSafeInteger(value)) return value;
  const exact = BigInt(digits);
  return exact > UINT64_MAXIMUM ? undefined : exact;
}

/** Semantic precedence (contract.md §10.1): build metadata has none. @returns below 0, 0 or above 0 */
export function compareVersions(a: Version, b: Version): number {
  return (
    compare(a.major, b.major) ||
    compare(a.minor, b.minor) ||
    compare(a.patch, b.patch) ||
    comparePrereleases(a.prerelease, b.prerelease)
  );
}

function compare<T extends VersionPart | string>(a: T, b: T): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

function comparePrereleases(a: string, b: string): number {
  if (a === b) return 0;
  if (a === '') return 1;
  if (b === '') return -1;
  const left = a.split('.');
  const right = b.split('.');
  for (const [index, identifier] of left.entries()) {
    const other = right[index];
    if (other === undefined) return 1;
    const order = compareIdentifiers(identifier, other);
    if (order !== 0) return order;
  }
  return left.length - right.length;
}

/** Numbers come before words; a number beyond 64 bits counts as a word, as the reader cannot hold it. */
function compareIdentifiers(a: string, b: string): number {
  const left = numberOf(a);
  const right = numberOf(b);
  if (left === undefined && right === undefined) return compare(a, b);
  if (left === undefined) return 1;
  if (right === undefined) return -1;
  return compare(left, right);
}

function numberOf(identifier: string): VersionPart | undefined {
  return NUMERIC.test(identifier) ? parsePart(identifier) : undefined;
}
