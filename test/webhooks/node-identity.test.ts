import { describe, expect, it } from 'vitest';
import type { Reader } from '../../src/cluster/cluster.ts';
import { aLease, anAdmissionRequest, anAgent, anAgentPod, aNode } from '../support/builders.ts';
import { CASES } from '../policies/identity/cases.ts';
import { contextOf, decideBy, identity, readerOver, webhooksWith } from './decide-by.ts';
import { emptyReader } from './edge-parts.ts';

const noClaim = anAdmissionRequest({ user: anAgent({ node: null }), object: aLease() });

describe('the node identity webhooks', () => {
  it.each(CASES.map((one) => [one.name, one] as const))('%s', async (_name, one) => {
    const { pods, ...changes } = one.settings ?? {};
    const configuration = identity({
      ...changes,
      ...(pods !== undefined && { pods: { enabled: true, failurePolicy: 'Fail', ...pods } }),
    });
    const reader = readerOver(one.cluster ?? []);
    const verdict = await decideBy(configuration, one.request, { reader, minor: one.minor });
    expect(verdict.allowed ? [] : verdict.codes).toEqual(one.codes);
  });

  it('NI30 denies a missing claim under the failure policy Ignore', async () => {
    const verdict = await decideBy(identity({ failurePolicy: 'Ignore', podLookup: 'never' }), noClaim);
    expect(verdict.allowed).toBe(false);
  });

  it('denies NI27 with the very same words in a dry run', async () => {
    const request = { user: anAgent(), object: aLease({ name: 'node-b' }) };
    const dry = await decideBy(identity(), anAdmissionRequest({ ...request, dryRun: true }));
    expect(dry).toEqual(await decideBy(identity(), anAdmissionRequest(request)));
    expect(dry.allowed).toBe(false);
  });

  it('allows by the claim without reading anything', async () => {
    const reads: string[] = [];
    const request = anAdmissionRequest({ user: anAgent(), object: aLease() });
    expect((await decideBy(identity(), request, { reader: readerOver([], reads) })).allowed).toBe(true);
    expect(reads).toEqual([]);
  });

  it('allows by the Pod with one read of it, and of the Node where an owner needs it', async () => {
    const reads: string[] = [];
    const owner = { apiVersion: 'v1', kind: 'Node', name: 'node-a', uid: aNode().metadata.uid ?? '' };
    const request = anAdmissionRequest({
      user: anAgent({ node: null }),
      object: aLease({ ownerReferences: [owner] }),
    });
    const reader = readerOver([anAgentPod(), aNode()], reads);
    expect((await decideBy(identity(), request, { reader, minor: 29 })).allowed).toBe(true);
    expect(reads).toEqual(['Pod pacto-node-agent/agent-node-a', 'Node /node-a']);
  });

  it.each([
    ['an older Pod of the name', anAgentPod({ uid: 'older' })],
    ['the Pod before it had a node', { ...anAgentPod(), spec: { serviceAccountName: 'pacto-node-agent' } }],
  ])('refuses nobody on a copy that holds %s, and settles for one that proves the node', async (_w, copy) => {
    const settled: unknown[] = [];
    const reader: Reader = {
      ...emptyReader,
      get(_kind, _name, { settles }) {
        settled.push(settles?.(copy), settles?.(anAgentPod()));
        return Promise.resolve(anAgentPod());
      },
    };
    expect((await decideBy(identity(), noClaim, { reader, minor: 29 })).allowed).toBe(true);
    expect(settled).toEqual([false, true]);
  });

  it('settles for a copy of the Node of the claimed uid only', async () => {
    const settled: unknown[] = [];
    const reader: Reader = {
      ...emptyReader,
      get(_kind, _name, { settles }) {
        settled.push(settles?.(aNode({ uid: 'older' })), settles?.(aNode()));
        return Promise.resolve(aNode());
      },
    };
    const request = anAdmissionRequest({ user: anAgent(), object: aLease() });
    expect((await decideBy(identity({ requireNodeUid: true }), request, { reader })).allowed).toBe(true);
    expect(settled).toEqual([false, true]);
  });

  it('denies nothing by itself when a read fails: the error goes to the edge', async () => {
    const reader: Reader = { ...emptyReader, get: () => Promise.reject(new Error('unreachable')) };
    await expect(decideBy(identity(), noClaim, { reader, minor: 29 })).rejects.toThrow('unreachable');
  });

  it('asks for the version of the API server at each decision', async () => {
    const versions = [undefined, { major: 1, minor: 29 }];
    const [main] = webhooksWith({ serverVersion: () => versions.shift() });
    const context = contextOf(readerOver([anAgentPod()]));
    const decide = async (): Promise<unknown> => await main?.entry({})?.decide(noClaim, context);
    await expect(decide()).rejects.toMatchObject({ code: 'GATE_UNSYNCED' });
    expect(await decide()).toMatchObject({ allowed: true });
  });

  it('are in one list, each with the failure policy of its own', () => {
    const list = webhooksWith({
      identity: identity({ failurePolicy: 'Fail', tokens: { enabled: true, failurePolicy: 'Ignore' } }),
    });
    expect(
      list.map((webhook) => [webhook.name, webhook.path, webhook.entry({})?.failurePolicy] as const),
    ).toEqual([
      ['node-identity', '/validate/node-identity', 'Fail'],
      ['node-identity-tokens', '/validate/node-identity/tokens', 'Ignore'],
      ['node-identity-pods', '/validate/node-identity/pods', 'Fail'],
    ]);
  });

  it.each([
    ['tokens', { tokens: { enabled: false, failurePolicy: 'Fail' } }, 2],
    ['pods', { pods: { ...identity().pods, enabled: false } }, 2],
    ['all', { enabled: false }, 0],
  ] as const)('are not in the list when switched off: %s', (_what, changes, count) => {
    expect(webhooksWith({ identity: identity(changes) })).toHaveLength(count);
  });
});
