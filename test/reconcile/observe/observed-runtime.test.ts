import { describe, expect, it } from 'vitest';
import type { Kind } from '../../../src/cluster/kinds.ts';
import * as kinds from '../../../src/cluster/kinds.ts';
import type { ObservedRuntime } from '../../../src/reconcile/api/pacto.ts';
import { runtimeOf } from '../../../src/reconcile/observe/observed-runtime.ts';
import { anObject } from '../../support/builders.ts';

function runtime(kind: Kind, spec: unknown): ObservedRuntime {
  return runtimeOf(kind, anObject(kind, { name: 'web', namespace: 'shop' }, { spec }));
}

const NONE = { hasPVC: false, hasEmptyDir: false };
const POD = {
  terminationGracePeriodSeconds: 45,
  containers: [{ image: 'r.test/a:1' }, { image: 'r.test/b:2' }],
};
const OF_POD = { ...NONE, terminationGracePeriodSeconds: 45, containerImages: ['r.test/a:1', 'r.test/b:2'] };

describe('what a status shows of a workload (operator.md §1.1.2)', () => {
  it.each<[string, Kind, unknown, Partial<ObservedRuntime>]>([
    [
      'a Deployment and its strategy',
      kinds.DEPLOYMENT,
      { strategy: { type: 'Recreate' }, podManagementPolicy: 'x', template: { spec: POD } },
      { ...OF_POD, deploymentStrategy: 'Recreate' },
    ],
    [
      'a StatefulSet and its policy',
      kinds.STATEFUL_SET,
      {
        podManagementPolicy: 'Parallel',
        strategy: { type: 'x' },
        volumeClaimTemplates: [{}],
        template: { spec: POD },
      },
      { ...OF_POD, podManagementPolicy: 'Parallel', hasPVC: true },
    ],
    ['a Job', kinds.JOB, { template: { spec: POD } }, OF_POD],
    [
      'a CronJob, by the template of its Jobs',
      kinds.CRON_JOB,
      { jobTemplate: { spec: { template: { spec: POD } } } },
      OF_POD,
    ],
    [
      'volumes',
      kinds.DEPLOYMENT,
      {
        template: {
          spec: {
            volumes: [
              { name: 'a', emptyDir: {} },
              { name: 'b', persistentVolumeClaim: {} },
            ],
          },
        },
      },
      { hasPVC: true, hasEmptyDir: true },
    ],
    [
      'nonsense',
      kinds.DEPLOYMENT,
      { strategy: 1, template: { spec: { containers: 'x', volumes: [1, null] } } },
      { hasPVC: false, hasEmptyDir: true },
    ],
    ['no spec', kinds.DEPLOYMENT, undefined, NONE],
  ])('%s', (_what, kind, spec, wanted) => {
    expect(runtime(kind, spec)).toEqual({ workloadKind: kind.kind, ...wanted });
  });

  it.each<[string, readonly unknown[], number | undefined]>([
    [
      'the readiness probe',
      [{ readinessProbe: { initialDelaySeconds: 7 }, livenessProbe: { initialDelaySeconds: 3 } }],
      7,
    ],
    ['the liveness probe, where there is no other', [{ livenessProbe: { initialDelaySeconds: 3 } }], 3],
    [
      'a probe without delay',
      [{ readinessProbe: { httpGet: {} }, livenessProbe: { initialDelaySeconds: 3 } }],
      0,
    ],
    ['no probe of the first container', [{}, { readinessProbe: { initialDelaySeconds: 7 } }], undefined],
    ['a delay of nonsense', [{ readinessProbe: { initialDelaySeconds: 'x' } }], undefined],
  ])('the delay of %s', (_what, containers, wanted) => {
    const { healthProbeInitialDelaySeconds } = runtime(kinds.DEPLOYMENT, {
      template: { spec: { containers } },
    });
    expect(healthProbeInitialDelaySeconds).toBe(wanted);
  });
});
