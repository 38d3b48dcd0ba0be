/** One look at one Pacto: everything read, nothing written (operator.md §3.2). */
import type { KubeObject } from '../cluster/objects.ts';
import type { Pacto, PactoStatus } from './api/pacto.ts';
import type { View } from './view.ts';

/** An event on the Pacto (operator.md §7.2). */
export interface PlannedEvent {
  readonly type: 'Normal' | 'Warning';
  readonly reason:
    | 'ContractInvalid'
    | 'ContractUnavailable'
    | 'ValidationFailed'
    | 'ContractRecovered'
    | 'RevisionCreated'
    | 'TagOverwritten'
    | 'ReadinessGateUnmet'
    | 'ReadinessRecovered';
  readonly message: string;
}

/** A PactoRevision that there should be (operator.md §3.5). */
export interface RevisionPlan {
  /** As it is to be created, with its `status`, which is written after it. */
  readonly object: KubeObject;
  /** What there is of that name already. */
  readonly existing: KubeObject | undefined;
}

export interface PassResult {
  readonly pacto: Pacto;
  /**
   * All of the new status. `currentRevision` is that of the plan: where it cannot be ensured the writer puts the old one
   * back. `lastReconciledAt` is of this pass.
   */
  readonly status: PactoStatus;
  /** Something else than `lastReconciledAt` differs from the status that was read. */
  readonly changed: boolean;
  readonly revision: RevisionPlan | undefined;
  /** To be said once the status is written, in this order; without RevisionCreated. */
  readonly events: readonly PlannedEvent[];
  /** When another look is due although nothing changes, wall clock; at most `checkIntervalSeconds` away. */
  readonly nextLookMs: number;
  /** The earliest instant at which time alone may change the verdict (a window, a heartbeat, an expiry), wall clock. */
  readonly nextChangeMs: number | undefined;
}

export interface LookOptions {
  readonly view: View;
  readonly signal: AbortSignal;
  readonly isFresh?: true;
}

export interface Pass {
  /**
   * @param options.view what is read goes through it
   * @param options.isFresh the registry is asked, whatever it said half a minute ago
   * @returns never throws but the signal's reason and our own faults
   */
  look(pacto: Pacto, options: LookOptions): Promise<PassResult>;
}
