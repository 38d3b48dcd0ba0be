import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeEvidence, evidenceProblems } from '../../../src/policies/contract/evidence.ts';
import {
  OBSERVATION_KINDS,
  type EvidenceSet,
  type Observation,
  type ObservationKind,
} from '../../../src/policies/observation.ts';
import { evidence, G, I } from './evaluate-cases.ts';

const SUBJECTS: Readonly<Record<ObservationKind, string>> = {
  InterfaceObserved: 'interface',
  CapabilityObserved: 'capability',
  DependencyReachable: 'dependency',
  ConfigurationPresent: 'configuration',
  WorkloadObserved: 'service',
  PersistenceObserved: 'service',
  InterfaceProtocolObserved: 'interface',
  InterfaceExposureObserved: 'interface',
  DependencyVersionObserved: 'dependency',
};

const PAYLOADS: Readonly<Record<ObservationKind, object>> = {
  InterfaceObserved: { type: 'openapi', present: true },
  CapabilityObserved: { present: true },
  DependencyReachable: { reachable: true },
  ConfigurationPresent: { present: true, conformant: true },
  WorkloadObserved: { type: 'service' },
  PersistenceObserved: { durable: true },
  InterfaceProtocolObserved: { protocol: 'http' },
  InterfaceExposureObserved: { exposure: 'external' },
  DependencyVersionObserved: { versions: ['1.2.0', ''] },
};

function observed(kind: ObservationKind, changes: object = {}): Record<string, unknown> {
  return {
    kind,
    subject: { kind: SUBJECTS[kind], name: 'n' },
    outcome: 'Observed',
    value: PAYLOADS[kind],
    provenance: { collector: 'c', detectedAt: '2026-05-01T10:00:00Z' },
    ...changes,
  };
}

const health = (changes: object = {}): object => observed('CapabilityObserved', changes);

function setWith(...observations: readonly unknown[]): object {
  return { ...evidence([]), observations };
}

function decoded(json: unknown): EvidenceSet {
  const result = decodeEvidence(json);
  if (!result.ok) throw new Error(result.reason);
  return result.evidence;
}

function refusal(json: unknown): string {
  const result = decodeEvidence(json);
  return result.ok ? 'accepted' : result.reason;
}

describe('decoding evidence', () => {
  it.each(OBSERVATION_KINDS)('accepts %s with its payload, and gives it back', (kind) => {
    expect(decoded(setWith(observed(kind))).observations).toEqual([observed(kind)]);
  });

  it.each(OBSERVATION_KINDS)('refuses %s of another kind of subject', (kind) => {
    const subject = { kind: 'policy', name: 'n' };
    expect(refusal(setWith(observed(kind, { subject })))).toMatch(/^observation\[0\]: .*"policy"$/);
  });

  it.each(OBSERVATION_KINDS)('refuses %s with a field of no payload', (kind) => {
    expect(refusal(setWith(observed(kind, { value: { ...PAYLOADS[kind], more: 1 } })))).toContain('"more"');
  });

  it('takes both casings of a set', () => {
    const { subject, contractRef, source, observedAt, observations } = evidence(G);
    const capitals = {
      Subject: subject,
      ContractRef: contractRef,
      Source: source,
      ObservedAt: observedAt,
      Observations: observations,
    };
    expect(decoded(capitals)).toEqual(decoded(evidence(G)));
    expect(decoded(capitals)).toEqual(evidence(G));
  });

  it('matches names without case, and takes the later of two', () => {
    expect(decoded({ ...evidence([]), SOURCE: 'later' }).source).toBe('later');
    const { observations } = decoded(setWith(health({ value: { present: false, Present: true } })));
    expect(observations[0]?.value).toEqual({ present: true });
  });

  it('folds the two letters beyond ASCII as Go does, and no other', () => {
    expect(decoded(setWith(health({ '\u212aind': 'CapabilityObserved' }))).observations).toHaveLength(1);
    expect(decoded({ ...evidence([]), '\u017fource': 'folded' }).source).toBe('folded');
    expect(refusal(setWith(health({ 'k\u0131nd': 'x' })))).toContain('unknown field');
  });

  it.each([
    ['nothing known', {}],
    ['null', null],
    [
      'null everywhere',
      { Subject: null, ContractRef: null, Source: null, ObservedAt: null, Observations: null },
    ],
    ['fields that nobody knows', { more: [1, { x: {} }], subject: { ns: 'x' } }],
  ])('takes %s for an empty set', (_what, json) => {
    expect(decoded(json)).toEqual({
      subject: { kind: '', name: '' },
      contractRef: '',
      source: '',
      observedAt: '0001-01-01T00:00:00Z',
      observations: [],
    });
  });

  it.each<[string, unknown]>([
    ['a text', 'x'],
    ['a list', []],
    ['a number', 7],
    ['a boxed number', Object(7)],
    ['observations that are no list', { observations: {} }],
    ['a subject that is a text', { subject: 'x' }],
    ['a source that is a number', { source: 7 }],
    ['a time without a zone', { observedAt: '2026-05-01T10:00:00' }],
    ['a time that is a number', { observedAt: 0 }],
    ['an observation that is null', { observations: [null] }],
    ['an observation that is a list', { observations: [[]] }],
  ])('refuses %s', (_what, json) => {
    expect(decodeEvidence(json)).toMatchObject({ ok: false });
  });

  it.each<[string, object]>([
    ['a payload of all defaults', { value: {} }],
    ['null as a payload', { value: null }],
    ['null as a field of it', { value: { present: null } }],
    ['no provenance', { provenance: null }],
    ['another outcome without a payload', { outcome: 'Failed', value: undefined }],
  ])('accepts %s', (_what, changes) => {
    const json: unknown = JSON.parse(JSON.stringify(setWith(health(changes))));
    expect(decodeEvidence(json)).toMatchObject({ ok: true });
  });

  it.each<[string, object]>([
    ['an unknown kind', { kind: 'PolicyObserved' }],
    ['a kind in another case', { kind: 'capabilityObserved' }],
    ['no kind', { kind: undefined }],
    ['a kind that every object has', { kind: 'constructor' }],
    ['an unknown outcome', { outcome: 'Absent' }],
    ['an outcome in another case', { outcome: 'observed' }],
    ['Observed without a value', { value: undefined }],
    ['a value with Stale', { outcome: 'Stale' }],
    ['null as a value with Failed', { outcome: 'Failed', value: null }],
    ['a text as a value', { value: 'x' }],
    ['a number as a value', { value: 7 }],
    ['a list as a value', { value: [] }],
    ['a text as a flag', { value: { present: 'true' } }],
    ['an unknown field', { note: 'x' }],
    ['the field __proto__', JSON.parse('{"__proto__": {"kind": "x"}}') as object],
    ['an unknown field of the subject', { subject: { kind: 'capability', name: 'n', ns: 'x' } }],
    ['an unknown field of the provenance', { provenance: { collector: 'c', detectedAt: null, by: 'x' } }],
    ['a time that is none', { provenance: { collector: 'c', detectedAt: 'yesterday' } }],
  ])('refuses an observation with %s', (_what, changes) => {
    const merged = new Map([...Object.entries(health()), ...Object.entries(changes)]);
    const json = setWith(Object.fromEntries([...merged].filter(([, value]) => value !== undefined)));
    expect(refusal(json)).toMatch(/^observation\[0\]/);
  });

  it.each<[ObservationKind, object]>([
    ['InterfaceProtocolObserved', { protocol: 'tls' }],
    ['InterfaceProtocolObserved', { protocol: 7 }],
    ['InterfaceExposureObserved', { exposure: 'unknown' }],
    ['DependencyVersionObserved', { versions: '1.0.0' }],
    ['DependencyVersionObserved', { versions: [1] }],
  ])('refuses %s with %j', (kind, value) => {
    expect(refusal(setWith(observed(kind, { value })))).toMatch(/^observation\[0\]/);
  });

  it('cuts what a message quotes, and escapes it', () => {
    const reason = refusal(setWith(health({ kind: `\u202e${'x'.repeat(10_000)}` })));
    expect(reason.length).toBeLessThan(500);
    expect(reason).not.toContain('\u202e');
  });

  it('never throws', () => {
    fc.assert(
      fc.property(fc.anything({ withBigInt: true, withNullPrototype: true }), (json) => {
        for (const given of [json, { observations: [json] }, setWith({ ...health(), value: json })]) {
          expect(typeof decodeEvidence(given).ok).toBe('boolean');
        }
      }),
    );
  });
});

describe('times of evidence', () => {
  const accepted = (observedAt: string): boolean => decodeEvidence({ observedAt }).ok;

  it.each([
    '2026-05-01T10:00:00Z',
    '2026-05-01T10:00:00.123456789123Z',
    '2026-05-01T10:00:00,5Z',
    '2026-05-01T9:00:00+02:00',
    '2024-02-29T23:59:59-23:59',
    '0000-01-01T00:00:00Z',
  ])('accepts %s', (text) => {
    expect(accepted(text)).toBe(true);
  });

  it.each([
    '',
    '2026-05-01',
    '2026-05-01T10:00:00',
    '2026-05-01T10:00Z',
    '2026-05-01 10:00:00Z',
    '2026-05-01t10:00:00z',
    '2026-13-01T10:00:00Z',
    '2026-02-29T10:00:00Z',
    '2026-05-01T24:00:00Z',
    '2026-05-01T10:60:00Z',
    '2026-05-01T10:00:60Z',
    '2026-05-01T10:00:00+25:00',
    '2026-05-01T10:00:00.Z',
    ' 2026-05-01T10:00:00Z',
    '2026-05-01T10:00:00Z\n',
  ])('refuses %j', (text) => {
    expect(accepted(text)).toBe(false);
  });

  it.each([
    ['0001-01-01T00:00:00Z', 1],
    ['0001-01-01T00:00:00.0000000001Z', 1],
    ['0001-01-01T02:00:00+02:00', 1],
    ['0000-12-31T19:00:00-05:00', 1],
    ['0001-01-01T00:00:00.000000001Z', 0],
    ['0001-01-01T00:00:01Z', 0],
    ['0001-01-02T00:00:00Z', 0],
    ['0000-12-31T00:00:00Z', 0],
  ])('counts of %s as not given: %i', (observedAt, count) => {
    expect(evidenceProblems(decoded({ ...evidence([]), observedAt }))).toHaveLength(count);
  });
});

describe('problems of a set', () => {
  it('are none of a good one', () => {
    expect(evidenceProblems(evidence(G))).toEqual([]);
    expect(evidenceProblems(evidence([]))).toEqual([]);
  });

  it('name each empty field of the set', () => {
    expect(evidenceProblems(decoded({}))).toHaveLength(5);
  });

  const [web = I('web', {})] = G;
  it.each<[string, Observation, string]>([
    ['the kind of its subject', { ...web, subject: { kind: '', name: 'web' } }, 'kind of the subject'],
    ['its name', { ...web, subject: { kind: 'interface', name: '' } }, 'name of the subject'],
    ['the collector', { ...web, provenance: { ...web.provenance, collector: '' } }, 'collector'],
    ['the time', { ...web, provenance: { collector: 'c', detectedAt: '0001-01-01T00:00:00Z' } }, 'time'],
    ['the pairing', { ...web, subject: { kind: 'dependency', name: 'web' } }, 'subject of kind'],
    ['a value too many', { ...web, outcome: 'Failed' }, 'must have no value'],
  ])('name one of an observation: %s', (_what, observation, part) => {
    const problems = evidenceProblems(evidence([I('other', 'Failed'), observation]));
    expect(problems).toEqual([expect.stringMatching(new RegExp(`^observation\\[1\\]: .*${part}`))]);
  });

  it('name the first fault alone of an observation that has several', () => {
    const broken = { ...web, provenance: { collector: '', detectedAt: '0001-01-01T00:00:00Z' } };
    expect(evidenceProblems(evidence([broken]))).toHaveLength(1);
    expect(evidenceProblems(evidence([web, broken]))).toEqual([expect.stringContaining('was given before')]);
  });

  it('tell what differs in kind or name only', () => {
    const sameName = decoded(setWith(...OBSERVATION_KINDS.map((kind) => observed(kind))));
    expect(evidenceProblems(sameName)).toEqual([]);
    expect(evidenceProblems(evidence([I('a', {}), I('b', {}), I('a', 'Stale')]))).toHaveLength(1);
  });

  it('take 10,000 observations in no time', () => {
    const many = Array.from({ length: 10_000 }, (_, index) => I(`i${String(index)}`, { present: true }));
    const start = performance.now();
    expect(evidenceProblems(decoded(evidence(many)))).toEqual([]);
    expect(performance.now() - start).toBeLessThan(1_000);
  });
});
