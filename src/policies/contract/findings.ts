/**
 * The closed list of finding codes of a contract with category and severity (contract.md §4.3; the three of 6.4 by
 * operator.md §4.5), and the shape of a finding. docs/findings.md explains each; a test compares both ways.
 */

export type Severity = 'error' | 'warning' | 'info' | 'unknown';

/** One entry of a validation result (contract.md §3.1): layers 1 to 3. */
export interface Problem {
  readonly path: string;
  readonly code: ContractFindingCode;
  readonly message: string;
  /** What in the contract it is about where `path`, as upstream has it, says nothing: `service.owner`. */
  readonly place?: string;
}

/** Valid means no errors (contract.md §3.1). */
export interface ValidationResult {
  readonly errors: readonly Problem[];
  readonly warnings: readonly Problem[];
}

export interface Finding {
  readonly code: ContractFindingCode;
  readonly severity: Severity;
  readonly category: string;
  /** Left out of a structural finding. */
  readonly subject?: { readonly kind: string; readonly name: string };
  readonly contractPath: string;
  readonly message: string;
  readonly evidenceRefs: readonly { readonly source: string; readonly observedAt: string }[];
}

interface Row {
  readonly category: string;
  /** Where an assertion can be optional, that of a required one. */
  readonly severity: Severity;
}

const structural = (category: string, severity: Severity = 'error'): Row => ({ category, severity });
const drift: Row = { category: 'RuntimeDrift', severity: 'error' };
const inconclusive: Row = { category: 'Inconclusive', severity: 'unknown' };

export const CONTRACT_FINDINGS = {
  UNSUPPORTED_PACTO_VERSION: structural('InvalidVersion'),
  SCHEMA_ERROR: structural('SchemaViolation'),
  SCHEMA_VIOLATION: structural('SchemaViolation'),
  YAML_PARSE_ERROR: structural('SchemaViolation'),
  INVALID_SEMVER: structural('InvalidVersion'),
  INVALID_CONFIG_REF: structural('InvalidReference'),
  INVALID_POLICY_REF: structural('InvalidReference'),
  INVALID_OCI_REF: structural('InvalidReference'),
  TAG_NOT_DIGEST: structural('InvalidReference', 'warning'),
  DUPLICATE_INTERFACE_NAME: structural('DuplicateName'),
  DUPLICATE_CONFIGURATION_NAME: structural('DuplicateName'),
  DUPLICATE_POLICY_NAME: structural('DuplicateName'),
  DUPLICATE_DEPENDENCY_NAME: structural('DuplicateName'),
  EMPTY_COMPATIBILITY: structural('InvalidDependency'),
  INVALID_COMPATIBILITY: structural('InvalidDependency'),
  VALUES_WITHOUT_SCHEMA: structural('MissingConfiguration'),
  CONFIG_VALUES_VALIDATION_FAILED: structural('ConfigurationViolation'),
  INVALID_INTERFACE_SPEC: structural('InvalidFile'),
  INVALID_CONFIG_JSON: structural('InvalidFile'),
  INVALID_CONFIG_SCHEMA: structural('SchemaViolation'),
  INVALID_POLICY_JSON: structural('InvalidFile'),
  INVALID_POLICY_SCHEMA: structural('SchemaViolation'),
  FILE_NOT_FOUND: structural('InvalidFile'),
  STATELESS_PERSISTENT_CONFLICT: structural('StateMismatch'),
  INVALID_READINESS_EXPIRES: structural('InvalidReadiness'),
  INVALID_READINESS_REVISION: structural('InvalidReadiness'),
  DUPLICATE_READINESS_ID: structural('DuplicateName'),
  EMPTY_READINESS_EVIDENCE: structural('MissingEvidence'),
  EMPTY_READINESS_DESCRIPTION: structural('MissingEvidence'),
  POLICY_ENFORCEMENT_ERROR: structural('PolicyViolation'),
  POLICY_VIOLATION: structural('PolicyViolation'),
  POLICY_REF_NOT_ENFORCED: structural('UnresolvedReference', 'warning'),
  POLICY_REF_UNRESOLVED: structural('UnresolvedReference'),
  POLICY_REF_CYCLE: structural('ReferenceCycle'),
  CAPABILITY_REF_INVALID: structural('InvalidCapability'),
  DUPLICATE_CAPABILITY: structural('DuplicateName'),
  CAPABILITY_INTERFACE_UNKNOWN: structural('InvalidCapability'),
  CAPABILITY_PATH_INVALID: structural('InvalidCapability'),

  INTERFACE_ABSENT: drift,
  INTERFACE_PROTOCOL_MISMATCH: drift,
  INTERFACE_VISIBILITY_MISMATCH: drift,
  CAPABILITY_ABSENT: drift,
  DEPENDENCY_UNREACHABLE: drift,
  DEPENDENCY_VERSION_MISMATCH: drift,
  CONFIGURATION_ABSENT: drift,
  CONFIGURATION_MISMATCH: drift,
  WORKLOAD_MISMATCH: drift,
  PERSISTENCE_MISMATCH: drift,

  EVIDENCE_MISSING: inconclusive,
  OBSERVATION_UNSUPPORTED: inconclusive,
  COLLECTION_FAILED: inconclusive,
  EVIDENCE_STALE: inconclusive,
  EVIDENCE_INSUFFICIENT: inconclusive,
  EXTENSION_EVALUATOR_UNAVAILABLE: inconclusive,
} as const satisfies Record<string, Row>;

export type ContractFindingCode = keyof typeof CONTRACT_FINDINGS;
