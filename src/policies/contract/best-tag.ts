/** Which tag of a repository an untagged reference means (contract.md §9.3). */
import type { Constraint } from './constraint.ts';
import { type Version, compareVersions, parseVersion } from './version.ts';

/**
 * The tag of the highest version, as it was published; of tags with equal precedence the last listed. Without a constraint
 * prereleases compete.
 *
 * @returns undefined where no tag is left
 */
export function bestTag(tags: readonly string[], constraint?: Constraint): string | undefined {
  let best: { readonly tag: string; readonly version: Version } | undefined;
  for (const tag of tags) {
    const version = versionOfTag(tag);
    if (version === undefined || constraint?.matches(version) === false) continue;
    if (best === undefined || compareVersions(version, best.version) >= 0) best = { tag, version };
  }
  return best?.tag;
}

/** A tag cannot hold the `+` of build metadata: as Helm does, `_` stands for it (platform.md §1.3 rule 11). */
export function versionOfTag(tag: string): Version | undefined {
  return parseVersion(tag.replace('_', '+'));
}
