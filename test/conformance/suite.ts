/** What `npm run conformance` runs: one module a format of recorded facts, found by what lies in a folder. */

export interface Failure {
  /** Of the recorded case. */
  readonly id: string;
  /** What was expected and what came, for `--verbose`: as many lines as it needs. */
  readonly detail: string;
}

export interface FamilyResult {
  readonly family: string;
  readonly total: number;
  readonly failures: readonly Failure[];
  /** Of all that was compared: a case that is listed as failing and passes is told by these. */
  readonly ids: readonly string[];
  /** What was left out, and why; it counts as neither passed nor failed. */
  readonly left?: string;
}

export interface SuiteOptions {
  /** Only families of this name. */
  readonly only: string | undefined;
}

export interface Suite {
  readonly name: string;
  /** Whether this folder is in the suite's format. */
  recognises(directory: string): Promise<boolean>;
  run(directory: string, options: SuiteOptions): AsyncIterable<FamilyResult>;
}
