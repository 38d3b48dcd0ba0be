/** A result as a readable page. Pure: the same result gives the same text. */
import { digits } from './budget-row.ts';
import { budgetRows } from './budgets.ts';
import { contractSection } from './contracts/report.ts';
import { section, table } from './page.ts';
import { policySection } from './policies/report.ts';
import { policyChangeSection } from './policy-changes/report.ts';
import { reconcileSection } from './reconcile/report.ts';
import type { BenchResult, HighestRate, Pair, Round } from './result.ts';
import { median, spread } from './statistics.ts';

const MIB = 1024 * 1024;
/** With one process always ready to run beside ours, latencies are those of the other work. */
const BUSY_LOAD = 1;
const BUSY_NOTE = ': **the machine was busy with other work, so read ratios and failures, not times**';

/** The whole page in Markdown, as it is kept in docs/benchmarks.md. */
export function renderReport(result: BenchResult): string {
  const sections = [
    introduction(result),
    budgets(result),
    policySection(result),
    contractSection(result),
    rates(result),
    highest(result),
    bodies(result),
    large(result),
    bursts(result),
    processes(result),
    rollout(result),
    policyChangeSection(result),
    reconcileSection(result),
  ];
  return `${sections.filter((section) => section !== '').join('\n\n')}\n`;
}

const gibibytes = (bytes: number): string => `${digits(bytes / 1024 / MIB)} GiB`;
const mebibytes = (bytes: number): string => digits(bytes / MIB);

function introduction(result: BenchResult): string {
  const { machine, versions } = result;
  const [before, after] = machine.loadAverage;
  const listed = Object.entries(versions).map(([name, version]) => `${name} ${version}`);
  return [
    '# Benchmarks',
    '',
    'Written by `npm run bench -- --write-docs` and not by hand. Each number is of one run, ours and the bare baseline',
    'in turn on the same machine. *Bare* is a `node:https` server that parses the review, allows it and does nothing',
    'else: what we cost is what we take on top of it. Load is open loop: latency counts from the moment a request was',
    'due, so a server that stalls is charged for all that should have been sent meanwhile. Numbers of several rounds',
    'are medians, with the smallest and the largest in parentheses. Our server has sixteen policies loaded; a review of a',
    'Pod is decided by one of them, in turn (of a Lease or anything else by node identity).',
    '',
    `- ${result.startedAt.slice(0, 10)}, a ${result.mode} run of ${Math.round(result.seconds)} s`,
    `- ${machine.cores} cores of ${machine.model}, ${gibibytes(machine.memoryBytes)}, ${machine.platform}; ` +
      (machine.pinned
        ? 'server on one core, load generator on the other'
        : 'server and load generator not kept apart'),
    `- ${listed.join(', ')}`,
    `- load average ${digits(before)} before and ${digits(after)} after${before >= BUSY_LOAD ? BUSY_NOTE : ''}`,
    `- ${loaderLine(result)}`,
  ].join('\n');
}

function loaderLine({ loader }: BenchResult): string {
  if (loader === undefined) return 'the load generator was not measured in this run';
  const { round, neededPerSecond } = loader;
  const achieved = `${Math.round(round.achievedPerSecond)} of ${neededPerSecond} requests/s`;
  return loaderIsEnough(loader)
    ? `the load generator reached ${achieved} against the baseline, twice the highest rate below`
    : `**the load generator reached only ${achieved} against the baseline: at high rates it was the limit itself**`;
}

/** At twice the highest rate the generator must neither lose requests nor fall behind its own schedule. */
function loaderIsEnough({ round, neededPerSecond }: NonNullable<BenchResult['loader']>): boolean {
  return round.failed === 0 && round.achievedPerSecond >= 0.97 * neededPerSecond;
}

function budgets(result: BenchResult): string {
  const rows = budgetRows(result).map((row) => [
    row.what,
    row.budget,
    row.measured,
    row.met ? 'yes' : '**no**',
  ]);
  return rows.length === 0 ? '' : section('Budgets', '', table(['what', 'budget', 'measured', 'met'], rows));
}

function over(rounds: readonly Round[], of: (round: Round) => number): string {
  if (rounds.length === 0) return '-';
  const { median: middle, min, max } = spread(rounds.map(of));
  return rounds.length === 1 ? digits(middle) : `${digits(middle)} (${digits(min)}–${digits(max)})`;
}

const failures = (rounds: readonly Round[]): string => {
  const failed = rounds.reduce((sum, round) => sum + round.failed, 0);
  if (failed === 0) return '0';
  const reasons = new Set(rounds.flatMap((round) => Object.keys(round.failures)));
  return `${failed}: ${[...reasons].join(', ')}`;
};

/** Two lines of one case, ours above bare. */
function pairRows(
  first: readonly string[],
  { ours, bare }: Pair<readonly Round[]>,
): readonly (readonly string[])[] {
  const blank = first.map(() => '');
  return [
    [...first, 'ours', ...latencyCells(ours)],
    [...blank, 'bare', ...latencyCells(bare)],
  ];
}

function latencyCells(rounds: readonly Round[]): readonly string[] {
  return [
    over(rounds, (round) => round.p50Ms),
    over(rounds, (round) => round.p95Ms),
    over(rounds, (round) => round.p99Ms),
    over(rounds, (round) => round.maxMs),
    over(rounds, (round) => round.cpuMsPerRequest * 1000),
    failures(rounds),
  ];
}

const LATENCY_HEADS = ['', 'p50 ms', 'p95 ms', 'p99 ms', 'max ms', 'CPU µs a request', 'failed'];

function rates({ rates: results }: BenchResult): string {
  if (results === undefined) return '';
  const rows = results.flatMap((one) =>
    pairRows(
      [
        `${one.ratePerSecond}/s`,
        one.connections === 'each' ? 'one a request' : String(one.connections),
        one.body,
      ],
      one.rounds,
    ),
  );
  return section('Fixed rates', '', table(['rate', 'connections', 'body', ...LATENCY_HEADS], rows));
}

const HIGHEST_TEXT =
  'An API server asks once for each policy (an entry each), so one write that sixteen policies match is sixteen ' +
  'requests: of those, one of the sixteen is asked in turn. Beside it, the work of all sixteen in one request: ours as ' +
  'one policy that has all their variables and validations, Go as sixteen policies that it evaluates one after the ' +
  'other. The webhook in Go is an HTTPS server that evaluates the same policies by the API server’s own packages; it ' +
  'matches nothing and looks nothing up, we do.';

function highest({ highest: found }: BenchResult): string {
  if (found === undefined) return '';
  const row = (what: string, side: string, rate: HighestRate | undefined, policies: number) =>
    rate === undefined
      ? []
      : [
          [
            what,
            side,
            `${rate.perSecond}${rate.atBound ? ', the highest that is tried' : ''}`,
            policies === 0 ? '-' : String(rate.perSecond * policies),
          ],
        ];
  const { one, all, bare, leftOut } = found;
  const rows = [
    ...row('one of 16 policies a request', 'ours', one.ours, 1),
    ...row('', 'Go', one.go, 1),
    ...row('the work of 16 policies a request', 'ours', all.ours, 16),
    ...row('', 'Go', all.go, 16),
    ...row('no policy', 'bare', bare, 0),
  ];
  const heads = ['what', '', 'requests/s', 'policies evaluated/s'];
  return section(
    'Highest rate with p99 < 10 ms and no failure',
    HIGHEST_TEXT,
    table(heads, rows) + (leftOut === undefined ? '' : `\n\nLeft out: ${leftOut}.`),
  );
}

function bodies({ bodies: results }: BenchResult): string {
  if (results === undefined) return '';
  const rows = results.flatMap((one) => pairRows([one.body, digits(one.bytes / 1024)], one.rounds));
  const rate = results[0]?.ratePerSecond ?? 0;
  return section('Bodies', `${rate} requests/s each.`, table(['body', 'KiB', ...LATENCY_HEADS], rows));
}

function large({ large: results, parallel }: BenchResult): string {
  const parts: string[] = [];
  if (results !== undefined) {
    const rows = results.flatMap((one) => [
      ...pairRows([`${one.body}, ${one.ratePerSecond}/s`, mebibytes(one.bytes)], one.rounds),
      ...pairRows([`4 KiB beside it, ${one.besidesPerSecond}/s`, ''], one.besides),
    ]);
    parts.push(table(['body', 'MiB', ...LATENCY_HEADS], rows));
  }
  if (parallel !== undefined) {
    const row = (side: 'ours' | 'bare'): readonly string[] => {
      const run = parallel.runs[side];
      return [side, mebibytes(run.before), mebibytes(run.peak), digits(run.maxMs), String(run.failed)];
    };
    const rows = [row('ours'), row('bare')];
    parts.push(
      `${parallel.requests} of ${parallel.body} at once, three times:`,
      table(['', 'MiB resident before', 'MiB at the peak', 'slowest ms', 'failed'], rows),
    );
  }
  return parts.length === 0 ? '' : section('Large reviews', '', parts.join('\n\n'));
}

function bursts({ bursts: results }: BenchResult): string {
  if (results === undefined) return '';
  const rows = results.flatMap((one) => pairRows([`${one.requests}`, `${one.connections}`], one.rounds));
  return section('Bursts at one instant', '', table(['requests', 'connections', ...LATENCY_HEADS], rows));
}

function processes({ coldStart, memory }: BenchResult): string {
  const rows: (readonly string[])[] = [];
  const add = (what: string, ours: number, bare: number): void => {
    rows.push([what, digits(ours), digits(bare), digits(ours / bare)]);
  };
  if (coldStart !== undefined) {
    add('cold start to the first answered review, ms', median(coldStart.ours), median(coldStart.bare));
  }
  if (memory !== undefined) {
    add('resident memory idle, MiB', memory.ours.idleBytes / MIB, memory.bare.idleBytes / MIB);
    add(
      'resident memory after load, MiB',
      memory.ours.afterLoadBytes / MIB,
      memory.bare.afterLoadBytes / MIB,
    );
    const { ours, bare } = memory;
    rows.push(['idle CPU, % of a core', digits(ours.idleCpuPercent), digits(bare.idleCpuPercent), '']);
  }
  return rows.length === 0
    ? ''
    : section('Process', '', table(['what', 'ours', 'bare', 'ours ÷ bare'], rows));
}

function rollout({ rollout: runs }: BenchResult): string {
  if (runs === undefined) return '';
  const rows = runs.map((run) => [
    run.kind === 'sigterm' ? 'SIGTERM of each process in turn' : 'certificate swap',
    String(run.requests),
    run.failed === 0 ? '0' : `${run.failed}: ${Object.keys(run.failures).join(', ')}`,
    digits(run.p99Ms),
    digits(run.maxMs),
    run.kind === 'sigterm' ? run.endings.join(', ') : `${run.certificates} certificates met`,
  ]);
  const text =
    'Two processes behind a TCP proxy that follows `/readyz`; 500 requests/s, of which 50 on a connection of their own.';
  return section(
    'Rollout under load',
    text,
    table(['event', 'requests', 'failed', 'p99 ms', 'max ms', 'proof'], rows),
  );
}
