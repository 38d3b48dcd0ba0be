import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import type { KubeObject } from '../../../src/cluster/objects.ts';
import { decide } from '../../../src/policies/delivery/decide.ts';
import type { Currency, VerdictClass } from '../../../src/policies/delivery/decision.ts';
import { evidenceOf, isReady, type EvidenceQuestion } from '../../../src/policies/delivery/freshness.ts';
import { anInput, anUpstream, CANDIDATE, CURRENT, MINUTE_MS, NOW_MS } from './inputs.ts';
import { aCurrent, aPacto, isoOf } from './objects.ts';

function asked(over: Partial<EvidenceQuestion> = {}): EvidenceQuestion {
  return {
    pacto: aPacto(),
    current: aCurrent(),
    digest: undefined,
    nowMs: NOW_MS,
    maxVerdictAgeMs: 15 * MINUTE_MS,
    stabilizationMs: 2 * MINUTE_MS,
    ...over,
  };
}

const finding = (code: string, severity: string) => ({ code, severity, category: 'x', message: 'x' });
const absence = (agoMs: number) => ({
  kind: 'interface',
  subject: 'api',
  firstObservedNegativeAt: isoOf(NOW_MS - agoMs),
});
const observed = (status: string) => ({
  type: 'RuntimeObserved',
  status,
  reason: 'x',
  message: 'x',
  observedGeneration: 3,
});

describe('the currency of a verdict is', () => {
  const lastReconciledAt = (ms: number) => asked({ pacto: aPacto({ lastReconciledAt: isoOf(ms) }) });
  const old = aCurrent({ convergedAtMs: NOW_MS - 600 * MINUTE_MS });

  it.each<[currency: Currency, of: string, question: EvidenceQuestion]>([
    ['Fresh', 'a minute ago', asked()],
    ['Fresh', 'as old as it may be', { ...lastReconciledAt(NOW_MS - 15 * MINUTE_MS), current: old }],
    ['Stale', 'a second older', { ...lastReconciledAt(NOW_MS - 15 * MINUTE_MS - 1000), current: old }],
    ['Fresh', '30 s ahead', lastReconciledAt(NOW_MS + 30_000)],
    ['Stale', '31 s ahead', lastReconciledAt(NOW_MS + 31_000)],
    ['Stale', 'no time', asked({ pacto: aPacto({ lastReconciledAt: undefined }) })],
    ['Stale', 'a time that is none', asked({ pacto: aPacto({ lastReconciledAt: '2026-02-30T25:00:00Z' }) })],
    ['Stale', 'an earlier contract', asked({ pacto: aPacto({ observedGeneration: 2 }) })],
    ['Stale', 'no contract that it names', asked({ pacto: aPacto({ observedGeneration: undefined }) })],
    ['Stale', 'a generation that is a text', asked({ pacto: aPacto({ observedGeneration: '3' }) })],
    ['Fresh', 'a generation that is a bigint', asked({ pacto: aPacto({ observedGeneration: 3n }) })],
    [
      'WrongSubject',
      'consumers that do not run it yet',
      asked({ current: aCurrent({ convergedAtMs: undefined }) }),
    ],
    [
      'WrongSubject',
      'before they ran it',
      asked({ current: aCurrent({ convergedAtMs: NOW_MS - MINUTE_MS }) }),
    ],
    ['Missing', 'a Stage that stands on nothing', asked({ current: undefined })],
    ['Missing', 'a Stage that stands on an empty digest', asked({ current: aCurrent({ digest: '' }) })],
    ['Stale', 'a Stage that lost its Pacto', asked({ pacto: undefined })],
    ['Fresh', 'the digest that is asked for', asked({ digest: CURRENT })],
    ['WrongSubject', 'another digest than is asked for', asked({ digest: CANDIDATE })],
    ['WrongSubject', 'no digest', asked({ digest: '' })],
    ['Missing', 'an upstream without a Pacto', asked({ digest: CURRENT, pacto: undefined })],
    ['Missing', 'an upstream that stands on nothing', asked({ digest: CURRENT, current: undefined })],
  ])('%s of %s', (currency, _of, question) => {
    const evidence = evidenceOf(question);
    expect(evidence.currency).toBe(currency);
    expect(evidence.expiresAtMs !== undefined).toBe(currency === 'Fresh');
  });
});

describe('the class of a verdict is', () => {
  it.each<[verdict: VerdictClass, currency: Currency, of: string, status: Record<string, unknown>]>([
    ['Compliant', 'Fresh', 'Compliant', {}],
    ['Compliant', 'Fresh', 'Warning', { contractStatus: 'Warning' }],
    ['Compliant', 'Fresh', 'Reference', { contractStatus: 'Reference' }],
    ['NotEvaluated', 'Fresh', 'Invalid', { contractStatus: 'Invalid' }],
    ['NotEvaluated', 'Fresh', 'NotEvaluated', { contractStatus: 'NotEvaluated' }],
    ['NotEvaluated', 'Fresh', 'a word that nobody knows', { contractStatus: 'Splendid' }],
    ['NotEvaluated', 'Fresh', 'compliant in small letters', { contractStatus: 'compliant' }],
    ['NotEvaluated', 'Fresh', 'no text', { contractStatus: ['Compliant'] }],
    [
      'Unknown',
      'Stale',
      'Invalid of an earlier contract',
      { contractStatus: 'Invalid', observedGeneration: 2 },
    ],
    ['NonCompliant', 'Fresh', 'NonCompliant without findings', { contractStatus: 'NonCompliant' }],
    [
      'NonCompliant',
      'Fresh',
      'a violation beside a collection that failed',
      {
        contractStatus: 'NonCompliant',
        findings: [finding('COLLECTION_FAILED', 'unknown'), finding('WORKLOAD_MISMATCH', 'error')],
      },
    ],
    [
      'NonCompliant',
      'Stale',
      'a violation of which only collections that failed are left',
      { contractStatus: 'NonCompliant', findings: [finding('COLLECTION_FAILED', 'unknown')] },
    ],
    [
      'Unknown',
      'Fresh',
      'Compliant although a collection failed',
      { findings: [finding('COLLECTION_FAILED', 'unknown')] },
    ],
    ['Unknown', 'Fresh', 'Compliant although nothing was observed', { conditions: [observed('False')] }],
    [
      'Compliant',
      'Fresh',
      'Compliant, nothing observed of an earlier contract',
      { conditions: [{ ...observed('False'), observedGeneration: 2 }] },
    ],
    ['Unknown', 'Fresh', 'Unknown without findings', { contractStatus: 'Unknown' }],
    [
      'Unsupported',
      'Fresh',
      'Unknown, all of it unsupported',
      { contractStatus: 'Unknown', findings: [finding('OBSERVATION_UNSUPPORTED', 'unknown')] },
    ],
    [
      'Unknown',
      'Fresh',
      'Unknown, some of it unsupported',
      {
        contractStatus: 'Unknown',
        findings: [finding('OBSERVATION_UNSUPPORTED', 'unknown'), finding('EVIDENCE_MISSING', 'unknown')],
      },
    ],
    [
      'Unknown',
      'Fresh',
      'Unknown, unsupported, and nothing was observed',
      {
        contractStatus: 'Unknown',
        findings: [finding('OBSERVATION_UNSUPPORTED', 'unknown')],
        conditions: [observed('False')],
      },
    ],
    [
      'Stabilizing',
      'Fresh',
      'Unknown while an absence is young',
      { contractStatus: 'Unknown', observationWindows: [absence(MINUTE_MS)] },
    ],
    [
      'Stabilizing',
      'Fresh',
      'Unknown while an absence is young, although a collection failed',
      {
        contractStatus: 'Unknown',
        observationWindows: [absence(MINUTE_MS)],
        findings: [finding('COLLECTION_FAILED', 'unknown')],
      },
    ],
    [
      'Unknown',
      'Fresh',
      'Unknown with an absence that has lasted',
      { contractStatus: 'Unknown', observationWindows: [absence(2 * MINUTE_MS)] },
    ],
    [
      'NonCompliant',
      'Fresh',
      'NonCompliant while another absence is young',
      { contractStatus: 'NonCompliant', observationWindows: [absence(MINUTE_MS)] },
    ],
  ])('%s/%s of %s', (verdict, currency, _of, status) => {
    const evidence = evidenceOf(asked({ pacto: aPacto(status) }));
    expect([evidence.class, evidence.currency]).toEqual([verdict, currency]);
  });
});

it('says of the youngest absence when it began and when it counts', () => {
  const observationWindows = [
    absence(90_000),
    absence(30_000),
    absence(3_600_000),
    { subject: 'broken' },
    null,
  ];
  const pacto = aPacto({ contractStatus: 'Unknown', observationWindows });
  const sinceMs = NOW_MS - 30_000;
  expect(evidenceOf(asked({ pacto })).stabilizing).toEqual({ sinceMs, untilMs: sinceMs + 2 * MINUTE_MS });
});

it('tells what it is made of: errors first, no code twice, and no text of strangers', () => {
  const pacto = aPacto({
    contractStatus: 'NonCompliant',
    contractVersion: 'is immutable',
    findings: [
      finding('TAG_NOT_DIGEST', 'warning'),
      finding('EVIDENCE_MISSING', 'unknown'),
      finding('WORKLOAD_MISMATCH', 'error'),
      finding('INTERFACE_ABSENT', 'error'),
      finding('WORKLOAD_MISMATCH', 'error'),
      finding('is\nimmutable', 'error'),
      'text',
    ],
  });
  expect(evidenceOf(asked({ pacto }))).toEqual({
    class: 'NonCompliant',
    status: 'NonCompliant',
    currency: 'Fresh',
    findings: ['WORKLOAD_MISMATCH', 'INTERFACE_ABSENT', 'EVIDENCE_MISSING', 'TAG_NOT_DIGEST'],
    contractVersion: undefined,
    observedAtMs: NOW_MS - MINUTE_MS,
    resourceVersion: '41',
    compliantSinceMs: undefined,
    stabilizing: undefined,
    expiresAtMs: NOW_MS + 14 * MINUTE_MS,
  });
});

it('knows since when it is Compliant from the Stage', () => {
  expect(evidenceOf(asked()).compliantSinceMs).toBe(NOW_MS - 118 * MINUTE_MS);
});

describe('readiness', () => {
  const satisfied = { type: 'ReadinessSatisfied', status: 'True', observedGeneration: 3 };

  it.each<[isReady: boolean, of: string, pacto: KubeObject | undefined]>([
    [true, 'a condition that says so', aPacto({ conditions: [satisfied] })],
    [false, 'a condition that says no', aPacto({ conditions: [{ ...satisfied, status: 'False' }] })],
    [
      false,
      'a condition of an earlier contract',
      aPacto({ conditions: [{ ...satisfied, observedGeneration: 2 }] }),
    ],
    [false, 'a status of an earlier contract', aPacto({ conditions: [satisfied], observedGeneration: 2 })],
    [false, 'a contract that declares none', aPacto()],
    [
      false,
      'conditions that are no list',
      aPacto({ conditions: { type: 'ReadinessSatisfied', status: 'True' } }),
    ],
    [false, 'no Pacto', undefined],
  ])('is %s of %s', (expected, _of, pacto) => {
    expect(isReady(pacto)).toBe(expected);
  });
});

it('never throws, and never makes proof of what has any shape', () => {
  const hostile = fc.oneof(
    fc.anything(),
    fc.json().map((text): unknown => JSON.parse(text)),
  );
  const shape = fc.record(
    {
      metadata: fc.oneof(hostile, fc.constant({ generation: 3 })),
      status: fc.oneof(
        hostile,
        fc.record(
          {
            contractStatus: fc.oneof(hostile, fc.string(), fc.constant('Unknown')),
            observedGeneration: fc.oneof(hostile, fc.constant(3)),
            lastReconciledAt: fc.oneof(hostile, fc.constant(isoOf(NOW_MS))),
            findings: fc.oneof(hostile, fc.array(hostile)),
            observationWindows: fc.oneof(hostile, fc.array(hostile)),
            conditions: fc.oneof(hostile, fc.array(hostile)),
          },
          { requiredKeys: [] },
        ),
      ),
    },
    { requiredKeys: [] },
  );
  const proofs = new Set(['Compliant', 'Warning', 'Reference']);
  const property = fc.property(shape, (found) => {
    const pacto = found as unknown as KubeObject;
    isReady(pacto);
    const evidence = evidenceOf(asked({ pacto, digest: CURRENT }));
    const upstreams = { strategy: 'All', from: [anUpstream(evidence)] } as const;
    return proofs.has(evidence.status) || decide(anInput({ upstreams })).decision !== 'Allow';
  });
  expect(fc.check(property, { seed: 7, numRuns: 3_000 }).counterexample).toBeNull();
});
