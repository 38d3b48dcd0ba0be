/**
 * The closed list of what lint finds beyond what an API server says to whoever writes; docs/lint.md explains each with an example that
 * has it and one that has not, and a test lints both.
 */

/**
 * `error`: it is refused, or can never do what it says. `warning`: requests exist on which it does something else than
 * whoever wrote it will have meant. `note`: worth knowing, and often meant.
 */
export type LintSeverity = 'error' | 'warning' | 'note';

export const LINT_CODES = {
  LINT_TYPE_CHECK: 'warning',
  LINT_DYN_RESULT: 'error',
  LINT_DENY_WITH_WARN: 'error',
  LINT_PATTERN_INVALID: 'error',
  LINT_VERSION_REFUSED: 'error',
  LINT_VERSION_RANGE: 'warning',
  LINT_VERSION_NEEDED: 'note',
  LINT_REASON_NOT_FORBIDDEN: 'note',
  LINT_MESSAGE_IMMUTABLE: 'warning',
  LINT_MESSAGE_MISSING: 'note',
  LINT_MESSAGE_AUTHORIZER: 'warning',
  LINT_MESSAGE_UNGUARDED: 'note',
  LINT_ANNOTATION_AUTHORIZER: 'warning',
  LINT_BRANCHES_EQUAL: 'warning',
  LINT_BRANCH_DEAD: 'warning',
  LINT_FIELD_UNGUARDED: 'warning',
  LINT_KEY_UNGUARDED: 'warning',
  LINT_OBJECT_NULL: 'warning',
  LINT_OLD_OBJECT_NULL: 'warning',
  LINT_USER_EXTRA_UNGUARDED: 'warning',
  LINT_REQUEST_FIELD_UNGUARDED: 'warning',
  LINT_NAMESPACE_IN_CONDITION: 'warning',
  LINT_QUANTITY_AS_TEXT: 'warning',
  LINT_REVIEWS_IN_SCOPE: 'warning',
  LINT_NODES_IN_SCOPE: 'warning',
  LINT_SYSTEM_IN_SCOPE: 'warning',
  LINT_NAMED_WITHOUT_NAME: 'note',
  LINT_NOT_ENFORCED_HERE: 'note',
  LINT_FAILURE_IGNORED: 'note',
  LINT_PARAMS_SECRET: 'warning',
  LINT_PARAMS_NULL: 'warning',
  LINT_PARAMS_UNGUARDED: 'note',
  LINT_PARAMS_SCOPE: 'warning',
  LINT_PARAMS_ABSENT_ALLOWED: 'note',
  LINT_COST_LIMIT: 'warning',
  LINT_COST_SIZE: 'note',
  LINT_COST_BUDGET: 'note',
  LINT_UNBOUND: 'note',
  LINT_POLICY_ABSENT: 'note',
  LINT_NAME_TWICE: 'note',
} as const satisfies Record<string, LintSeverity>;

export type LintCode = keyof typeof LINT_CODES;

export interface LintFinding {
  readonly code: LintCode;
  readonly severity: LintSeverity;
  /** Such as `spec.validations[0].expression`; empty where it is about the whole. */
  readonly field: string;
  /** Lower case, without a full stop: what is so, what comes of it, and one next step. */
  readonly message: string;
}

export function finding(code: LintCode, field: string, message: string): LintFinding {
  return { code, severity: LINT_CODES[code], field, message };
}
