/** What the scenario `reconcile` measured. Milliseconds and bytes. */
import type { Stall } from '../result.ts';
import type { LatencySummary } from '../statistics.ts';
import type { FLEET } from './fleet.ts';

export type ReconcileResult = ReconcileFigures | { readonly leftOut: string };

/** A number of changes of one kind as fast as the API server takes them, and who asks for verdicts meanwhile. */
export interface StormFigures {
  readonly patches: number;
  readonly seconds: number;
  /** All, then those for which a ConfigMap is read from the API server, and the others. */
  readonly demand: LatencySummary;
  readonly withConfigMap: LatencySummary;
  readonly without: LatencySummary;
  /** Reads of one object by somebody else meanwhile. */
  readonly apiServer: LatencySummary;
  /** Verdicts that were not given. */
  readonly failures: number;
  /** From the end of the storm to the last status that came of it. */
  readonly settledMs: number;
  /** Of one processor, from the beginning until all is quiet. */
  readonly cpuPercent: number;
  readonly stall: Stall;
  readonly residentBytes: number;
}

/** A time in which nothing happens. */
export interface IdleFigures {
  readonly seconds: number;
  /** Of one processor. */
  readonly cpuPercent: number;
  /** By resource. */
  readonly writes: Readonly<Record<string, number>>;
  /** The most of one status. */
  readonly mostPerPacto: number;
}

/** A start where nothing is written yet; all from the start of the process. */
export interface StartFigures {
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
}

export interface ReconcileFigures {
  readonly fleet: typeof FLEET;
  readonly start: StartFigures;
  readonly demand: {
    readonly warm: LatencySummary;
    readonly failed: number;
    /** Of Pactos made just now, whose contracts are still in their registry. */
    readonly cold: LatencySummary;
  };
  /** From the sending of a change to the status, as a watch tells it. */
  readonly changes: { readonly endpoints: LatencySummary; readonly deployments: LatencySummary };
  /** With as many looks due as in steady state, and with none. */
  readonly idle: { readonly due: IdleFigures; readonly none: IdleFigures };
  readonly storms: { readonly pods: StormFigures; readonly slices: StormFigures };
  readonly peakBytes: number;
  /** Of Node, as docs/verdicts.md has the reconciler run. */
  readonly nodeOptions: readonly string[];
  /** Another first start, without them. */
  readonly withoutOptions: StartFigures;
}
