/** The gates of all Stages as one replica sees them: what the gate API answers from (delivery.md §4.0). */
import type { Decision, DecisionInput } from '../../policies/delivery/decision.ts';
import type { Stage } from '../../policies/delivery/stage.ts';

export interface StageKey {
  readonly namespace: string;
  readonly name: string;
}

/** A Stage with what its pointers are to move to. */
export interface StageView {
  readonly stage: Stage;
  /** What the gate is asked about where nobody names a digest: what is pending, else what it stands on; may be empty. */
  readonly candidate: string;
}

export interface GateEvaluation {
  readonly stage: Stage;
  readonly decision: Decision;
  readonly input: DecisionInput;
  readonly digest: string;
  /** Milliseconds since the epoch. */
  readonly evaluatedAtMs: number;
}

/** Reads memory alone, so that it can be asked every few seconds; every replica has it, the leader or not. Never throws. */
export interface StageGates {
  /** Undefined: there is no such Stage here. */
  read(key: StageKey): StageView | undefined;
  /** About a digest, or about the Stage's candidate where none is given. Undefined: there is no such Stage here. */
  evaluate(key: StageKey, digest?: string): GateEvaluation | undefined;
  /** What was not read from the cluster yet, for people; undefined: everything was. */
  unsynced(): string | undefined;
  /** Whether the Lease of the gate keeper is renewed: without one what a Stage says of itself is of another time. */
  keeperAlive(): boolean;
}
