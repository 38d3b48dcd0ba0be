/** What matchConditions cannot see. */
import { finding, type LintFinding } from '../lint-finding.ts';
import type { Subject } from './subject.ts';
import { identName, nodesOf } from './walk-expression.ts';

/** `namespaceObject` is null in them, whatever the request (vap.md C03). */
export function conditionTraps({ expressions, policy }: Subject): readonly LintFinding[] {
  const then =
    policy.failurePolicy === 'Ignore'
      ? 'the condition has no result, and the failure policy Ignore never asks the policy'
      : 'the condition has no result, and the failure policy Fail denies';
  return expressions.flatMap(({ role, field, checked }) => {
    if (role !== 'condition' || checked === undefined) return [];
    const reads = nodesOf(checked.ast.expr).some((node) => identName(node) === 'namespaceObject');
    if (!reads) return [];
    return [
      finding(
        'LINT_NAMESPACE_IN_CONDITION',
        field,
        `reads namespaceObject, which is null in every match condition: ${then}; use matchConstraints.namespaceSelector`,
      ),
    ];
  });
}
