import { describe, expect, it } from 'vitest';
import { CONTRACT_STATUSES, type ContractStatus } from '../../src/policies/contract/status-ladder.ts';
import { contractEvents } from '../../src/reconcile/transitions.ts';

const HEALTHY = ['Compliant', 'Reference'] as const;
const DEGRADED = CONTRACT_STATUSES.filter((status) => status !== 'Compliant' && status !== 'Reference');

function said(before: ContractStatus | undefined, now: ContractStatus): readonly string[] {
  const events = contractEvents({ before, now, errors: 2, warnings: 1, failure: undefined });
  return events.map(({ type, reason, message }) => `${type} ${reason} ${message}`);
}

describe('a contract event', () => {
  it.each(DEGRADED)('warns of %s at the first look', (now) => {
    expect(said(undefined, now)).toEqual([
      `Warning ValidationFailed ContractStatus: ${now}, 2 errors, 1 warnings`,
    ]);
  });

  it.each(DEGRADED.flatMap((before) => DEGRADED.map((now) => [before, now] as const)))(
    'of %s → %s warns where the status is another one',
    (before, now) => {
      expect(said(before, now)).toEqual(
        before === now ? [] : [`Warning ValidationFailed ContractStatus: ${now}, 2 errors, 1 warnings`],
      );
    },
  );

  it.each(HEALTHY.flatMap((before) => DEGRADED.map((now) => [before, now] as const)))(
    'of %s → %s warns',
    (before, now) => {
      expect(said(before, now)).toHaveLength(1);
    },
  );

  it.each(DEGRADED.flatMap((before) => HEALTHY.map((now) => [before, now] as const)))(
    'of %s → %s says that it recovered',
    (before, now) => {
      expect(said(before, now)).toEqual([
        `Normal ContractRecovered ContractStatus: ${now}, 2 errors, 1 warnings`,
      ]);
    },
  );

  it.each([
    [undefined, 'Compliant'],
    [undefined, 'Reference'],
    ['Compliant', 'Compliant'],
    ['Compliant', 'Reference'],
    ['Reference', 'Compliant'],
  ] as const)('is not sent for %s → %s', (before, now) => {
    expect(said(before, now)).toEqual([]);
  });

  it.each([
    ['ContractInvalid', 'Invalid', 'Compliant', 1],
    ['ContractInvalid', 'Invalid', 'Unknown', 1],
    ['ContractInvalid', 'Invalid', 'Invalid', 0],
    ['ContractUnavailable', 'Unknown', undefined, 1],
    ['ContractUnavailable', 'Unknown', 'Unknown', 0],
  ] as const)('%s tells why there is no contract: %s after %s', (reason, now, before, count) => {
    const failure = { reason, message: 'why' };
    const events = contractEvents({ before, now, errors: 0, warnings: 0, failure });
    expect(events).toEqual(count === 0 ? [] : [{ type: 'Warning', reason, message: 'why' }]);
  });
});
