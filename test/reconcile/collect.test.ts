import { describe, expect, it } from 'vitest';
import * as kinds from '../../src/cluster/kinds.ts';
import { GateError } from '../../src/errors.ts';
import type { Contract } from '../../src/policies/contract/contract.ts';
import type { EvidenceSet } from '../../src/policies/observation.ts';
import { collect, declares, DIMENSIONS, type NamedDimension } from '../../src/reconcile/collect.ts';
import { contract } from '../policies/contract/evaluate-cases.ts';
import { anObject } from '../support/builders.ts';
import { service, slice } from './observe/survey-objects.ts';
import { look, NAMESPACE, type Scene, type Seen } from './observe/survey.ts';

const EVERYTHING: Partial<Contract> = {
  interfaces: [
    { name: 'api', type: 'openapi', ref: 'a.yaml' },
    { name: 'ev', type: 'asyncapi', ref: 'b.yaml' },
  ],
  dependencies: [{ name: 'pay', ref: 'oci://r.test/pay', required: true, compatibility: '^1.0.0' }],
  capabilities: [{ type: 'metrics' }, { type: 'health' }, { type: 'extension', ref: 'acme.test/x' }],
  configurations: [{ name: 'app', required: true, schema: 'c.json' }],
  workload: 'service',
  state: {
    type: 'stateful',
    persistence: { scope: 'local', durability: 'persistent' },
    dataCriticality: 'low',
  },
};

interface Collected extends Seen {
  readonly evidence: EvidenceSet;
  readonly faults: readonly (readonly [dimension: string, error: unknown])[];
}

async function collected(
  scene: Scene,
  dimensions: readonly NamedDimension[] = DIMENSIONS,
): Promise<Collected> {
  const faults: [string, unknown][] = [];
  let evidence: EvidenceSet | undefined;
  const seen = await look(async (surveyed) => {
    evidence = await collect(surveyed, {
      resolvedRef: 'r.test/web:1.0.0',
      onFault: (name, error) => void faults.push([name, error]),
      dimensions,
    });
    return evidence.observations;
  }, scene);
  if (evidence === undefined) throw new Error('nothing was collected');
  return { ...seen, evidence, faults };
}

function said({ evidence }: Collected): readonly string[] {
  return evidence.observations.map(
    ({ kind, subject, outcome }) => `${kind} ${subject.kind}/${subject.name} ${outcome}`,
  );
}

/** All dimensions, of which one throws. */
function withFault(name: string, error: unknown): readonly NamedDimension[] {
  return DIMENSIONS.map((dimension) =>
    dimension.name === name ? { ...dimension, observe: () => Promise.reject(error) } : dimension,
  );
}

describe('evidence', () => {
  it('says what was looked at, and when', async () => {
    const { evidence } = await collected({ contract: {} });
    expect(evidence).toEqual({
      subject: { kind: 'service', name: `${NAMESPACE}/web` },
      contractRef: 'r.test/web:1.0.0',
      source: 'k8s',
      observedAt: '2026-01-01T00:00:00Z',
      observations: [],
    });
  });

  it('is of the workload where there is no Service', async () => {
    const workload = { kind: kinds.JOB, name: 'load', explicit: true };
    const { evidence } = await collected({ target: { service: undefined, workload } });
    expect(evidence.subject.name).toBe(`${NAMESPACE}/load`);
  });

  it('stands in the order of the dimensions', async () => {
    const found = await collected({
      contract: EVERYTHING,
      target: { interfaces: new Map([['api', 80]]) },
      objects: [
        service(),
        slice('web', [{ ready: true }]),
        anObject(kinds.DEPLOYMENT, { name: 'web', namespace: NAMESPACE }, { spec: {} }),
      ],
    });
    expect(found.faults).toEqual([]);
    expect(said(found)).toEqual([
      'InterfaceObserved interface/api Observed',
      'InterfaceObserved interface/ev Unsupported',
      'InterfaceExposureObserved interface/api Observed',
      'InterfaceExposureObserved interface/ev Observed',
      'DependencyReachable dependency/pay Unsupported',
      'CapabilityObserved capability/health Unsupported',
      'CapabilityObserved capability/metrics Unsupported',
      'ConfigurationPresent configuration/app Unsupported',
      'WorkloadObserved service/web Observed',
      'PersistenceObserved service/web Observed',
    ]);
  });
});

describe('a fault of one dimension', () => {
  const affected: Readonly<Record<string, readonly string[]>> = {
    interfaces: ['InterfaceObserved interface/api Failed', 'InterfaceObserved interface/ev Failed'],
    protocols: [
      'InterfaceProtocolObserved interface/api Failed',
      'InterfaceProtocolObserved interface/ev Failed',
    ],
    exposure: [
      'InterfaceExposureObserved interface/api Failed',
      'InterfaceExposureObserved interface/ev Failed',
    ],
    dependencies: ['DependencyReachable dependency/pay Failed'],
    health: ['CapabilityObserved capability/health Failed'],
    metrics: ['CapabilityObserved capability/metrics Failed'],
    configurations: ['ConfigurationPresent configuration/app Failed'],
    workload: ['WorkloadObserved service/web Failed'],
    persistence: ['PersistenceObserved service/web Failed'],
  };

  it('is shown of each', () => {
    expect(DIMENSIONS.map(({ name }) => name)).toEqual(Object.keys(affected));
  });

  it.each(Object.entries(affected))('fails %s, and nothing else', async (name, failed) => {
    const error = new TypeError('x is not a function');
    const found = await collected({ contract: EVERYTHING }, withFault(name, error));
    expect(found.faults).toEqual([[name, error]]);
    expect(said(found)).toEqual(expect.arrayContaining([...failed]));
    const others = said(await collected({ contract: EVERYTHING })).filter((one) => !failed.includes(one));
    const elsewhere = others.filter((one) => !failed.some((own) => own.startsWith(one.replace(/ \w+$/, ''))));
    expect(said(found).filter((one) => !failed.includes(one))).toEqual(elsewhere);
  });

  it('is looked at again soon', async () => {
    const found = await collected({ contract: EVERYTHING }, withFault('workload', new Error('x')));
    expect(found.dues).toEqual([30_000]);
  });

  it('is of no matter to a contract that declares nothing of it', async () => {
    const found = await collected({ contract: {} }, withFault('persistence', new Error('x')));
    expect(said(found)).toEqual([]);
    expect(found.dues).toEqual([]);
  });

  it.each([
    [new TypeError('secret internals'), 'a fault of pacto-gate itself, which its log tells'],
    [new GateError('GATE_OVERLOADED', 'too many schemas wait'), 'too many schemas wait'],
  ])('tells others what they can use: %s', async (error, reason) => {
    const { evidence } = await collected({ contract: EVERYTHING }, withFault('workload', error));
    expect(evidence.observations.find(({ kind }) => kind === 'WorkloadObserved')?.reason).toBe(reason);
  });

  it('is none where the look was ended', async () => {
    const reason = new Error('stopping');
    const scene = { contract: EVERYTHING, signal: AbortSignal.abort(reason) };
    await expect(collected(scene, withFault('workload', new Error('x')))).rejects.toBe(reason);
  });
});

describe('what a contract declares', () => {
  const isDeclared = declares(contract(EVERYTHING));

  it.each([
    ['interface', 'api'],
    ['dependency', 'pay'],
    ['capability', 'health'],
    ['capability', 'metrics'],
    ['capability', 'acme.test/x'],
    ['configuration', 'app'],
  ] as const)('has streaks: %s/%s', (kind, subject) => {
    expect(isDeclared(kind, subject)).toBe(true);
  });

  it.each([
    ['interface', 'pay'],
    ['interface', 'gone'],
    ['dependency', 'api'],
    ['capability', 'extension'],
    ['configuration', ''],
  ] as const)('has no others: %s/%s', (kind, subject) => {
    expect(isDeclared(kind, subject)).toBe(false);
  });
});
