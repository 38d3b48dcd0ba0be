/** What the scenario `contracts` measured, as budgets and as a section of the page. */
import { atMost, below, digits, type BudgetRow } from '../budget-row.ts';
import { section, table } from '../page.ts';
import type { BenchResult, ContractFleet, ContractsResult } from '../result.ts';

const MB = 1_000_000;
/** What may be asked of schemas that services share; where each has its own, compiling them is the time. */
const SHARED_KINDS = 20;

const TYPICAL_LIMIT_MS = 2;
/** All three layers must not cost more than this share of what the `yaml` package alone takes to read the texts. */
const YAML_LIMIT = 1.5;
const FLEET_LIMIT_SECONDS = 2;
const TAGS_LIMIT_MS = 20;
const STALL_LIMIT_MS = 20;
const BLOB_LIMIT_MB = 40;

export function contractBudgets({ contracts }: BenchResult): readonly BudgetRow[] {
  if (contracts === undefined) return [];
  const { typical, fleets, tags, hostile, blob } = contracts;
  const attacks = Object.keys(hostile.outcomes).length;
  return [
    below('a typical contract, p50', TYPICAL_LIMIT_MS, typical.p50Ms, ' ms'),
    atMost('a typical contract, p50', YAML_LIMIT, typical.p50Ms / typical.yamlP50Ms, ' × its YAML alone'),
    ...fleets
      .filter(({ kinds }) => kinds === SHARED_KINDS)
      .map((fleet) => below(fleetName(fleet), FLEET_LIMIT_SECONDS, fleet.seconds, ' s')),
    below(`the best of ${tags.tags} tags, the first time`, TAGS_LIMIT_MS, tags.firstMs, ' ms'),
    atMost(`longest stall by ${attacks} hostile schemas`, STALL_LIMIT_MS, hostile.stall.ms, ' ms'),
    below(
      `extra memory for a blob of ${megabytes(blob.ours.bytes)} MB`,
      BLOB_LIMIT_MB,
      blob.ours.extraBytes / MB,
      ' MB',
    ),
  ];
}

export function contractSection({ contracts }: BenchResult): string {
  if (contracts === undefined) return '';
  const text =
    'Each in a process of its own. A typical contract has two interfaces, a configuration with its schema and a policy; ' +
    'it goes from the bytes of its bundle through all three layers, its schemas in their worker, in a process that is ' +
    'warm. 1,000 different ones begin in a process that is not, so that the worker’s start and the first compilation of ' +
    'each schema count. *Bare* is `undici` alone with a digest over what it reads.';
  const { hostile } = contracts;
  return section('Contracts', text, `${table(['what', 'measured'], rows(contracts))}\n\n${answers(hostile)}`);
}

function rows({ typical, fleets, tags, hostile, blob }: ContractsResult): readonly (readonly string[])[] {
  const { ours, bare } = blob;
  return [
    [
      `a typical contract, ${digits(typical.bytes / 1024)} KiB with its bundle`,
      `p50 ${digits(typical.p50Ms)} ms, p99 ${digits(typical.p99Ms)} ms`,
    ],
    ['its YAML alone, by the `yaml` package', `p50 ${digits(typical.yamlP50Ms)} ms`],
    ...fleets.map((fleet) => [fleetName(fleet), `${digits(fleet.seconds)} s`]),
    [
      `the best of ${tags.tags} tags`,
      `${digits(tags.firstMs)} ms the first time, ${digits(tags.medianMs)} ms later`,
    ],
    [
      'longest stall of the event loop by hostile schemas',
      `${digits(hostile.stall.ms)} ms, of which processor time ${digits(hostile.stall.cpuMs)} ms`,
    ],
    [
      `a blob of ${megabytes(ours.bytes)} MB: extra memory`,
      besides(ours.extraBytes, bare.extraBytes, MB, 'MB'),
    ],
    [`a blob of ${megabytes(ours.bytes)} MB: time`, besides(ours.seconds, bare.seconds, 1, 's')],
  ];
}

function fleetName({ contracts, kinds }: ContractFleet): string {
  const among = kinds === contracts ? 'each with schemas of its own' : `with ${kinds} kinds of schemas`;
  return `${contracts} contracts ${among}`;
}

function besides(ours: number, bare: number, unit: number, name: string): string {
  return `${digits(ours / unit)} ${name}, bare ${digits(bare / unit)} ${name}`;
}

/** What became of the hostile schemas, by answer. */
function answers({ outcomes, seconds }: ContractsResult['hostile']): string {
  const byOutcome = Map.groupBy(Object.entries(outcomes), ([, outcome]) => outcome);
  const lines = [...byOutcome].map(
    ([outcome, names]) => `- ${outcome}: ${names.map(([name]) => name).join(', ')}`,
  );
  const count = Object.keys(outcomes).length;
  return `${count} hostile schemas in ${digits(seconds)} s, each followed by a good one that was answered:\n\n${lines.join('\n')}`;
}

const megabytes = (bytes: number): string => digits(bytes / MB);
