/** What the scenario `reconcile` measured. Milliseconds and bytes. */
import type { Stall } from '../result.ts';
import type { LatencySummary } from '../statistics.ts';
import type { FLEET } from './fleet.ts';

export type ReconcileResult = Measured | { readonly leftOut: string };

/** A number of changes of one kind as fast as the API server takes them, and who asks for verdicts meanwhile. */
export interface StormResult {
  readonly patches: number;
  readonly seconds: number;
  readonly demand: LatencySummary;
  /** Verdicts that were not given, by status. */
  readonly failures: Readonly<Record<string, number>>;
  /** From the end of the storm to the last status that came of it. */
  readonly settledMs: number;
  /** Of one processor, from the beginning until all is quiet. */
  readonly cpuPercent: number;
  readonly stall: Stall;
  readonly residentBytes: number;
}

export interface Measured {
  readonly fleet: typeof FLEET;
  /** All from the start of the process. */
  readonly start: {
    readonly readyMs: number;
    /** From then: the very first, while all Pactos are looked at. */
    readonly firstVerdictMs: number;
    /** The last Pacto had its first verdict. */
    readonly allMs: number;
    /** The last status was written that came of the start. */
    readonly settledMs: number;
    readonly verdicts: Readonly<Record<string, number>>;
    readonly residentBytes: number;
    readonly peakBytes: number;
    readonly listStall: Stall;
    readonly looksStall: Stall;
  };
  readonly demand: {
    readonly warm: LatencySummary;
    readonly failures: Readonly<Record<string, number>>;
    /** Of Pactos made just now, whose contracts are still in their registry. */
    readonly cold: LatencySummary;
  };
  /** From the sending of a change to the status, as a watch tells it. */
  readonly changes: { readonly endpoints: LatencySummary; readonly deployments: LatencySummary };
  readonly idle: {
    readonly seconds: number;
    readonly cpuPercent: number;
    /** By resource. */
    readonly writes: Readonly<Record<string, number>>;
    readonly mostPerPacto: number;
  };
  readonly storms: { readonly pods: StormResult; readonly slices: StormResult };
  readonly peakBytes: number;
}
