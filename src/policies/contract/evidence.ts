/**
 * Evidence as it crosses a JSON boundary (contract.md §5), read as Go's decoder reads it: names of fields in any case, the
 * later of two equal ones, null as not given (§14.2, recorded). An observation is read strictly; beside the observations a
 * set may carry what nobody knows.
 */
import {
  EXPOSURES,
  OBSERVATION_KINDS,
  OUTCOMES,
  WIRE_PROTOCOLS,
  type EvidenceSet,
  type Observation,
  type ObservationKind,
  type ObservedValue,
  type Subject,
} from '../observation.ts';
import { quote } from '../quote.ts';
import { Fields, Malformed } from './evidence-fields.ts';
import { isZeroTime } from './evidence-time.ts';

type DecodedEvidence =
  { readonly ok: true; readonly evidence: EvidenceSet } | { readonly ok: false; readonly reason: string };

/** The kind of subject that each kind of observation is of, and the fields of its payload (contract.md §5.2). */
const SHAPES: Readonly<
  Record<ObservationKind, { readonly subject: string; readonly fields: readonly (keyof ObservedValue)[] }>
> = {
  InterfaceObserved: { subject: 'interface', fields: ['type', 'present'] },
  CapabilityObserved: { subject: 'capability', fields: ['present'] },
  DependencyReachable: { subject: 'dependency', fields: ['reachable'] },
  ConfigurationPresent: { subject: 'configuration', fields: ['present', 'conformant'] },
  WorkloadObserved: { subject: 'service', fields: ['type'] },
  PersistenceObserved: { subject: 'service', fields: ['durable'] },
  InterfaceProtocolObserved: { subject: 'interface', fields: ['protocol'] },
  InterfaceExposureObserved: { subject: 'interface', fields: ['exposure'] },
  DependencyVersionObserved: { subject: 'dependency', fields: ['versions'] },
};

/**
 * Decodes a set whose JSON was read already; its five fields are taken as `Subject` and as `subject` (contract.md §5.1).
 * What it says is not judged: `evidenceProblems` does. Never throws.
 */
export function decodeEvidence(json: unknown): DecodedEvidence {
  try {
    return { ok: true, evidence: setOf(json) };
  } catch (error) {
    if (error instanceof Malformed) return { ok: false, reason: error.message };
    throw error;
  }
}

/**
 * What is wrong with a set (contract.md §5.4): each fault of its own fields, and at most one of each observation. None
 * where it may be evaluated.
 */
export function evidenceProblems(set: EvidenceSet): readonly string[] {
  const problems: string[] = [];
  if (set.subject.kind === '') problems.push('the kind of the subject is empty');
  if (set.subject.name === '') problems.push('the name of the subject is empty');
  if (set.contractRef === '') problems.push('the reference of the contract is empty');
  if (set.source === '') problems.push('the source is empty');
  if (isZeroTime(set.observedAt)) problems.push('the time of observation is not given');

  const seen = new Set<string>();
  for (const [index, observation] of set.observations.entries()) {
    const { kind, subject } = observation;
    const identity = JSON.stringify([kind, subject.kind, subject.name]);
    const problem = problemOf(observation, seen.has(identity));
    if (problem !== undefined) problems.push(`observation[${String(index)}]: ${problem}`);
    seen.add(identity);
  }
  return problems;
}

function problemOf(observation: Observation, isRepeated: boolean): string | undefined {
  const { kind, subject, provenance } = observation;
  if (subject.kind === '') return 'the kind of the subject is empty';
  if (subject.name === '') return 'the name of the subject is empty';
  if (isRepeated) return `${quote(kind)} of ${subject.kind} ${quote(subject.name)} was given before`;
  if (provenance.collector === '') return 'the collector is empty';
  if (isZeroTime(provenance.detectedAt)) return 'the time of detection is not given';
  return invariantOf(observation);
}

/** What breaks an invariant of contract.md §5.3, beyond what its type says. */
function invariantOf({ kind, subject, outcome, value }: Omit<Observation, 'provenance'>): string | undefined {
  if (!Object.hasOwn(SHAPES, kind)) return `there is no kind of observation ${quote(kind)}`;
  if (!OUTCOMES.includes(outcome)) return `there is no outcome ${quote(outcome)}`;
  const { subject: wanted } = SHAPES[kind];
  if (subject.kind !== wanted) {
    return `${kind} is of a subject of kind ${quote(wanted)}, not ${quote(subject.kind)}`;
  }
  if (outcome === 'Observed') {
    return value === undefined ? 'the outcome Observed needs a value' : undefined;
  }
  return value === undefined ? undefined : `the outcome ${outcome} must have no value`;
}

function setOf(json: unknown): EvidenceSet {
  const fields = Fields.of(json, 'the evidence set');
  return {
    subject: subjectOf(fields.get('Subject'), 'Subject'),
    contractRef: fields.text('ContractRef'),
    source: fields.text('Source'),
    observedAt: fields.time('ObservedAt'),
    observations: fields
      .list('Observations')
      .map((observation, index) => observationOf(observation, `observation[${String(index)}]`)),
  };
}

function observationOf(json: unknown, where: string): Observation {
  const fields = Fields.of(json, where);
  fields.refuseOthers(['kind', 'subject', 'outcome', 'value', 'provenance']);
  const subject = fields.get('subject');
  Fields.of(subject, `${where}: subject`).refuseOthers(['kind', 'name']);
  const provenance = Fields.of(fields.get('provenance'), `${where}: provenance`);
  provenance.refuseOthers(['collector', 'detectedAt']);

  const kind = oneOf(OBSERVATION_KINDS, fields.text('kind'), `${where}: kind of observation`);
  const observation: Observation = {
    kind,
    subject: subjectOf(subject, `${where}: subject`),
    outcome: oneOf(OUTCOMES, fields.text('outcome'), `${where}: outcome`),
    provenance: { collector: provenance.text('collector'), detectedAt: provenance.time('detectedAt') },
    // Null counts as a value (contract.md §5.3).
    ...(fields.has('value') && { value: valueOf(kind, fields.get('value'), `${where}: value of ${kind}`) }),
  };
  const broken = invariantOf(observation);
  if (broken !== undefined) throw new Malformed(`${where}: ${broken}`);
  return observation;
}

function subjectOf(json: unknown, where: string): Subject {
  const fields = Fields.of(json, where);
  return { kind: fields.text('kind'), name: fields.text('name') };
}

function valueOf(kind: ObservationKind, json: unknown, where: string): ObservedValue {
  const fields = Fields.of(json, where);
  const wanted = SHAPES[kind].fields;
  fields.refuseOthers(wanted);
  const given = wanted.filter((field) => fields.get(field) !== undefined && fields.get(field) !== null);
  return Object.fromEntries(given.map((field) => [field, READ[field](fields, where)]));
}

const READ: { readonly [Field in keyof ObservedValue]-?: (fields: Fields, where: string) => unknown } = {
  type: (fields) => fields.text('type'),
  present: (fields) => fields.flag('present'),
  reachable: (fields) => fields.flag('reachable'),
  conformant: (fields) => fields.flag('conformant'),
  durable: (fields) => fields.flag('durable'),
  protocol: (fields, where) => oneOf(WIRE_PROTOCOLS, fields.text('protocol'), `${where}: protocol`),
  exposure: (fields, where) => oneOf(EXPOSURES, fields.text('exposure'), `${where}: exposure`),
  versions: (fields) => fields.texts('versions'),
};

function oneOf<Word extends string>(words: readonly Word[], text: string, where: string): Word {
  const found = words.find((word) => word === text);
  if (found !== undefined) return found;
  throw new Malformed(`${where} ${quote(text)} is not one of ${words.join(', ')}`);
}
