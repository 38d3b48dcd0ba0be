/** What packing leaves out: `.pactoignore`, in gitignore's syntax (contract.md §12.2). */
import { BUNDLE_CONTRACT, invalidBundle } from './bundle-limits.ts';
import { IgnorePatterns } from './ignore-patterns.ts';

export const IGNORE_FILE = '.pactoignore';
/** Never in a bundle, whatever the file re-includes. */
const ALWAYS: readonly string[] = ['.git/', IGNORE_FILE, '.DS_Store'];
const MAX_FILE_BYTES = 64 * 1024;
/** A second or two; a hundred patterns such as `*.log` on as many files as there may be take a fifth of it. */
const MAX_STEPS = 100_000_000;

/** @returns whether packing leaves a path out; of a directory with `/` at its end. */
export type IgnoreRule = (path: string) => boolean;

/**
 * @param text of the ignore file; undefined where the folder has none.
 * @param maxSteps comparisons on all paths together.
 * @throws GateError GATE_BUNDLE_INVALID where the file is too large; and so does the rule where its patterns on all paths
 *   take too long.
 */
export function ignoreRule(text: string | undefined, maxSteps = MAX_STEPS): IgnoreRule {
  if (text !== undefined && text.length > MAX_FILE_BYTES)
    throw invalidBundle(`${IGNORE_FILE} is larger than ${String(MAX_FILE_BYTES)} characters`);
  const tooSlow = (): Error =>
    invalidBundle(
      `the patterns of ${IGNORE_FILE} take too long on all its entries: need fewer or simpler ones`,
    );
  const always = new IgnorePatterns(ALWAYS, maxSteps, tooSlow);
  const lines = (text ?? '').replace(/^\uFEFF/, '').split(/\r?\n/);
  const chosen = new IgnorePatterns(lines, maxSteps, tooSlow);
  return (path) => path !== BUNDLE_CONTRACT && (always.ignores(path) || chosen.ignores(path));
}

/** The files that stay, for a bundle in memory: `.pactoignore` is taken from it. */
export function withoutIgnored(files: ReadonlyMap<string, Uint8Array>): Map<string, Uint8Array> {
  const own = files.get(IGNORE_FILE);
  const isIgnored = ignoreRule(own === undefined ? undefined : Buffer.from(own).toString('utf8'));
  return new Map([...files].filter(([path]) => !isIgnored(path)));
}
