/** What the scenario `policies` measured, as budgets and as a section of the page. */
import { atMost, below, digits, type BudgetRow } from '../budget-row.ts';
import { section, table } from '../page.ts';
import type { BenchResult, PoliciesResult, PolicyTimes } from '../result.ts';
import { geometricMean, type Sides } from './timing.ts';

/** Design §6. */
const EVALUATION_LIMIT = 0.15;
const PATTERNS_LIMIT = 2;
const COMPILATION_LIMIT = 0.25;
const REQUEST_LIMITS_MS: Readonly<Record<number, number>> = { 16: 1, 64: 3 };
const STALL_LIMIT_MS = 60;
const BYTES_LIMIT = 20_000;

const ratioOf = ({ ours, theirs }: Sides): number => ours / theirs;

export function policyBudgets({ policies }: BenchResult): readonly BudgetRow[] {
  if (policies === undefined) return [];
  const { requests, stall, engines } = policies;
  return [
    ...peerBudgets(policies.peer ?? []),
    ...engines
      .filter((engine) => !engine.hasPatterns && engine.expressions > 0)
      .map(({ name, ratio }) =>
        below('an expression with its review, geometric mean', 1, ratio, ` × ${name}`),
      ),
    ...requests.map(({ policies: count, p99Ms }) =>
      below(`p99 of ${count} policies on 4 KiB, in process`, REQUEST_LIMITS_MS[count] ?? 0, p99Ms, ' ms'),
    ),
    below('longest stall by a hostile expression', STALL_LIMIT_MS, stall.ms, ' ms'),
    below('memory of a compiled expression', BYTES_LIMIT, policies.bytesPerExpression, ' bytes'),
  ];
}

function peerBudgets(peer: readonly PolicyTimes[]): readonly BudgetRow[] {
  if (peer.length === 0) return [];
  const row = (
    what: string,
    limit: number,
    times: readonly PolicyTimes[],
    of: (one: PolicyTimes) => Sides,
  ) =>
    times.length === 0
      ? []
      : [
          atMost(
            `${what}, geometric mean`,
            limit,
            geometricMean(times.map((one) => ratioOf(of(one)))),
            ' × Go',
          ),
        ];
  const plain = peer.filter((one) => !one.hasPatterns);
  const patterns = peer.filter((one) => one.hasPatterns);
  const disagreeing = peer.filter((one) => !one.agree).length;
  return [
    ...row('evaluation of real policies', EVALUATION_LIMIT, plain, (one) => one.evaluation),
    ...row('evaluation of those with patterns', PATTERNS_LIMIT, patterns, (one) => one.evaluation),
    ...row('compilation with types', COMPILATION_LIMIT, peer, (one) => one.compilation),
    {
      what: 'real policies with another verdict than Go',
      budget: '0',
      measured: String(disagreeing),
      met: disagreeing === 0,
    },
  ];
}

export function policySection({ policies }: BenchResult): string {
  if (policies === undefined) return '';
  const text =
    'In one process, without a server. Go is the API server’s own code for ValidatingAdmissionPolicy, with types and ' +
    'limits of cost, on the same requests in turn; it is not charged for matching and parameters, we are. Other ' +
    'engines are compared on those recorded expressions for which they give what the API server gives, from the ' +
    'bytes of the review to the value.';
  return section(
    'Policies',
    text,
    [...peerTables(policies), engineTable(policies), costs(policies)].join('\n\n'),
  );
}

function peerTables({ peer, leftOut }: PoliciesResult): readonly string[] {
  if (peer === undefined) return leftOut === undefined ? [] : [`Left out: ${leftOut}.`];
  const rows = peer.map(({ name, requests, hasPatterns, evaluation, compilation }) => [
    hasPatterns ? `${name} (patterns)` : name,
    String(requests),
    ...cells(evaluation),
    ...cells(compilation),
  ]);
  const heads = ['policy', 'requests', 'µs', 'Go µs', 'ours ÷ Go', 'compile µs', 'Go µs', 'ours ÷ Go'];
  return [table(heads, rows)];
}

function cells(sides: Sides): readonly string[] {
  return [digits(sides.ours), digits(sides.theirs), digits(ratioOf(sides))];
}

function engineTable({ engines }: PoliciesResult): string {
  const rows = engines.map(({ name, hasPatterns, expressions, tried, ratio }) => [
    name,
    hasPatterns ? 'with patterns' : 'without patterns',
    `${expressions} of ${tried}`,
    expressions === 0 ? '-' : digits(ratio),
  ]);
  return table(['engine', 'expressions', 'same result', 'ours ÷ theirs'], rows);
}

function costs({ requests, stall, bytesPerExpression }: PoliciesResult): string {
  const lines = requests.map(
    ({ policies: count, p50Ms, p99Ms }) =>
      `- ${count} policies on a review of 4 KiB: p50 ${digits(p50Ms)} ms, p99 ${digits(p99Ms)} ms`,
  );
  return [
    ...lines,
    `- longest stall: ${digits(stall.ms)} ms, of \`${stall.expression}\``,
    `- a compiled expression keeps ${digits(bytesPerExpression / 1000)} kB`,
  ].join('\n');
}
