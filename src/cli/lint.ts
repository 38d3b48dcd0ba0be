import { InvalidArgumentError, Option, type Command } from 'commander';
import { KEYS } from '../config-keys.ts';
import { suggest } from '../config-suggest.ts';
import { GateError } from '../errors.ts';
import {
  LINT_CODES,
  type LintCode,
  type LintFinding,
  type LintSeverity,
} from '../policies/vap/lint-finding.ts';
import { minorOf } from '../policies/vap/policy-objects.ts';
import { POLICIES_SINCE } from '../policies/vap/portability.ts';
import { lintDocuments, type Linted, type TypeWarning } from './lint-policies.ts';
import { kubectlError } from './kubectl-error.ts';
import { readObjectFiles } from './object-files.ts';
import { addOutputOption, EXIT, plain, show, type ExitCode, type OutputFormat } from './output.ts';
import { parsePolicyVersion } from './policy-options.ts';
import { repeated } from './repeated-option.ts';
import { isSuiteFile } from './suite-files.ts';
import type { Surroundings } from './surroundings.ts';

interface Options {
  readonly crd: readonly string[];
  readonly kubeVersion: string;
  readonly from?: string;
  readonly old: readonly string[];
  readonly ignore: readonly LintCode[];
  readonly strict?: true;
  readonly output: OutputFormat;
}

export function define(command: Command, around: Surroundings, finish: (code: ExitCode) => void): void {
  command
    .argument(
      '<file...>',
      'files or directories with policies and bindings, YAML or JSON; - reads standard input',
    )
    .addOption(
      repeated(
        '--crd <file>',
        'a file or directory with CustomResourceDefinitions, for their types; repeated',
      ),
    )
    .option(
      '--kube-version <version>',
      'API server that is imitated; the types of kinds are those of 1.36 for every version',
      parsePolicyVersion,
      KEYS.policies.compatibilityVersion.fallback,
    )
    .option(
      '--from <version>',
      'warn of what API servers from this version on would refuse; 1.30 is the first that has policies',
      parseFrom,
    )
    .addOption(
      repeated(
        '--old <file>',
        'a file or directory with policies as they are stored: what is given is an update of them; repeated',
      ),
    )
    .addOption(
      new Option('--ignore <code>', 'say nothing of what has this code; repeated')
        .argParser((value: string, before: readonly LintCode[]) => [...before, parseCode(value)])
        .default([]),
    )
    .option('--strict', 'let a warning be a no, too');
  addOutputOption(command);
  command.addHelpText(
    'after',
    `
Says of each ValidatingAdmissionPolicy and ValidatingAdmissionPolicyBinding what the API server would answer to whoever
creates it, what Kubernetes would later write into its status (type checks), and what goes wrong later. Of what ends with
a code in brackets, pacto-gate explain CODE says more. Exits with 0 when all would be taken, 1 when one would be refused or has an
error, or with --strict has a warning, 2 when there is nothing to read. A note is never a no.

Examples:
  pacto-gate lint examples/policies
  pacto-gate lint policy.yaml --crd crds/ --kube-version 1.31 --strict
  pacto-gate lint policies/ --from 1.30 --ignore LINT_MESSAGE_MISSING`,
  );
  command.action(async (files: readonly string[], options: Options) => {
    finish(await lint(files, options, around));
  });
}

/** Before it there is nobody who would refuse. */
function parseFrom(text: string): string {
  const version = parsePolicyVersion(text);
  if (minorOf(version) < POLICIES_SINCE) {
    throw new InvalidArgumentError(
      `need a version from 1.${String(POLICIES_SINCE)} on: API servers before it have no policies, and a webhook takes what --kube-version takes`,
    );
  }
  return version;
}

function parseCode(text: string): LintCode {
  const code = text.toUpperCase();
  if (!isLintCode(code))
    throw new InvalidArgumentError(
      `there is no such code${suggest(code, Object.keys(LINT_CODES))}: pacto-gate explain lists them`,
    );
  return code;
}

function isLintCode(code: string): code is LintCode {
  return Object.hasOwn(LINT_CODES, code);
}

async function lint(files: readonly string[], options: Options, around: Surroundings): Promise<ExitCode> {
  const { documents } = await readObjectFiles(files, around, (file) => !isSuiteFile(file));
  const { documents: definitions } = await readObjectFiles(options.crd, around);
  const { documents: stored } = await readObjectFiles(options.old, around, (file) => !isSuiteFile(file));
  const found = await lintDocuments(documents, {
    definitions: [...documents, ...definitions].map(({ object }) => object),
    kubeVersion: options.kubeVersion,
    from: options.from,
    stored: stored.map(({ object }) => object),
    ignore: options.ignore,
  });
  if (found.length === 0) {
    throw new GateError(
      'GATE_INPUT_FILE',
      `${files.join(', ')}: there is no policy and no binding in it: give some`,
    );
  }
  await show(around, options.output, found, plain(textOf(found)));
  const isNo = (one: Linted): boolean =>
    one.status !== undefined || count(one, 'error') > 0 || (options.strict === true && warningsOf(one) > 0);
  return found.some(isNo) ? EXIT.no : EXIT.ok;
}

function count({ findings }: Linted, wanted: LintSeverity): number {
  return findings.filter(({ severity }) => severity === wanted).length;
}

function warningsOf(one: Linted): number {
  return one.warnings.length + one.typeWarnings.length + count(one, 'warning');
}

function textOf(found: readonly Linted[]): string {
  const refused = found.filter(({ status }) => status !== undefined).length;
  const warnings = found.reduce((sum, one) => sum + warningsOf(one), 0);
  const last = `${String(found.length - refused)} would be taken, ${String(refused)} refused, ${String(warnings)} ${warnings === 1 ? 'warning' : 'warnings'}`;
  return [...found.map(blockOf), '', last].join('\n');
}

/** As kubectl would show it, and below that the type checking, whose text has several lines, and what is ours. */
function blockOf(one: Linted): string {
  const { file, kind, name, status, warnings, typeWarnings, findings } = one;
  const isFine = status === undefined && count(one, 'error') + warningsOf(one) === 0;
  return [
    `${file === '-' ? 'standard input' : file}: ${kind} ${name}${isFine ? ': ok' : ''}`,
    ...warnings.map((text) => `  Warning: ${text}`),
    ...(status === undefined ? [] : indented(kubectlError(status))),
    ...typeWarnings.map(typeWarningText),
    ...findings.map(findingText),
  ].join('\n');
}

const SEVERITY_WORDS: Readonly<Record<LintSeverity, string>> = {
  error: 'Error',
  warning: 'Warning',
  note: 'Note',
};

function findingText({ code, severity, field, message }: LintFinding): string {
  return `  ${SEVERITY_WORDS[severity]}: ${field === '' ? '' : `${field}: `}${message} [${code}]`;
}

/** Where several lines follow, the code stands before them. */
function typeWarningText({ code, fieldRef, warning }: TypeWarning): string {
  const rest = warning.trimEnd().split('\n').slice(1).join('\n');
  return [`  Type check: ${fieldRef}: ${firstLine(warning)} [${code}]`, ...indented(rest, '    ')].join('\n');
}

function firstLine(text: string): string {
  return text.split('\n', 1)[0] ?? '';
}

function indented(text: string, by = '  '): readonly string[] {
  return text === '' ? [] : text.split('\n').map((line) => `${by}${line}`);
}
