import { describe, expect, it } from 'vitest';
import type { Finding, Problem } from '../../src/policies/contract/findings.ts';
import { resolutionPolicyOf, statusFindings, summaryOf, validationOf } from '../../src/reconcile/status.ts';

const FINDING: Finding = {
  code: 'INTERFACE_ABSENT',
  severity: 'error',
  category: 'RuntimeDrift',
  subject: { kind: 'interface', name: 'api' },
  contractPath: 'interfaces[name=api]',
  message: 'it is not there',
  evidenceRefs: [{ source: 'k8s', observedAt: '2026-01-01T00:00:00Z' }],
};
const PROBLEM: Problem = { path: 'service.name', code: 'SCHEMA_VIOLATION', message: 'no' };

describe('the resolution policy', () => {
  it.each([
    ['r.test/cart', 'Latest'],
    ['r.test:5000/cart', 'Latest'],
    ['oci://r.test:5000/cart', 'Latest'],
    ['r.test/cart:1.4.0', 'PinnedTag'],
    ['r.test:5000/cart:1.4.0', 'PinnedTag'],
    ['cart:1.4.0', 'PinnedTag'],
    [`r.test/cart@sha256:${'a'.repeat(64)}`, 'PinnedDigest'],
    [`r.test/cart:1.4.0@sha256:${'a'.repeat(64)}`, 'PinnedDigest'],
    ['', undefined],
  ])('of %s is %s', (oci, policy) => {
    expect(resolutionPolicyOf({ oci, inline: undefined, pullSecretRef: undefined })).toBe(policy);
  });

  it('is none where an inline contract wins (T14), and an empty one does not', () => {
    const oci = 'r.test/cart:1.4.0';
    expect(resolutionPolicyOf({ oci, inline: 'x', pullSecretRef: undefined })).toBeUndefined();
    expect(resolutionPolicyOf({ oci, inline: '', pullSecretRef: undefined })).toBe('PinnedTag');
  });
});

describe('a finding in a status', () => {
  it('has a subject that can be read', () => {
    expect(statusFindings([FINDING])).toEqual([{ ...FINDING, subject: 'interface/api' }]);
  });

  it('leaves out what a structural one does not have', () => {
    const { subject: _subject, ...structural } = FINDING;
    expect(statusFindings([{ ...structural, contractPath: '', evidenceRefs: [] }])).toEqual([
      { code: 'INTERFACE_ABSENT', severity: 'error', category: 'RuntimeDrift', message: 'it is not there' },
    ]);
  });

  it('has texts of some length', () => {
    const long = 'x'.repeat(10_000);
    const [finding] = statusFindings([
      { ...FINDING, subject: { kind: 'interface', name: long }, contractPath: long, message: long },
    ]);
    expect([finding?.subject, finding?.contractPath, finding?.message].map((text) => text?.length)).toEqual([
      1_025, 1_025, 2_049,
    ]);
  });
});

describe('of very many findings', () => {
  const of = (severity: Finding['severity'], count: number): readonly Finding[] =>
    Array.from({ length: count }, (_, index) => ({
      ...FINDING,
      severity,
      message: `${severity} ${String(index)}`,
    }));

  it('the most severe are kept, in their order', () => {
    const all = [...of('unknown', 300), ...of('warning', 10), ...of('error', 2)];
    const kept = statusFindings(all).map(({ message }) => message);
    expect(kept).toHaveLength(200);
    expect(kept.slice(0, 2)).toEqual(['unknown 0', 'unknown 1']);
    expect(kept.slice(-3)).toEqual(['unknown 197', 'error 0', 'error 1']);
  });

  it('all are counted', () => {
    expect(summaryOf([...of('unknown', 300), ...of('warning', 10), ...of('error', 2)])).toEqual({
      errorCount: 2,
      warningCount: 10,
      infoCount: 0,
      unknownCount: 300,
    });
  });
});

describe('a validation in a status', () => {
  it('is valid without errors, also with warnings', () => {
    expect(validationOf({ errors: [], warnings: [] })).toEqual({ valid: true });
    expect(validationOf({ errors: [], warnings: [PROBLEM] })).toEqual({ valid: true, warnings: [PROBLEM] });
  });

  it('is not valid with an error', () => {
    expect(
      validationOf({ errors: [{ ...PROBLEM, path: '', place: 'service.owner' }], warnings: [] }),
    ).toEqual({
      valid: false,
      errors: [{ code: 'SCHEMA_VIOLATION', message: 'no' }],
    });
  });

  it('shows some of very many', () => {
    const errors = Array.from({ length: 1_000 }, () => PROBLEM);
    expect(validationOf({ errors, warnings: [] }).errors).toHaveLength(200);
  });
});
