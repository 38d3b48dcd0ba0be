/** What of an outcome differs from the recorded one. Each difference is a text; none: as recorded. */
import type { Outcome, Vector } from './cel-vector.ts';
import { canonicalText, sameText, sameValue, sortedElements } from './typed-values.ts';

/** What the engine made of a vector. */
export interface Answer {
  readonly compile:
    | { readonly ok: true; readonly type: string }
    | { readonly ok: false; readonly phase: string; readonly error: string };
  readonly result?: { readonly value: string } | { readonly error: string } | { readonly fatal: string };
  readonly cost?: number;
  readonly estimate?: { readonly min: string; readonly max: string };
  readonly authzCalls?: readonly Readonly<Record<string, string | boolean>>[];
}

export function differences(vector: Vector, answer: Answer): readonly string[] {
  const found = compileDifferences(vector, answer);
  if (found.length > 0 || !vector.compile.ok) return found;
  const outcomes = vector.alternatives ?? (vector.result === undefined ? [] : [vector.result]);
  const { result } = answer;
  if (result === undefined || !outcomes.some((outcome) => sameOutcome(outcome, result, vector))) {
    found.push(difference('result', outcomes, result));
  }
  if (!sameCost(vector, answer.cost)) {
    found.push(difference('cost', vector.cost ?? vector.costRange, answer.cost));
  }
  if (vector.estimate !== undefined) {
    const wanted = { min: String(vector.estimate.min), max: String(vector.estimate.max) };
    if (wanted.min !== answer.estimate?.min || wanted.max !== answer.estimate.max) {
      found.push(difference('estimate', wanted, answer.estimate));
    }
  }
  const asked = sortedMembers(answer.authzCalls ?? []);
  if (asked !== sortedMembers(vector.authzCalls ?? [])) {
    found.push(difference('authzCalls', vector.authzCalls, answer.authzCalls));
  }
  return found;
}

function difference(what: string, wanted: unknown, got: unknown): string {
  return `${what}: wanted ${display(wanted)}\n${' '.repeat(what.length)}     got ${display(got)}`;
}

function display(value: unknown): string {
  const text = typeof value === 'string' ? value : value === undefined ? 'nothing' : canonicalText(value);
  return text.length > 2000 ? `${text.slice(0, 2000)}…` : text;
}

function compileDifferences(vector: Vector, answer: Answer): string[] {
  const wanted = vector.compile;
  const got = answer.compile;
  if (wanted.ok) {
    return got.ok && got.type === wanted.type ? [] : [difference('compile', wanted, got)];
  }
  // What makes the Go code panic is only said to be refused.
  if (wanted.phase === 'panic') return got.ok ? [difference('compile', 'refused', got)] : [];
  if (got.ok || got.phase !== wanted.phase) return [difference('compile', wanted, got)];
  const same =
    wanted.phase === 'syntax' ? samePositions(wanted.error, got.error) : sameText(got.error, wanted.error);
  return same ? [] : [difference(wanted.phase, wanted.error, got.error)];
}

/** Syntax errors are compared by their positions, source lines and markers, not by what the parser expected. */
function samePositions(wanted: unknown, got: string): boolean {
  if (typeof wanted === 'string') return withoutExpectations(wanted) === withoutExpectations(got);
  const { head } = wanted as { head: string };
  // The head may end in the middle of a line.
  const whole = head.slice(0, head.lastIndexOf('\n') + 1);
  return withoutExpectations(got).startsWith(withoutExpectations(whole));
}

export function withoutExpectations(text: string): string {
  return text.replaceAll(/^(.*ERROR: <input>:\d+:\d+: Syntax error:).*$/gm, '$1');
}

function sameOutcome(outcome: Outcome, result: NonNullable<Answer['result']>, vector: Vector): boolean {
  if (outcome.fatal !== undefined) return 'fatal' in result && result.fatal === outcome.fatal;
  if (outcome.error !== undefined) return 'error' in result && sameText(result.error, outcome.error);
  if (!('value' in result)) return false;
  if (vector.unordered === true) {
    const got = JSON.parse(result.value) as Record<string, unknown>;
    return 'list' in got && sortedElements(got) === sortedElements(outcome.value);
  }
  return sameValue(result.value, outcome as Readonly<Record<string, unknown>>);
}

function sameCost(vector: Vector, cost: number | undefined): boolean {
  if (vector.costRange !== undefined) {
    const [min, max] = vector.costRange;
    return cost !== undefined && cost >= min && cost <= max;
  }
  return vector.cost === undefined || vector.cost === cost;
}

function sortedMembers(questions: readonly Readonly<Record<string, string | boolean>>[]): string {
  return JSON.stringify(
    questions.map((question) => Object.entries(question).sort(([a], [b]) => (a < b ? -1 : 1))),
  );
}
