/**
 * Version constraints as Masterminds/semver 3.5 reads them (contract.md §10.2). npm's `semver` reads another language
 * (§10.3, docs/adr/0009-own-version-constraints.md).
 */
import { quote } from '../quote.ts';
import { type Version, compareVersions, parseVersion } from './version.ts';

/** Both limits are the reader's own. */
const MAXIMUM_BYTES = 512;
const MAXIMUM_ALTERNATIVES = 32;

// What these expressions take is at most 512 characters and can be cut into comparators in one way only, so that none of them
// needs more than quadratic time. A comparator may hold `|` and a mix of digits and wildcards: such a version is refused
// later, and until then it counts as one for finding the ends of a hyphen range.
const BLANK = String.raw`[\t\n\f\r ]`;
const OPERATOR = '!=|>=|=>|<=|=<|~>|[=<>~^]';
const PART = '[0-9xX*|]+';
const IDENTIFIERS = String.raw`[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*`;
const VERSION = String.raw`v?(?:${PART})(?:\.${PART}){0,2}(?:-${IDENTIFIERS})?(?:\+${IDENTIFIERS})?`;
const VERSION_PARTS = new RegExp(
  String.raw`^v?(${PART})(?:\.(${PART}))?(?:\.(${PART}))?(-${IDENTIFIERS})?(?:\+${IDENTIFIERS})?$`,
);
const HYPHEN_RANGE = new RegExp(`${BLANK}*(${VERSION})${BLANK}+-${BLANK}+(${VERSION})${BLANK}*`, 'g');
const COMPARATOR = `(?:(?:${OPERATOR})${BLANK}*)?${VERSION}`;
const SEPARATOR = `(?:${BLANK}+(?:,${BLANK}*)?|,${BLANK}*)`;
const GROUP = new RegExp(`^${BLANK}*${COMPARATOR}(?:${SEPARATOR}${COMPARATOR})*${BLANK}*$`);
const COMPARATORS = new RegExp(`(${OPERATOR})?${BLANK}*(${VERSION})`, 'g');

/** The leftmost part that a constraint leaves open, by a wildcard or by leaving it out. */
type Open = 'major' | 'minor' | 'patch' | undefined;

interface Comparator {
  readonly accepts: Relation;
  /** Open parts are 0. */
  readonly bound: Version;
  readonly open: Open;
}

type Relation = (version: Version, bound: Version, open: Open) => boolean;

/** All of a group must accept; one group of a constraint is enough. */
interface Group {
  readonly comparators: readonly Comparator[];
  /** A comparator that names a prerelease admits those of any version to the whole group (contract.md §10.2). */
  readonly prereleases: boolean;
}

export type ParsedConstraint =
  { readonly ok: true; readonly constraint: Constraint } | { readonly ok: false; readonly reason: string };

export class Constraint {
  readonly #groups: readonly Group[];

  constructor(groups: readonly Group[]) {
    this.#groups = groups;
  }

  matches(version: Version): boolean {
    return this.#groups.some(
      ({ comparators, prereleases }) =>
        (prereleases || version.prerelease === '') &&
        comparators.every(({ accepts, bound, open }) => accepts(version, bound, open)),
    );
  }
}

/** Never throws. The empty text is no constraint (contract.md §10.3). */
export function parseConstraint(text: string): ParsedConstraint {
  if (text.length > MAXIMUM_BYTES) return refused(`it is longer than ${MAXIMUM_BYTES} characters`);
  const alternatives = rewriteRanges(text).split('||');
  if (alternatives.length > MAXIMUM_ALTERNATIVES) {
    return refused(`it has more than ${MAXIMUM_ALTERNATIVES} alternatives`);
  }
  const groups: Group[] = [];
  for (const alternative of alternatives) {
    const group = parseGroup(alternative);
    if (typeof group === 'string') return refused(group);
    groups.push(group);
  }
  return { ok: true, constraint: new Constraint(groups) };
}

function refused(reason: string): ParsedConstraint {
  return { ok: false, reason };
}

/** `1 - 2` is `>= 1, <= 2`, and takes the blanks around it with it: what stands before it needs a comma or `||`. */
function rewriteRanges(text: string): string {
  return text.replace(HYPHEN_RANGE, (_, low: string, high: string) => `>= ${low}, <= ${high} `);
}

/** @returns why not, as a text */
function parseGroup(text: string): Group | string {
  if (!GROUP.test(text)) return `${quote(text)} is no list of comparators`;
  const comparators: Comparator[] = [];
  for (const [, operator = '', version = ''] of text.matchAll(COMPARATORS)) {
    const comparator = parseComparator(operator, version);
    if (comparator === undefined) return `${quote(version)} is no version, whole or in part`;
    comparators.push(comparator);
  }
  return { comparators, prereleases: comparators.some(({ bound }) => bound.prerelease !== '') };
}

function parseComparator(operator: string, text: string): Comparator | undefined {
  const [, major, minor, patch, prerelease = ''] = VERSION_PARTS.exec(text) ?? [];
  const accepts = RELATIONS.get(operator);
  const open = isOpen(major) ? 'major' : isOpen(minor) ? 'minor' : isOpen(patch) ? 'patch' : undefined;
  const bound = parseVersion(
    {
      major: () => `0.0.0${prerelease}`,
      minor: () => `${major}.0.0${prerelease}`,
      patch: () => `${major}.${minor}.0${prerelease}`,
      none: () => text,
    }[open ?? 'none'](),
  );
  return accepts === undefined || bound === undefined ? undefined : { accepts, bound, open };
}

function isOpen(part: string | undefined): boolean {
  return part === undefined || part === 'x' || part === 'X' || part === '*';
}

const isEqual: Relation = (version, bound, open) =>
  open === undefined ? compareVersions(version, bound) === 0 : isAboutEqual(version, bound, open);

const isNotEqual: Relation = (version, bound, open) => {
  switch (open) {
    case 'minor':
      return version.major !== bound.major;
    case 'patch':
      return !hasSameMinor(version, bound) || version.prerelease !== bound.prerelease;
    default:
      return compareVersions(version, bound) !== 0;
  }
};

const isAbove: Relation = (version, bound, open) => {
  switch (open) {
    case 'minor':
      return version.major > bound.major;
    case 'patch':
      return version.major > bound.major || (version.major === bound.major && version.minor > bound.minor);
    default:
      return compareVersions(version, bound) > 0;
  }
};

const isBelow: Relation = (version, bound) => compareVersions(version, bound) < 0;

const isAtLeast: Relation = (version, bound) => compareVersions(version, bound) >= 0;

const isAtMost: Relation = (version, bound, open) => {
  if (open === undefined) return compareVersions(version, bound) <= 0;
  if (version.major !== bound.major) return version.major < bound.major;
  return open === 'minor' || version.minor <= bound.minor;
};

/** `~`, which accepts everything above 0.0.0 where that is its bound (contract.md §10.3). */
const isAboutEqual: Relation = (version, bound, open) => {
  if (compareVersions(version, bound) < 0) return false;
  const anything = bound.major === 0 && bound.minor === 0 && bound.patch === 0;
  if (anything && (open === undefined || open === 'major')) return true;
  return version.major === bound.major && (open === 'minor' || version.minor === bound.minor);
};

/** `^`: the leftmost part of the bound that is not 0, or the last that is given, must be the same. */
const isCompatible: Relation = (version, bound, open) => {
  if (compareVersions(version, bound) < 0 || version.major !== bound.major) return false;
  if (bound.major > 0 || open === 'minor') return true;
  if (version.minor !== bound.minor) return false;
  return bound.minor > 0 || open === 'patch' || version.patch === bound.patch;
};

function hasSameMinor(version: Version, bound: Version): boolean {
  return version.major === bound.major && version.minor === bound.minor;
}

const RELATIONS: ReadonlyMap<string, Relation> = new Map([
  ['', isEqual],
  ['=', isEqual],
  ['!=', isNotEqual],
  ['>', isAbove],
  ['<', isBelow],
  ['>=', isAtLeast],
  ['=>', isAtLeast],
  ['<=', isAtMost],
  ['=<', isAtMost],
  ['~', isAboutEqual],
  ['~>', isAboutEqual],
  ['^', isCompatible],
]);
