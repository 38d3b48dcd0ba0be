/** Parts of a status as upstream writes them (operator.md §1.1.2); how much a whole one may be is in status-size.ts. */
import type { Finding, Problem, ValidationResult } from '../policies/contract/findings.ts';
import type {
  PactoSpec,
  PactoStatus,
  ResolutionPolicy,
  StatusFinding,
  StatusIssue,
  Summary,
} from './api/pacto.ts';
import { shortText } from './short-text.ts';

/** Findings that a status shows, and problems of each kind in `validation`. */
const FINDINGS = 200;
const MESSAGE_LENGTH = 2_048;
/** Of a subject and of a place in the contract. */
const PLACE_LENGTH = 1_024;
/** Where not all findings have room: what to keep first. */
const SEVERITIES: readonly Finding['severity'][] = ['error', 'unknown', 'warning', 'info'];

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

/**
 * In their order; of more than 200 the least severe are left out, as Argo CD shows the first error (operator.md §15.3). The
 * summary counts them all the same.
 */
export function statusFindings(findings: readonly Finding[]): readonly StatusFinding[] {
  return mostSevere(findings).map(statusFinding);
}

function mostSevere(findings: readonly Finding[]): readonly Finding[] {
  if (findings.length <= FINDINGS) return findings;
  const kept = new Set(
    SEVERITIES.flatMap((severity) => findings.filter((one) => one.severity === severity)).slice(0, FINDINGS),
  );
  return findings.filter((finding) => kept.has(finding));
}

function statusFinding(finding: Finding): StatusFinding {
  const { code, severity, category, subject, contractPath, message, evidenceRefs } = finding;
  return {
    code,
    severity,
    category,
    ...(subject !== undefined && { subject: shortText(`${subject.kind}/${subject.name}`, PLACE_LENGTH) }),
    ...(contractPath !== '' && { contractPath: shortText(contractPath, PLACE_LENGTH) }),
    message: shortText(message, MESSAGE_LENGTH),
    ...(evidenceRefs.length > 0 && { evidenceRefs: [...evidenceRefs] }),
  };
}

/** What is empty is not there. */
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
  return {
    code,
    ...(path !== '' && { path: shortText(path, PLACE_LENGTH) }),
    message: shortText(message, MESSAGE_LENGTH),
  };
}
