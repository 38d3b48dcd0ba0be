/** What packing leaves out: `.pactoignore`, in gitignore's syntax (contract.md §12.2). */
import ignore from 'ignore';

import { BUNDLE_CONTRACT, invalidBundle } from './bundle-limits.ts';

export const IGNORE_FILE = '.pactoignore';
/** Never in a bundle, whatever the file re-includes. */
const ALWAYS: readonly string[] = ['.git/', IGNORE_FILE, '.DS_Store'];
/** The patterns become regular expressions of the host: more than anybody writes is refused. */
const MAX_FILE_BYTES = 64 * 1024;
const MAX_WILDCARDS = 16;

/** @returns whether packing leaves a path out; of a directory with `/` at its end. */
export type IgnoreRule = (path: string) => boolean;

/**
 * @param text of the ignore file; undefined where the folder has none.
 * @throws GateError GATE_BUNDLE_INVALID where the file is too large or a line has too many wildcards.
 */
export function ignoreRule(text: string | undefined): IgnoreRule {
  const always = ignore({ ignorecase: false }).add([...ALWAYS]);
  const chosen = ignore({ ignorecase: false });
  if (text !== undefined) {
    if (text.length > MAX_FILE_BYTES)
      throw invalidBundle(`${IGNORE_FILE} is larger than ${String(MAX_FILE_BYTES)} characters`);
    for (const [at, line] of text.split(/\r?\n/).entries()) {
      if ((line.match(/[*?[]/g) ?? []).length > MAX_WILDCARDS)
        throw invalidBundle(
          `${IGNORE_FILE} line ${String(at + 1)} has more than ${String(MAX_WILDCARDS)} wildcards`,
        );
      chosen.add(line);
    }
  }
  return (path) => path !== BUNDLE_CONTRACT && (always.ignores(path) || chosen.ignores(path));
}

/** The files that stay, for a bundle in memory: `.pactoignore` is taken from it. */
export function withoutIgnored(files: ReadonlyMap<string, Uint8Array>): Map<string, Uint8Array> {
  const own = files.get(IGNORE_FILE);
  const isIgnored = ignoreRule(own === undefined ? undefined : Buffer.from(own).toString('utf8'));
  return new Map([...files].filter(([path]) => !isIgnored(path)));
}
