/** From findings to a status: one ladder, used wherever a status is said (contract.md §7, operator.md §4.4). */
import type { Finding } from './findings.ts';

/** The seven of contract.md §7.2; docs/findings.md explains each (a test compares both ways). */
export const CONTRACT_STATUSES = [
  'Compliant',
  'Warning',
  'NonCompliant',
  'Unknown',
  'Reference',
  'Invalid',
  'NotEvaluated',
] as const;

export type ContractStatus = (typeof CONTRACT_STATUSES)[number];

/** How many required assertions there are, and of how many something was observed (contract.md §6.4). */
export interface Coverage {
  readonly evaluated: number;
  readonly required: number;
}

/** What contract.md §7.4 decides by, in its order. */
export interface StatusFacts {
  /**
   * Why there is no contract to look at. `unavailable`: it could not be obtained (a pull secret that cannot be read, a
   * registry that is away, refuses or does not have it). `broken`: what was obtained is no contract, or its overrides
   * do not fit.
   */
  readonly failure?: 'unavailable' | 'broken';
  /** What validation found. */
  readonly structural: readonly Pick<Finding, 'severity'>[];
  /** There is no target to observe. */
  readonly reference: boolean;
  /** What evaluation found, and how much of the contract it saw; without a target neither is looked at. */
  readonly findings: readonly Pick<Finding, 'severity'>[];
  readonly coverage: Coverage;
}

/** The ladder of contract.md §7.1: a proved violation outranks what could not be seen, and that a warning. */
export function deriveStatus(
  findings: readonly Pick<Finding, 'severity'>[],
  { evaluated, required }: Coverage,
): ContractStatus {
  const severities = new Set(findings.map(({ severity }) => severity));
  if (severities.has('error')) return 'NonCompliant';
  if (severities.has('unknown') || evaluated < required) return 'Unknown';
  return severities.has('warning') ? 'Warning' : 'Compliant';
}

/** The operator's order of decisions (contract.md §7.4): structural warnings count beside what was observed. */
export function contractStatus({
  failure,
  structural,
  reference,
  findings,
  coverage,
}: StatusFacts): ContractStatus {
  if (failure !== undefined) return failure === 'unavailable' ? 'Unknown' : 'Invalid';
  if (structural.some(({ severity }) => severity === 'error')) return 'Invalid';
  return reference ? 'Reference' : deriveStatus([...structural, ...findings], coverage);
}

/** A status as somebody wrote it; any other text is `Unknown` (contract.md §7.2). */
export function statusOf(text: string): ContractStatus {
  return CONTRACT_STATUSES.find((status) => status === text) ?? 'Unknown';
}
