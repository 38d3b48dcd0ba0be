import { bestTag } from '../../../src/policies/contract/best-tag.ts';
import { parseConstraint } from '../../../src/policies/contract/constraint.ts';
import { hasExplicitTag, parseReference } from '../../../src/policies/contract/reference.ts';
import {
  type Version,
  type VersionPart,
  compareVersions,
  parseVersion,
} from '../../../src/policies/contract/version.ts';
import type { Comparer, ContractCase } from './case.ts';
import { fieldDifferences } from './fields.ts';

/** The words of an error are informative (test/golden/contract/README.md): that there is one is not. */
const FAILED = { error: true };

export const comparers: Readonly<Record<string, Comparer>> = {
  semver: compared(({ version }) => versionShape(parseVersion(version as string))),
  range: compared(({ constraint, versions }) => ranged(constraint as string, versions as readonly string[])),
  besttag: compared(({ tags, constraint }) => chosen(tags as readonly string[], constraint as string)),
  sort: compared(({ versions }) => ({ descending: descending(versions as readonly string[]) })),
  ociref: compared(({ ref }) => referenceShape(ref as string)),
};

function compared(operation: (input: ContractCase['input']) => Readonly<Record<string, unknown>>): Comparer {
  return ({ input, answer }) => {
    const recorded = { ...answer, ...(answer !== null && 'error' in answer && FAILED) };
    return fieldDifferences(recorded, operation(input));
  };
}

function versionShape(version: Version | undefined): Readonly<Record<string, unknown>> {
  if (version === undefined) return FAILED;
  const { major, minor, patch, prerelease, metadata } = version;
  const string = `${major}.${minor}.${patch}${prerelease && `-${prerelease}`}${metadata && `+${metadata}`}`;
  return { ...version, major: asRead(major), minor: asRead(minor), patch: asRead(patch), string };
}

/** A recorded integer beyond int64 is read as a double (design decision 2). */
function asRead(part: VersionPart): VersionPart {
  return part > 2n ** 63n - 1n ? Number(part) : part;
}

function ranged(text: string, versions: readonly string[]): Readonly<Record<string, unknown>> {
  const parsed = parseConstraint(text);
  if (!parsed.ok) return FAILED;
  const matches = versions.map((each) => {
    const version = parseVersion(each);
    return [each, version !== undefined && parsed.constraint.matches(version)] as const;
  });
  return { matches: Object.fromEntries(matches) };
}

function chosen(tags: readonly string[], text: string): Readonly<Record<string, unknown>> {
  const parsed = text === '' ? undefined : parseConstraint(text);
  if (parsed?.ok === false) return FAILED;
  const tag = bestTag(tags, parsed?.constraint);
  return tag === undefined ? FAILED : { tag };
}

function descending(texts: readonly string[]): readonly string[] {
  return texts
    .flatMap((text) => parseVersion(text) ?? [])
    .sort((a, b) => compareVersions(b, a))
    .map(({ original }) => original);
}

function referenceShape(ref: string): Readonly<Record<string, unknown>> {
  const reference = parseReference(ref);
  const { scheme, location } = reference;
  const shape = { scheme, location, hasExplicitTag: hasExplicitTag(location) };
  if (reference.problem !== undefined) return { ...shape, ...FAILED };
  if (reference.scheme === 'local') return shape;
  const { registry, repository, tag = '', digest = '' } = reference;
  return { ...shape, parsed: { registry, repository, tag, digest } };
}
