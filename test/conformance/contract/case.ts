/** One recorded case of test/golden/contract, and what compares it. */

export interface ContractCase {
  readonly id: string;
  readonly op: string;
  readonly note?: string;
  readonly input: Readonly<Record<string, unknown>>;
  readonly answer: Readonly<Record<string, unknown>> | null;
}

/** @returns what differs, one line each; none where it is as recorded. */
export type Comparer = (recorded: ContractCase) => Promise<readonly string[]> | readonly string[];
