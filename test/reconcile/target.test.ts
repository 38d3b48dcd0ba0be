import { describe, expect, it } from 'vitest';
import type { PactoSpec } from '../../src/reconcile/api/pacto.ts';
import { targetOf } from '../../src/reconcile/target.ts';

type Given = Partial<NonNullable<PactoSpec['target']>>;

function spec(target: Given | undefined): PactoSpec {
  return {
    contractRef: { oci: '', inline: 'x', pullSecretRef: undefined },
    target: target && {
      serviceName: undefined,
      workloadRef: undefined,
      interfaceBindings: [],
      configBindings: [],
      ...target,
    },
    overrides: [],
    checkIntervalSeconds: 300,
  };
}

const bindings: Given = {
  interfaceBindings: [{ interface: 'api', servicePort: 80 }],
  configBindings: [{ configuration: 'app', kind: 'ConfigMap', name: 'app' }],
};

describe('the target of a Pacto', () => {
  it.each<[string, Given | undefined]>([
    ['none', undefined],
    ['an empty one', {}],
    ['an empty Service name', { serviceName: '' }],
    ['bindings alone', bindings],
  ])('is a reference with %s', (_what, target) => {
    expect(targetOf('shop', spec(target))).toBeUndefined();
  });

  it.each<[string, Given, { kind: string; name: string; explicit: boolean }]>([
    ['a Service', { serviceName: 'web' }, { kind: 'Deployment', name: 'web', explicit: false }],
    [
      'a workload without a kind',
      { workloadRef: { name: 'worker', kind: undefined } },
      { kind: 'Deployment', name: 'worker', explicit: false },
    ],
    [
      'a workload with a kind',
      { serviceName: 'web', workloadRef: { name: 'worker', kind: 'CronJob' } },
      { kind: 'CronJob', name: 'worker', explicit: true },
    ],
    [
      'a workload of a kind that nobody knows',
      { workloadRef: { name: 'worker', kind: 'Rollout' } },
      { kind: 'Deployment', name: 'worker', explicit: false },
    ],
  ])('names its workload, by %s', (_what, target, workload) => {
    const found = targetOf('shop', spec(target))?.workload;
    expect({ kind: found?.kind.kind, name: found?.name, explicit: found?.explicit }).toEqual(workload);
  });

  it('has its bindings by name', () => {
    const target = targetOf('shop', spec({ serviceName: 'web', ...bindings }));
    expect(target?.interfaces.get('api')).toBe(80);
    expect(target?.configurations.get('app')).toEqual({ kind: 'ConfigMap', name: 'app' });
    expect(target?.interfaces.get('other')).toBeUndefined();
  });
});
