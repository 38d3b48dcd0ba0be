/** A status as it is written: parts of it, and how much of it there may be (operator.md §1.1.2). */
import type { Finding, Problem, ValidationResult } from '../policies/contract/findings.ts';
import type {
  PactoSpec,
  PactoStatus,
  ResolutionPolicy,
  StatusFinding,
  StatusIssue,
  Summary,
} from './api/pacto.ts';

/** etcd takes 1.5 MiB a request by default, and a list of Pactos has all of them. */
const STATUS_LENGTH = 256 * 1024;
const FINDINGS = 200;
/** Of each list, where the whole is too long. */
const FEW = 50;
const MESSAGE_LENGTH = 2_048;

/** By the shape of what is written; an inline contract is resolved by nobody (operator.md §3.2, step 5, and §20, T14). */
export function resolutionPolicyOf({ oci, inline }: PactoSpec['contractRef']): ResolutionPolicy | undefined {
  if (oci === '' || (inline !== undefined && inline !== '')) return undefined;
  if (oci.includes('@')) return 'PinnedDigest';
  return oci.lastIndexOf(':') > oci.lastIndexOf('/') ? 'PinnedTag' : 'Latest';
}

export function summaryOf(findings: readonly Pick<Finding, 'severity'>[]): Summary {
  const count = (severity: Finding['severity']): number =>
    findings.filter((finding) => finding.severity === severity).length;
  return {
    errorCount: count('error'),
    warningCount: count('warning'),
    infoCount: 0,
    unknownCount: count('unknown'),
  };
}

/** Their number is in the summary also where not all of them are here. */
export function statusFindings(findings: readonly Finding[]): readonly StatusFinding[] {
  return findings.slice(0, FINDINGS).map(statusFinding);
}

function statusFinding(finding: Finding): StatusFinding {
  const { code, severity, category, subject, contractPath, message, evidenceRefs } = finding;
  return {
    code,
    severity,
    category,
    ...(subject !== undefined && { subject: `${subject.kind}/${subject.name}` }),
    ...(contractPath !== '' && { contractPath }),
    message: message.slice(0, MESSAGE_LENGTH),
    ...(evidenceRefs.length > 0 && { evidenceRefs: [...evidenceRefs] }),
  };
}

export function validationOf({ errors, warnings }: ValidationResult): NonNullable<PactoStatus['validation']> {
  const issues = (problems: ValidationResult['errors']): readonly StatusIssue[] =>
    problems.slice(0, FINDINGS).map(issueOf);
  return {
    valid: errors.length === 0,
    ...(errors.length > 0 && { errors: issues(errors) }),
    ...(warnings.length > 0 && { warnings: issues(warnings) }),
  };
}

function issueOf({ code, path, message }: Problem): StatusIssue {
  return { code, ...(path !== '' && { path }), message: message.slice(0, MESSAGE_LENGTH) };
}

/** What is too long loses what is shown only: properties, metadata, and then the ends of its lists. */
export function bounded(status: PactoStatus): PactoStatus {
  if (isShort(status)) return status;
  const { metadata: _metadata, ...rest } = status;
  const lean: PactoStatus = {
    ...rest,
    ...(status.configurations !== undefined && {
      configurations: status.configurations.map(withoutProperties),
    }),
    ...(status.policies !== undefined && { policies: status.policies.map(withoutProperties) }),
  };
  if (isShort(lean)) return lean;
  const cut: Record<string, unknown> = { ...lean };
  for (const [key, value] of Object.entries(cut)) if (Array.isArray(value)) cut[key] = value.slice(0, FEW);
  if (lean.readiness !== undefined) {
    const { claims: _claims, revisions: _revisions, ...readiness } = lean.readiness;
    cut['readiness'] = readiness;
  }
  return cut;
}

function isShort(status: PactoStatus): boolean {
  return JSON.stringify(status).length <= STATUS_LENGTH;
}

function withoutProperties<T extends { readonly properties?: unknown }>({
  properties: _properties,
  ...rest
}: T): Omit<T, 'properties'> {
  return rest;
}
