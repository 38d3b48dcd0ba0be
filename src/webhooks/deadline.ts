/** How long an answer may take: what the API server allows, less a margin of our own (webhook-operations.md W04, R6). */
import type { Clock } from '../clock.ts';
import { GateError, quote } from '../errors.ts';
import type { Share } from './webhook.ts';

/** `timeoutSeconds` of a webhook entry: 10 where it is not set, 30 at most (webhook-operations.md W04). */
const DEFAULT_TIMEOUT_MS = 10_000;
const MAX_TIMEOUT_MS = 30_000;

/** Kept back for the way to the API server: a fifth, and never less or more than these. 10 s leave us 8 s (R6). */
const MARGIN_SHARE = 0.2;
const MIN_MARGIN_MS = 100;
const MAX_MARGIN_MS = 2_000;

/** Milliseconds of each unit of a Go duration (time.ParseDuration). */
const UNIT_MS: ReadonlyMap<string, number> = new Map([
  ['ns', 1e-6],
  ['us', 1e-3],
  ['µs', 1e-3], // U+00B5
  ['μs', 1e-3], // U+03BC
  ['ms', 1],
  ['s', 1_000],
  ['m', 60_000],
  ['h', 3_600_000],
]);

/** Longer than any duration that somebody writes; bounds the work on a hostile one. */
const MAX_DURATION_LENGTH = 64;

/** Reads a duration as Go writes one (`10s`, `1m30s`, `1.5h`, `-2s`). @returns milliseconds, undefined if it is none. */
export function parseGoDuration(value: string): number | undefined {
  if (value.length > MAX_DURATION_LENGTH) return undefined;
  const sign = value.startsWith('-') ? -1 : 1;
  const unsigned = /^[-+]/.test(value) ? value.slice(1) : value;
  // The one amount that needs no unit.
  if (unsigned === '0') return 0;
  const term = /([0-9]+\.?[0-9]*|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h)/y;
  let totalMs = 0;
  let read = 0;
  for (let match = term.exec(unsigned); match !== null; match = term.exec(unsigned)) {
    totalMs += Number(match[1]) * (UNIT_MS.get(match[2] ?? '') ?? 0);
    read = term.lastIndex;
  }
  return read > 0 && read === unsigned.length ? sign * totalMs : undefined;
}

/**
 * Our own budget for a call, in milliseconds, from its query (`timeout=10s`, without `?`).
 * @throws GateError GATE_REVIEW_TIMEOUT for a timeout that is no duration, not above zero, or given twice.
 */
export function budgetOf(query: string): { readonly timeoutMs: number; readonly budgetMs: number } {
  const timeoutMs = Math.min(readTimeout(query), MAX_TIMEOUT_MS);
  const marginMs = Math.min(Math.max(timeoutMs * MARGIN_SHARE, MIN_MARGIN_MS), MAX_MARGIN_MS);
  return { timeoutMs, budgetMs: Math.max(timeoutMs - marginMs, 0) };
}

function readTimeout(query: string): number {
  const [value, ...more] = new URLSearchParams(query).getAll('timeout');
  if (value === undefined) return DEFAULT_TIMEOUT_MS;
  const timeoutMs = more.length > 0 ? undefined : parseGoDuration(value);
  if (timeoutMs === undefined || timeoutMs <= 0) {
    throw new GateError(
      'GATE_REVIEW_TIMEOUT',
      `timeout: not usable (found ${quote(more.length > 0 ? 'several' : value)}, need a duration above zero such as "10s"): send the timeoutSeconds of the webhook entry`,
    );
  }
  return timeoutMs;
}

export interface Deadline {
  /** Aborts with a GateError GATE_DEADLINE_EXCEEDED, or with the reason of the signal that was given. */
  readonly signal: AbortSignal;
  /** Forgets the timer; the signal does not abort any more. */
  clear(): void;
  /**
   * Time for one question of several, so that one that hangs leaves room to answer (webhook-operations.md R6).
   *
   * @param mostMs and never more than half of what is left
   * @param expired what its signal aborts with then, in milliseconds how long it was
   */
  share(mostMs: number, expired: (shareMs: number) => GateError): Share;
}

export interface DeadlineOptions {
  readonly clock: Clock;
  /** Of `clock.monotonic()`, when the head of the request arrived. */
  readonly receivedMs: number;
  readonly timeoutMs: number;
  readonly budgetMs: number;
  /** Aborts when the caller is gone: nobody is left to answer. */
  readonly signal?: AbortSignal;
}

/** Starts the deadline of one request; call `clear` however it ends. */
export function startDeadline(options: DeadlineOptions): Deadline {
  const { clock, receivedMs, budgetMs, signal: caller } = options;
  const controller = new AbortController();
  const expire = (): void => controller.abort(exceeded(options));
  const gone = (): void => controller.abort(caller?.reason);
  const leftMs = receivedMs + budgetMs - clock.monotonic();
  if (caller?.aborted === true) gone();
  else if (leftMs <= 0) expire();
  const { signal } = controller;
  const share = (mostMs: number, expired: (shareMs: number) => GateError): Share =>
    startShare(clock, signal, Math.min(mostMs, (receivedMs + budgetMs - clock.monotonic()) / 2), expired);
  if (signal.aborted) return { signal, share, clear: () => undefined };
  const timer = clock.setTimer(leftMs, expire);
  caller?.addEventListener('abort', gone, { once: true });
  return {
    signal,
    share,
    clear() {
      timer.cancel();
      caller?.removeEventListener('abort', gone);
    },
  };
}

function startShare(
  clock: Clock,
  whole: AbortSignal,
  shareMs: number,
  expired: (shareMs: number) => GateError,
): Share {
  const controller = new AbortController();
  const end = (): void => controller.abort(whole.reason);
  if (whole.aborted) end();
  const timer = clock.setTimer(Math.max(shareMs, 0), () => controller.abort(expired(shareMs)));
  whole.addEventListener('abort', end, { once: true });
  return {
    signal: controller.signal,
    clear() {
      timer.cancel();
      whole.removeEventListener('abort', end);
    },
  };
}

function exceeded({ timeoutMs, budgetMs }: DeadlineOptions): GateError {
  return new GateError(
    'GATE_DEADLINE_EXCEEDED',
    `no decision within ${secondsOf(budgetMs)} s of the ${secondsOf(timeoutMs)} s that the webhook entry allows: try again, or look at the durations in the metrics of pacto-gate`,
  );
}

/** For messages. */
export function secondsOf(ms: number): string {
  return String(Math.round(ms) / 1_000);
}
