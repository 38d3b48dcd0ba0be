/** The best of many tags: the first choice that a process makes, and the usual one. */
import { bestTag } from '../../../src/policies/contract/best-tag.ts';
import { parseConstraint } from '../../../src/policies/contract/constraint.ts';
import type { TagSelection } from '../result.ts';
import { median } from '../statistics.ts';

const TAGS = 10_000;
const CONSTRAINT = '>=1.4.0-0 <7 || ^8.2';
const REPEATS = 50;

export async function run(): Promise<TagSelection> {
  const tags = Array.from({ length: TAGS }, (_, index) => tagOf((index * 7919) % TAGS));
  const first = choose(tags);
  const later = Array.from({ length: REPEATS }, () => choose(tags));
  return { tags: TAGS, firstMs: first, medianMs: median(later) };
}

/** A release, a prerelease, a commit or a date, in no order: registries promise none. */
function tagOf(n: number): string {
  const version = `${n % 9}.${n % 83}.${n % 997}`;
  return [`v${version}`, version, `${version}-rc.${n}`, `sha-${n.toString(16)}`, `2026${n}`][n % 5] ?? '';
}

function choose(tags: readonly string[]): number {
  const start = performance.now();
  const parsed = parseConstraint(CONSTRAINT);
  const best = parsed.ok ? bestTag(tags, parsed.constraint) : undefined;
  const ms = performance.now() - start;
  if (best === undefined) throw new Error('no tag was chosen');
  return ms;
}
