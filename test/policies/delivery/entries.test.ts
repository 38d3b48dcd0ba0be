import { describe, expect, it } from 'vitest';

import { deliveryEntries, type DeliveryEntriesInput } from '../../../src/policies/delivery/entries.ts';

const INPUT: DeliveryEntriesInput = {
  delivery: {
    enabled: true,
    failurePolicy: 'Fail',
    namespace: 'pacto-delivery',
    workloads: { enabled: true, failurePolicy: 'Ignore' },
  },
  ownNamespace: 'pacto-system',
  target: { service: { namespace: 'pacto-system', name: 'pacto-gate', port: 443 } },
  timeoutSeconds: 10,
};

const webhooks = (input: Partial<DeliveryEntriesInput> = {}) =>
  deliveryEntries({ ...INPUT, ...input }).configuration.webhooks;

function entry(name: string, input: Partial<DeliveryEntriesInput> = {}) {
  const found = webhooks(input).find((one) => one.name.startsWith(name));
  if (found === undefined) throw new Error(`no entry ${name}`);
  return found;
}

describe('the entries of delivery', () => {
  it('are three that validate and one that mutates', () => {
    const { configuration, stamps } = deliveryEntries(INPUT);
    expect(configuration.webhooks.map(({ name, failurePolicy }) => `${name} ${failurePolicy}`)).toEqual([
      'api.delivery.pacto.trianalab.io Fail',
      'pointers.gate.delivery.pacto.trianalab.io Fail',
      'workloads.gate.delivery.pacto.trianalab.io Ignore',
    ]);
    expect(stamps.webhooks).toMatchObject([
      {
        name: 'stamps.delivery.pacto.trianalab.io',
        failurePolicy: 'Fail',
        reinvocationPolicy: 'IfNeeded',
        rules: [{ operations: ['CREATE'], resources: ['approvals', 'operations'] }],
      },
    ]);
  });

  it('are none where the gate is off, and no workloads unless they are asked for', () => {
    const off = deliveryEntries({ ...INPUT, delivery: { ...INPUT.delivery, enabled: false } });
    expect([off.configuration.webhooks, off.stamps.webhooks]).toEqual([[], []]);
    const workloads = { enabled: false, failurePolicy: 'Ignore' } as const;
    expect(webhooks({ delivery: { ...INPUT.delivery, workloads } })).toHaveLength(2);
  });

  it('never reach everything, a status, a scale, a Secret or a deletion of what is gated', () => {
    const { configuration, stamps } = deliveryEntries(INPUT);
    const rules = [...configuration.webhooks, ...stamps.webhooks].flatMap((one) => one.rules);
    for (const { apiGroups, resources, scope } of rules) {
      expect([...apiGroups, ...resources].filter((one) => one.includes('*') || one.includes('/'))).toEqual(
        [],
      );
      expect(resources).not.toContain('secrets');
      expect(scope).toBe('Namespaced');
    }
    for (const name of ['pointers', 'workloads'])
      expect(entry(name).rules.flatMap(({ operations }) => operations)).not.toContain('DELETE');
    expect(entry('api').rules).toMatchObject([{ operations: ['CREATE', 'UPDATE', 'DELETE'] }]);
  });

  it('ask about pointers with the label of a Stage alone, and only where the release changes', () => {
    expect(entry('pointers')).toMatchObject({
      objectSelector: {
        matchExpressions: [{ key: 'delivery.pacto.trianalab.io/stage', operator: 'Exists' }],
      },
      timeoutSeconds: 3,
      sideEffects: 'None',
      matchPolicy: 'Equivalent',
      matchConditions: [{ name: 'changes-the-release' }],
    });
  });

  it('have no match conditions where the API server knows none', () => {
    expect(entry('pointers', { kubeMinor: 27 })).not.toHaveProperty('matchConditions');
  });

  it('ask about workloads of namespaces that want it, and never of Flux, the cluster or the gate', () => {
    const { matchExpressions = [] } = entry('workloads').namespaceSelector;
    expect(matchExpressions[0]).toEqual({ key: 'delivery.pacto.trianalab.io/workloads', operator: 'Exists' });
    expect(matchExpressions[1]?.values).toEqual([
      'flux-system',
      'kube-node-lease',
      'kube-public',
      'kube-system',
      'pacto-delivery',
      'pacto-operator-system',
      'pacto-system',
    ]);
  });
});
