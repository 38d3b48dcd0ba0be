/** The library of semantic versions: `semver`, `isSemver` and comparison, as blang/semver 4.0.0 reads them. */
import { BOOL, INT, STRING, opaque } from '../cel-type.ts';
import type { Library } from '../library.ts';
import { utf8Length } from '../sizes.ts';
import { CelError, Opaque, type Value, intOf } from '../values.ts';
import { define, global, member, readingCost, unitCost } from './declare.ts';
import { goQuote } from './go-text.ts';

const SEMVER = opaque('kubernetes.Semver');

const UINT64_MAX = 2n ** 64n - 1n;

interface Version {
  readonly major: bigint;
  readonly minor: bigint;
  readonly patch: bigint;
  /** Numbers come before texts. */
  readonly prerelease: readonly (bigint | string)[];
  /** Takes no part in comparisons. */
  readonly build: readonly string[];
}

export class SemverValue extends Opaque {
  override readonly typeName = 'kubernetes.Semver';
  readonly version: Version;

  constructor(version: Version) {
    super();
    this.version = version;
  }

  override equals(other: Value): boolean | undefined {
    return other instanceof SemverValue ? compareVersions(this.version, other.version) === 0 : undefined;
  }

  override toString(): string {
    const { major, minor, patch, prerelease, build } = this.version;
    const pre = prerelease.length === 0 ? '' : `-${prerelease.join('.')}`;
    return `${String(major)}.${String(minor)}.${String(patch)}${pre}${build.length === 0 ? '' : `+${build.join('.')}`}`;
  }
}

function compare<Part extends bigint | string>(a: Part, b: Part): number {
  return a === b ? 0 : a < b ? -1 : 1;
}

function comparePrerelease(a: bigint | string, b: bigint | string): number {
  if (typeof a === 'bigint') return typeof b === 'bigint' ? compare(a, b) : -1;
  return typeof b === 'bigint' ? 1 : compare(a, b);
}

function compareVersions(a: Version, b: Version): number {
  const numbers = compare(a.major, b.major) || compare(a.minor, b.minor) || compare(a.patch, b.patch);
  if (numbers !== 0) return numbers;
  const [first, second] = [a.prerelease, b.prerelease];
  // A prerelease comes before its release.
  if (first.length === 0 || second.length === 0) return Math.sign(second.length - first.length);
  for (const [i, part] of first.entries()) {
    const other = second[i];
    if (other === undefined) return 1;
    const parts = comparePrerelease(part, other);
    if (parts !== 0) return parts;
  }
  return first.length === second.length ? 0 : -1;
}

/** Major, minor, and everything behind the second point. */
function splitPoints(text: string): string[] {
  const first = text.indexOf('.');
  const second = first < 0 ? -1 : text.indexOf('.', first + 1);
  if (first < 0) return [text];
  if (second < 0) return [text.slice(0, first), text.slice(first + 1)];
  return [text.slice(0, first), text.slice(first + 1, second), text.slice(second + 1)];
}

function hasLeadingZero(text: string): boolean {
  return text.length > 1 && text.startsWith('0');
}

function parseUint64(text: string): bigint | CelError {
  if (text === '') return new CelError('strconv.ParseUint: parsing "": invalid syntax');
  // There are no leading zeros here, so that more than 20 digits never fit.
  const value = text.length > 20 ? undefined : BigInt(text);
  if (value === undefined || value > UINT64_MAX) {
    return new CelError(`strconv.ParseUint: parsing ${goQuote(text)}: value out of range`);
  }
  return value;
}

function parseNumber(text: string, name: string): bigint | CelError {
  if (!/^[0-9]*$/.test(text)) {
    return new CelError(`Invalid character(s) found in ${name.toLowerCase()} number ${goQuote(text)}`);
  }
  if (hasLeadingZero(text))
    return new CelError(`${name} number must not contain leading zeroes ${goQuote(text)}`);
  return parseUint64(text);
}

function parsePrerelease(text: string): bigint | string | CelError {
  if (text === '') return new CelError('Prerelease is empty');
  if (/^[0-9]+$/.test(text)) {
    if (!hasLeadingZero(text)) return parseUint64(text);
    return new CelError(`Numeric PreRelease version must not contain leading zeroes ${goQuote(text)}`);
  }
  if (/^[A-Za-z0-9-]+$/.test(text)) return text;
  return new CelError(`Invalid character(s) found in prerelease ${goQuote(text)}`);
}

function buildFault(text: string): CelError | undefined {
  if (text === '') return new CelError('Build meta data is empty');
  if (/^[A-Za-z0-9-]+$/.test(text)) return undefined;
  return new CelError(`Invalid character(s) found in build meta data ${goQuote(text)}`);
}

/** What stands before and behind the first of a character. */
function cut(text: string, character: string): [before: string, behind: string | undefined] {
  const at = text.indexOf(character);
  return at < 0 ? [text, undefined] : [text.slice(0, at), text.slice(at + 1)];
}

function parseVersion(text: string): Version | CelError {
  if (text === '') return new CelError('Version string empty');
  const [majorText, minorText, tail] = splitPoints(text);
  if (majorText === undefined || minorText === undefined || tail === undefined) {
    return new CelError('No Major.Minor.Patch elements found');
  }
  const major = parseNumber(majorText, 'Major');
  if (major instanceof CelError) return major;
  const minor = parseNumber(minorText, 'Minor');
  if (minor instanceof CelError) return minor;
  const [beforeBuild, buildText] = cut(tail, '+');
  const [patchText, prereleaseText] = cut(beforeBuild, '-');
  const patch = parseNumber(patchText, 'Patch');
  if (patch instanceof CelError) return patch;
  const prerelease: (bigint | string)[] = [];
  for (const part of prereleaseText?.split('.') ?? []) {
    const parsed = parsePrerelease(part);
    if (parsed instanceof CelError) return parsed;
    prerelease.push(parsed);
  }
  const build = buildText?.split('.') ?? [];
  for (const part of build) {
    const fault = buildFault(part);
    if (fault !== undefined) return fault;
  }
  return { major, minor, patch, prerelease, build };
}

/** Drops a `v` and leading zeros, and adds the parts that are missing. @returns undefined where it may not. */
function normalized(text: string): string | undefined {
  const parts = splitPoints(text.startsWith('v') ? text.slice(1) : text).map((part) => {
    if (utf8Length(part) < 2) return part;
    const stripped = part.replace(/^0+/, '');
    return /^[0-9]/.test(stripped) ? stripped : `0${stripped}`;
  });
  if (parts.length < 3 && /[+-]/.test(parts.at(-1) ?? '')) return undefined;
  while (parts.length < 3) parts.push('0');
  return parts.join('.');
}

function parse(text: string, normalize: boolean): Version | CelError {
  const read = normalize ? normalized(text) : text;
  return read === undefined
    ? new CelError('short version cannot contain PreRelease/Build meta data')
    : parseVersion(read);
}

function semverOf(text: string, normalize = false): Value {
  const version = parse(text, normalize);
  return version instanceof CelError ? version : new SemverValue(version);
}

function isSemver(text: string, normalize = false): boolean {
  return !(parse(text, normalize) instanceof CelError);
}

/** Numbers are unsigned in a version and signed in CEL: the largest wrap around, as in Kubernetes. */
function numberPart(name: 'major' | 'minor' | 'patch') {
  return define(name, unitCost, [
    member(`semver_${name}`, [SEMVER], INT, (value: SemverValue) =>
      intOf(BigInt.asIntN(64, value.version[name])),
    ),
  ]);
}

function comparing(name: string, id: string, result: typeof BOOL, of: (comparison: number) => Value) {
  return define(name, unitCost, [
    member(id, [SEMVER, SEMVER], result, (a: SemverValue, b: SemverValue) =>
      of(compareVersions(a.version, b.version)),
    ),
  ]);
}

export const semverLibrary: Library = {
  name: 'kubernetes.Semver',
  since: 33,
  functions: [
    define('semver', readingCost, [
      global('string_to_semver', [STRING], SEMVER, (text: string) => semverOf(text)),
      global('string_bool_to_semver', [STRING, BOOL], SEMVER, semverOf),
    ]),
    define('isSemver', readingCost, [
      global('is_semver_string', [STRING], BOOL, (text: string) => isSemver(text)),
      global('is_semver_string_bool', [STRING, BOOL], BOOL, isSemver),
    ]),
    comparing('isGreaterThan', 'semver_is_greater_than', BOOL, (comparison) => comparison > 0),
    comparing('isLessThan', 'semver_is_less_than', BOOL, (comparison) => comparison < 0),
    comparing('compareTo', 'semver_compare_to', INT, (comparison) => comparison),
    numberPart('major'),
    numberPart('minor'),
    numberPart('patch'),
  ],
};
