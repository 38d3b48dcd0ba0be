/** What the scenario `policy-changes` measured, as budgets and as a section of the page. */
import { atMost, below, digits, type BudgetRow } from '../budget-row.ts';
import { section, table } from '../page.ts';
import type { BenchResult, PolicyChangesResult } from '../result.ts';

const MIB = 1024 * 1024;
/** Memory counts as flat up to here: what a collection of garbage leaves differs by some percent. */
const FLAT_LIMIT = 1.1;
/** As for a hostile expression (design §6). */
const STALL_LIMIT_MS = 60;

export function policyChangeRows({ policyChanges }: BenchResult): readonly BudgetRow[] {
  if (policyChanges === undefined) return [];
  const { policies, ratePerSecond, requests, failed, memory, stall } = policyChanges;
  const during = `while 1 of ${policies} policies changes each second, ${ratePerSecond} requests/s`;
  const wrong = wrongOf(policyChanges);
  return [
    { what: `wrong answers ${during}`, budget: '0', measured: `${wrong} of ${requests}`, met: wrong === 0 },
    {
      what: `failed requests ${during}`,
      budget: '0',
      measured: `${failed} of ${requests}`,
      met: failed === 0,
    },
    atMost(`resident memory at the end ${during}`, FLAT_LIMIT, growth(memory), ' × after the warm-up'),
    below(`longest stall ${during}`, STALL_LIMIT_MS, stall.ms, ' ms'),
  ];
}

const growth = ({ firstBytes, lastBytes }: PolicyChangesResult['memory']): number => lastBytes / firstBytes;

function wrongOf({ wrong }: PolicyChangesResult): number {
  return Object.values(wrong).reduce((sum, count) => sum + count, 0);
}

export function policyChangeSection({ policyChanges }: BenchResult): string {
  if (policyChanges === undefined) return '';
  const { policies, seconds, ratePerSecond, delayLimitMs, delayMs, memory, stall } = policyChanges;
  const text =
    `${policies} policies as custom resources of a scripted API server, for ${seconds} s at ${ratePerSecond} requests/s ` +
    'over all of them in turn. Each second one policy gets a new text with the other verdict. Every version says its ' +
    'number in the message and in an audit annotation, so an answer is wrong when it is not of one version wholly, of ' +
    'an older version than an answer that was there before it was asked, or asked more than ' +
    `${delayLimitMs} ms after a change and not of the new version. Memory is flat when the median of the last ` +
    `${memory.partSeconds} s is at most ${FLAT_LIMIT} × that of the first ${memory.partSeconds} s after the warm-up.`;
  const rows = [
    ['changes', String(policyChanges.changes)],
    ['requests', String(policyChanges.requests)],
    ['failed', counted(policyChanges.failed, policyChanges.failures)],
    ['wrong', counted(wrongOf(policyChanges), policyChanges.wrong)],
    [
      'p50, p99, max ms',
      [policyChanges.p50Ms, policyChanges.p99Ms, policyChanges.maxMs].map(digits).join(', '),
    ],
    [
      'last request without the change, ms after it',
      `median ${digits(delayMs.median)}, max ${digits(delayMs.max)}`,
    ],
    [
      'MiB resident, after the warm-up and at the end',
      `${mebibytes(memory.firstBytes)}, ${mebibytes(memory.lastBytes)}`,
    ],
    [
      'longest stall of the event loop, ms',
      `${digits(stall.ms)}, of which processor time ${digits(stall.cpuMs)}`,
    ],
  ];
  return section('Policies that change under load', text, table(['what', 'measured'], rows));
}

const mebibytes = (bytes: number): string => digits(bytes / MIB);

function counted(count: number, reasons: Readonly<Record<string, number>>): string {
  return count === 0 ? '0' : `${count}: ${Object.keys(reasons).join(', ')}`;
}
