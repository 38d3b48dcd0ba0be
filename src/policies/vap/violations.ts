/** What policies found wrong, for the log and the metrics of the webhook: never with a value of the object. */
import type { FindingCode } from '../finding.ts';
import type { Violation } from '../verdict.ts';
import type { Decision } from './answer.ts';

const CODE_OF = {
  deny: 'POLICY_DENIED',
  error: 'POLICY_EXPRESSION_FAILED',
  configuration: 'POLICY_NOT_APPLICABLE',
} as const satisfies Record<Decision['evaluation'], FindingCode>;

/** Of a denial; its texts are the API server's and do not show it. */
export function codeOf({ evaluation }: Decision): FindingCode {
  return CODE_OF[evaluation];
}

/** Without its message, which may hold values of the object. */
export function violationOf({ policy, binding, evaluation, expressionIndex, actions }: Decision): Violation {
  return {
    policy,
    ...(binding === undefined ? {} : { binding }),
    // The index of an error may stand for the whole evaluation.
    ...(evaluation === 'deny' ? { field: `validations[${String(expressionIndex)}]` } : {}),
    evaluation,
    actions,
  };
}
