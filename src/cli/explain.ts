import type { Command } from 'commander';
import { suggest } from '../config-suggest.ts';
import { ERROR_CODES, GateError, quote } from '../errors.ts';
import { PREFLIGHT_CODES } from '../install/preflight/preflight-finding.ts';
import { CONTRACT_FINDINGS } from '../policies/contract/findings.ts';
import { CONTRACT_STATUSES } from '../policies/contract/status-ladder.ts';
import { FINDING_CODES } from '../policies/finding.ts';
import { LINT_CODES } from '../policies/vap/lint-finding.ts';
import { COMMAND_FINDINGS } from './contract-findings.ts';
import { readExplanations, type Explanation } from './explanations.ts';
import { addOutputOption, EXIT, show, table, type ExitCode, type OutputFormat } from './output.ts';
import type { Surroundings } from './surroundings.ts';

interface Explained extends Explanation {
  readonly code: string;
  /** What has the code: an error of ours, a denial, a contract, or a finding of a contract, of lint or of preflight. */
  readonly of: 'error' | 'denial' | 'status' | 'finding' | 'lint' | 'preflight';
  /** What is done with the error, or how severe the finding is. */
  readonly kind?: string;
}

interface Group {
  readonly heading: string;
  readonly codes: readonly Explained[];
}

export function define(command: Command, around: Surroundings, finish: (code: ExitCode) => void): void {
  command.argument(
    '[code]',
    'a code of an error, a denial or a finding (contracts, lint, preflight), or a status; without it, all of them',
  );
  addOutputOption(command);
  command.addHelpText(
    'after',
    `
The texts are those of docs/errors.md, docs/findings.md, docs/lint.md and docs/preflight.md.

Examples:
  pacto-gate explain INTERFACE_ABSENT
  pacto-gate explain Unknown
  pacto-gate explain LINT_FIELD_UNGUARDED
  pacto-gate explain GATE_UNSYNCED
  pacto-gate explain`,
  );
  command.action(async (code: string | undefined, { output }: { readonly output: OutputFormat }) => {
    const groups = await explained();
    const all = groups.flatMap(({ codes }) => codes);
    if (code === undefined) {
      await show(around, output, all, groups.map(listOf).join('\n\n'));
    } else {
      const one = find(all, code);
      await show(around, output, one, textOf(one));
    }
    finish(EXIT.ok);
  });
}

async function explained(): Promise<readonly Group[]> {
  const { errors, denials, statuses, contracts, commands, lint, preflight } = await readExplanations();
  const group = (heading: string, codes: readonly Explained[]): Group => ({ heading, codes });
  const names = Object.fromEntries(CONTRACT_STATUSES.map((status) => [status, status]));
  return [
    group(
      'Denials of requests',
      explain(FINDING_CODES, denials, () => ({ of: 'denial' })),
    ),
    group(
      'Errors, and what is done with each',
      explain(ERROR_CODES, errors, (kind) => ({ of: 'error', kind })),
    ),
    group(
      'Statuses of contracts',
      explain(names, statuses, () => ({ of: 'status' })),
    ),
    group(
      'Findings of contracts',
      explain(severitiesOf(CONTRACT_FINDINGS), contracts, (kind) => ({ of: 'finding', kind })),
    ),
    group(
      'Findings of commands about contracts',
      explain(COMMAND_FINDINGS, commands, (_what, { text }) => ({ of: 'finding', kind: severityIn(text) })),
    ),
    group(
      'Findings of lint',
      explain(LINT_CODES, lint, (kind) => ({ of: 'lint', kind })),
    ),
    group(
      'Findings of preflight',
      explain(PREFLIGHT_CODES, preflight, (kind) => ({ of: 'preflight', kind })),
    ),
  ];
}

/** A group for a person: its heading, and a row for each. */
function listOf({ heading, codes }: Group): string {
  const rows = codes.map(({ code, kind, summary }) =>
    kind === undefined ? [code, summary] : [code, kind, summary],
  );
  return `${heading}:\n${table(rows).replace(/^/gm, '  ')}`;
}

/** Of a section of docs/findings.md, which begins with it: `Warning. …`. */
function severityIn(text: string): string {
  const [severity = 'error'] = /^\w+/.exec(text) ?? [];
  return severity.toLowerCase();
}

function explain(
  codes: Readonly<Record<string, string>>,
  explanations: ReadonlyMap<string, Explanation>,
  of: (value: string, explanation: Explanation) => Pick<Explained, 'of' | 'kind'>,
): readonly Explained[] {
  return Object.entries(codes).flatMap(([code, value]) => {
    const explanation = explanations.get(code);
    return explanation === undefined ? [] : [{ code, ...of(value, explanation), ...explanation }];
  });
}

function severitiesOf(findings: typeof CONTRACT_FINDINGS): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(findings).map(([code, { severity }]) => [code, severity]));
}

/** @throws GateError GATE_INPUT_FILE for a code that nobody has */
function find(all: readonly Explained[], text: string): Explained {
  // As it is copied out of a log line or a denial.
  const code = text
    .replace(/^\[|\]$/g, '')
    .replace(/[\s-]+/g, '_')
    .toUpperCase();
  // `NonCompliant` as `non-compliant`, too.
  const plainly = (written: string): string => written.replaceAll('_', '').toUpperCase();
  const found = all.find((one) => plainly(one.code) === plainly(code));
  if (found !== undefined) return found;
  const codes = all.map((one) => one.code);
  const near = codes.filter((one) => one.includes(code) || code.includes(one));
  const hint =
    near.length === 0 ? 'pacto-gate explain lists all' : `did you mean ${near.slice(0, 3).join(', ')}`;
  const meant = near.length === 0 ? suggest(code, codes) : '';
  throw new GateError('GATE_INPUT_FILE', `there is no code ${quote(text)}${meant}: ${hint}`);
}

function textOf({ code, of, kind, text, background = [] }: Explained): string {
  return [
    `${code} (${of}${kind === undefined ? '' : `, ${kind}`})`,
    '',
    withoutLinks(text),
    ...background.flatMap((part) => ['', `${part.heading}:`, '', withoutLinks(part.text)]),
  ].join('\n');
}

/** In a terminal there is nothing to follow: what is on the same page stands below, and of others the address is said. */
function withoutLinks(markdown: string): string {
  return markdown.replace(/\[([^\]]+)\]\(([^)\s]+)\)/g, (_link, label: string, target: string) => {
    if (target.startsWith('#')) return `${label} (below)`;
    const address = target.includes(':') ? target : `docs/${target}`;
    return label === target.split('#')[0] ? address : `${label} (${address})`;
  });
}
