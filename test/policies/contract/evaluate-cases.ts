/** The contract, the evidence and their shorthand that contract.md §18.2 uses. */
import type { Contract } from '../../../src/policies/contract/contract.ts';
import { evaluate } from '../../../src/policies/contract/evaluate.ts';
import { deriveStatus } from '../../../src/policies/contract/status-ladder.ts';
import type {
  EvidenceSet,
  Observation,
  ObservationKind,
  ObservedValue,
  Outcome,
} from '../../../src/policies/observation.ts';

type Seen = ObservedValue | Exclude<Outcome, 'Observed'>;

function observation(kind: ObservationKind, subjectKind: string, name: string, seen: Seen): Observation {
  return {
    kind,
    subject: { kind: subjectKind, name },
    ...(typeof seen === 'string' ? { outcome: seen } : { outcome: 'Observed', value: seen }),
    provenance: { collector: 'c', detectedAt: '2026-05-01T10:00:00Z' },
  };
}

export const I = (name: string, seen: Seen): Observation =>
  observation('InterfaceObserved', 'interface', name, seen);
export const C = (name: string, seen: Seen): Observation =>
  observation('CapabilityObserved', 'capability', name, seen);
export const D = (name: string, seen: Seen): Observation =>
  observation('DependencyReachable', 'dependency', name, seen);
export const F = (name: string, seen: Seen): Observation =>
  observation('ConfigurationPresent', 'configuration', name, seen);
export const W = (name: string, seen: Seen): Observation =>
  observation('WorkloadObserved', 'service', name, seen);
export const P = (name: string, seen: Seen): Observation =>
  observation('PersistenceObserved', 'service', name, seen);

/** Those of 6.4. */
export const protocol = (name: string, seen: Seen): Observation =>
  observation('InterfaceProtocolObserved', 'interface', name, seen);
export const exposure = (name: string, seen: Seen): Observation =>
  observation('InterfaceExposureObserved', 'interface', name, seen);
export const versions = (name: string, seen: Seen): Observation =>
  observation('DependencyVersionObserved', 'dependency', name, seen);

export function contract(declared: Partial<Contract> = {}): Contract {
  return {
    pactoVersion: '2.0',
    service: { name: 'cart', version: '1.4.0' },
    interfaces: [],
    configurations: [],
    policies: [],
    dependencies: [],
    capabilities: [],
    ...declared,
  };
}

const DIGEST = `sha256:${'a'.repeat(64)}`;

/** K of contract.md §18.2. */
export const K = contract({
  interfaces: [{ name: 'web', type: 'openapi', ref: 'interfaces/web.yaml' }],
  capabilities: [{ type: 'health' }],
  dependencies: [{ name: 'pay', ref: `oci://r.test/pay@${DIGEST}`, required: true, compatibility: '^1.0.0' }],
  configurations: [{ name: 'app', required: true, schema: 'cfg.json' }],
  workload: 'service',
  state: {
    type: 'stateful',
    persistence: { scope: 'shared', durability: 'persistent' },
    dataCriticality: 'high',
  },
});

/** G of contract.md §18.2. */
export const G: readonly Observation[] = [
  I('web', { type: 'openapi', present: true }),
  C('health', { present: true }),
  D('pay', { reachable: true }),
  F('app', { present: true, conformant: true }),
  W('cart', { type: 'service' }),
  P('cart', { durable: true }),
];

/** G with each given one in the place of the one of its kind. */
export function gWith(...given: readonly Observation[]): readonly Observation[] {
  return [...G.filter(({ kind }) => !given.some((one) => one.kind === kind)), ...given];
}

export function gWithout(kind: ObservationKind): readonly Observation[] {
  return G.filter((one) => one.kind !== kind);
}

export function evidence(
  observations: readonly Observation[],
  set: Partial<Omit<EvidenceSet, 'observations'>> = {},
): EvidenceSet {
  return {
    subject: { kind: 'service', name: 'prod/cart' },
    contractRef: 'oci://r.test/cart:1.4.0',
    source: 'k8s',
    observedAt: '2026-05-01T10:00:05Z',
    ...set,
    observations,
  };
}

interface Judged {
  /** `CODE severity subject path` each. */
  readonly said: readonly string[];
  /** `evaluated/required`. */
  readonly cov: string;
  readonly status: string;
}

/** What is compared of an evaluation: everything but the words of messages. */
export function judge(declared: Contract, observations: readonly Observation[]): Judged {
  const { findings, coverage } = evaluate(declared, evidence(observations));
  return {
    said: findings.map(
      ({ code, severity, subject, contractPath }) =>
        `${code} ${severity} ${subject?.kind ?? ''}/${subject?.name ?? ''} ${contractPath}`,
    ),
    cov: `${String(coverage.evaluated)}/${String(coverage.required)}`,
    status: deriveStatus(findings, coverage),
  };
}
