/**
 * What every dimension gets and gives: one file each beside this one, none knows another. A dimension runs where the contract
 * declares something of it, answers with one observation for each, and throws only what the signal says.
 */
import type { BundleFiles } from '../../policies/contract/bundle-files.ts';
import type { Contract } from '../../policies/contract/contract.ts';
import type { SchemaChecks } from '../../policies/contract/schema-checks.ts';
import type {
  Observation,
  ObservationKind,
  ObservedValue,
  Outcome,
  Subject,
} from '../../policies/observation.ts';
import type { Windows } from '../stabilization.ts';
import type { Target } from '../target.ts';
import type { View } from '../view.ts';
import type { Prober } from './prober.ts';

export interface ObserveSettings {
  /** `--enable-probing`: health is asked for, and what a port speaks. */
  readonly probing: boolean;
  /** `--enable-metrics-observation`. */
  readonly metrics: boolean;
  /** `--interface-name-match-discovery`. */
  readonly nameMatch: boolean;
  /** Undefined: there are no node agents, and nobody has an opinion (operator.md §13). */
  readonly nodeAgent:
    | {
        readonly namespace: string;
        /** How long a connection that was seen counts. */ readonly connectionMs: number;
      }
    | undefined;
}

export interface Surveyed {
  /** As its overrides leave it. */
  readonly contract: Contract;
  readonly target: Target;
  /** Absent for a contract without a bundle. */
  readonly files: BundleFiles | undefined;
  readonly view: View;
  readonly windows: Windows;
  /** Of the whole pass, milliseconds since the epoch. */
  readonly nowMs: number;
  readonly settings: ObserveSettings;
  readonly prober: Prober;
  readonly schemas: SchemaChecks;
  /**
   * Says when an answer may become another although no object changes: wall clock, milliseconds since the epoch.
   * `watched`: whoever watches tells of it, so that nobody need look again for it.
   */
  readonly due: (atMs: number, by?: 'watched') => void;
  readonly signal: AbortSignal;
}

export type Dimension = (surveyed: Surveyed) => Promise<readonly Observation[]>;

/** operator.md §4.1. */
export const COLLECTOR = 'k8s-observer';

interface Sighting {
  readonly kind: ObservationKind;
  readonly subject: Subject;
  readonly outcome: Outcome;
  readonly value?: ObservedValue;
  readonly reason?: string;
  readonly collector?: string;
}

/** An observation of this pass. */
export function observation(
  { nowMs }: Pick<Surveyed, 'nowMs'>,
  { collector = COLLECTOR, ...sighting }: Sighting,
): Observation {
  return { ...sighting, provenance: { collector, detectedAt: new Date(nowMs).toISOString() } };
}
