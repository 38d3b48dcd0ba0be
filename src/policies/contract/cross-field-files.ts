/** Layer 2 where it opens files of the bundle: interfaces, configurations and policies (contract.md §3.3.2, 3.3.5, 3.3.6). */
import { quote } from '../quote.ts';
import { bundleFile } from './bundle-files.ts';
import type { BundleFiles } from './bundle-files.ts';
import type { Configuration, Interface, PolicyReference } from './contract.ts';
import type { ContractFindingCode, Problem } from './findings.ts';
import { InterfaceFiles } from './interface-syntax.ts';
import { MissingFiles } from './missing-file.ts';
import type { SchemaAnswer, SchemaLeaf } from './schema-checks.ts';
import type { SchemaRun } from './schema-run.ts';

/** A path is that of the result: `interfaces[0].ref`. */
export type Report = (code: ContractFindingCode, path: string, message: string) => void;

/** Leaves that one message lists. */
const MAX_LEAVES_TOLD = 10;

/** Syntax alone, and each fault once. */
export function checkInterfaceFiles(
  interfaces: readonly Interface[],
  files: BundleFiles,
  report: Report,
): void {
  const read = new InterfaceFiles(files);
  const missing = new MissingFiles(files);
  for (const [index, { ref }] of interfaces.entries()) {
    const path = `interfaces[${index}].ref`;
    const syntax = read.read(ref);
    if (syntax.outcome === 'not-found') report('FILE_NOT_FOUND', path, missing.say(ref));
    if (syntax.outcome === 'broken') {
      const { language, reason } = syntax;
      report(
        'INVALID_INTERFACE_SPEC',
        path,
        `${quote(ref)} does not read as ${language}: ${reason}${remedy(ref)}`,
      );
    }
  }
}

/** What a file is read as goes by its name alone (contract.md §3.3.2). */
function remedy(ref: string): string {
  if (/\.(?:json|ya?ml)$/i.test(ref)) return '';
  const what = /\.proto$/i.test(ref) ? 'a .proto file' : 'a file that ends neither in .yaml nor in .json';
  return `; ${what} is read as JSON too: name a description in JSON or YAML, such as a descriptor made of it`;
}

/**
 * The schema files of configurations, and values against them where there are any: `values: {}` is not looked at
 * (contract.md §3.3.5).
 * @returns what is wrong with values: later in the order than what is wrong with files
 */
export async function checkConfigurationSchemas(
  configurations: readonly Configuration[],
  files: BundleFiles | undefined,
  schemas: SchemaRun,
  report: Report,
): Promise<readonly Problem[]> {
  const wrong: Problem[] = [];
  const missing = new MissingFiles(files ?? new Map());
  for (const [index, { schema, ref, values }] of configurations.entries()) {
    const hasValues = values !== undefined && Object.keys(values).length > 0;
    const at = `configurations[${index}]`;
    if (hasValues && schema === undefined && ref === undefined) {
      wrong.push({
        path: `${at}.values`,
        code: 'VALUES_WITHOUT_SCHEMA',
        message: 'cannot be judged without a schema: name one',
      });
    }
    if (schema === undefined || files === undefined) continue;
    const file = bundleFile(files, schema);
    if (file === undefined) {
      report('FILE_NOT_FOUND', `${at}.schema`, missing.say(schema));
      continue;
    }
    const answer = hasValues ? await schemas.validate(file, values) : await schemas.compile(file);
    reportSchema(answer, CONFIGURATION_CODES, schema, `${at}.schema`, report);
    if (answer.outcome === 'invalid') {
      wrong.push({
        path: `${at}.values`,
        code: 'CONFIG_VALUES_VALIDATION_FAILED',
        message: `do not fit ${quote(schema)}: ${told(answer.leaves)}`,
      });
    }
  }
  return wrong;
}

export async function checkPolicySchemas(
  policies: readonly PolicyReference[],
  files: BundleFiles,
  schemas: SchemaRun,
  report: Report,
): Promise<void> {
  const missing = new MissingFiles(files);
  for (const [index, { schema }] of policies.entries()) {
    if (schema === undefined) continue;
    const path = `policies[${index}].schema`;
    const file = bundleFile(files, schema);
    if (file === undefined) report('FILE_NOT_FOUND', path, missing.say(schema));
    else reportSchema(await schemas.compile(file), POLICY_CODES, schema, path, report);
  }
}

interface SchemaCodes {
  readonly json: ContractFindingCode;
  readonly schema: ContractFindingCode;
}

const CONFIGURATION_CODES: SchemaCodes = { json: 'INVALID_CONFIG_JSON', schema: 'INVALID_CONFIG_SCHEMA' };
const POLICY_CODES: SchemaCodes = { json: 'INVALID_POLICY_JSON', schema: 'INVALID_POLICY_SCHEMA' };

/**
 * A schema that went over a limit is reported as one that does not do: it proves nothing about values, and a check that did
 * not take place must not pass in silence (contract.md §0.3).
 */
function reportSchema(
  answer: SchemaAnswer,
  codes: SchemaCodes,
  file: string,
  path: string,
  report: Report,
): void {
  if (answer.outcome === 'not-json') report(codes.json, path, `${quote(file)} is not JSON: ${answer.reason}`);
  if (answer.outcome === 'not-a-schema') {
    report(codes.schema, path, `${quote(file)} is no JSON Schema that can be used: ${answer.reason}`);
  }
  if (answer.outcome === 'refused') {
    report(codes.schema, path, `${quote(file)} is refused, and nothing was judged by it: ${answer.reason}`);
  }
}

function told(leaves: readonly SchemaLeaf[]): string {
  const lines = leaves
    .slice(0, MAX_LEAVES_TOLD)
    .map(({ instancePath, message }) =>
      instancePath === '' ? `the mapping ${message}` : `${quote(instancePath)} ${message}`,
    );
  const rest = leaves.length > MAX_LEAVES_TOLD ? `; and ${leaves.length - MAX_LEAVES_TOLD} more` : '';
  return lines.join('; ') + rest;
}
