/**
 * Contract × evidence → findings and coverage (contract.md §6). Pure: no clock, no look at timestamps, source or reference;
 * how fresh an observation is was said by who collected it. Evidence is checked before, by `evidenceProblems`.
 */
import type { EvidenceSet, Observation, ObservationKind, ObservedValue } from '../observation.ts';
import { inertText, quote } from '../quote.ts';
import {
  capabilityAssertions,
  configurationAssertions,
  dependencyAssertion,
  interfaceAssertion,
  serviceAssertions,
  type Assertion,
  type Contradiction,
} from './assertions.ts';
import type { Contract } from './contract.ts';
import { dependencyViolation, interfaceViolations, type Violation } from './dimensions.ts';
import { inSeconds } from './evidence-time.ts';
import { CONTRACT_FINDINGS, type Finding, type Severity } from './findings.ts';
import type { Coverage } from './status-ladder.ts';

/** What a message repeats of why something could not be looked at. */
const REASON_LENGTH = 300;

interface Evaluation {
  readonly findings: readonly Finding[];
  readonly coverage: Coverage;
}

/** Findings in the order of contract.md §6.1; those of 6.4 stand behind the assertion of their subject. Never throws. */
export function evaluate(contract: Contract, evidence: EvidenceSet): Evaluation {
  const run = new Run(evidence);
  for (const declared of contract.interfaces) {
    run.judge(interfaceAssertion(declared.name));
    for (const violation of interfaceViolations(declared, run.valueOf)) run.add(violation, 'error');
  }
  for (const assertion of capabilityAssertions(contract)) run.judge(assertion);
  for (const dependency of contract.dependencies) {
    run.judge(dependencyAssertion(dependency.name, dependency.required));
    const violation = dependencyViolation(dependency, run.valueOf);
    if (violation !== undefined) run.add(violation, dependency.required ? 'error' : 'warning');
  }
  for (const assertion of configurationAssertions(contract)) run.judge(assertion);
  for (const assertion of serviceAssertions(contract)) run.judge(assertion);
  return { findings: run.findings, coverage: run.coverage };
}

class Run {
  readonly findings: Finding[] = [];
  readonly coverage = { evaluated: 0, required: 0 };
  readonly #first: ReadonlyMap<string, ReadonlyMap<string, Observation>>;
  readonly #evidenceRefs: Finding['evidenceRefs'];

  constructor({ source, observedAt, observations }: EvidenceSet) {
    this.#first = firstOfEach(observations);
    this.#evidenceRefs = [{ source, observedAt: inSeconds(observedAt) }];
  }

  /** Payload of a conclusive observation; undefined for any other, and for none. */
  readonly valueOf = (kind: ObservationKind, name: string): ObservedValue | undefined => {
    const observation = this.#first.get(kind)?.get(name);
    return observation?.outcome === 'Observed' ? (observation.value ?? {}) : undefined;
  };

  /** contract.md §6.2; coverage counts what is required (§6.4). */
  judge(assertion: Assertion): void {
    const { subject, contractPath, required, evidence } = assertion;
    if (required) this.coverage.required += 1;
    const value = evidence === undefined ? undefined : this.valueOf(evidence, subject.name);
    if (value === undefined) {
      if (required) this.add({ subject, contractPath, ...this.#doubtOf(assertion) }, 'unknown');
      return;
    }
    if (required) this.coverage.evaluated += 1;
    const found = assertion.contradiction(value);
    if (found !== undefined) {
      this.add({ subject, contractPath, ...found }, required ? 'error' : 'warning');
    }
  }

  add({ code, subject, contractPath, message }: Violation, severity: Severity): void {
    const { category } = CONTRACT_FINDINGS[code];
    const evidenceRefs = this.#evidenceRefs;
    this.findings.push({ code, severity, category, subject, contractPath, message, evidenceRefs });
  }

  #doubtOf({ evidence, subject }: Assertion): Contradiction {
    if (evidence === undefined) {
      return {
        code: 'EXTENSION_EVALUATOR_UNAVAILABLE',
        message: `there is no evaluator for the extension capability ${quote(subject.name)}`,
      };
    }
    const observation = this.#first.get(evidence)?.get(subject.name);
    return doubt(observation, `${subject.kind} ${quote(subject.name)}`, evidence);
  }
}

/** An outcome that nobody knows proves as little as `Insufficient` (contract.md §6.2). */
function doubt(observation: Observation | undefined, subject: string, kind: ObservationKind): Contradiction {
  switch (observation?.outcome) {
    case undefined:
      return { code: 'EVIDENCE_MISSING', message: `there is no ${kind} of the required ${subject}` };
    case 'Unsupported':
      return {
        code: 'OBSERVATION_UNSUPPORTED',
        message: `${subject} cannot be observed in this environment (${kind})`,
      };
    case 'Failed':
      return {
        code: 'COLLECTION_FAILED',
        message: `observing ${subject} failed (${kind})${because(observation?.reason)}`,
      };
    case 'Stale':
      return {
        code: 'EVIDENCE_STALE',
        message: `what was last seen of ${subject} is too old (${kind})${because(observation?.reason)}`,
      };
    default:
      return {
        code: 'EVIDENCE_INSUFFICIENT',
        message: `what was seen of ${subject} neither confirms nor contradicts the contract (${kind})`,
      };
  }
}

/** Somebody else's words, so that they are cut, and made unable to forge a line. */
function because(reason: string | undefined): string {
  if (reason === undefined || reason === '') return '';
  const cut = reason.length > REASON_LENGTH ? `${reason.slice(0, REASON_LENGTH)}…` : reason;
  return `: ${inertText(cut.toWellFormed())}`;
}

/** The first counts; the kind of the subject is not looked at (contract.md §6.2). */
function firstOfEach(observations: readonly Observation[]): Map<string, Map<string, Observation>> {
  const first = new Map<string, Map<string, Observation>>();
  for (const observation of observations) {
    const { kind, subject } = observation;
    const ofKind = first.get(kind) ?? new Map<string, Observation>();
    first.set(kind, ofKind);
    if (!ofKind.has(subject.name)) ofKind.set(subject.name, observation);
  }
  return first;
}
