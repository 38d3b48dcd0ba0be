/** What was seen of a running service: the evidence model (contract.md §5), shared by those who collect and those who judge. */

export type ObservationKind =
  | 'InterfaceObserved'
  | 'CapabilityObserved'
  | 'DependencyReachable'
  | 'ConfigurationPresent'
  | 'WorkloadObserved'
  | 'PersistenceObserved';

/** There is no outcome for absence: that is `Observed` with a negative payload (contract.md §5.2). */
export type Outcome = 'Observed' | 'Unsupported' | 'Failed' | 'Stale' | 'Insufficient';

export interface Subject {
  readonly kind: string;
  readonly name: string;
}

export interface Observation {
  readonly kind: ObservationKind;
  readonly subject: Subject;
  readonly outcome: Outcome;
  /** Only where the outcome is `Observed`; a missing field is false or empty (contract.md §5.3). */
  readonly value?: ObservedValue;
  readonly provenance: { readonly collector: string; /** RFC 3339. */ readonly detectedAt: string };
}

export interface ObservedValue {
  readonly type?: string;
  readonly present?: boolean;
  readonly reachable?: boolean;
  readonly conformant?: boolean;
  readonly durable?: boolean;
}

export interface EvidenceSet {
  /** The target that was looked at, such as `prod/cart`: never compared with the contract's service. */
  readonly subject: Subject;
  readonly contractRef: string;
  readonly source: string;
  /** RFC 3339, with the offset that it was given with. */
  readonly observedAt: string;
  readonly observations: readonly Observation[];
}
