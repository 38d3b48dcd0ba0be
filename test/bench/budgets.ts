/** The budgets of docs/architecture.md that this version can be held to, and whether a result keeps them. */
import type { BenchResult, HighestPair, LargeResult, Pair, RateResult, RolloutRun, Round } from './result.ts';
import { policyChangeRows } from './policy-changes/report.ts';
import { atLeast, atMost, below, digits, type BudgetRow } from './budget-row.ts';
import { contractBudgets } from './contracts/report.ts';
import { policyBudgets } from './policies/report.ts';
import { reconcileBudgets } from './reconcile/report.ts';
import { median } from './statistics.ts';

const MIB = 1024 * 1024;
/** Rollouts that must pass without a lost request, each kind; a quick run has time for one. */
const ROLLOUT_RUNS = { full: 3, quick: 1 } as const;

/** One row for each budget whose scenario was run. */
export function budgetRows(result: BenchResult): readonly BudgetRow[] {
  return [
    ...policyBudgets(result),
    ...contractBudgets(result),
    ...rateRows(result),
    ...highestRows(result),
    ...(result.large ?? []).flatMap(largeRows),
    ...coldStartRows(result),
    ...memoryRows(result),
    ...rolloutRows(result, 'sigterm', 'SIGTERM of each of two processes, 500 requests/s'),
    ...rolloutRows(result, 'certificate', 'certificate swap, 500 requests/s'),
    ...policyChangeRows(result),
    ...reconcileBudgets(result),
  ];
}

/** The rate that the budgets of latency and processor time are about. */
function budgetRate(result: BenchResult): RateResult | undefined {
  return result.rates?.find(
    (one) => one.ratePerSecond === 500 && one.connections === 8 && one.body === 'pod-create-4k',
  );
}

const p99 = (round: Round): number => round.p99Ms;
const p50 = (round: Round): number => round.p50Ms;
const cpu = (round: Round): number => round.cpuMsPerRequest;
const medians = (rounds: Pair<readonly Round[]>, of: (round: Round) => number): Pair<number> => ({
  ours: median(rounds.ours.map(of)),
  bare: median(rounds.bare.map(of)),
});
const ratio = ({ ours, bare }: Pair<number>): number => ours / bare;

function rateRows(result: BenchResult): readonly BudgetRow[] {
  const failed = (result.rates ?? [])
    .flatMap((one) => one.rounds.ours)
    .reduce((sum, round) => sum + round.failed, 0);
  const all: readonly BudgetRow[] =
    result.rates === undefined
      ? []
      : [
          {
            what: 'failed requests at all fixed rates',
            budget: '0',
            measured: String(failed),
            met: failed === 0,
          },
        ];
  const at500 = budgetRate(result);
  if (at500 === undefined) return all;
  const { rounds } = at500;
  const quietest = {
    ours: Math.min(...rounds.ours.map(p99)),
    bare: Math.min(...rounds.bare.map(p99)),
  };
  return [
    ...all,
    below('p99 at 500 requests/s, the worst round', 10, Math.max(...rounds.ours.map(p99)), ' ms'),
    atMost('p99 at 500 requests/s, quietest round of each', 4, ratio(quietest), ' × bare'),
    atMost('CPU a request at 500 requests/s', 3, ratio(medians(rounds, cpu)), ' × bare'),
  ];
}

function highestRows({ highest }: BenchResult): readonly BudgetRow[] {
  if (highest === undefined) return [];
  const what = 'highest rate with p99 < 10 ms, 4 KiB,';
  return [
    ...highestPairRows(`${what} one of 16 policies a request`, highest.one),
    ...highestPairRows(`${what} the work of 16 policies a request`, highest.all),
  ];
}

function highestPairRows(what: string, { ours, go }: HighestPair): readonly BudgetRow[] {
  const own = atLeast(what, 1000, ours.perSecond, '/s');
  if (go === undefined) return [own];
  // What does not even hold the lowest rate that is tried is taken for as fast.
  const theirs = Math.max(go.perSecond, go.trials[0]?.ratePerSecond ?? 0);
  return [own, atLeast(what, 2, ours.perSecond / theirs, ' × Go webhook')];
}

function largeRows(large: LargeResult): readonly BudgetRow[] {
  const size = `${digits(large.bytes / MIB)} MiB UPDATE (${large.body})`;
  return [
    atMost(`p50 of a ${size}`, 2, ratio(medians(large.rounds, p50)), ' × bare'),
    below(`p99 of 4 KiB requests beside a ${size}`, 100, median(large.besides.ours.map(p99)), ' ms'),
    {
      what: `failed requests with a ${size}`,
      budget: '0',
      measured: String(failedOf(large)),
      met: failedOf(large) === 0,
    },
  ];
}

function failedOf(large: LargeResult): number {
  return [...large.rounds.ours, ...large.besides.ours].reduce((sum, round) => sum + round.failed, 0);
}

function coldStartRows({ coldStart }: BenchResult): readonly BudgetRow[] {
  if (coldStart === undefined) return [];
  const ours = median(coldStart.ours);
  return [
    atMost('cold start to the first answered review', 3, ours / median(coldStart.bare), ' × bare'),
    below('cold start to the first answered review', 500, ours, ' ms'),
  ];
}

function memoryRows({ memory }: BenchResult): readonly BudgetRow[] {
  if (memory === undefined) return [];
  const { ours, bare } = memory;
  return [
    atMost('resident memory, idle', 1.6, ours.idleBytes / bare.idleBytes, ' × bare'),
    atMost('resident memory, after load', 1.6, ours.afterLoadBytes / bare.afterLoadBytes, ' × bare'),
    below('idle CPU, of one core', 0.5, ours.idleCpuPercent, ' %'),
  ];
}

function rolloutRows(result: BenchResult, kind: RolloutRun['kind'], what: string): readonly BudgetRow[] {
  const runs = (result.rollout ?? []).filter((run) => run.kind === kind);
  if (runs.length === 0) return [];
  const failed = runs.reduce((sum, run) => sum + run.failed, 0);
  const requests = runs.reduce((sum, run) => sum + run.requests, 0);
  const needed = ROLLOUT_RUNS[result.mode];
  return [
    {
      what,
      budget: `0 failed, ${times(needed)}`,
      measured: `${failed} of ${requests} failed, ${times(runs.length)}`,
      met: failed === 0 && runs.length >= needed && runs.every(proves),
    },
  ];
}

const times = (runs: number): string => `${runs} run${runs === 1 ? '' : 's'}`;

/** A run proves something only where what it is about really happened. */
function proves(run: RolloutRun): boolean {
  return run.kind === 'certificate'
    ? run.certificates >= 2
    : run.endings.length === 2 && run.endings.every((ending) => ending === 'status 0');
}
