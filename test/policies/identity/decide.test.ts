import { describe, expect, it } from 'vitest';
import { decideNodeIdentity } from '../../../src/policies/identity/decide.ts';
import type { Evidence, Need } from '../../../src/policies/identity/evidence.ts';
import { decideAgentPod } from '../../../src/policies/identity/pods.ts';
import { decideAgentToken } from '../../../src/policies/identity/tokens.ts';
import type { Verdict } from '../../../src/policies/verdict.ts';
import { aLease, anAdmissionRequest, anAgent, anAgentPod } from '../../support/builders.ts';
import { answer } from './answer.ts';
import type { IdentityCase } from './case.ts';
import { CASES } from './cases.ts';
import { settings } from './settings.ts';

const DECIDE: Readonly<
  Record<IdentityCase['webhook'], (one: IdentityCase, evidence: Evidence) => Verdict | Need>
> = {
  'node-identity': (one, evidence) => decideNodeIdentity(one.request, settings(one.settings), evidence),
  tokens: (one) => decideAgentToken(one.request, settings(one.settings)),
  pods: (one, evidence) => decideAgentPod(one.request, settings(one.settings), evidence),
};

function verdictOf(one: IdentityCase): Verdict {
  const known = { serverVersion: { major: 1, minor: one.minor ?? 36 } };
  return answer((evidence) => DECIDE[one.webhook](one, evidence), known, one.cluster);
}

describe('the table of cases', () => {
  it.each(CASES.map((one) => [one.name, one] as const))('%s', (_name, one) => {
    const verdict = verdictOf(one);
    expect(verdict.allowed ? [] : verdict.codes).toEqual(one.codes);
    if (verdict.allowed) return;
    expect([verdict.code, verdict.reason]).toEqual([403, 'Forbidden']);
    // Flux deletes and re-creates an object on this word (design decision 23).
    expect(verdict.message.toLowerCase()).not.toContain('immutable');
  });

  it('has an allow and a deny for each rule that a verdict can have', () => {
    const allows = new Set(CASES.filter((one) => one.codes.length === 0).map((one) => one.name.slice(0, 4)));
    const denies = new Set(CASES.filter((one) => one.codes.length > 0).map((one) => one.name.slice(0, 4)));
    const rules = Array.from({ length: 30 }, (_, index) => `NI${String(index + 1).padStart(2, '0')}`);
    expect(rules.filter((rule) => !allows.has(rule) || !denies.has(rule))).toEqual([]);
  });

  it('has no name twice', () => {
    expect(new Set(CASES.map((one) => one.name)).size).toBe(CASES.length);
  });
});

describe('proof', () => {
  const decide = (
    request: ReturnType<typeof anAdmissionRequest>,
    changes: Parameters<typeof settings>[0],
    known: Evidence,
    cluster = [anAgentPod()],
    needs: Need[] = [],
  ): Verdict =>
    answer((evidence) => decideNodeIdentity(request, settings(changes), evidence), known, cluster, needs);
  const noClaim = anAdmissionRequest({ user: anAgent({ node: null }), object: aLease() });
  const withClaim = anAdmissionRequest({ user: anAgent(), object: aLease() });

  it('is in the audit annotations: the claim', () => {
    expect(decide(withClaim, {}, {}).auditAnnotations).toEqual({ proof: 'node-claim', node: 'node-a' });
  });

  it('is in the audit annotations: the Pod', () => {
    const verdict = decide(noClaim, {}, { serverVersion: { major: 1, minor: 29 } });
    expect(verdict.auditAnnotations).toEqual({ proof: 'pod-lookup', node: 'node-a' });
  });

  it('is in the audit annotations of a denial: none', () => {
    expect(decide(noClaim, { podLookup: 'never' }, {}).auditAnnotations).toEqual({ proof: 'none' });
  });

  it.each([
    ['auto', { major: 1, minor: 30 }, 'NODE_CLAIM_MISSING', 'wait until the kubelet has refreshed the token'],
    ['never', { major: 1, minor: 29 }, 'NODE_CLAIM_MISSING', 'set identity.podLookup to auto'],
    ['never', { major: 1, minor: 36 }, 'NODE_CLAIM_MISSING', 'set identity.podLookup to always'],
  ] as const)(
    'denies a token without claim where podLookup is %s and the version %o',
    (podLookup, serverVersion, code, text) => {
      const verdict = decide(noClaim, { podLookup }, { serverVersion });
      expect(verdict).toMatchObject({ allowed: false, codes: [code] });
      expect(verdict.allowed ? '' : verdict.message).toContain(text);
    },
  );

  it.each([
    ['auto', { major: 1, minor: 29 }],
    ['auto', { major: 0, minor: 99 }],
    ['always', undefined],
    ['always', { major: 1, minor: 36 }],
  ] as const)('allows by the Pod where podLookup is %s and the version %o', (podLookup, serverVersion) => {
    expect(decide(noClaim, { podLookup }, { serverVersion }).allowed).toBe(true);
  });

  const unknownVersion = (request: ReturnType<typeof anAdmissionRequest>, more = {}): Verdict | Need =>
    decideNodeIdentity(request, settings(more), {});

  it('needs the version where a Pod could be the proof and podLookup is auto', () => {
    expect(unknownVersion(noClaim)).toEqual({ need: 'server-version' });
  });

  it.each([
    ['the claim proves the node', withClaim, {}, []],
    [
      'the token names no Pod',
      anAdmissionRequest({ user: anAgent({ node: null, pod: null }), object: aLease() }),
      {},
      ['NODE_CLAIM_MISSING'],
    ],
    [
      'half of the Pod claims are there',
      anAdmissionRequest({
        user: anAgent(),
        extra: { 'authentication.kubernetes.io/pod-name': ['agent-node-a'] },
        object: aLease(),
      }),
      {},
      ['NODE_POD_CLAIM_INVALID'],
    ],
    ['the uid of the node is required', noClaim, { requireNodeUid: true }, ['NODE_UID_MISSING']],
    [
      'something else denies already',
      anAdmissionRequest({ user: anAgent({ node: null }), object: aLease({ namespace: 'default' }) }),
      {},
      ['NODE_NAMESPACE_FOREIGN'],
    ],
  ] as const)('needs no version where %s', (_what, request, more, codes) => {
    const verdict = unknownVersion(request, more);
    expect('need' in verdict || (verdict.allowed ? [] : verdict.codes)).toEqual(codes);
  });

  it('asks for no Pod where the claim is there', () => {
    const needs: Need[] = [];
    expect(decide(withClaim, { podLookup: 'always' }, {}, [], needs).allowed).toBe(true);
    expect(needs).toEqual([]);
  });

  it('asks for no Pod where something else denies already', () => {
    const needs: Need[] = [];
    const elsewhere = anAdmissionRequest({
      user: anAgent({ node: null }),
      object: aLease({ namespace: 'default' }),
    });
    const verdict = decide(elsewhere, { podLookup: 'always' }, {}, [anAgentPod()], needs);
    expect(verdict).toMatchObject({ allowed: false, codes: ['NODE_NAMESPACE_FOREIGN'] });
    expect(needs).toEqual([]);
  });

  it.each([
    ['another uid', { uid: 'other' }, 'NODE_POD_MISMATCH', 'uid'],
    ['another account', { serviceAccount: 'other' }, 'NODE_POD_MISMATCH', 'serviceAccountName'],
  ] as const)('denies a Pod with %s', (_what, change, code, field) => {
    const verdict = decide(noClaim, { podLookup: 'always' }, {}, [anAgentPod(change)]);
    expect(verdict).toMatchObject({ allowed: false, codes: [code] });
    expect(verdict.allowed ? '' : verdict.message).toContain(field);
  });

  it('denies a Pod without a node', () => {
    const pod = anAgentPod();
    const unscheduled = { ...pod, spec: { serviceAccountName: 'pacto-node-agent' } };
    expect(decide(noClaim, { podLookup: 'always' }, {}, [unscheduled])).toMatchObject({
      allowed: false,
      codes: ['NODE_POD_UNSCHEDULED'],
    });
  });

  it('denies a token without any Pod to look up', () => {
    const request = anAdmissionRequest({ user: anAgent({ node: null, pod: null }), object: aLease() });
    expect(decide(request, { podLookup: 'always' }, {})).toMatchObject({
      allowed: false,
      codes: ['NODE_CLAIM_MISSING'],
    });
  });

  it('denies a look-up by half of the Pod claims', () => {
    const request = anAdmissionRequest({
      user: anAgent(),
      extra: { 'authentication.kubernetes.io/pod-name': ['agent-node-a'] },
      object: aLease(),
    });
    expect(decide(request, { podLookup: 'always' }, {})).toMatchObject({
      allowed: false,
      codes: ['NODE_POD_CLAIM_INVALID'],
    });
  });

  it('denies a Pod as proof where the uid of the node is required', () => {
    expect(decide(noClaim, { podLookup: 'always', requireNodeUid: true }, {})).toMatchObject({
      allowed: false,
      codes: ['NODE_UID_MISSING'],
    });
  });

  it('denies with all findings in one answer', () => {
    const request = anAdmissionRequest({
      user: anAgent(),
      oldObject: aLease({ name: 'node-b' }),
      object: aLease({ name: 'node-b', finalizers: ['example.com/x'], labels: { a: 'b' } }),
    });
    expect(decide(request, {}, {})).toMatchObject({
      codes: ['NODE_FINALIZERS_CHANGED', 'NODE_LABELS_CHANGED', 'NODE_NAME_MISMATCH'],
    });
  });

  it('allows each of two agents in its own namespace only', () => {
    const agents = ['a/agent', 'b/agent'];
    const write = (namespace: string): Verdict =>
      decide(
        anAdmissionRequest({
          user: anAgent({ namespace: 'a', name: 'agent' }),
          object: aLease({ namespace }),
        }),
        { agents },
        {},
      );
    expect(write('a').allowed).toBe(true);
    expect(write('b')).toMatchObject({ allowed: false, codes: ['NODE_NAMESPACE_FOREIGN'] });
  });
});
