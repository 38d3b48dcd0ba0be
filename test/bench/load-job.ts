/** What the harness asks of the load generator, and what it answers: one line of JSON each. */
import type { BodyName } from './corpus.ts';
import type { Arrivals } from './schedule.ts';
import type { LatencySummary } from './statistics.ts';

/** The API server allows 10 s where an entry says nothing (webhook-operations.md W04). */
export const REQUEST_TIMEOUT_MS = 10_000;

/** Where to send. */
export interface Endpoint {
  readonly host: string;
  readonly port: number;
  readonly serverName: string;
  /** PEM, all authorities that the client trusts. */
  readonly ca: readonly string[];
}

export interface StreamJob {
  readonly name: string;
  readonly body: BodyName;
  /** Request number `n` goes to path `n` modulo their number. */
  readonly paths: readonly string[];
  /** Against the bare baseline, which allows everything, this is always true. Undefined: either is right. */
  readonly expectAllowed: boolean | undefined;
  readonly arrivals: Arrivals;
  /** At most so many kept connections, one request on each at a time; `each`: a new connection for every request. */
  readonly connections: number | 'each';
  /** Keeps what was answered, for whoever knows what should have been. */
  readonly keepsAnswers?: boolean;
}

/** One answer. Times are milliseconds since 1970, by the clock of the machine. */
export interface KeptAnswer {
  /** Which of the stream's paths. */
  readonly path: number;
  readonly sentMs: number;
  readonly answeredMs: number;
  readonly allowed: boolean;
  readonly message: string;
  /** Values of the audit annotations, in the order of the answer. */
  readonly annotations: readonly string[];
}

export interface LoadJob {
  readonly endpoint: Endpoint;
  readonly streams: readonly StreamJob[];
}

export interface StreamResult {
  readonly name: string;
  /** From the due time to the last byte of the answer, of right answers after the warm-up. */
  readonly latency: LatencySummary;
  /** How late the generator itself began to handle a due request: large means that it was the limit. */
  readonly lagP99Ms: number;
  /** All requests that were due, warm-up included. */
  readonly requests: number;
  readonly succeeded: number;
  readonly failed: number;
  /** Reason → how often, the warm-up included: nothing that went wrong is discarded. */
  readonly failures: Readonly<Record<string, number>>;
  /** Right answers a second over the measured time. */
  readonly achievedPerSecond: number;
  /** TLS handshakes done, and by which certificate (SHA-256 fingerprint) the server proved itself. */
  readonly handshakes: number;
  readonly certificates: Readonly<Record<string, number>>;
  /** In the order of the answers; empty unless the job keeps them. */
  readonly answers: readonly KeptAnswer[];
}

export type LoaderCommand =
  | { readonly run: LoadJob }
  /** Ends the running job before its time: what is not yet due is not sent. */
  | { readonly stop: true };

export type LoaderReply = { readonly result: readonly StreamResult[] } | { readonly error: string };
