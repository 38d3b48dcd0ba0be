/** Everything that lint finds in a policy or a binding beyond what an API server says (docs/lint.md). */
import type { Cel } from '../cel/cel.ts';
import { costFindings, costReport, type CostReport } from './cost-report.ts';
import { finding, type LintFinding } from './lint-finding.ts';
import type { OpenApiTypes } from './openapi-schema.ts';
import { unchangedFields, versionFindings, versionsOf, type ExpressionVersions } from './portability.ts';
import { authorizerTraps } from './traps/authorizer.ts';
import { conditionTraps } from './traps/conditions.ts';
import { messageTraps } from './traps/messages.ts';
import { bindingParamsTraps, paramsTraps } from './traps/params.ts';
import { quantityTraps } from './traps/quantities.ts';
import { reachTraps } from './traps/reach.ts';
import { resultTraps } from './traps/results.ts';
import { subjectOf, type Subject } from './traps/subject.ts';
import { unguardedTraps } from './traps/unguarded.ts';
import type { Binding, Policy } from './types.ts';

export interface LintContext {
  readonly cel: Cel;
  readonly types: OpenApiTypes;
  /** Minor of the API server that is imitated. */
  readonly minor: number;
  /** Minor of the oldest API server that shall take the policies. */
  readonly from?: number;
  /** All that are given. */
  readonly policies: readonly Policy[];
  readonly bindings: readonly Binding[];
}

export interface LintedPolicy {
  readonly findings: readonly LintFinding[];
  readonly versions: readonly ExpressionVersions[];
  readonly cost: CostReport;
}

/** @param old the policy as it is stored, of an update */
export function lintPolicy(policy: Policy, context: LintContext, old?: Policy): LintedPolicy {
  const { cel, types, minor, from } = context;
  const subject = subjectOf(policy, context.bindings, cel, minor);
  const versions = versionsOf(subject, cel);
  const cost = costReport(subject);
  return {
    findings: [
      ...resultTraps(subject),
      ...versionFindings(versions, {
        minor,
        ...(from === undefined ? {} : { from }),
        ...(old === undefined ? {} : { unchanged: unchangedFields(policy, old) }),
      }),
      ...unguardedTraps(subject, types),
      ...conditionTraps(subject),
      ...authorizerTraps(subject),
      ...quantityTraps(subject),
      ...reachTraps(subject),
      ...paramsTraps(subject),
      ...failureTraps(subject),
      ...messageTraps(subject),
      ...costFindings(cost, subject),
      ...looseTraps(subject),
    ],
    versions,
    cost,
  };
}

export function lintBinding(binding: Binding, context: LintContext): readonly LintFinding[] {
  const { validationActions, policyName } = binding;
  const found: LintFinding[] = [];
  if (validationActions.includes('Deny') && validationActions.includes('Warn')) {
    found.push(
      finding(
        'LINT_DENY_WITH_WARN',
        'spec.validationActions',
        'has both Deny and Warn: the API server refuses that, since a denial says the same; leave Warn out',
      ),
    );
  }
  const policy = context.policies.find(({ name }) => name === policyName);
  if (policy === undefined) {
    found.push(
      finding(
        'LINT_POLICY_ABSENT',
        'spec.policyName',
        `its policy ${JSON.stringify(policyName)} is not in these files`,
      ),
    );
    return found;
  }
  const subject = subjectOf(policy, context.bindings, context.cel, context.minor);
  return [...found, ...bindingParamsTraps(binding, subject, context.types)];
}

function failureTraps({ policy, bindings }: Subject): readonly LintFinding[] {
  const denying = bindings.find(({ validationActions }) => validationActions.includes('Deny'));
  if (policy.failurePolicy !== 'Ignore' || denying === undefined) return [];
  return [
    finding(
      'LINT_FAILURE_IGNORED',
      'spec.failurePolicy',
      `is Ignore, and the binding ${denying.name} denies: a request on which an expression has no result passes; write Fail unless that is meant`,
    ),
  ];
}

function looseTraps({ bindings }: Subject): readonly LintFinding[] {
  if (bindings.length > 0) return [];
  return [finding('LINT_UNBOUND', '', 'no binding in these files names it: without one it is never asked')];
}
