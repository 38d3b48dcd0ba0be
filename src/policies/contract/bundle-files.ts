/**
 * The files of a bundle by their path inside it (`interfaces/web.yaml`), held in memory under the limits of contract.md
 * §11.3. Looking a path up is all a rule can do: nothing here can name a file outside.
 */
export type BundleFiles = ReadonlyMap<string, Uint8Array>;

/** The one file that a bundle must have (contract.md §1.1). */
export const CONTRACT_FILE = 'pacto.yaml';

/** As Go's `fs` has it: no leading or trailing slash, no empty, `.` or `..` segment (contract.md §3.3.2). */
const UNCLEAN = /^\/|\/$|\/\/|(?:^|\/)\.{1,2}(?:\/|$)|^$/;

/** @returns undefined for what the bundle has no file for */
export function bundleFile(files: BundleFiles, path: string): Uint8Array | undefined {
  return UNCLEAN.test(path) ? undefined : files.get(path);
}
