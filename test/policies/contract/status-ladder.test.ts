import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  contractStatus,
  CONTRACT_STATUSES,
  deriveStatus,
  statusOf,
  type ContractStatus,
  type StatusFacts,
} from '../../../src/policies/contract/status-ladder.ts';
import type { Severity } from '../../../src/policies/contract/findings.ts';

const FULL = { evaluated: 3, required: 3 };
const GAP = { evaluated: 2, required: 3 };

function findings(...severities: readonly Severity[]): readonly { readonly severity: Severity }[] {
  return severities.map((severity) => ({ severity }));
}

const aSeverity = fc.constantFrom<Severity>('error', 'unknown', 'warning', 'info');
const aCoverage = fc
  .tuple(fc.nat(5), fc.nat(5))
  .map(([evaluated, more]) => ({ evaluated, required: evaluated + more }));

describe('the ladder of contract.md §7.1', () => {
  it.each<[ContractStatus, Severity[], typeof FULL]>([
    ['Compliant', [], FULL],
    ['Compliant', [], { evaluated: 0, required: 0 }],
    ['Compliant', ['info'], FULL],
    ['Warning', ['warning'], FULL],
    ['Warning', ['info', 'warning'], FULL],
    ['Unknown', [], GAP],
    ['Unknown', ['info'], GAP],
    ['Unknown', ['warning'], GAP],
    ['Unknown', ['unknown'], FULL],
    ['Unknown', ['warning', 'unknown'], FULL],
    ['NonCompliant', ['error'], FULL],
    ['NonCompliant', ['error'], GAP],
    ['NonCompliant', ['unknown', 'warning', 'error', 'info'], GAP],
  ])('says %s of %j with coverage %j', (status, severities, coverage) => {
    expect(deriveStatus(findings(...severities), coverage)).toBe(status);
  });

  it('is the worst of what it was given, in any order', () => {
    fc.assert(
      fc.property(fc.array(aSeverity), aCoverage, (severities, coverage) => {
        const isGap = coverage.evaluated < coverage.required;
        const expected: ContractStatus = severities.includes('error')
          ? 'NonCompliant'
          : severities.includes('unknown') || isGap
            ? 'Unknown'
            : severities.includes('warning')
              ? 'Warning'
              : 'Compliant';
        expect(deriveStatus(findings(...severities), coverage)).toBe(expected);
        expect(deriveStatus(findings(...severities.toReversed()), coverage)).toBe(expected);
      }),
    );
  });

  it('never gets better by one more finding', () => {
    const order: readonly ContractStatus[] = ['Compliant', 'Warning', 'Unknown', 'NonCompliant'];
    fc.assert(
      fc.property(fc.array(aSeverity), aSeverity, aCoverage, (severities, more, coverage) => {
        const before = order.indexOf(deriveStatus(findings(...severities), coverage));
        const after = order.indexOf(deriveStatus(findings(...severities, more), coverage));
        expect(after).toBeGreaterThanOrEqual(before);
      }),
    );
  });
});

const GOOD: StatusFacts = { structural: [], reference: false, findings: [], coverage: FULL };

describe('the order of decisions of contract.md §7.4', () => {
  it.each<[ContractStatus, string, Partial<StatusFacts>]>([
    ['Unknown', 'a contract that could not be obtained', { failure: 'unavailable' }],
    ['Invalid', 'what is no contract', { failure: 'broken' }],
    [
      'Unknown',
      'one that is away, whatever was found before',
      { failure: 'unavailable', structural: findings('error') },
    ],
    ['Invalid', 'a structural error', { structural: findings('error') }],
    ['Invalid', 'a structural error without a target', { structural: findings('error'), reference: true }],
    [
      'Invalid',
      'a structural error beside a violation',
      { structural: findings('error'), findings: findings('error') },
    ],
    ['Reference', 'no target', { reference: true, coverage: { evaluated: 0, required: 4 } }],
    [
      'Reference',
      'no target, with a structural warning',
      { reference: true, structural: findings('warning') },
    ],
    ['Compliant', 'nothing found', {}],
    ['Warning', 'a structural warning', { structural: findings('warning') }],
    ['Unknown', 'a structural warning and a gap', { structural: findings('warning'), coverage: GAP }],
    ['NonCompliant', 'a violation', { findings: findings('error') }],
    [
      'NonCompliant',
      'a violation and a structural warning',
      { structural: findings('warning'), findings: findings('error') },
    ],
  ])('says %s of %s', (status, _what, facts) => {
    expect(contractStatus({ ...GOOD, ...facts })).toBe(status);
  });
});

describe('a status as somebody wrote it', () => {
  it('is one of the seven, or Unknown', () => {
    expect(CONTRACT_STATUSES.map(statusOf)).toEqual(CONTRACT_STATUSES);
    expect(['', 'compliant', 'Degraded', '__proto__'].map(statusOf)).toEqual(Array(4).fill('Unknown'));
  });
});
