/**
 * What was seen of a running service: the evidence model (contract.md §5), shared by those who collect and those who judge.
 *
 * The last three kinds carry what operator 6.4 checks beside (operator.md §§5.2 to 5.4). How upstream writes them is not
 * known, so that their names and payloads are ours; each is conclusive or is not there. What could not be told apart (a port
 * behind TLS, a NodePort, a sibling without a version) is an outcome other than `Observed`, or no observation.
 */

export const OBSERVATION_KINDS = [
  'InterfaceObserved',
  'CapabilityObserved',
  'DependencyReachable',
  'ConfigurationPresent',
  'WorkloadObserved',
  'PersistenceObserved',
  'InterfaceProtocolObserved',
  'InterfaceExposureObserved',
  'DependencyVersionObserved',
] as const;

export type ObservationKind = (typeof OBSERVATION_KINDS)[number];

/** There is no outcome for absence: that is `Observed` with a negative payload (contract.md §5.2). */
export const OUTCOMES = ['Observed', 'Unsupported', 'Failed', 'Stale', 'Insufficient'] as const;

export type Outcome = (typeof OUTCOMES)[number];

/**
 * What a port was seen to speak. One that speaks several is reported by the one that the contract declares; `other` is
 * neither HTTP nor gRPC for certain, such as the greeting of another protocol.
 */
export const WIRE_PROTOCOLS = ['http', 'grpc', 'other'] as const;

export type WireProtocol = (typeof WIRE_PROTOCOLS)[number];

/** Whether something in front of the interface publishes an address that is reachable from everywhere. */
export const EXPOSURES = ['internal', 'external'] as const;

export type Exposure = (typeof EXPOSURES)[number];

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
  /** Of any other outcome, where it can be said in a few words: why. It is shown, and never read back. */
  readonly reason?: string;
  readonly provenance: { readonly collector: string; /** RFC 3339. */ readonly detectedAt: string };
}

export interface ObservedValue {
  readonly type?: string;
  readonly present?: boolean;
  readonly reachable?: boolean;
  readonly conformant?: boolean;
  readonly durable?: boolean;
  /** Missing: nothing is known. */
  readonly protocol?: WireProtocol;
  /** Missing: nothing is known. */
  readonly exposure?: Exposure;
  /** The version of each target that the reference can mean; an empty text for one whose version is not known. */
  readonly versions?: readonly string[];
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
