/** The three layers of validation and their order (contract.md §3.1). */
import { quote } from '../quote.ts';
import type { BundleFiles } from './bundle-files.ts';
import type { Contract } from './contract.ts';
import { checkCrossField } from './cross-field.ts';
import type { ContractDocument } from './document.ts';
import { CONTRACT_FINDINGS } from './findings.ts';
import type { Finding, Problem, ValidationResult } from './findings.ts';
import { enforcePolicies, PolicySearch } from './policy-layer.ts';
import type { PolicyResolver } from './policy-layer.ts';
import type { SchemaChecks } from './schema-checks.ts';
import { SchemaRun } from './schema-run.ts';
import { validateStructure } from './structural.ts';

export interface ValidateOptions {
  /** Absent for a contract without a bundle: no file is looked for (contract.md §3.3). */
  readonly files?: BundleFiles;
  readonly schemas: SchemaChecks;
  /**
   * Absent: policies elsewhere are warned of and not fetched. `none-but-demanded`: they are errors
   * (contract.md §3.4.1, §3.4.2).
   */
  readonly resolver?: PolicyResolver | 'none-but-demanded';
  /** Where its relative references start; absent for a contract from a registry, which may not have any for policies. */
  readonly base?: string;
}

/** Ours: nobody reads more, and a contract of 1 MiB could have tens of thousands. */
const MAX_PROBLEMS = 1000;

interface Judged {
  readonly contract: Contract;
  readonly document: ContractDocument;
}

/**
 * A layer that finds an error is the last; and no policy is enforced where one of them cannot be had.
 * @returns at most 1,000 errors and as many warnings
 */
export async function validate(
  { contract, document }: Judged,
  options: ValidateOptions,
): Promise<ValidationResult> {
  const structure = validateStructure(document);
  if (structure.length > 0) return { errors: structure, warnings: [] };

  const schemas = new SchemaRun(options.schemas);
  const fields = await checkCrossField(contract, options.files, schemas);
  if (fields.errors.length > 0) return first(fields.errors, fields.warnings);

  const policies = await checkPolicies({ contract, document }, options, schemas);
  return first(policies.errors, [...fields.warnings, ...policies.warnings]);
}

function first(errors: readonly Problem[], warnings: readonly Problem[]): ValidationResult {
  return { errors: errors.slice(0, MAX_PROBLEMS), warnings: warnings.slice(0, MAX_PROBLEMS) };
}

async function checkPolicies(
  { contract, document }: Judged,
  { files, resolver, base }: ValidateOptions,
  schemas: SchemaRun,
): Promise<ValidationResult> {
  // Layer 1 has passed, so the view is there.
  if (contract.policies.length === 0 || !document.generic.ok) return { errors: [], warnings: [] };
  if (resolver === undefined && files === undefined) return { errors: [], warnings: [] };

  const search = new PolicySearch(schemas, resolver === 'none-but-demanded' ? undefined : resolver);
  const isElsewhere = resolver === undefined;
  const followed = isElsewhere ? contract.policies.filter(({ ref }) => ref === undefined) : contract.policies;
  await search.from(followed, { files, base, prefix: '' });
  const warnings = isElsewhere ? contract.policies.flatMap(notEnforced) : [];
  const errors =
    search.problems.length > 0
      ? search.problems
      : await enforcePolicies(search.policies, document.generic.value, schemas);
  return { errors, warnings };
}

function notEnforced({ ref }: Contract['policies'][number], index: number): readonly Problem[] {
  if (ref === undefined) return [];
  return [
    {
      path: `policies[${index}].ref`,
      code: 'POLICY_REF_NOT_ENFORCED',
      message: `the policy ${quote(ref)} is not fetched here, so the contract is not held to it`,
    },
  ];
}

/** A result as findings: errors first, each as severe as its code (contract.md §3.1). */
export function structuralFindings({ errors, warnings }: ValidationResult): readonly Finding[] {
  return [...errors, ...warnings].map(({ path, code, message }) => {
    const { category, severity } = CONTRACT_FINDINGS[code];
    return { code, severity, category, contractPath: path, message, evidenceRefs: [] };
  });
}
