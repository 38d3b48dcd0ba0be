/** What every scenario works with. */
import type { TlsPair } from '../../src/http/certificate.ts';
import type { BodyName } from './corpus.ts';
import type { LoadClient } from './load-client.ts';
import type { StreamJob, StreamResult } from './load-job.ts';
import type { Cores } from './pinning.ts';
import type { ProcessNumbers } from './process-numbers.ts';
import type { Pair, Round } from './result.ts';
import type { Arrivals } from './schedule.ts';
import type { SecretMount } from './secret-mount.ts';
import { expects, pathsFor, type BenchServer, type ServerStarter, type StartOptions } from './servers.ts';

/** How long and how often: a quick run has the same scenarios, with less to stand on. */
export interface Pace {
  readonly rounds: number;
  readonly roundSeconds: number;
  /** Before the first round of the fixed rates, and at the start of each round. */
  readonly warmupSeconds: number;
  readonly roundWarmupSeconds: number;
  /** After a start or a load: late timers, closing connections and a collection of garbage. */
  readonly settleSeconds: number;
  /** Rates tried in turn for the highest that holds, and how often the step to the first that did not is halved. */
  readonly ladder: readonly number[];
  readonly bisections: number;
  readonly coldStarts: number;
  readonly idleSeconds: number;
  readonly largeSeconds: number;
  readonly rolloutRuns: number;
  readonly rates: readonly number[];
  /** Milliseconds of one side of one real policy, and of one expression of another engine. */
  readonly policyMilliseconds: number;
  readonly expressionMilliseconds: number;
  /** Requests of a round in this process. */
  readonly policySamples: number;
  /** Contracts of a round. */
  readonly contractSamples: number;
  readonly policyChanges: {
    readonly seconds: number;
    /** Whose latencies and stalls do not count. */
    readonly warmupSeconds: number;
    /** After so long memory is compared, by medians of parts of so long. */
    readonly memoryWarmupSeconds: number;
    readonly partSeconds: number;
  };
  /** The reconciler beside a real API server. */
  readonly reconcile: {
    /** Verdicts asked for, of Pactos that were looked at before, and of new ones. */
    readonly demands: number;
    readonly coldVerdicts: number;
    /** Pactos of which something is changed, three times each. */
    readonly changes: number;
    readonly idleSeconds: number;
    /** Changes of a storm. */
    readonly storm: number;
  };
}

export interface Bench {
  readonly pace: Pace;
  readonly cores: Cores;
  readonly loader: LoadClient;
  readonly numbers: ProcessNumbers;
  readonly starter: ServerStarter;
  /** The certificate both servers use, and what clients trust. */
  readonly mount: SecretMount;
  readonly ca: readonly string[];
  /** A second leaf by a second authority, for the swap; `ca` trusts both. */
  readonly leaves: readonly [TlsPair, TlsPair];
  /** A folder that goes away with the run. */
  readonly scratch: string;
  /** Folder of the kubescape set, if it is known. */
  readonly kubescape: string | undefined;
  /** One line of progress. */
  say(line: string): void;
}

export const SIDES = ['ours', 'bare'] as const;

export function startServer(
  bench: Bench,
  side: StartOptions['side'],
  more: Partial<Pick<StartOptions, 'core' | 'setting' | 'program'>> = {},
): Promise<BenchServer> {
  const { certFile, keyFile } = bench.mount;
  return bench.starter.start({ side, certFile, keyFile, ca: bench.ca, core: bench.cores.server, ...more });
}

/** Runs `use` with one server of each side, both on the server's processor; only one of them is loaded at a time. */
export async function withPair<T>(bench: Bench, use: (pair: Pair<BenchServer>) => Promise<T>): Promise<T> {
  const ours = await startServer(bench, 'ours');
  try {
    const bare = await startServer(bench, 'bare');
    try {
      return await use({ ours, bare });
    } finally {
      await bare.process.end('SIGTERM');
    }
  } finally {
    // The scenarios that measure how it ends have their own servers.
    await ours.process.end('SIGKILL');
  }
}

/** What a stream needs beside the server it goes to. */
export interface Load {
  readonly body: BodyName;
  readonly arrivals: Arrivals;
  readonly connections: number | 'each';
}

/** One round: the streams together on one server. @returns one result a stream. */
export async function loadRound(
  bench: Bench,
  server: BenchServer,
  loads: readonly Load[],
): Promise<readonly Round[]> {
  const streams: readonly StreamJob[] = loads.map((load) => ({
    ...load,
    name: load.body,
    paths: pathsFor(server, load.body),
    expectAllowed: expects(server.side, load.body),
  }));
  const beforeMs = bench.numbers.cpuMs(server.pid);
  const results = await bench.loader.run({ endpoint: server.endpoint, streams });
  const cpuMs = bench.numbers.cpuMs(server.pid) - beforeMs;
  const requests = results.reduce((sum, result) => sum + result.requests, 0);
  return results.map((result) => roundOf(result, cpuMs / Math.max(requests, 1)));
}

function roundOf(result: StreamResult, cpuMsPerRequest: number): Round {
  const { p50Ms, p95Ms, p99Ms, maxMs } = result.latency;
  const { requests, failed, failures, achievedPerSecond, lagP99Ms } = result;
  return {
    p50Ms,
    p95Ms,
    p99Ms,
    maxMs,
    requests,
    failed,
    failures,
    achievedPerSecond,
    cpuMsPerRequest,
    lagP99Ms,
  };
}

/** `count` rounds in turn, ours and bare, of the same loads. @returns for each load its rounds. */
export async function pairedRounds(
  bench: Bench,
  servers: Pair<BenchServer>,
  loads: readonly Load[],
  count: number,
): Promise<readonly Pair<readonly Round[]>[]> {
  const rounds = loads.map(() => ({ ours: [] as Round[], bare: [] as Round[] }));
  for (let n = 0; n < count; n += 1) {
    for (const side of SIDES) {
      const results = await loadRound(bench, servers[side], loads);
      for (const [index, round] of results.entries()) rounds[index]?.[side].push(round);
    }
  }
  return rounds;
}

export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
