/**
 * The closed list of denial codes, each explained in docs/errors.md (a test compares both ways).
 * Errors of our own, which are not verdicts, have their codes in src/errors.ts.
 */
export const FINDING_CODES = {} as const satisfies Record<string, string>;

export type FindingCode = keyof typeof FINDING_CODES;
