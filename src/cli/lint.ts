import { Option, type Command } from 'commander';
import { KEYS } from '../config-keys.ts';
import { GateError } from '../errors.ts';
import { lintDocuments, type Linted } from './lint-policies.ts';
import { kubectlError } from './kubectl-error.ts';
import { readObjectFiles } from './object-files.ts';
import { addOutputOption, EXIT, plain, show, type ExitCode, type OutputFormat } from './output.ts';
import { parsePolicyVersion } from './policy-options.ts';
import { isSuiteFile } from './suite-files.ts';
import type { Surroundings } from './surroundings.ts';

interface Options {
  readonly crd: readonly string[];
  readonly kubeVersion: string;
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
      new Option(
        '--crd <file>',
        'a file or directory with CustomResourceDefinitions, for their types; repeated',
      )
        .argParser((value: string, before: readonly string[]) => [...before, value])
        .default([]),
    )
    .option(
      '--kube-version <version>',
      'API server that is imitated; the types of kinds are those of 1.36 for every version',
      parsePolicyVersion,
      KEYS.policies.compatibilityVersion.fallback,
    )
    .option('--strict', 'let a warning be a no, too');
  addOutputOption(command);
  command.addHelpText(
    'after',
    `
Says of each ValidatingAdmissionPolicy and ValidatingAdmissionPolicyBinding what the API server would answer to whoever
creates it, and what Kubernetes would later write into its status as type-checking warnings. Notes are ours. Exits with
0 when all would be taken, 1 when one would be refused, or with --strict has a warning, 2 when there is nothing to read.

Examples:
  pacto-gate lint examples/policies
  pacto-gate lint policy.yaml --crd crds/ --kube-version 1.31 --strict`,
  );
  command.action(async (files: readonly string[], options: Options) => {
    finish(await lint(files, options, around));
  });
}

async function lint(files: readonly string[], options: Options, around: Surroundings): Promise<ExitCode> {
  const { documents } = await readObjectFiles(files, around, (file) => !isSuiteFile(file));
  const { documents: definitions } = await readObjectFiles(options.crd, around);
  const found = await lintDocuments(documents, {
    definitions: [...documents, ...definitions].map(({ object }) => object),
    kubeVersion: options.kubeVersion,
  });
  if (found.length === 0) {
    throw new GateError(
      'GATE_INPUT_FILE',
      `${files.join(', ')}: there is no policy and no binding in it: give some`,
    );
  }
  await show(around, options.output, found, plain(textOf(found)));
  const isNo = ({ status, warnings, typeWarnings }: Linted): boolean =>
    status !== undefined || (options.strict === true && warnings.length + typeWarnings.length > 0);
  return found.some(isNo) ? EXIT.no : EXIT.ok;
}

function textOf(found: readonly Linted[]): string {
  const refused = found.filter(({ status }) => status !== undefined).length;
  const warnings = found.reduce((sum, one) => sum + one.warnings.length + one.typeWarnings.length, 0);
  const last = `${String(found.length - refused)} would be taken, ${String(refused)} refused, ${String(warnings)} ${warnings === 1 ? 'warning' : 'warnings'}`;
  return [...found.map(blockOf), '', last].join('\n');
}

/** As kubectl would show it, and below that the type checking, whose text has several lines. */
function blockOf({ file, kind, name, status, warnings, typeWarnings, notes }: Linted): string {
  const isFine = status === undefined && warnings.length + typeWarnings.length === 0;
  return [
    `${file === '-' ? 'standard input' : file}: ${kind} ${name}${isFine ? ': ok' : ''}`,
    ...warnings.map((text) => `  Warning: ${text}`),
    ...(status === undefined ? [] : indented(kubectlError(status))),
    ...typeWarnings.flatMap(({ fieldRef, warning }) => [
      `  Type check: ${fieldRef}: ${firstLine(warning)}`,
      ...indented(warning.trimEnd().split('\n').slice(1).join('\n'), '    '),
    ]),
    ...notes.map((text) => `  Note: ${text}`),
  ].join('\n');
}

function firstLine(text: string): string {
  return text.split('\n', 1)[0] ?? '';
}

function indented(text: string, by = '  '): readonly string[] {
  return text === '' ? [] : text.split('\n').map((line) => `${by}${line}`);
}
