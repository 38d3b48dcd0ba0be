import { describe, expect, it } from 'vitest';
import { parse, stringify } from 'yaml';
import { identityEntries, type IdentityEntriesInput } from '../../../src/policies/identity/entries.ts';
import { settings } from './settings.ts';
import { widths, type ReadEntry } from './entry-width.ts';

const input = (changes: Partial<IdentityEntriesInput> = {}): IdentityEntriesInput => ({
  settings: settings(),
  identity: { enabled: true, failurePolicy: 'Fail' },
  tokens: { enabled: true, failurePolicy: 'Fail' },
  pods: { enabled: true, failurePolicy: 'Fail' },
  target: { service: { namespace: 'pacto-system', name: 'pacto-gate', port: 443 } },
  timeoutSeconds: 10,
  ...changes,
});
const webhooks = (changes: Partial<IdentityEntriesInput> = {}): readonly ReadEntry[] =>
  (parse(stringify(identityEntries(input(changes)).configuration)) as { webhooks: ReadEntry[] }).webhooks;
const names = (changes: Partial<IdentityEntriesInput> = {}): (string | undefined)[] =>
  webhooks(changes).map((entry) => entry.name);
const two = settings({ agents: ['zeta/agent', 'alpha/agent'], namespaces: ['alpha', 'zeta', 'leases'] });

describe('webhook entries', () => {
  it.each([
    ['1.36', { kubeMinor: 36 }, true],
    ['1.28', { kubeMinor: 28 }, true],
    ['1.27', { kubeMinor: 27 }, false],
    ['two agents', { settings: two }, true],
    ['two agents on 1.27', { settings: two, kubeMinor: 27 }, false],
    ['agents in kube-system', { settings: settings({ agents: ['kube-system/agent'] }) }, true],
    [
      'agents in kube-system on 1.27',
      { settings: settings({ agents: ['kube-system/agent'] }), kubeMinor: 27 },
      false,
    ],
  ] as const)('are no wider than the agents: %s', (_what, changes, conditions) => {
    const given = { ...input(), ...changes };
    expect(widths(webhooks(changes), given.settings, conditions)).toEqual([]);
  });

  const [main, lease, tokens, pods] = webhooks() as [ReadEntry, ReadEntry, ReadEntry, ReadEntry];
  const inNamespaces = (entry: ReadEntry, ...values: string[]): ReadEntry => ({
    ...entry,
    namespaceSelector: {
      matchExpressions: [{ key: 'kubernetes.io/metadata.name', operator: 'In', values }],
    },
  });
  const ruled = (entry: ReadEntry, change: object): ReadEntry => ({
    ...entry,
    rules: (entry.rules ?? []).map((rule) => Object.assign({}, rule, change)),
  });
  const bare = ({ matchConditions: _removed, ...entry }: ReadEntry): ReadEntry => entry;
  it.each([
    ['without a namespace selector', { ...main, namespaceSelector: {} }, true],
    ['with another namespace', inNamespaces(main, 'pacto-node-agent', 'default'), true],
    ['with kube-node-lease for all users', inNamespaces(bare(main), 'kube-node-lease'), false],
    ['for kubelets’ Leases without match conditions', bare(lease), true],
    ['for kubelets’ Leases before match conditions', bare(lease), false],
    ['with every resource', ruled(main, { resources: ['*'] }), true],
    ['with every subresource', ruled(main, { resources: ['leases/*'] }), true],
    ['with every group', ruled(main, { apiGroups: ['*'] }), true],
    ['with every operation', ruled(main, { operations: ['*'] }), true],
    ['with cluster scope', ruled(main, { scope: '*' }), true],
    ['without rules', { ...main, rules: [] }, true],
    ['with side effects', { ...main, sideEffects: 'Unknown' }, true],
    ['for every token of the agents’ namespace', bare(tokens), true],
    ['for tokens everywhere', { ...tokens, namespaceSelector: {} }, true],
    ['for every Pod of the agents’ namespace', bare(pods), true],
    ['for another account', { ...pods, matchConditions: [{ expression: "'x' in ['a/b']" }] }, true],
    [
      'with another way in beside the agents',
      {
        ...main,
        matchConditions: [{ expression: `true || ${main.matchConditions?.[0]?.expression ?? ''}` }],
      },
      true,
    ],
    ['with a name nobody knows', { ...main, name: 'other.gate.pacto.trianalab.io' }, true],
    ['with conditions that the API server would refuse', main, false],
  ] as const)('are found too wide %s', (_what, entry, conditions) => {
    expect(widths([entry], settings(), conditions)).not.toEqual([]);
  });

  it('stay the same byte for byte, in whatever order the agents are named', () => {
    const other = settings({
      agents: ['alpha/agent', 'zeta/agent'],
      namespaces: ['leases', 'zeta', 'alpha'],
    });
    expect(stringify(identityEntries(input({ settings: other })))).toBe(
      stringify(identityEntries(input({ settings: two }))),
    );
  });

  it('list status beside the main resource (NI14)', () => {
    expect(main.rules?.flatMap((rule) => rule.resources)).toEqual([
      'leases',
      'noderuntimeobservations',
      'noderuntimeobservations/status',
    ]);
  });

  it('have names of three DNS labels or more', () => {
    for (const name of names()) expect(name).toMatch(/^[a-z0-9-]+(\.[a-z0-9-]+){2,}$/);
  });

  it('follow the switches', () => {
    const off = { enabled: false, failurePolicy: 'Fail' } as const;
    expect(names()).toHaveLength(4);
    expect(names({ tokens: off })).not.toContain(tokens.name);
    expect(names({ pods: off })).not.toContain(pods.name);
    expect(names({ identity: off })).toEqual([]);
    expect(names({ settings: settings({ agents: [] }) })).toEqual([]);
  });

  it('carry each failure policy', () => {
    const { configuration } = identityEntries(input({ tokens: { enabled: true, failurePolicy: 'Ignore' } }));
    expect(configuration.webhooks.map((entry) => entry.failurePolicy)).toEqual([
      'Fail',
      'Fail',
      'Ignore',
      'Fail',
    ]);
  });

  it('leave kube-node-lease out before match conditions, and say so', () => {
    const { configuration, notes } = identityEntries(input({ kubeMinor: 27 }));
    expect(configuration.webhooks.map((entry) => entry.name)).not.toContain(lease.name);
    expect(notes).toEqual([expect.stringContaining('kube-node-lease')]);
    expect(identityEntries(input({ kubeMinor: 28 })).notes).toEqual([]);
  });

  it('leave the own namespace out before match conditions, and say so', () => {
    const shared = { ownNamespace: 'pacto-node-agent' };
    const { configuration, notes } = identityEntries(input({ ...shared, kubeMinor: 27 }));
    expect(configuration.webhooks).toEqual([]);
    expect(notes).toHaveLength(4);
    expect(names(shared)).toHaveLength(4);
  });

  it('point to a Service or a URL with the path of each rule', () => {
    expect(identityEntries(input({ caBundle: 'PEM' })).configuration.webhooks[2]?.clientConfig).toEqual({
      service: {
        namespace: 'pacto-system',
        name: 'pacto-gate',
        path: '/validate/node-identity/tokens',
        port: 443,
      },
      caBundle: 'UEVN',
    });
    const byUrl = identityEntries(input({ target: { url: 'https://192.0.2.7:9443/' } }));
    expect(byUrl.configuration.webhooks[0]?.clientConfig).toEqual({
      url: 'https://192.0.2.7:9443/validate/node-identity',
    });
  });

  it('quote a name so that it cannot leave its CEL string', () => {
    const sly = settings({ agents: ["x/a'] || true || 'y' in ['"] });
    const [entry] = webhooks({ settings: sly });
    expect(entry?.matchConditions?.[0]?.expression).toContain(String.raw`a\x27] || true`);
  });
});
