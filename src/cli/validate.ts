import { Option, type Command } from 'commander';
import { assessReadiness, type ReadinessResult } from '../policies/contract/readiness.ts';
import {
  counted,
  countOf,
  linesOf,
  parseError,
  placed,
  saidOf,
  sarifOf,
  type Said,
} from './contract-findings.ts';
import {
  addOverrideOptions,
  addRegistryOptions,
  BUNDLE_HELP,
  parseInstant,
  type OverrideOptions,
} from './contract-options.ts';
import { withContracts, type ContractSession, type ReadResult } from './contract-session.ts';
import { readExplanations } from './explanations.ts';
import { referenceWarnings } from './reference-warnings.ts';
import { EXIT, plain, show, type ExitCode, type OutputFormat } from './output.ts';
import { sarif } from './sarif.ts';
import type { Surroundings } from './surroundings.ts';

interface Options extends OverrideOptions {
  readonly readiness?: true;
  readonly offline?: true;
  readonly now?: Date;
  readonly output: OutputFormat | 'sarif';
}

/** Of one contract: what `--output json` shows. */
interface Validated {
  readonly bundle: string;
  readonly reference?: string;
  readonly digest?: string;
  readonly service?: { readonly name: string; readonly version: string };
  readonly valid: boolean;
  /** Not valid only because a registry could not be asked for a policy. */
  readonly undecided?: true;
  readonly errors: readonly Said[];
  readonly warnings: readonly Said[];
  readonly readiness?: ReadinessResult;
}

export function define(command: Command, around: Surroundings, finish: (code: ExitCode) => void): void {
  command.argument('<bundle>', 'where the contract is; see below');
  addOverrideOptions(command);
  command
    .option('--readiness', 'let a readiness section that is expired or below its score be an error')
    .option(
      '--now <time>',
      'the instant that readiness is assessed for, RFC 3339 (default: now)',
      parseInstant,
    )
    .option('--offline', 'fetch nothing: policies that lie elsewhere are warned of and not enforced')
    .addOption(
      new Option('-o, --output <format>', 'how the result is written')
        .choices(['text', 'json', 'yaml', 'sarif'])
        .default('text'),
    );
  const given = addRegistryOptions(command);
  command.addHelpText(
    'after',
    `
${BUNDLE_HELP}

Checks a contract in three layers: its shape, what its parts and files say of each other, and the policies that it names.
A layer that finds an error is the last. Exits with 0 where there is no error, 1 where there is one, 3 where a registry
could not be asked for the contract, or for a policy while nothing else is wrong.

Examples:
  pacto-gate validate .
  pacto-gate validate examples/contracts/cart --readiness --set service.version=1.4.1
  pacto-gate validate oci://registry.example/shop/cart:1.4.0 --output sarif`,
  );
  command.action(async (bundle: string, options: Options) => {
    const config = await given.read(around, command);
    if (config === undefined) {
      finish(EXIT.usage);
      return;
    }
    finish(await withContracts(config, around, (session) => runValidate(bundle, options, session, around)));
  });
}

async function runValidate(
  bundle: string,
  options: Options,
  session: ContractSession,
  around: Surroundings,
): Promise<ExitCode> {
  const read = await session.read(bundle, options);
  const now = options.now ?? new Date(around.clock.now());
  const readiness = read.ok ? assessReadiness(read.contract.readiness, now) : undefined;
  const result = await findingsOf(read, options, session);
  const said = [...result, ...(options.readiness === true ? unmet(readiness) : [])];
  const undecided = isUndecided(said, session);
  const shown = placed(said, read.lines);
  if (options.output === 'sarif') await showSarif(shown, read.given.file, around);
  else {
    const errors = shown.filter(({ severity }) => severity === 'error');
    const value: Validated = {
      bundle,
      ...(read.given.reference !== undefined && { reference: read.given.reference }),
      ...(read.given.digest !== undefined && { digest: read.given.digest }),
      ...(read.ok && {
        service: { name: read.contract.service.name, version: read.contract.service.version },
      }),
      valid: errors.length === 0,
      ...(undecided && { undecided }),
      errors,
      warnings: shown.filter(({ severity }) => severity === 'warning'),
      ...(readiness !== undefined && { readiness }),
    };
    await show(around, options.output, value, textOf(bundle, shown, read, undecided));
  }
  if (countOf(said, 'error') === 0) return EXIT.ok;
  return undecided ? EXIT.unknown : EXIT.no;
}

/** Nothing is known to be wrong but that policies could not be fetched, and that for a reason that may pass. */
function isUndecided(said: readonly Said[], { hasUnanswered }: ContractSession): boolean {
  const errors = said.filter(({ severity }) => severity === 'error');
  return hasUnanswered && errors.every(({ code }) => code === 'POLICY_REF_UNRESOLVED');
}

async function findingsOf(
  read: ReadResult,
  { offline }: Options,
  session: ContractSession,
): Promise<readonly Said[]> {
  if (!read.ok) return [parseError(read)];
  const result = await session.validate(read, offline !== true);
  return [...saidOf(result), ...referenceWarnings(read.contract)];
}

/** `validate --readiness` (contract.md §8.4). */
function unmet(readiness: ReadinessResult | undefined): readonly Said[] {
  if (readiness === undefined || readiness.passing) return [];
  const { expired, expires, score, minScore } = readiness;
  const message = expired
    ? `it expired: it holds until ${expires}`
    : `its score is ${String(score)}, need ${String(minScore)}`;
  return [{ code: 'READINESS_GATE_UNMET', severity: 'error', path: 'readiness', message }];
}

function textOf(
  bundle: string,
  said: readonly Said[],
  { ok, given }: ReadResult,
  undecided: boolean,
): string {
  const word = undecided ? 'undecided' : countOf(said, 'error') > 0 ? 'invalid' : 'valid';
  const alone =
    ok && given.files === undefined ? ' (no bundle: nothing that needs its files was checked)' : '';
  const from = given.digest === undefined ? '' : ` (${given.reference ?? given.name}, ${given.digest})`;
  return [...linesOf(said), plain(`${bundle}: ${word}: ${counted(said)}${alone}${from}`)].join('\n');
}

async function showSarif(said: readonly Said[], file: string, around: Surroundings): Promise<void> {
  const { contracts, commands } = await readExplanations();
  const describe = (code: string): string | undefined => (contracts.get(code) ?? commands.get(code))?.summary;
  await show(around, 'json', sarif(sarifOf(said, file), describe), '');
}
