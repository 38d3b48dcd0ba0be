import { describe, expect, it } from 'vitest';
import type { BenchResult } from '../result.ts';
import { askedPactos, FLEET, oftenPactos, pieces, published, quietPactos } from './fleet.ts';
import { reconcileBudgets, reconcileSection } from './report.ts';
import type { ReconcileFigures, StartFigures } from './result.ts';

const MIB = 1024 * 1024;
const latency = { count: 100, p50Ms: 10, p95Ms: 20, p99Ms: 30, maxMs: 40 };
const stall = { ms: 50, cpuMs: 45 };
const storm = {
  patches: 10_000,
  seconds: 20,
  demand: latency,
  withConfigMap: latency,
  without: latency,
  apiServer: latency,
  failures: 0,
  settledMs: 3_000,
  cpuPercent: 20,
  stall,
  residentBytes: 240 * MIB,
};
const START: StartFigures = {
  readyMs: 900,
  firstVerdictMs: 300,
  allMs: 12_000,
  settledMs: 12_500,
  verdicts: { Compliant: 700, Warning: 300 },
  residentBytes: 220 * MIB,
  peakBytes: 230 * MIB,
  listStall: stall,
  looksStall: stall,
};
const GOOD: ReconcileFigures = {
  fleet: FLEET,
  start: START,
  demand: { warm: latency, failed: 0, cold: latency },
  changes: { endpoints: latency, deployments: latency },
  idle: {
    due: { seconds: 30, cpuPercent: 0.4, writes: { leases: 15, 'pactos/status': 100 }, mostPerPacto: 1 },
    none: { seconds: 30, cpuPercent: 0.2, writes: { leases: 15 }, mostPerPacto: 0 },
  },
  storms: { pods: storm, slices: storm },
  peakBytes: 245 * MIB,
  nodeOptions: ['--max-semi-space-size=8'],
  withoutOptions: START,
};

const resultOf = (reconcile: BenchResult['reconcile']): BenchResult => ({ reconcile }) as BenchResult;
const missed = (figures: Partial<ReconcileFigures>): readonly string[] =>
  reconcileBudgets(resultOf({ ...GOOD, ...figures }))
    .filter(({ met }) => !met)
    .map(({ what }) => what);

describe('budgets of the reconciler', () => {
  it('are met by good figures', () => {
    expect(missed({})).toEqual([]);
  });

  it.each<[string, Partial<ReconcileFigures>, string]>([
    ['a slow start', { start: { ...START, allMs: 30_000 } }, 'reconciler, start to all of 1000 verdicts'],
    [
      'a slow first verdict',
      { start: { ...START, firstVerdictMs: 1_000 } },
      'verdict on demand, cold, the slowest',
    ],
    [
      'a slow status',
      { changes: { endpoints: latency, deployments: { ...latency, p50Ms: 200 } } },
      'change to written status, p50',
    ],
    [
      'a status written more often than each interval',
      { idle: { ...GOOD.idle, due: { ...GOOD.idle.due, mostPerPacto: 3 } } },
      'reconciler, writes when idle',
    ],
    [
      'a status written with no look due',
      { idle: { ...GOOD.idle, none: { ...GOOD.idle.none, writes: { 'pactos/status': 1 } } } },
      'reconciler, writes when idle',
    ],
    [
      'anything else written',
      { idle: { ...GOOD.idle, none: { ...GOOD.idle.none, writes: { events: 1 } } } },
      'reconciler, writes when idle',
    ],
    [
      'a verdict that is refused in a storm',
      { storms: { ...GOOD.storms, pods: { ...storm, failures: 1 } } },
      'p99 of verdicts on demand in a storm of 10000 changes of Pods',
    ],
  ])('are missed by %s', (_what, figures, row) => {
    expect(missed(figures)).toEqual([row]);
  });

  it('are none where there is no control plane, and the page says why', () => {
    const leftOut = resultOf({ leftOut: 'no binaries' });
    expect(reconcileBudgets(leftOut)).toEqual([]);
    expect(reconcileSection(leftOut)).toContain('**Left out**: no binaries.');
  });
});

describe('the section', () => {
  it('says what there was and what was measured', () => {
    const section = reconcileSection(resultOf(GOOD));
    expect(section).toContain('10000 Pods, 2000 Services');
    expect(section).toContain('| verdicts | 700 Compliant, 300 Warning |');
    expect(section).toContain('0.400 % of a core; 15 leases, 100 pactos/status');
  });
});

describe('the fleet', () => {
  it('has as many of each as the page says', () => {
    const kinds = [...pieces('registry.test')].map(({ body }) => (body as { kind: string }).kind);
    const count = (kind: string): number => kinds.filter((one) => one === kind).length;
    expect(['Pod', 'Service', 'EndpointSlice', 'Deployment', 'ConfigMap', 'Pacto'].map(count)).toEqual([
      FLEET.pods,
      FLEET.services,
      FLEET.services,
      FLEET.services,
      FLEET.configured,
      FLEET.pactos,
    ]);
    expect(published()).toHaveLength(FLEET.providers + FLEET.configured);
    expect(oftenPactos()).toHaveLength(FLEET.often.pactos);
  });

  it('is asked about in its own proportions', () => {
    const asked = askedPactos();
    expect(new Set(asked.map(({ namespace }) => namespace)).size).toBe(10);
    expect(asked.filter(({ readsConfigMap }) => readsConfigMap)).toHaveLength(2);
  });

  it('changes nothing of those that are looked at often', () => {
    const often = new Set(oftenPactos().map(({ namespace, name }) => `${namespace}/${name}`));
    expect(quietPactos().filter(({ namespace, name }) => often.has(`${namespace}/${name}`))).toEqual([]);
    expect(quietPactos().length).toBeGreaterThanOrEqual(100);
  });
});
