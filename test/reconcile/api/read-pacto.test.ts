/** Reading a Pacto that anybody may have written (operator.md §1.1): nothing is taken for granted, and nothing throws. */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Pacto } from '../../../src/reconcile/api/pacto.ts';
import { readPacto } from '../../../src/reconcile/api/read-pacto.ts';
import { recordedStatuses } from '../../gitops/recorded-statuses.ts';

const read = (spec: unknown, status?: unknown): Pacto =>
  readPacto({
    apiVersion: 'pacto.trianalab.io/v1alpha1',
    kind: 'Pacto',
    metadata: { name: 'cart', namespace: 'shop', uid: 'u', generation: 3, resourceVersion: '7' },
    spec,
    status,
  });

const FULL = {
  contractRef: { oci: 'registry.test/cart', inline: 'x', pullSecretRef: 's' },
  target: {
    serviceName: 'cart',
    workloadRef: { name: 'cart', kind: 'StatefulSet' },
    interfaceBindings: [
      { interface: 'web', servicePort: 80 },
      { interface: 'grpc', servicePort: 'grpc' },
    ],
    configBindings: [
      { configuration: 'a', kind: 'ConfigMap', name: 'n', key: 'k', format: 'yaml' },
      { configuration: 'b', kind: 'Secret', name: 'n' },
    ],
  },
  overrides: { configurations: [{ name: 'a', values: { A: '1' } }] },
  checkIntervalSeconds: 60,
};

describe('a Pacto', () => {
  it('is read whole', () => {
    const { spec, ...rest } = read(FULL);
    expect(rest).toEqual({
      namespace: 'shop',
      name: 'cart',
      uid: 'u',
      generation: 3,
      resourceVersion: '7',
      status: {},
    });
    expect(spec).toEqual({ ...FULL, overrides: FULL.overrides.configurations });
  });

  it.each<readonly [string, unknown, number]>([
    ['none', undefined, 300],
    ['null', null, 300],
    ['0', 0, 300],
    ['-1', -1, 300],
    ['a text', '60', 300],
    ['a fraction', 60.5, 300],
    ['more than an int32', 2_147_483_648, 300],
    ['the largest int32', 2_147_483_647, 2_147_483_647],
    ['1', 1, 1],
    ['30', 30, 30],
  ])('with an interval of $0 is looked at after $2 s', (_title, checkIntervalSeconds, seconds) => {
    expect(read({ contractRef: {}, checkIntervalSeconds }).spec.checkIntervalSeconds).toBe(seconds);
  });

  it.each<readonly [string, unknown, Partial<Pacto['spec']>]>([
    ['without a spec', undefined, { contractRef: { oci: '', inline: undefined, pullSecretRef: undefined } }],
    ['whose spec is a text', 'text', { target: undefined, overrides: [] }],
    ['whose target is a list', { target: [] }, { target: undefined }],
    [
      'whose reference is a number',
      { contractRef: { oci: 1, inline: 'x' } },
      { contractRef: { oci: '', inline: 'x', pullSecretRef: undefined } },
    ],
    [
      'whose secret has no name',
      { contractRef: { pullSecretRef: '' } },
      { contractRef: { oci: '', inline: undefined, pullSecretRef: undefined } },
    ],
    ['with an empty target', { target: {} }, { target: { interfaceBindings: [], configBindings: [] } }],
    [
      'with entries that are none among others',
      {
        target: {
          serviceName: 1,
          workloadRef: { kind: 'Job' },
          interfaceBindings: [null, 7, { interface: 'a' }, { interface: 'b', servicePort: 1 }],
          configBindings: [
            { configuration: 'a', kind: 'Pod', name: 'n' },
            { configuration: 'b', kind: 'Secret', name: 'n', key: '', format: '' },
          ],
        },
        overrides: {
          configurations: [
            { name: 'a', values: { A: 1 } },
            { name: 'b', values: { B: '1' } },
          ],
        },
      },
      {
        target: {
          serviceName: undefined,
          workloadRef: undefined,
          interfaceBindings: [{ interface: 'b', servicePort: 1 }],
          configBindings: [{ configuration: 'b', kind: 'Secret', name: 'n' }],
        },
        overrides: [{ name: 'b', values: { B: '1' } }],
      },
    ],
  ])('%s reads as without it', (_title, spec, expected) => {
    expect(read(spec).spec).toMatchObject(expected);
  });

  it('is read to a thousand entries of each list', () => {
    const interfaceBindings = Array.from({ length: 100_000 }, (_, index) => ({
      interface: `i${String(index)}`,
      servicePort: 1,
    }));
    expect(read({ target: { interfaceBindings } }).spec.target?.interfaceBindings).toHaveLength(1_000);
  });

  it('never makes the reader throw', () => {
    const whole = fc.property(fc.anything(), fc.anything(), (spec, status) => {
      const { spec: given } = read(spec, status);
      return given.checkIntervalSeconds >= 1 && Array.isArray(given.overrides);
    });
    expect(fc.check(whole, { numRuns: 2_000 })).toMatchObject({ failed: false });
  });
});

describe('a status', () => {
  it('that upstream wrote is taken over as it is', () => {
    for (const { id, status } of recordedStatuses()) {
      // Empty lists are as those that are not there (operator.md §1.1.2).
      const whole = Object.fromEntries(
        Object.entries(status).filter(([, field]) => !Array.isArray(field) || field.length > 0),
      );
      expect([id, read(FULL, status).status]).toEqual([id, whole]);
    }
  });

  it.each<readonly [string, unknown, Pacto['status']]>([
    ['that is a text', 'text', {}],
    ['that is a list', [], {}],
    [
      'with a verdict that is none',
      { contractStatus: 'Degraded', currentRevision: 'r' },
      { currentRevision: 'r' },
    ],
    ['with a generation that is a text', { observedGeneration: '1' }, {}],
    [
      'with conditions of others',
      {
        conditions: [
          { type: 'Ready', status: 'True', reason: 'R', lastTransitionTime: 't' },
          { type: 'ContractValid', status: 'Maybe', reason: 'R', lastTransitionTime: 't' },
          { type: 'ContractValid', status: 'True', reason: 'R', lastTransitionTime: 't' },
        ],
      },
      {
        conditions: [
          {
            type: 'ContractValid',
            status: 'True',
            reason: 'R',
            message: '',
            observedGeneration: 0,
            lastTransitionTime: 't',
          },
        ],
      },
    ],
    [
      'with windows that are none',
      {
        observationWindows: [
          { kind: 'pod', subject: 'a', firstObservedNegativeAt: 't' },
          { kind: 'interface', subject: 'a' },
          { kind: 'interface', subject: 'a', firstObservedNegativeAt: 't' },
        ],
      },
      { observationWindows: [{ kind: 'interface', subject: 'a', firstObservedNegativeAt: 't' }] },
    ],
  ])('%s is read without what makes no sense', (_title, status, expected) => {
    expect(read(FULL, status).status).toEqual(expected);
  });

  it('is not taken for more than it says through names of the language itself', () => {
    const status: unknown = JSON.parse('{"__proto__": {"contractStatus": "Compliant"}, "constructor": 1}');
    expect(read(FULL, status).status.contractStatus).toBeUndefined();
  });
});
