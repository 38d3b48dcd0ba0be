/** What the scenario `reconcile` measured, as budgets and as a section of the page. */
import { below, digits, type BudgetRow } from '../budget-row.ts';
import { section, table } from '../page.ts';
import type { BenchResult, Stall } from '../result.ts';
import type { LatencySummary } from '../statistics.ts';
import type { IdleFigures, ReconcileFigures, StormFigures } from './result.ts';

const MIB = 1024 * 1024;

/** As design §6 and the issue have them. */
const ALL_SECONDS = 30;
const MEMORY_MIB = 250;
const LIST_STALL_MS = 120;
const CHANGE_MS = 200;
const WARM_MS = 50;
const COLD_MS = 1_000;
const IDLE_PERCENT = 0.5;
const STORM_MS = 200;

export function reconcileBudgets({ reconcile }: BenchResult): readonly BudgetRow[] {
  if (reconcile === undefined || 'leftOut' in reconcile) return [];
  const { fleet, start, demand, changes, idle, storms } = reconcile;
  const slowest = Math.max(changes.endpoints.p50Ms, changes.deployments.p50Ms);
  return [
    below(`reconciler, start to all of ${fleet.pactos} verdicts`, ALL_SECONDS, start.allMs / 1_000, ' s'),
    below('reconciler, resident after that', MEMORY_MIB, start.residentBytes / MIB, ' MiB'),
    below('reconciler, longest stall in the first list', LIST_STALL_MS, start.listStall.ms, ' ms'),
    below('change to written status, p50', CHANGE_MS, slowest, ' ms'),
    below('verdict on demand, warm, p50', WARM_MS, demand.warm.p50Ms, ' ms'),
    below('verdict on demand, cold, the slowest', COLD_MS, coldest(reconcile), ' ms'),
    below('reconciler, idle CPU, of one core', IDLE_PERCENT, idle.none.cpuPercent, ' %'),
    below(
      'reconciler, CPU with the looks of each interval, of one core',
      IDLE_PERCENT,
      idle.due.cpuPercent,
      ' %',
    ),
    writesRow(reconcile),
    stormRow('Pods', storms.pods),
    stormRow('EndpointSlices', storms.slices),
  ];
}

/** Also the very first one, while every Pacto is looked at. */
function coldest({ start, demand }: ReconcileFigures): number {
  return Math.max(start.firstVerdictMs, demand.cold.maxMs);
}

/** Of the seldom ones none, of the others one in each interval. */
function writesRow({ fleet, idle: { due, none } }: ReconcileFigures): BudgetRow {
  const { seconds } = fleet.often;
  const mayBe = Math.floor(due.seconds / seconds) + 1;
  const statuses = due.writes['pactos/status'] ?? 0;
  const others = [due, none]
    .flatMap(({ writes }) => Object.keys(writes))
    .filter((kind) => !IDLE_WRITES.has(kind));
  const met =
    due.mostPerPacto <= mayBe &&
    statuses <= fleet.often.pactos * mayBe &&
    (none.writes['pactos/status'] ?? 0) === 0 &&
    others.length === 0;
  return {
    what: 'reconciler, writes when idle',
    budget: 'Leases, and a status once an interval',
    measured: `${written(due)}, of a status ${due.mostPerPacto} at most; with none due ${written(none)}`,
    met,
  };
}

const IDLE_WRITES: ReadonlySet<string> = new Set(['leases', 'pactos/status']);

function stormRow(what: string, { patches, demand, failures }: StormFigures): BudgetRow {
  const row = below(
    `p99 of verdicts on demand in a storm of ${patches} changes of ${what}`,
    STORM_MS,
    demand.p99Ms,
    ' ms',
  );
  return failures === 0 ? row : { ...row, measured: `${row.measured}, ${failures} failed`, met: false };
}

export function reconcileSection({ reconcile }: BenchResult): string {
  if (reconcile === undefined) return '';
  const title = 'Reconciler';
  if ('leftOut' in reconcile) return section(title, '', `**Left out**: ${reconcile.leftOut}.`);
  return section(title, text(reconcile), table(['what', 'measured'], rows(reconcile)));
}

function text({ fleet, nodeOptions }: ReconcileFigures): string {
  return (
    `The built program as [verdicts.md](verdicts.md#in-a-cluster) runs it (\`NODE_OPTIONS=${nodeOptions.join(' ')}\`), beside a ` +
    `real API server 1.36 with etcd, all on both processors: ${fleet.pods} Pods, ${fleet.services} Services, each with its Deployment and EndpointSlice, and ${fleet.pactos} Pactos. Of those ` +
    `${fleet.providers + fleet.configured} have their contract in a registry, ${fleet.configured} a ConfigMap with a schema, ` +
    `and ${fleet.dependents} depend on others. ${fleet.often.pactos} are looked at every ${fleet.often.seconds} s and the ` +
    'others not in this run, so that in any half minute as many looks are due as of all with the interval of 300 s. A change ' +
    'counts from its sending until a watch tells of the status. Verdicts on demand are computed (`fresh=0s`) for ten Pactos ' +
    'in the proportions of the fleet; cold ones are of Pactos made just now, whose contract is still in the registry. In a ' +
    'storm the API server and who changes things keep to one processor, the reconciler and who asks it to the other; a ' +
    'ConfigMap is read from the API server for each verdict, so that those wait for it, and beside them stands what somebody ' +
    'else waits for one object. A first start without the option stands beside: how much V8 keeps for young objects is its own ' +
    'choice then, and on a machine of this size a generous one.'
  );
}

function rows(figures: ReconcileFigures): readonly (readonly string[])[] {
  const { start, demand, changes, idle, storms, withoutOptions, peakBytes } = figures;
  const verdicts = Object.entries(start.verdicts).map(([verdict, count]) => `${count} ${verdict}`);
  return [
    ['start to all read, and to all verdicts', `${seconds(start.readyMs)}, ${seconds(start.allMs)}`],
    ['verdicts', verdicts.join(', ')],
    [
      'MiB resident after that, and at most so far',
      `${mebibytes(start.residentBytes)}, ${mebibytes(start.peakBytes)}`,
    ],
    ['MiB resident at most in the whole run', mebibytes(peakBytes)],
    [
      'a first start without the option',
      `${seconds(withoutOptions.allMs)}, ${mebibytes(withoutOptions.residentBytes)} MiB resident, at most ${mebibytes(withoutOptions.peakBytes)}`,
    ],
    [
      'longest stall in the first list, and in that of the other start',
      `${stall(start.listStall)}; ${stall(withoutOptions.listStall)}`,
    ],
    ['longest stall while all are looked at', stall(start.looksStall)],
    ['EndpointSlice changed to written status', latency(changes.endpoints)],
    ['Deployment changed to written status', latency(changes.deployments)],
    ['verdict on demand, warm', latency(demand.warm)],
    ['verdict on demand, cold', latency(demand.cold)],
    ['the very first verdict, while all are looked at', `${digits(start.firstVerdictMs)} ms`],
    [
      `${idle.due.seconds} s with looks due`,
      `${digits(idle.due.cpuPercent)} % of a core; ${written(idle.due)}`,
    ],
    [
      `${idle.none.seconds} s with none due`,
      `${digits(idle.none.cpuPercent)} % of a core; ${written(idle.none)}`,
    ],
    ['storm of Pods', storm(storms.pods)],
    ['storm of EndpointSlices', storm(storms.slices)],
  ];
}

function storm(figures: StormFigures): string {
  const { patches, cpuPercent, demand, withConfigMap, without, apiServer, settledMs, residentBytes } =
    figures;
  return (
    `${patches} in ${digits(figures.seconds)} s, ${digits(cpuPercent)} % of a core, ` +
    `verdicts on demand ${latency(demand)}; those with a ConfigMap ${latency(withConfigMap)}, the others ${latency(without)}, ` +
    `a read of the API server itself ${latency(apiServer)}; the last status ${digits(settledMs / 1_000)} s after it, ` +
    `stall ${stall(figures.stall)}, ${mebibytes(residentBytes)} MiB`
  );
}

function written({ writes }: IdleFigures): string {
  const all = Object.entries(writes).map(([kind, count]) => `${count} ${kind}`);
  return all.length === 0 ? 'nothing written' : all.join(', ');
}

function latency({ count, p50Ms, p99Ms, maxMs }: LatencySummary): string {
  return `p50 ${digits(p50Ms)} ms, p99 ${digits(p99Ms)} ms, max ${digits(maxMs)} ms of ${count}`;
}

const seconds = (ms: number): string => `${digits(ms / 1_000)} s`;
const mebibytes = (bytes: number): string => digits(bytes / MIB);
const stall = ({ ms, cpuMs }: Stall): string => `${digits(ms)} ms, of which processor time ${digits(cpuMs)}`;
