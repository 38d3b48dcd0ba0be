/** What a Pacto's verdict is worth for a digest (delivery.md §3.6). A Pacto and its status may have any shape. */
import type { KubeObject } from '../../cluster/objects.ts';
import { isTime } from '../contract/evidence-time.ts';
import { at, isRecord } from '../identity/foreign.ts';
import type { Currency, VerdictClass, VerdictEvidence } from './decision.ts';
import type { StageCurrent } from './stage.ts';

/** How far the clock of who wrote a time may be ahead (delivery.md §3.6). */
export const SKEW_MS = 30_000;

/** As many findings as a status has room for, and some. */
const MAX_FINDINGS = 1_000;
const MAX_WINDOWS = 10_000;
const CODE = /^[A-Z][A-Z0-9_]{0,63}$/;
const STATUS = /^[A-Za-z]{1,32}$/;
const VERSION = /^[\w.+-]{1,64}$/;

const COLLECTION_FAILED = 'COLLECTION_FAILED';
/** Observations that no waiting brings: what the contract asks for cannot be looked at here. */
const UNSUPPORTED: ReadonlySet<string> = new Set([
  'OBSERVATION_UNSUPPORTED',
  'EXTENSION_EVALUATOR_UNAVAILABLE',
]);

export interface EvidenceQuestion {
  /** Undefined where there is none. */
  readonly pacto: KubeObject | undefined;
  /** Where the Stage of this Pacto stands: what its verdict is about. */
  readonly current: StageCurrent | undefined;
  /** What the verdict is to speak for; undefined: whatever the Stage stands on. */
  readonly digest: string | undefined;
  /** Wall clock. */
  readonly nowMs: number;
  readonly maxVerdictAgeMs: number;
  /** How long an absence must last (operator.md §6). */
  readonly stabilizationMs: number;
}

interface StatusFacts {
  readonly status: string;
  /** Whether the status is about the contract of now. */
  readonly isOfNow: boolean;
  readonly observedAtMs: number | undefined;
  readonly findings: readonly { readonly code: string; readonly severity: string }[];
  readonly hasFailed: boolean;
  readonly youngestMs: number | undefined;
}

/** The verdict as evidence. Never throws: what cannot be read is no evidence. */
export function evidenceOf(question: EvidenceQuestion): VerdictEvidence {
  const { pacto, current, nowMs, maxVerdictAgeMs, stabilizationMs } = question;
  const facts = factsOf(pacto, nowMs - stabilizationMs);
  const currency = currencyOf(question, facts);
  const verdict = classOf(facts);
  const version = at(pacto, 'status', 'contractVersion');
  const resourceVersion = at(pacto, 'metadata', 'resourceVersion');
  return {
    class: verdict,
    status: facts.status,
    currency,
    findings: codesOf(facts.findings),
    contractVersion: typeof version === 'string' && VERSION.test(version) ? version : undefined,
    observedAtMs: facts.observedAtMs,
    resourceVersion: typeof resourceVersion === 'string' ? resourceVersion : '',
    compliantSinceMs: verdict === 'Compliant' ? current?.compliantSinceMs : undefined,
    stabilizing:
      verdict === 'Stabilizing' && facts.youngestMs !== undefined
        ? { sinceMs: facts.youngestMs, untilMs: facts.youngestMs + stabilizationMs }
        : undefined,
    expiresAtMs:
      currency === 'Fresh' && facts.observedAtMs !== undefined
        ? facts.observedAtMs + maxVerdictAgeMs
        : undefined,
  };
}

/**
 * Whether the readiness gate of a contract is satisfied, as far as its Pacto says so of the contract of now
 * (operator.md §7.1); one that says nothing is not.
 */
export function isReady(pacto: KubeObject | undefined): boolean {
  return isOfNow(pacto) && conditionOf(pacto, 'ReadinessSatisfied') === 'True';
}

/** A verdict's class, for what orders verdicts: see `VerdictClass`. Texts that nobody knows are `NotEvaluated`. */
export function classOfStatus(status: string): VerdictClass {
  if (status === 'Compliant' || status === 'Warning' || status === 'Reference') return 'Compliant';
  if (status === 'NonCompliant' || status === 'Unknown') return status;
  return 'NotEvaluated';
}

function factsOf(pacto: KubeObject | undefined, youngAfterMs: number): StatusFacts {
  const status = at(pacto, 'status', 'contractStatus');
  const findings = findingsOf(at(pacto, 'status', 'findings'));
  return {
    status: typeof status === 'string' && STATUS.test(status) ? status : '',
    isOfNow: isOfNow(pacto),
    observedAtMs: timeOf(at(pacto, 'status', 'lastReconciledAt')),
    findings,
    hasFailed:
      findings.some(({ code }) => code === COLLECTION_FAILED) ||
      conditionOf(pacto, 'RuntimeObserved') === 'False',
    youngestMs: youngestOf(at(pacto, 'status', 'observationWindows'), youngAfterMs),
  };
}

function classOf({ status, isOfNow, findings, hasFailed, youngestMs }: StatusFacts): VerdictClass {
  const said = classOfStatus(status);
  // What is said of an earlier contract convicts nobody of the one of now: it is still to come.
  if (said === 'NotEvaluated') return isOfNow ? 'NotEvaluated' : 'Unknown';
  if (said === 'Compliant') return hasFailed ? 'Unknown' : 'Compliant';
  if (said === 'NonCompliant') return 'NonCompliant';
  if (youngestMs !== undefined) return 'Stabilizing';
  const open = findings.filter(({ severity }) => severity === 'unknown');
  return !hasFailed && open.length > 0 && open.every(({ code }) => UNSUPPORTED.has(code))
    ? 'Unsupported'
    : 'Unknown';
}

function currencyOf(
  { pacto, current, digest, nowMs, maxVerdictAgeMs }: EvidenceQuestion,
  facts: StatusFacts,
): Currency {
  if (current === undefined || current.digest === '') return 'Missing';
  // A Stage that stands on something and lost its Pacto is not as free as one that is new.
  if (pacto === undefined) return digest === undefined ? 'Stale' : 'Missing';
  if (digest !== undefined && current.digest !== digest) return 'WrongSubject';
  const { observedAtMs } = facts;
  if (observedAtMs === undefined) return 'Stale';
  if (current.convergedAtMs === undefined || !(current.convergedAtMs < observedAtMs)) return 'WrongSubject';
  const ageMs = nowMs - observedAtMs;
  const isCurrent = facts.isOfNow && ageMs <= maxVerdictAgeMs && ageMs >= -SKEW_MS && isProven(facts);
  return isCurrent ? 'Fresh' : 'Stale';
}

/** A violation of which nothing is left but collections that failed is none that anybody saw. */
function isProven({ status, findings, hasFailed }: StatusFacts): boolean {
  if (status !== 'NonCompliant' || !hasFailed || findings.length === 0) return true;
  return findings.some(({ severity, code }) => severity === 'error' && code !== COLLECTION_FAILED);
}

function isOfNow(pacto: KubeObject | undefined): boolean {
  const generation = integerOf(at(pacto, 'metadata', 'generation'));
  return generation !== undefined && integerOf(at(pacto, 'status', 'observedGeneration')) === generation;
}

/** Status of a condition that is about the spec of now; conditions outlive the pass that knew them (operator.md §20, T5). */
function conditionOf(pacto: KubeObject | undefined, type: string): unknown {
  const conditions = at(pacto, 'status', 'conditions');
  if (!Array.isArray(conditions)) return undefined;
  const condition: unknown = conditions.find((one) => at(one, 'type') === type);
  const generation = integerOf(at(pacto, 'metadata', 'generation'));
  return integerOf(at(condition, 'observedGeneration')) === generation ? at(condition, 'status') : undefined;
}

function findingsOf(value: unknown): StatusFacts['findings'] {
  if (!Array.isArray(value)) return [];
  return value.slice(0, MAX_FINDINGS).flatMap((finding: unknown) => {
    const [code, severity] = [at(finding, 'code'), at(finding, 'severity')];
    if (typeof code !== 'string' || !CODE.test(code)) return [];
    return [{ code, severity: typeof severity === 'string' ? severity : '' }];
  });
}

const SEVERITIES = ['error', 'unknown', 'warning'];

/** Errors first, then what could not be seen, then the rest. */
function codesOf(findings: StatusFacts['findings']): readonly string[] {
  const rank = (severity: string): number => {
    const index = SEVERITIES.indexOf(severity);
    return index === -1 ? SEVERITIES.length : index;
  };
  const ordered = findings.toSorted((a, b) => rank(a.severity) - rank(b.severity));
  return [...new Set(ordered.map(({ code }) => code))];
}

/** When the youngest absence began that has not lasted yet; a start in the future is of a wrong clock, and has not either. */
function youngestOf(value: unknown, youngAfterMs: number): number | undefined {
  if (!Array.isArray(value)) return undefined;
  let youngest: number | undefined;
  for (const window of value.slice(0, MAX_WINDOWS) as readonly unknown[]) {
    const sinceMs = timeOf(at(window, 'firstObservedNegativeAt'));
    if (sinceMs === undefined || sinceMs <= youngAfterMs) continue;
    if (youngest === undefined || sinceMs > youngest) youngest = sinceMs;
  }
  return youngest;
}

function timeOf(value: unknown): number | undefined {
  if (typeof value !== 'string' || value.length > 64 || !isTime(value)) return undefined;
  const ms = Date.parse(value);
  return Number.isNaN(ms) ? undefined : ms;
}

/** Numbers of a review may be bigints or boxed doubles (design decision 2). */
function integerOf(value: unknown): number | undefined {
  const isNumber =
    typeof value === 'number' ||
    typeof value === 'bigint' ||
    (typeof value === 'object' && value !== null && !isRecord(value) && !Array.isArray(value));
  const number = isNumber ? Number(value) : Number.NaN;
  return Number.isSafeInteger(number) ? number : undefined;
}
