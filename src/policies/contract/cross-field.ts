/** Layer 2 (contract.md §3.3): what one field says against another, and against the files of the bundle. */
import { quote } from '../quote.ts';
import type { BundleFiles } from './bundle-files.ts';
import { isSafeCapabilityPath } from './capability-path.ts';
import { parseConstraint } from './constraint.ts';
import { assertionKey } from './contract.ts';
import type { Contract, Dependency, Readiness } from './contract.ts';
import { checkConfigurationSchemas, checkInterfaceFiles, checkPolicySchemas } from './cross-field-files.ts';
import type { Report } from './cross-field-files.ts';
import type { ContractFindingCode, Problem, ValidationResult } from './findings.ts';
import { parseReference } from './reference.ts';
import type { SchemaRun } from './schema-run.ts';
import { isBlank, isCanonicalDate } from './text-rules.ts';
import { parseVersion } from './version.ts';

/**
 * Every check runs, in the order of contract.md §3.3.
 * @param files undefined: there is no bundle, and no check of a file speaks
 */
export async function checkCrossField(
  contract: Contract,
  files: BundleFiles | undefined,
  schemas: SchemaRun,
): Promise<ValidationResult> {
  const errors: Problem[] = [];
  const warnings: Problem[] = [];
  const report: Report = (code, path, message) => void errors.push({ path, code, message });
  const warn: Report = (code, path, message) => void warnings.push({ path, code, message });

  checkVersion(contract, report);
  checkNames(contract, report);
  checkCapabilities(contract, report);
  if (files !== undefined) checkInterfaceFiles(contract.interfaces, files, report);
  const values = await checkConfigurationSchemas(contract.configurations, files, schemas, report);
  for (const [index, { ref }] of contract.configurations.entries()) {
    checkRegistryReference(ref, 'INVALID_CONFIG_REF', `configurations[${index}].ref`, report);
  }
  for (const [index, { ref }] of contract.policies.entries()) {
    checkRegistryReference(ref, 'INVALID_POLICY_REF', `policies[${index}].ref`, report);
  }
  if (files !== undefined) await checkPolicySchemas(contract.policies, files, schemas, report);
  for (const [index, dependency] of contract.dependencies.entries()) {
    checkDependency(dependency, `dependencies[${index}]`, report, warn);
  }
  errors.push(...values);
  checkState(contract, report);
  if (contract.readiness !== undefined) checkReadiness(contract.readiness, report);
  return { errors, warnings };
}

function checkVersion({ service }: Contract, report: Report): void {
  if (parseVersion(service.version) !== undefined) return;
  report(
    'INVALID_SEMVER',
    'service.version',
    `${quote(service.version)} is not a semantic version; write one such as 1.4.0`,
  );
}

/** Each section by itself: a configuration and a policy may share a name (contract.md §3.3.1). */
function checkNames(contract: Contract, report: Report): void {
  const sections = [
    ['interfaces', 'DUPLICATE_INTERFACE_NAME'],
    ['configurations', 'DUPLICATE_CONFIGURATION_NAME'],
    ['policies', 'DUPLICATE_POLICY_NAME'],
    ['dependencies', 'DUPLICATE_DEPENDENCY_NAME'],
  ] as const;
  for (const [section, code] of sections) {
    const names = contract[section].map(({ name }) => name);
    eachRepeat(names, (index, before) => {
      report(
        code,
        `${section}[${index}].name`,
        `${section}[${before}] has the name ${quote(names[index] ?? '')} already; rename one of them`,
      );
    });
  }
}

/** @param tell is given the place of a repeated text, and the last place before it */
function eachRepeat(texts: readonly string[], tell: (index: number, before: number) => void): void {
  const last = new Map<string, number>();
  for (const [index, text] of texts.entries()) {
    const before = last.get(text);
    if (before !== undefined) tell(index, before);
    last.set(text, index);
  }
}

/** contract.md §3.3.3 */
function checkCapabilities({ capabilities, interfaces }: Contract, report: Report): void {
  const declared = new Set(interfaces.map(({ name }) => name));
  const last = new Map<string, number>();
  for (const [index, capability] of capabilities.entries()) {
    const path = `capabilities[${index}]`;
    const { type, ref = '', binding } = capability;
    if (binding !== undefined && !declared.has(binding.interface)) {
      report(
        'CAPABILITY_INTERFACE_UNKNOWN',
        `${path}.binding.interface`,
        `no interface has the name ${quote(binding.interface)}; declare it under interfaces or name another`,
      );
    }
    if (binding?.path !== undefined && !isSafeCapabilityPath(binding.path)) {
      report(
        'CAPABILITY_PATH_INVALID',
        `${path}.binding.path`,
        `${quote(binding.path)} is not a plain path: write one "/" and a path without host, fragment or broken escape`,
      );
    }
    if (type === 'extension' && !isNamespaced(ref)) {
      report(
        'CAPABILITY_REF_INVALID',
        `${path}.ref`,
        `${quote(ref)} has no namespace; write a domain, "/" and a name, such as example.com/backup`,
      );
    }
    const key = assertionKey(capability);
    const before = last.get(key);
    if (before !== undefined) {
      report(
        'DUPLICATE_CAPABILITY',
        path,
        `capabilities[${before}] asserts ${quote(key)} already; remove one of them`,
      );
    }
    last.set(key, index);
  }
}

/** Nothing more: `./x` passes too. */
function isNamespaced(ref: string): boolean {
  const slash = ref.indexOf('/');
  return slash !== -1 && ref.slice(0, slash).includes('.');
}

/** @returns whether the rest of the entry can be judged */
function checkRegistryReference(
  ref: string | undefined,
  code: ContractFindingCode,
  path: string,
  report: Report,
): boolean {
  const problem = ref === undefined ? undefined : parseReference(ref).problem;
  if (problem === undefined) return true;
  report(code, path, `${quote(ref ?? '')} is no reference to a registry: ${problem}`);
  return false;
}

/** contract.md §3.3.7 */
function checkDependency(dependency: Dependency, path: string, report: Report, warn: Report): void {
  const { ref, compatibility } = dependency;
  if (!checkRegistryReference(ref, 'INVALID_OCI_REF', `${path}.ref`, report)) return;
  const reference = parseReference(ref);
  if (reference.scheme === 'oci' && reference.problem === undefined) {
    if (reference.tag !== undefined && reference.digest === undefined) {
      warn(
        'TAG_NOT_DIGEST',
        `${path}.ref`,
        `${quote(ref)} has a tag, which can come to mean another artifact; pin it by its digest`,
      );
    }
  }
  if (compatibility === '') {
    report(
      'EMPTY_COMPATIBILITY',
      `${path}.compatibility`,
      'no versions are named; write a range such as ^1.2.0',
    );
    return;
  }
  const parsed = parseConstraint(compatibility);
  if (!parsed.ok) {
    report(
      'INVALID_COMPATIBILITY',
      `${path}.compatibility`,
      `${quote(compatibility)} is no range of versions: ${parsed.reason}`,
    );
  }
}

/** contract.md §3.3.8: layer 1 says it first, of the generic view. */
function checkState({ state }: Contract, report: Report): void {
  if (state?.type !== 'stateless' || state.persistence.durability !== 'persistent') return;
  report(
    'STATELESS_PERSISTENT_CONFLICT',
    'state.persistence.durability',
    'a stateless service keeps nothing; make it ephemeral or change state.type',
  );
}

/** contract.md §3.3.9. A date in the past is as good as any. */
function checkReadiness({ expires, claims, history }: Readiness, report: Report): void {
  const needed = 'is not a day of the calendar written as YYYY-MM-DD';
  if (!isCanonicalDate(expires)) {
    report('INVALID_READINESS_EXPIRES', 'readiness.expires', `${quote(expires)} ${needed}`);
  }
  for (const [index, revision] of history.entries()) {
    const path = `readiness.history[${index}]`;
    if (!isCanonicalDate(revision.date)) {
      report('INVALID_READINESS_REVISION', `${path}.date`, `${quote(revision.date)} ${needed}`);
    }
    for (const field of ['version', 'author', 'description'] as const) {
      if (isBlank(revision[field])) {
        report(
          'INVALID_READINESS_REVISION',
          `${path}.${field}`,
          `the ${field} of a revision must not be blank`,
        );
      }
    }
  }
  const ids = claims.map(({ id }) => id);
  eachRepeat(ids, (index, before) => {
    const id = quote(ids[index] ?? '');
    report(
      'DUPLICATE_READINESS_ID',
      `readiness.claims[${index}].id`,
      `readiness.claims[${before}] has the id ${id} already; rename one of them`,
    );
  });
  for (const [index, { evidence, description }] of claims.entries()) {
    const path = `readiness.claims[${index}]`;
    if (isBlank(evidence)) {
      report(
        'EMPTY_READINESS_EVIDENCE',
        `${path}.evidence`,
        'evidence must not be blank; say where the proof is',
      );
    }
    if (description !== undefined && isBlank(description)) {
      report(
        'EMPTY_READINESS_DESCRIPTION',
        `${path}.description`,
        'a description must not be blank; leave it out',
      );
    }
  }
}
