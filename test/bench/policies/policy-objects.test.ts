import { describe, expect, test } from 'vitest';

import type { AdmissionRequest } from '../../../src/cluster/objects.ts';
import { readJson } from '../../../src/json.ts';
import { Cel } from '../../../src/policies/cel/cel.ts';
import { createPolicySet, type PolicySet } from '../../../src/policies/vap/policy-set.ts';
import { readBinding, readPolicy } from '../../../src/policies/vap/read.ts';
import { evaluate } from '../../../src/policies/vap/vap.ts';
import { reviewBody } from '../corpus.ts';
import { REVIEWED_NAMESPACE } from '../servers.ts';
import { breakingReview } from './breaking-review.ts';
import {
  benchPolicies,
  bindingOf,
  pathsOf,
  policyFile,
  TOGETHER,
  together,
  type PolicyObject,
} from './policy-objects.ts';

function setOf(policies: readonly PolicyObject[]): PolicySet {
  return createPolicySet({
    cel: new Cel(),
    policies: policies.map((one) => valueOf(readPolicy(one))),
    bindings: policies.map((one) => valueOf(readBinding(bindingOf(one)))),
    minor: 36,
  });
}

function valueOf<T>(read: { ok: true; value: T } | { ok: false; fault: string }): T {
  if (!read.ok) throw new Error(read.fault);
  return read.value;
}

function refusals(policies: readonly PolicyObject[], bytes: Uint8Array): number {
  const { request } = readJson(bytes) as { request: AdmissionRequest };
  const outcome = evaluate(setOf(policies), request, {
    namespace: () => REVIEWED_NAMESPACE,
    authorize: () => ({ decision: 'noopinion', reason: '' }),
    paramKind: () => null,
    params: () => [],
    conversion: () => undefined,
  });
  if ('need' in outcome) throw new Error(`nothing known about ${outcome.need}`);
  return outcome.decisions.filter(({ evaluation }) => evaluation === 'deny').length;
}

describe('the policies of the benchmark', () => {
  const policies = benchPolicies();

  test.each(policies.map((policy) => [policy.metadata.name, policy] as const))(
    '%s allows the Pods that are sent and denies the one that breaks it',
    (_, policy) => {
      expect(refusals([policy], reviewBody('pod-create-4k').bytes)).toBe(0);
      expect(refusals([policy], reviewBody('pod-create-100-containers').bytes)).toBe(0);
      expect(refusals([policy], breakingReview())).toBe(1);
    },
  );

  test('are sixteen, and together refuse by every one of their validations', () => {
    expect(policies).toHaveLength(16);
    expect(refusals([together(policies)], reviewBody('pod-create-4k').bytes)).toBe(0);
    expect(refusals([together(policies)], breakingReview())).toBe(
      policies.flatMap(({ spec }) => spec.validations).length,
    );
  });

  test('cannot be put together where a variable would be two', () => {
    expect(() => together([...policies, ...policies])).toThrow('a variable of the same name');
  });

  test('are one file with their bindings, each at a path of its own', () => {
    expect(policyFile(policies).split('\n---\n')).toHaveLength(32);
    expect(pathsOf([together(policies)])).toEqual([`/validate/policies/${TOGETHER}`]);
    expect(new Set(pathsOf(policies)).size).toBe(16);
  });
});
