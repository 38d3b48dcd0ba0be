/** The JSON result of one run: what was measured, before anybody rounds or judges it. */
import type { BodyName } from './corpus.ts';
import type { Sides } from './policies/timing.ts';
import type { ReconcileResult } from './reconcile/result.ts';

/** One round of load on one server. Milliseconds unless named otherwise. */
export interface Round {
  readonly p50Ms: number;
  readonly p95Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
  readonly requests: number;
  readonly failed: number;
  readonly failures: Readonly<Record<string, number>>;
  readonly achievedPerSecond: number;
  /** Processor time of the server process, user and kernel, for each request of the round. */
  readonly cpuMsPerRequest: number;
  /** How late the generator itself was. */
  readonly lagP99Ms: number;
}

/** The same rounds on both, taken in turn: ours, bare, ours, bare, … */
export interface Pair<T> {
  readonly ours: T;
  readonly bare: T;
}

export interface RateResult {
  readonly ratePerSecond: number;
  readonly connections: number | 'each';
  readonly body: BodyName;
  readonly rounds: Pair<readonly Round[]>;
}

export interface HighestRate {
  /** The highest rate tried at which all answers were right and p99 stayed below the limit. */
  readonly perSecond: number;
  /** That was the highest rate that is tried at all. */
  readonly atBound: boolean;
  readonly trials: readonly {
    readonly ratePerSecond: number;
    readonly p99Ms: number;
    readonly held: boolean;
  }[];
}

/** Ours and the webhook in Go, which is left out where there is no Go. */
export interface HighestPair {
  readonly ours: HighestRate;
  readonly go?: HighestRate;
}

/** Of reviews of 4 KiB. */
export interface HighestRates {
  /** One of sixteen policies a request, in turn: as an API server asks (design decision 16). */
  readonly one: HighestPair;
  /** All sixteen policies on each review. */
  readonly all: HighestPair;
  readonly bare: HighestRate;
  /** Why there is nothing of Go. */
  readonly leftOut?: string;
}

export interface LargeResult {
  readonly body: BodyName;
  readonly bytes: number;
  readonly ratePerSecond: number;
  readonly besidesPerSecond: number;
  readonly rounds: Pair<readonly Round[]>;
  /** The 4 KiB stream beside it. */
  readonly besides: Pair<readonly Round[]>;
}

export interface BodyResult {
  readonly body: BodyName;
  readonly bytes: number;
  readonly ratePerSecond: number;
  readonly rounds: Pair<readonly Round[]>;
}

export interface BurstResult {
  readonly requests: number;
  readonly connections: number;
  readonly rounds: Pair<readonly Round[]>;
}

export interface ParallelRun {
  readonly before: number;
  readonly peak: number;
  readonly failed: number;
  readonly failures: Readonly<Record<string, number>>;
  readonly maxMs: number;
}

export interface MemoryRun {
  readonly idleBytes: number;
  readonly afterLoadBytes: number;
  /** Of one processor, in percent. */
  readonly idleCpuPercent: number;
}

export interface RolloutRun {
  readonly kind: 'sigterm' | 'certificate';
  readonly ratePerSecond: number;
  readonly requests: number;
  readonly failed: number;
  readonly failures: Readonly<Record<string, number>>;
  readonly p99Ms: number;
  readonly maxMs: number;
  /** Connections the proxy refused because no server was ready. */
  readonly refused: number;
  /** How many different certificates the client met. */
  readonly certificates: number;
  /** How each ended server ended: `status 0` is right. */
  readonly endings: readonly string[];
  /** From SIGTERM to the end of the process. */
  readonly endedAfterMs: readonly number[];
}

/** Policies changed under load, for as long as it says. */
export interface PolicyChangesResult {
  readonly policies: number;
  readonly seconds: number;
  readonly ratePerSecond: number;
  readonly changes: number;
  readonly requests: number;
  readonly failed: number;
  readonly failures: Readonly<Record<string, number>>;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
  /** Answers that are of no version that could be in force, by what is wrong with them. */
  readonly wrong: Readonly<Record<string, number>>;
  /** A request that is sent so long after a change must be answered by it. */
  readonly delayLimitMs: number;
  /** From a change to the last request that was sent without meeting it; 0 where all met it. */
  readonly delayMs: { readonly median: number; readonly max: number };
  /** Resident memory: medians of the first and the last part after the warm-up. */
  readonly memory: { readonly firstBytes: number; readonly lastBytes: number; readonly partSeconds: number };
  readonly stall: Stall;
}

/** One real policy, microseconds: ours and the API server's own code in turn on the same requests. */
export interface PolicyTimes {
  readonly name: string;
  readonly requests: number;
  readonly hasPatterns: boolean;
  /** Both refused the same requests. */
  readonly agree: boolean;
  /** Of one request; ours with all of what leads to the answer, theirs without matching and parameters. */
  readonly evaluation: Sides;
  /** Of all expressions of the policy, types checked. */
  readonly compilation: Sides;
}

/** Another engine of the npm registry, on the expressions for which it gives what the API server gives. */
export interface EngineTimes {
  readonly name: string;
  readonly hasPatterns: boolean;
  readonly expressions: number;
  /** Of how many that were tried. */
  readonly tried: number;
  /** Geometric mean of ours ÷ theirs, reading the review and converting it included. */
  readonly ratio: number;
}

export interface PoliciesResult {
  /** Undefined, with the reason, where there is nothing to compare with. */
  readonly peer?: readonly PolicyTimes[];
  readonly leftOut?: string;
  readonly engines: readonly EngineTimes[];
  /** So many policies on one review of 4 KiB in this process, reading it included. */
  readonly requests: readonly { readonly policies: number; readonly p50Ms: number; readonly p99Ms: number }[];
  /** The longest that one expression of those that are meant to be slow kept everything else waiting. */
  readonly stall: { readonly expression: string; readonly ms: number };
  readonly bytesPerExpression: number;
}

/** A typical contract with its bundle, from bytes to result, in a process that is warm. */
export interface TypicalContract {
  /** Of a bundle, on average. */
  readonly bytes: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** Of the `yaml` package alone, on the YAML of the same bundles. */
  readonly yamlP50Ms: number;
}

/** Contracts that have so many kinds of schemas among them, in a process that begins with them. */
export interface ContractFleet {
  readonly contracts: number;
  readonly kinds: number;
  readonly seconds: number;
}

export interface TagSelection {
  readonly tags: number;
  readonly firstMs: number;
  readonly medianMs: number;
}

export interface HostileSchemas {
  /** On the wall clock, from when on the event loop's stalls count. */
  readonly fromMs: number;
  readonly seconds: number;
  /** By the name of the attack: what the schema was answered. */
  readonly outcomes: Readonly<Record<string, string>>;
}

export interface BlobRun {
  readonly bytes: number;
  /** At the peak, above what the process had before. */
  readonly extraBytes: number;
  readonly seconds: number;
}

export interface ContractsResult {
  readonly typical: TypicalContract;
  readonly fleets: readonly ContractFleet[];
  readonly tags: TagSelection;
  readonly hostile: HostileSchemas & { readonly stall: Stall };
  readonly blob: Pair<BlobRun>;
}

/** The longest that an event loop did not come round; and the most that it computed from one turn to the next. */
export interface Stall {
  readonly ms: number;
  readonly cpuMs: number;
}

export interface Machine {
  readonly cores: number;
  readonly model: string;
  readonly memoryBytes: number;
  readonly platform: string;
  /** Server and generator each kept to a processor of its own. */
  readonly pinned: boolean;
  /** Over the last minute, before and after the run. */
  readonly loadAverage: readonly [number, number];
}

export interface BenchResult {
  readonly startedAt: string;
  readonly mode: 'full' | 'quick';
  readonly seconds: number;
  readonly versions: Readonly<Record<string, string>>;
  readonly machine: Machine;
  /** Against the baseline: the generator itself must not be the limit. */
  readonly loader?: { readonly neededPerSecond: number; readonly round: Round };
  readonly coldStart?: Pair<readonly number[]>;
  readonly memory?: Pair<MemoryRun>;
  readonly rates?: readonly RateResult[];
  readonly highest?: HighestRates;
  readonly policyChanges?: PolicyChangesResult;
  readonly bodies?: readonly BodyResult[];
  readonly large?: readonly LargeResult[];
  readonly parallel?: {
    readonly body: BodyName;
    readonly requests: number;
    readonly runs: Pair<ParallelRun>;
  };
  readonly bursts?: readonly BurstResult[];
  readonly rollout?: readonly RolloutRun[];
  readonly policies?: PoliciesResult;
  readonly contracts?: ContractsResult;
  readonly reconcile?: ReconcileResult;
}
