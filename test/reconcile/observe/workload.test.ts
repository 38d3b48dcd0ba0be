import { describe, expect, it } from 'vitest';
import type { Kind } from '../../../src/cluster/kinds.ts';
import * as kinds from '../../../src/cluster/kinds.ts';
import { observeWorkload } from '../../../src/reconcile/observe/workload.ts';
import { anObject } from '../../support/builders.ts';
import { gist, look, NAMESPACE, type Scene } from './survey.ts';

function scene(
  declared: string | undefined,
  kind: Kind,
  more: { explicit?: boolean; name?: string } = {},
): Scene {
  return {
    contract: {
      service: { name: 'cart', version: '1.0.0' },
      ...(declared !== undefined && { workload: declared }),
    },
    target: { workload: { kind, name: 'web', explicit: true, ...more } },
    objects: [anObject(kind, { name: 'web', namespace: NAMESPACE }, { spec: {} })],
  };
}

describe('the workload (operator.md §5.8)', () => {
  it.each<[Kind, string]>([
    [kinds.DEPLOYMENT, 'service'],
    [kinds.STATEFUL_SET, 'service'],
    [kinds.REPLICA_SET, 'service'],
    [kinds.JOB, 'job'],
    [kinds.CRON_JOB, 'scheduled'],
  ])('%o is a %s, whatever is declared', async (kind, type) => {
    for (const declared of ['service', 'job', 'scheduled']) {
      const { observations } = await look(observeWorkload, scene(declared, kind));
      expect(gist(observations)).toEqual([{ type }]);
      expect(observations[0]?.subject).toEqual({ kind: 'service', name: 'cart' });
    }
  });

  it.each<[string, Scene, readonly unknown[]]>([
    [
      'of a kind that nobody wrote, as declared: observed',
      scene('service', kinds.DEPLOYMENT, { explicit: false }),
      [{ type: 'service' }],
    ],
    [
      'of a kind that nobody wrote, otherwise: Insufficient',
      scene('job', kinds.DEPLOYMENT, { explicit: false }),
      ['Insufficient'],
    ],
    ['that is not there: nothing', { ...scene('service', kinds.DEPLOYMENT), objects: [] }, []],
    ['without a name: nothing', scene('service', kinds.DEPLOYMENT, { name: '' }), []],
    ['that cannot be read: Failed', { ...scene('service', kinds.JOB), forbidden: [kinds.JOB] }, ['Failed']],
    ['that the contract does not declare: nothing', scene(undefined, kinds.DEPLOYMENT), []],
  ])('one %s', async (_what, given, wanted) => {
    const { observations, streaks } = await look(observeWorkload, given);
    expect(gist(observations)).toEqual(wanted);
    expect(streaks).toEqual({});
  });
});
