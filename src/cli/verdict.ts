import type { Command } from 'commander';
import { readAtMost, readStreamAtMost } from '../bounded-file.ts';
import { GateError, quote } from '../errors.ts';
import { JsonError, readJson } from '../json.ts';
import { evaluate } from '../policies/contract/evaluate.ts';
import { decodeEvidence, evidenceProblems } from '../policies/contract/evidence.ts';
import type { Finding } from '../policies/contract/findings.ts';
import { assessReadiness, type ReadinessResult } from '../policies/contract/readiness.ts';
import { contractStatus, type ContractStatus, type Coverage } from '../policies/contract/status-ladder.ts';
import { structuralFindings } from '../policies/contract/validate.ts';
import type { EvidenceSet } from '../policies/observation.ts';
import { counted, linesOf, parseError, placed, saidOfFinding, type Said } from './contract-findings.ts';
import { addOverrideOptions, BUNDLE_HELP, parseInstant, type OverrideOptions } from './contract-options.ts';
import { addConfigOptions } from './config-options.ts';
import { titleOf, withContracts, type ContractSession, type ReadResult } from './contract-session.ts';
import { unreadable } from './input-file.ts';
import { addOutputOption, EXIT, plain, show, type ExitCode, type OutputFormat } from './output.ts';
import type { Surroundings } from './surroundings.ts';

/** As large as an envelope with evidence may be is 1 MiB (contract.md §14.1); written with spaces it is some more. */
const MAX_EVIDENCE_BYTES = 8 * 1024 * 1024;
const NOTHING: Coverage = { evaluated: 0, required: 0 };

interface Options extends OverrideOptions {
  readonly namespace?: string;
  readonly evidence?: string;
  readonly runtimeOnly?: true;
  readonly strict?: true;
  readonly now?: Date;
  readonly output: OutputFormat;
}

interface Verdict {
  readonly bundle: string;
  readonly service?: { readonly name: string; readonly version: string };
  readonly status: ContractStatus;
  readonly findings: readonly Finding[];
  readonly coverage: Coverage;
  readonly readiness?: ReadinessResult;
}

export function define(command: Command, around: Surroundings, finish: (code: ExitCode) => void): void {
  command
    .argument(
      '<bundle or name>',
      'where the contract is, or with --namespace a Pacto of a cluster; see below',
    )
    .option(
      '-n, --namespace <namespace>',
      'of the Pacto to look at in a cluster: everything is read now, and nothing is written',
    );
  addOverrideOptions(command);
  command
    .option('-e, --evidence <file>', 'what was seen of the service, as JSON; - reads standard input')
    .option('--runtime-only', 'judge by the evidence alone: what is loose in the contract itself is left out')
    .option('--strict', 'let Warning be a no, too')
    .option(
      '--now <time>',
      'the instant that readiness is assessed for, RFC 3339 (default: now)',
      parseInstant,
    );
  addOutputOption(command);
  const given = addConfigOptions(command, ['cluster', 'reconciler', 'registry']);
  command.addHelpText(
    'after',
    `
${BUNDLE_HELP}

Compares a contract with evidence, as the reconciler does: policies that lie elsewhere are not fetched. Without evidence the
status is Reference for a contract that declares no workload, else NotEvaluated. docs/findings.md says what evidence looks
like.

With --namespace the argument is the name of a Pacto in the cluster that the configuration names (or in the files of
--cluster-directory), and the evidence is what the cluster shows now; docs/observations.md says what is looked at.

Exits with 0 for Compliant, Warning and Reference, 1 for NonCompliant and Invalid (with --strict also Warning), 3 for
Unknown and NotEvaluated.

Examples:
  pacto-gate verdict examples/contracts/cart --evidence examples/evidence/cart-as-promised.json
  pacto-gate verdict oci://registry.example/shop/cart:1.4.0 --evidence - --output json
  pacto-gate verdict cart --namespace shop --cluster-directory examples/cluster
  pacto-gate verdict cart --namespace shop --output yaml`,
  );
  command.action(async (bundle: string, options: Options) => {
    const config = await given.read(around, command, problemsOf(bundle, options));
    if (config !== undefined && options.namespace !== undefined) {
      const { runClusterVerdict } = await import('./verdict-cluster.ts');
      finish(await runClusterVerdict(bundle, { ...options, namespace: options.namespace }, config, around));
      return;
    }
    finish(
      config === undefined
        ? EXIT.usage
        : await withContracts(config, around, (session) => runVerdict(bundle, options, session, around)),
    );
  });
}

function problemsOf(bundle: string, options: Options): readonly string[] {
  if (options.namespace === undefined)
    return bundle === '-' && options.evidence === '-'
      ? ['contract and evidence cannot both be on standard input']
      : [];
  const foreign = [
    ...(options.evidence === undefined ? [] : ['--evidence']),
    ...(options.values.length === 0 ? [] : ['--values']),
    ...(options.set.length === 0 ? [] : ['--set']),
    ...(options.now === undefined ? [] : ['--now']),
    ...(options.runtimeOnly === undefined ? [] : ['--runtime-only']),
  ];
  return foreign.map((flag) => `${flag} is for a bundle: with --namespace the cluster says what is`);
}

async function runVerdict(
  bundle: string,
  options: Options,
  session: ContractSession,
  around: Surroundings,
): Promise<ExitCode> {
  const evidence = options.evidence === undefined ? undefined : await readEvidence(options.evidence, around);
  const read = await session.read(bundle, options);
  if (!read.ok) {
    const verdict: Verdict = { bundle, status: 'Invalid', findings: [], coverage: NOTHING };
    const said = placed([parseError(read)], read.lines);
    await show(around, options.output, { ...verdict, findings: said }, textOf(verdict, said, quote(bundle)));
    return EXIT.no;
  }
  const readiness = assessReadiness(read.contract.readiness, options.now ?? new Date(around.clock.now()));
  const verdict: Verdict = {
    bundle,
    service: { name: read.contract.service.name, version: read.contract.service.version },
    ...(await judge(read, evidence, options, session)),
    ...(readiness !== undefined && { readiness }),
  };
  const said = placed(verdict.findings.map(saidOfFinding), read.lines);
  const findings = verdict.findings.map((finding, index) => {
    const line = said[index]?.line;
    return line === undefined ? finding : { ...finding, line };
  });
  await show(around, options.output, { ...verdict, findings }, textOf(verdict, said, titleOf(read.contract)));
  return exitOf(verdict.status, options.strict === true);
}

/** contract.md §7.4, as far as it needs no cluster. */
async function judge(
  read: Extract<ReadResult, { readonly ok: true }>,
  evidence: EvidenceSet | undefined,
  { runtimeOnly }: Options,
  session: ContractSession,
): Promise<Pick<Verdict, 'status' | 'findings' | 'coverage'>> {
  const { contract } = read;
  const result = await session.validate(read, false);
  const structural = structuralFindings(result);
  if (result.errors.length > 0) return { status: 'Invalid', findings: structural, coverage: NOTHING };
  if (evidence === undefined) {
    // Views without a cluster (contract.md §7.2).
    const status = contract.workload === undefined ? 'Reference' : 'NotEvaluated';
    return { status, findings: structural, coverage: NOTHING };
  }
  const { findings, coverage } = evaluate(contract, evidence);
  const inScope = runtimeOnly === true ? [] : structural;
  const status = contractStatus({ structural: inScope, reference: false, findings, coverage });
  return { status, findings: [...inScope, ...findings], coverage };
}

async function readEvidence(file: string, around: Surroundings): Promise<EvidenceSet> {
  const bytes = await (
    file === '-' ? readStreamAtMost(around.stdin, MAX_EVIDENCE_BYTES) : readAtMost(file, MAX_EVIDENCE_BYTES)
  ).catch((error: unknown) => {
    throw unreadable(file === '-' ? 'standard input' : file, error);
  });
  const decoded = decodeEvidence(parse(file, bytes));
  const problems = decoded.ok ? evidenceProblems(decoded.evidence) : [decoded.reason];
  if (decoded.ok && problems.length === 0) return decoded.evidence;
  throw wrong(file, `it is no evidence: ${problems.slice(0, 10).join('; ')}. docs/findings.md shows some`);
}

function parse(file: string, bytes: Buffer): unknown {
  try {
    return readJson(bytes);
  } catch (error) {
    if (error instanceof JsonError) throw wrong(file, error.message);
    throw error;
  }
}

function wrong(file: string, what: string): GateError {
  return new GateError('GATE_INPUT_FILE', `evidence ${file === '-' ? 'on standard input' : file}: ${what}`);
}

function textOf({ status, coverage, readiness }: Verdict, said: readonly Said[], title: string): string {
  const { evaluated, required } = coverage;
  const seen = required === 0 ? '' : `${String(evaluated)} of ${String(required)} evaluated, `;
  return [
    ...linesOf(said),
    ...(readiness === undefined ? [] : [`  readiness ${readinessText(readiness)}`]),
    plain(`${title}: ${status}: ${seen}${counted(said)}`),
  ].join('\n');
}

/** `72 of 100, need 70: passes until 2027-06-30`. */
export function readinessText({ score, minScore, expires, expired, passing }: ReadinessResult): string {
  if (expired) return `expired: it held until ${plain(expires)}`;
  return `${String(score)} of 100, need ${String(minScore)}: ${passing ? 'passes' : 'fails'}, holds until ${plain(expires)}`;
}

function exitOf(status: ContractStatus, strict: boolean): ExitCode {
  switch (status) {
    case 'Compliant':
    case 'Reference':
      return EXIT.ok;
    case 'Warning':
      return strict ? EXIT.no : EXIT.ok;
    case 'NonCompliant':
    case 'Invalid':
      return EXIT.no;
    case 'Unknown':
    case 'NotEvaluated':
      return EXIT.unknown;
  }
}
