/** Policies as lint sees them. */
import { loadOpenApiTypes } from '../../../../src/cli/openapi.ts';
import { Cel } from '../../../../src/policies/cel/cel.ts';
import { subjectOf, type Subject } from '../../../../src/policies/vap/traps/subject.ts';
import type { Binding, NamedRule, Policy } from '../../../../src/policies/vap/types.ts';
import { matchResources, policy, rule } from '../support.ts';

export const CEL = new Cel();
export const TYPES = await loadOpenApiTypes();

export const DEPLOYMENTS = rule({
  apiGroups: ['apps'],
  resources: ['deployments'],
  operations: ['CREATE', 'UPDATE'],
});
export const PODS = rule({ resources: ['pods'], operations: ['CREATE', 'UPDATE'] });

/** A policy with these expressions as validations. */
export function policyOf(
  expressions: readonly string[],
  change: Partial<Policy> = {},
  rules: readonly NamedRule[] = [DEPLOYMENTS],
): Policy {
  return policy({
    matchConstraints: matchResources({ resourceRules: rules }),
    validations: expressions.map((expression) => ({ expression, message: 'm', reason: 'Forbidden' })),
    ...change,
  });
}

export function subject(of: Policy, bindings: readonly Binding[] = []): Subject {
  return subjectOf(of, bindings, CEL, 36);
}
