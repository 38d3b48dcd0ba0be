import { describe, expect, it } from 'vitest';
import { VALIDATING_WEBHOOK_CONFIGURATION } from '../../src/cluster/kinds.ts';
import { createMemoryCluster } from '../../src/cluster/memory.ts';
import { fillConfiguration, isSameEntry, readConfiguration } from '../../src/install/configuration.ts';
import type { ValidatingEntry } from '../../src/policies/entry.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { CONFIGURATION, entryFor } from './support/pretended.ts';

const ENTRY = entryFor('a');

/** As an API server shows an entry that says little. */
function live(change: Readonly<Record<string, unknown>>): ValidatingEntry {
  return { ...ENTRY, ...change };
}

describe('an entry', () => {
  it.each([
    ['a scope that is not said', { rules: ENTRY.rules.map(({ scope: _scope, ...rule }) => rule) }],
    ['selectors that are not said', { namespaceSelector: undefined, objectSelector: undefined }],
    ['empty lists in a selector', { objectSelector: { matchLabels: {}, matchExpressions: [] } }],
    ['no match conditions', { matchConditions: [] }],
    [
      'defaults that are not said',
      { failurePolicy: undefined, matchPolicy: undefined, timeoutSeconds: undefined },
    ],
  ])('is the same with %s', (_what, change) => {
    expect(isSameEntry(live(change), ENTRY)).toBe(true);
  });

  it.each([
    ['another failure policy', { failurePolicy: 'Ignore' }],
    ['another URL', { clientConfig: { url: 'https://gate.example:9443/other' } }],
    ['another CA', { clientConfig: { ...ENTRY.clientConfig, caBundle: 'AAAA' } }],
    ['another operation', { rules: [{ ...ENTRY.rules[0], operations: ['DELETE'] }] }],
    ['a narrower scope', { rules: [{ ...ENTRY.rules[0], scope: 'Cluster' }] }],
    ['a selector', { objectSelector: { matchLabels: { a: 'b' } } }],
    ['a match condition', { matchConditions: [{ name: 'a', expression: 'true' }] }],
    ['another patience', { timeoutSeconds: 5 }],
  ])('is not the same with %s', (_what, change) => {
    expect(isSameEntry(live(change), ENTRY)).toBe(false);
  });

  it('is not the same as none', () => {
    expect(isSameEntry(undefined, ENTRY)).toBe(false);
  });

  it('is the same with the port that goes without saying', () => {
    const service = { namespace: 'pacto-system', name: 'gate', path: '/a' };
    const said = live({ clientConfig: { service: { ...service, port: 443 } } });
    expect(isSameEntry(live({ clientConfig: { service } }), said)).toBe(true);
  });
});

describe('a configuration', () => {
  it('keeps the entries that somebody else wrote, and all else about it', async () => {
    const cluster = createMemoryCluster({ clock: new FakeClock() });
    cluster.load(VALIDATING_WEBHOOK_CONFIGURATION, {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'ValidatingWebhookConfiguration',
      metadata: { name: CONFIGURATION, labels: { chart: 'x' } },
      webhooks: [entryFor('theirs')],
    });
    const empty = await readConfiguration(cluster, CONFIGURATION);
    if (empty === undefined) throw new Error('it is not there');
    const filled = await fillConfiguration(cluster, empty, [ENTRY]);
    expect([...filled.entries.keys()]).toEqual([entryFor('theirs').name, ENTRY.name]);
    expect([...filled.owned]).toEqual([ENTRY.name]);
    const emptied = await fillConfiguration(cluster, filled, []);
    expect([...emptied.entries.keys()]).toEqual([entryFor('theirs').name]);
    expect(await cluster.get(VALIDATING_WEBHOOK_CONFIGURATION, { name: CONFIGURATION })).toMatchObject({
      metadata: { labels: { chart: 'x' } },
    });
    expect(await fillConfiguration(cluster, emptied, [])).toBe(emptied);
  });

  it('is not made again when it goes between reading and writing', async () => {
    const cluster = createMemoryCluster({ clock: new FakeClock() });
    const object = {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'ValidatingWebhookConfiguration',
      metadata: { name: CONFIGURATION },
    };
    cluster.load(VALIDATING_WEBHOOK_CONFIGURATION, object);
    const before = await readConfiguration(cluster, CONFIGURATION);
    cluster.unload(VALIDATING_WEBHOOK_CONFIGURATION, { name: CONFIGURATION });
    if (before === undefined) throw new Error('it is not there');
    const refused = { code: 'GATE_CLUSTER_CONFLICT' };
    await expect(fillConfiguration(cluster, before, [ENTRY])).rejects.toMatchObject(refused);
    expect(await readConfiguration(cluster, CONFIGURATION)).toBeUndefined();
    cluster.load(VALIDATING_WEBHOOK_CONFIGURATION, object);
    await expect(fillConfiguration(cluster, before, [ENTRY])).rejects.toMatchObject({
      code: 'GATE_CLUSTER_CONFLICT',
    });
  });
});
