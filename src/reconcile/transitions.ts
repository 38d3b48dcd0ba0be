/** What is said when the status of a contract changes (operator.md §7.2): by the status that was persisted before. */
import type { ContractStatus } from '../policies/contract/status-ladder.ts';
import type { PlannedEvent } from './pass.ts';

export interface Transition {
  /** Undefined for a Pacto that was never looked at. */
  readonly before: ContractStatus | undefined;
  readonly now: ContractStatus;
  readonly errors: number;
  readonly warnings: number;
  /** Why there is no contract to look at, as the condition says it. */
  readonly failure:
    { readonly reason: 'ContractInvalid' | 'ContractUnavailable'; readonly message: string } | undefined;
}

export function contractEvents({
  before,
  now,
  errors,
  warnings,
  failure,
}: Transition): readonly PlannedEvent[] {
  if (isDegraded(now)) {
    if (now === before) return [];
    if (failure !== undefined) return [{ type: 'Warning', reason: failure.reason, message: failure.message }];
    return [{ type: 'Warning', reason: 'ValidationFailed', message: countsText(now, errors, warnings) }];
  }
  if (before === undefined || !isDegraded(before)) return [];
  return [{ type: 'Normal', reason: 'ContractRecovered', message: countsText(now, errors, warnings) }];
}

function isDegraded(status: ContractStatus): boolean {
  return status !== 'Compliant' && status !== 'Reference';
}

function countsText(status: ContractStatus, errors: number, warnings: number): string {
  return `ContractStatus: ${status}, ${String(errors)} errors, ${String(warnings)} warnings`;
}
