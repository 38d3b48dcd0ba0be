import { expect, it } from 'vitest';

import type { KubeObject } from '../../../src/cluster/objects.ts';
import { mayDo } from '../../../src/policies/delivery/identity-policy.ts';
import { loadPolicy, NO_POLICY } from '../../../src/policies/delivery/loaded-policy.ts';
import type { LoadedPolicy } from '../../../src/policies/delivery/world.ts';
import { answer, ONE_APPROVAL } from './moves.ts';
import { ALICE, anApproval, anOperation, aStage, POLICY_TEXT, policyOf } from './objects.ts';

const PROD = { namespace: 'payments', name: 'payments-prod' };

/** Stands for a digest, and shows of which text it is. */
function sha256(text: string): string {
  return `digest of ${String(text.length)}`;
}

function configMap(data?: unknown): KubeObject {
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'pacto-delivery-identity', namespace: 'pacto-delivery' },
    data,
  };
}

const GOOD = loadPolicy(configMap({ 'policy.yaml': POLICY_TEXT }), undefined, sha256);
const BAD = configMap({ 'policy.yaml': 'version: 2' });

it('serves the policy of the ConfigMap by its digest', () => {
  expect(GOOD).toEqual({
    policy: policyOf(POLICY_TEXT),
    sha256: sha256(POLICY_TEXT),
    invalid: undefined,
  });
});

it.each<[invalid: RegExp, what: string, configMap: KubeObject]>([
  [/^version is not 1$/, 'is of another version', BAD],
  [/^it has no policy\.yaml$/, 'is not there', configMap({ other: POLICY_TEXT })],
  [/^it has no policy\.yaml$/, 'is no text', configMap({ 'policy.yaml': 7 })],
  [/^it has no policy\.yaml$/, 'has no data', configMap()],
  [/^it has no policy\.yaml$/, 'is in data of another shape', configMap('policy.yaml')],
  [/^it is empty$/, 'is empty', configMap({ 'policy.yaml': '' })],
  [/^it is longer than 256 KiB$/, 'is long', configMap({ 'policy.yaml': `# ${'x'.repeat(262_144)}` })],
])('says %s of a text that %s, and keeps the last good one', (invalid, _what, found) => {
  expect(loadPolicy(found, GOOD, sha256)).toEqual({
    policy: GOOD.policy,
    sha256: GOOD.sha256,
    invalid: expect.stringMatching(invalid) as unknown,
  });
});

it('keeps the last good one over several that are not', () => {
  const once = loadPolicy(BAD, GOOD, sha256);
  expect(loadPolicy(configMap(), once, sha256).policy).toBe(GOOD.policy);
});

it('serves a policy again as soon as it can be read', () => {
  const changed = configMap({ 'policy.yaml': `${POLICY_TEXT}\n` });
  const mended = loadPolicy(changed, loadPolicy(BAD, GOOD, sha256), sha256);
  expect([mended.invalid, mended.sha256]).toEqual([undefined, sha256(`${POLICY_TEXT}\n`)]);
});

it('has nothing to keep where the first cannot be read', () => {
  expect(loadPolicy(BAD, undefined, sha256)).toEqual({
    policy: undefined,
    sha256: '',
    invalid: 'version is not 1',
  });
});

it('takes every role away with the ConfigMap', () => {
  const gone = loadPolicy(undefined, GOOD, sha256);
  expect(gone).toBe(NO_POLICY);
  expect(mayDo(GOOD.policy, PROD, 'approve', ALICE)).toBe(true);
  expect(mayDo(gone.policy, PROD, 'approve', ALICE)).toBe(false);
});

const votes = {
  stage: aStage({ approvals: ONE_APPROVAL }),
  operations: [anOperation()],
  approvals: [anApproval()],
};

it.each<[expected: string, of: string, policy: LoadedPolicy, world: Parameters<typeof answer>[0]]>([
  ['Allow ALLOWED', 'a Stage without approvals, without a policy', NO_POLICY, {}],
  ['Wait APPROVAL_EXPIRED', 'a Stage with a vote, without a policy', NO_POLICY, votes],
  ['Allow ALLOWED', 'a Stage with a vote, by a policy', GOOD, votes],
  ['Deny POLICY_INVALID', 'any move by a policy that cannot be read', loadPolicy(BAD, GOOD, sha256), {}],
])('gives %s to %s', (expected, _of, policy, world) => {
  expect(answer({ ...world, policy })).toBe(expected);
});
