/**
 * `npm run bench`: our server and a bare TLS server side by side in one run, on this machine. Writes the numbers to
 * bench-results/ and, when asked, the readable page docs/benchmarks.md.
 */
import { mkdirSync, mkdtempSync, readFileSync, existsSync, writeFileSync } from 'node:fs';
import { cpus, loadavg, release, tmpdir, totalmem, type } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { format, resolveConfig } from 'prettier';
import { systemClock } from '../src/clock.ts';
import { issueAuthority, issueLeaf } from '../src/http/issue.ts';
import type { Bench, Pace } from '../test/bench/bench.ts';
import { budgetRows } from '../test/bench/budgets.ts';
import { LoadClient } from '../test/bench/load-client.ts';
import { renewPage } from '../test/bench/partial-page.ts';
import { chooseCores, pinSelf } from '../test/bench/pinning.ts';
import { ProcessNumbers } from '../test/bench/process-numbers.ts';
import { renderReport } from '../test/bench/report.ts';
import type { BenchResult, Machine, RolloutRun } from '../test/bench/result.ts';
import { contracts } from '../test/bench/scenarios/contracts.ts';
import { large, parallel } from '../test/bench/scenarios/large.ts';
import { policies } from '../test/bench/scenarios/policies.ts';
import { policyChanges } from '../test/bench/scenarios/policy-changes.ts';
import { bodies, bursts, highest, rates } from '../test/bench/scenarios/rates.ts';
import { certificate, sigterm } from '../test/bench/scenarios/rollout.ts';
import { reconcile } from '../test/bench/scenarios/reconcile.ts';
import { coldStart, loaderCheck, memory } from '../test/bench/scenarios/start.ts';
import { SecretMount } from '../test/bench/secret-mount.ts';
import { ServerStarter } from '../test/bench/servers.ts';
import { createProcessGuard } from '../test/cluster/support/processes.ts';

type Scenario = (bench: Bench) => Promise<Partial<BenchResult>>;

const SCENARIOS: Readonly<Record<string, Scenario>> = {
  policies,
  contracts,
  loader: loaderCheck,
  'cold-start': coldStart,
  memory,
  rates,
  highest,
  bodies,
  large,
  parallel,
  bursts,
  sigterm,
  certificate,
  'policy-changes': policyChanges,
  reconcile,
};

const FULL: Pace = {
  rounds: 5,
  roundSeconds: 3,
  warmupSeconds: 10,
  roundWarmupSeconds: 0.5,
  settleSeconds: 2,
  ladder: [250, 500, 1_000, 1_500, 2_000, 3_000, 4_000, 6_000, 8_000, 12_000],
  bisections: 2,
  coldStarts: 9,
  idleSeconds: 20,
  largeSeconds: 5,
  rolloutRuns: 3,
  rates: [200, 500, 1_000, 2_000],
  policyMilliseconds: 150,
  expressionMilliseconds: 10,
  policySamples: 3_000,
  contractSamples: 500,
  policyChanges: { seconds: 300, warmupSeconds: 5, memoryWarmupSeconds: 60, partSeconds: 60 },
  reconcile: { demands: 500, coldVerdicts: 10, changes: 100, idleSeconds: 30, storm: 10_000 },
};
const QUICK: Pace = {
  rounds: 1,
  roundSeconds: 0.75,
  warmupSeconds: 0.5,
  roundWarmupSeconds: 0.25,
  settleSeconds: 1,
  ladder: [250, 1_000, 2_000, 4_000, 8_000],
  bisections: 0,
  coldStarts: 3,
  idleSeconds: 3,
  largeSeconds: 1,
  rolloutRuns: 1,
  rates: [200, 500, 1_000, 2_000],
  policyMilliseconds: 40,
  expressionMilliseconds: 3,
  policySamples: 1_000,
  contractSamples: 100,
  policyChanges: { seconds: 10, warmupSeconds: 1, memoryWarmupSeconds: 3, partSeconds: 3 },
  reconcile: { demands: 100, coldVerdicts: 3, changes: 20, idleSeconds: 10, storm: 4_000 },
};

const HELP = `npm run bench -- [options]

  --quick        the same scenarios in about 2 min, with less to stand on
  --only NAMES   of: ${Object.keys(SCENARIOS).join(', ')} (with commas, or given again)
  --kubescape DIR  folder of the kubescape set (docs/conformance.md), whose policies are compared with Go
  --write-docs   writes docs/benchmarks.md from this run; with --only, the budgets and sections of these scenarios in it
  --help

Needs dist/ (npm run build) and Linux. The JSON result goes to bench-results/. Exit status 1: a budget is not met.
`;

interface Options {
  readonly quick: boolean;
  readonly writeDocs: boolean;
  readonly names: readonly string[];
  readonly kubescape: string | undefined;
}

function options(): Options | undefined {
  const { values } = parseArgs({
    options: {
      quick: { type: 'boolean', default: false },
      only: { type: 'string', multiple: true, default: [] },
      kubescape: { type: 'string' },
      'write-docs': { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) return undefined;
  const only = values.only.flatMap((names) => names.split(','));
  const unknown = only.filter((name) => !Object.hasOwn(SCENARIOS, name));
  if (unknown.length > 0) {
    throw new Error(`no scenario ${unknown.join(', ')}: choose from ${Object.keys(SCENARIOS).join(', ')}`);
  }
  const names = only.length === 0 ? Object.keys(SCENARIOS) : only;
  return { quick: values.quick, writeDocs: values['write-docs'], names, kubescape: values.kubescape };
}

async function leaves(nowMs: number): Promise<Pick<Bench, 'leaves' | 'ca'>> {
  const request = { nowMs, dnsNames: ['localhost'], ipAddresses: ['127.0.0.1'] };
  const first = await issueAuthority({ nowMs, commonName: 'benchmark CA 1' });
  const second = await issueAuthority({ nowMs, commonName: 'benchmark CA 2' });
  return {
    leaves: [await issueLeaf(first, request), await issueLeaf(second, request)],
    // Overlap, as in a rotation: what clients trust changes before the server does (webhook-operations.md R4).
    ca: [first.certPem, second.certPem],
  };
}

function machine(pinned: boolean, before: number): Machine {
  return {
    // Not those this process may use: it keeps to one itself.
    cores: cpus().length,
    model: cpus()[0]?.model.trim() ?? 'an unknown processor',
    memoryBytes: totalmem(),
    platform: `${type()} ${release().split('-')[0] ?? ''}`,
    pinned,
    loadAverage: [before, loadavg()[0] ?? 0],
  };
}

function versions(): Readonly<Record<string, string>> {
  const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };
  return { 'pacto-gate': version, node: process.versions.node, OpenSSL: process.versions.openssl };
}

async function runScenarios(chosen: Options): Promise<BenchResult> {
  const startedMs = systemClock.now();
  const before = loadavg()[0] ?? 0;
  const cores = chooseCores();
  const directory = mkdtempSync(join(tmpdir(), 'pacto-gate-bench-'));
  const guard = await createProcessGuard(directory);
  let loader: LoadClient | undefined;
  try {
    loader = await LoadClient.start(cores.loader);
    pinSelf(cores.loader);
    const certificates = await leaves(startedMs);
    const bench: Bench = {
      ...certificates,
      pace: chosen.quick ? QUICK : FULL,
      cores,
      loader,
      numbers: new ProcessNumbers(),
      starter: new ServerStarter(guard, directory),
      scratch: directory,
      mount: new SecretMount(join(directory, 'tls'), certificates.leaves[0]),
      kubescape: chosen.kubescape,
      say: (line) => console.log(line),
    };
    const parts: Partial<BenchResult> = {};
    const rollout: RolloutRun[] = [];
    for (const name of chosen.names) {
      console.log(name);
      const part = await SCENARIOS[name]?.(bench);
      rollout.push(...(part?.rollout ?? []));
      Object.assign(parts, part);
    }
    return {
      ...parts,
      ...(rollout.length > 0 && { rollout }),
      startedAt: new Date(startedMs).toISOString(),
      mode: chosen.quick ? 'quick' : 'full',
      seconds: (systemClock.now() - startedMs) / 1000,
      versions: versions(),
      machine: machine(cores.server !== undefined, before),
    };
  } finally {
    await loader?.close();
    await guard.close();
  }
}

async function writeDocs(rendered: string, result: BenchResult, { names }: Options): Promise<void> {
  const file = join('docs', 'benchmarks.md');
  const isWhole = names.length === Object.keys(SCENARIOS).length;
  const page = isWhole
    ? rendered
    : renewPage(readFileSync(file, 'utf8'), rendered, { names, facts: factsOf(result) });
  // As `npm run format` would leave it, or the check of the format fails after each run.
  const style = await resolveConfig(file);
  writeFileSync(file, await format(page, { ...style, parser: 'markdown' }));
}

function factsOf({ startedAt, mode, seconds, machine: { loadAverage } }: BenchResult): string {
  const [before, after] = loadAverage.map((load) => load.toFixed(2));
  return `${startedAt.slice(0, 10)}, a ${mode} run of ${Math.round(seconds)} s, load average ${before} before and ${after} after`;
}

async function main(): Promise<void> {
  const chosen = options();
  if (chosen === undefined) {
    console.log(HELP);
    return;
  }
  if (!existsSync('dist/pacto-gate.js'))
    throw new Error('dist/pacto-gate.js is missing: run npm run build first');
  const result = await runScenarios(chosen);
  const page = renderReport(result);
  mkdirSync('bench-results', { recursive: true });
  const file = join('bench-results', `${result.startedAt.replaceAll(/[:.]/g, '-')}.json`);
  writeFileSync(file, `${JSON.stringify(result, undefined, 2)}\n`);
  if (chosen.writeDocs) await writeDocs(page, result, chosen);
  console.log(`\n${page}\n${file}`);
  const missed = budgetRows(result).filter((row) => !row.met);
  if (missed.length > 0) process.exitCode = 1;
}

// One line for a person, not a stack: what is missing is nearly always dist/ or an option.
await main().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : String(error));
  process.exitCode = 2;
});
