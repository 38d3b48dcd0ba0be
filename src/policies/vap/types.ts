/**
 * ValidatingAdmissionPolicy and its binding as this room works with them: read, defaulted (vap.md V01) and loose no
 * more. Made by read.ts alone.
 */

export interface LabelRequirement {
  readonly key: string;
  readonly operator: string;
  readonly values: readonly string[];
}

export interface LabelSelector {
  readonly matchLabels: Readonly<Record<string, string>>;
  readonly matchExpressions: readonly LabelRequirement[];
}

export interface NamedRule {
  readonly resourceNames: readonly string[];
  readonly operations: readonly string[];
  readonly apiGroups: readonly string[];
  readonly apiVersions: readonly string[];
  readonly resources: readonly string[];
  /** `*` where it is not set. */
  readonly scope: string;
}

export interface MatchResources {
  readonly namespaceSelector: LabelSelector;
  readonly objectSelector: LabelSelector;
  readonly resourceRules: readonly NamedRule[];
  readonly excludeResourceRules: readonly NamedRule[];
  /** `Equivalent` or `Exact`, unless stored without validation. */
  readonly matchPolicy: string;
}

export interface MatchCondition {
  readonly name: string;
  readonly expression: string;
}

export interface Variable {
  readonly name: string;
  readonly expression: string;
}

export interface Validation {
  readonly expression: string;
  readonly message?: string;
  readonly messageExpression?: string;
  readonly reason?: string;
}

export interface AuditAnnotation {
  readonly key: string;
  readonly valueExpression: string;
}

export interface ParamKind {
  readonly apiVersion: string;
  readonly kind: string;
}

export interface Policy {
  readonly name: string;
  readonly paramKind?: ParamKind;
  /** Undefined only in an object that was stored without validation. */
  readonly matchConstraints?: MatchResources;
  readonly validations: readonly Validation[];
  /** `Fail` or `Ignore`; something else only in an object that was stored without validation, and then not `Ignore`. */
  readonly failurePolicy: string;
  readonly auditAnnotations: readonly AuditAnnotation[];
  readonly matchConditions: readonly MatchCondition[];
  readonly variables: readonly Variable[];
}

export interface ParamRef {
  readonly name?: string;
  readonly namespace?: string;
  readonly selector?: LabelSelector;
  readonly parameterNotFoundAction?: string;
}

export interface Binding {
  readonly name: string;
  readonly policyName: string;
  readonly paramRef?: ParamRef;
  readonly matchResources?: MatchResources;
  /** Of `Deny`, `Warn` and `Audit`, unless stored without validation. */
  readonly validationActions: readonly string[];
}
