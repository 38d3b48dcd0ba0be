/**
 * The files of a bundle by their path inside it (`interfaces/web.yaml`), held in memory under the limits of contract.md
 * §11.3. Looking a path up is all a rule can do: nothing here can name a file outside.
 */
export type BundleFiles = ReadonlyMap<string, Uint8Array>;

/** The one file that a bundle must have (contract.md §1.1). */
export const CONTRACT_FILE = 'pacto.yaml';
