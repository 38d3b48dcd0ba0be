/** The health expressions for Flux (operator.md §15.1), evaluated by our own engine on recorded and made-up statuses. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { CONTRACT_STATUSES } from '../../src/policies/contract/status-ladder.ts';
import { healthOf, type Expressions, type Health, type Judged } from './flux-expressions.ts';
import { recordedStatuses } from './recorded-statuses.ts';

interface FluxKustomization {
  readonly spec: {
    readonly timeout?: string;
    readonly wait?: boolean;
    readonly healthCheckExprs: readonly Expressions[];
  };
}

const EXAMPLE = parseAllDocuments(readFileSync('manifests/flux/pacto-health.yaml', 'utf8')).map(
  (document) => document.toJS() as FluxKustomization,
);
const PATCH = parse(
  readFileSync('manifests/flux/component/pacto-health.patch.yaml', 'utf8'),
) as FluxKustomization;
const COMPONENT = parse(readFileSync('manifests/flux/component/kustomization.yaml', 'utf8')) as {
  readonly patches: readonly { readonly path: string; readonly target: { readonly kind: string } }[];
};
const EXPRESSIONS = PATCH.spec.healthCheckExprs[0] ?? { apiVersion: '', kind: '', failed: '', current: '' };

const WANTED: Readonly<Record<string, Health>> = {
  Compliant: 'Current',
  Reference: 'Current',
  Warning: 'Current',
  NonCompliant: 'Failed',
  Invalid: 'Failed',
  Unknown: 'InProgress',
  NotEvaluated: 'InProgress',
};

const pactoWith = (status?: Readonly<Record<string, unknown>>): Judged => ({
  metadata: { generation: 2 },
  ...(status !== undefined && { status }),
});

describe('health expressions for Flux', () => {
  it('are the same in the example and in the component, for Pactos, and leave inProgress out', () => {
    expect(EXAMPLE.map(({ spec }) => spec.healthCheckExprs)).toEqual([[EXPRESSIONS], [EXPRESSIONS]]);
    expect(PATCH.spec.healthCheckExprs).toHaveLength(1);
    expect(EXPRESSIONS).toMatchObject({ apiVersion: 'pacto.trianalab.io/v1alpha1', kind: 'Pacto' });
    expect(EXPRESSIONS).not.toHaveProperty('inProgress');
    expect(COMPONENT.patches).toEqual([
      {
        path: 'pacto-health.patch.yaml',
        target: {
          group: 'kustomize.toolkit.fluxcd.io',
          kind: 'Kustomization',
          labelSelector: 'gate.pacto.trianalab.io/health=pacto',
        },
      },
    ]);
  });

  it('are waited for, longer than the window of two minutes', () => {
    for (const { spec } of [...EXAMPLE, PATCH]) expect(spec.wait).toBe(true);
    expect(EXAMPLE.map(({ spec }) => spec.timeout)).toEqual(['5m', '5m']);
  });

  it.each(CONTRACT_STATUSES)('decide on %s', (contractStatus) => {
    const status = { contractStatus, observedGeneration: 2 };
    expect(healthOf(EXPRESSIONS, pactoWith(status))).toBe(WANTED[contractStatus]);
  });

  it.each<readonly [string, Readonly<Record<string, unknown>> | undefined, Health]>([
    ['not yet healthy without a status', undefined, 'error'],
    ['not yet healthy with an empty status', {}, 'error'],
    ['not yet healthy without a verdict', { observedGeneration: 2, conditions: [] }, 'error'],
    ['in progress with a verdict of tomorrow', { contractStatus: 'Superseded' }, 'InProgress'],
    ['in progress with an empty verdict', { contractStatus: '' }, 'InProgress'],
    ['in progress with a verdict that is a number', { contractStatus: 7 }, 'InProgress'],
    [
      'in progress at another generation',
      { contractStatus: 'Compliant', observedGeneration: 1 },
      'InProgress',
    ],
    [
      'in progress at another generation, violated',
      { contractStatus: 'NonCompliant', observedGeneration: 1 },
      'InProgress',
    ],
  ])('are %s', (_title, status, health) => {
    expect(healthOf(EXPRESSIONS, pactoWith(status))).toBe(health);
  });

  it('decide on every recorded status', () => {
    const recorded = recordedStatuses();
    expect(recorded.length).toBeGreaterThan(150);
    const wrong = recorded.filter(
      ({ generation, status }) =>
        healthOf(EXPRESSIONS, { metadata: { generation }, status }) !== WANTED[status.contractStatus ?? ''],
    );
    expect(wrong.map(({ id }) => id)).toEqual([]);
  });

  it('make a warning blocking without that word', () => {
    const { failed, current } = EXPRESSIONS;
    const strict = { ...EXPRESSIONS, failed, current: current.replace(", 'Warning'", '') };
    expect(healthOf(strict, pactoWith({ contractStatus: 'Warning' }))).toBe('InProgress');
    expect(healthOf(strict, pactoWith({ contractStatus: 'Compliant' }))).toBe('Current');
  });
});
