import { describe, expect, it } from 'vitest';
import type { PactoStatus } from '../../src/reconcile/api/pacto.ts';
import { isSameStatus } from '../../src/reconcile/status-change.ts';

const FINDING = {
  code: 'INTERFACE_ABSENT',
  severity: 'error',
  category: 'RuntimeDrift',
  subject: 'interface/api',
  contractPath: 'interfaces[name=api]',
  message: 'm',
  evidenceRefs: [{ source: 'k8s', observedAt: '2026-01-01T00:00:00Z' }],
} as const;

const STATUS: PactoStatus = {
  contractStatus: 'NonCompliant',
  observedGeneration: 1,
  lastReconciledAt: '2026-01-01T00:00:00Z',
  summary: { errorCount: 1, warningCount: 0, infoCount: 0, unknownCount: 0 },
  findings: [FINDING],
};

describe('a status is the same', () => {
  it.each<[string, PactoStatus]>([
    ['at another time', { ...STATUS, lastReconciledAt: '2026-01-02T00:00:00Z' }],
    [
      'with the same findings seen again',
      {
        ...STATUS,
        findings: [{ ...FINDING, evidenceRefs: [{ source: 'k8s', observedAt: '2026-01-02T00:00:00Z' }] }],
      },
    ],
    ['with lists that are empty', { ...STATUS, capabilities: [], policies: [] }],
    ['in another order of keys', Object.fromEntries(Object.entries(STATUS).reverse())],
  ])('%s', (_name, now) => {
    expect(isSameStatus(STATUS, now)).toBe(true);
    expect(isSameStatus(now, STATUS)).toBe(true);
  });
});

describe('a status is another one', () => {
  it.each<[string, PactoStatus]>([
    ['for another generation', { ...STATUS, observedGeneration: 2 }],
    ['with another message', { ...STATUS, findings: [{ ...FINDING, message: 'n' }] }],
    [
      'from another source',
      { ...STATUS, findings: [{ ...FINDING, evidenceRefs: [{ source: 'x', observedAt: '' }] }] },
    ],
    ['without findings', { ...STATUS, findings: [] }],
    ['with findings in another order', { ...STATUS, findings: [{ ...FINDING, code: 'A' }, FINDING] }],
    ['with one more field', { ...STATUS, currentRevision: 'r' }],
    ['when there was none', {}],
  ])('%s', (_name, now) => {
    expect(isSameStatus(STATUS, now)).toBe(false);
  });
});
