/** What of our answer to a recorded request is not as it was recorded. */
import type { Decision, Outcome, Status } from '../../src/policies/vap/answer.ts';
import { sentWarnings } from '../../src/policies/vap/warnings.ts';
import type { RecordedStatus, RequestCase } from './vap-case.ts';

/** @param outcomes one for each review of the case */
export function requestDifferences(
  { answer, unordered }: RequestCase,
  outcomes: readonly Outcome[],
): string[] {
  const found: string[] = [];
  const status = outcomes.map((outcome) => outcome.status).find((one) => one !== undefined);
  const denied = status !== undefined;
  if (denied === answer.allowed) found.push(difference('allowed', answer.allowed, !denied));
  const decisions = outcomes.flatMap((outcome) => outcome.decisions);
  const competing = unordered === true && denied && isCompeting(answer.status, decisions);
  if (!competing && !sameJson(partsOf(status), partsOf(answer.status))) {
    found.push(difference('status', partsOf(answer.status), partsOf(status)));
  }
  const warnings = sentWarnings(outcomes.flatMap((outcome) => outcome.warnings));
  const same =
    unordered === true
      ? sameJson([...warnings].sort(), [...answer.warnings].sort())
      : sameJson(warnings, answer.warnings);
  if (!same) found.push(difference('warnings', answer.warnings, warnings));
  const annotations = Object.assign({}, ...outcomes.map((outcome) => outcome.auditAnnotations)) as Record<
    string,
    string
  >;
  if (!sameAnnotations(annotations, answer.auditAnnotations, unordered === true)) {
    found.push(difference('auditAnnotations', answer.auditAnnotations, annotations));
  }
  return found;
}

function difference(what: string, wanted: unknown, got: unknown): string {
  return `${what}: wanted ${JSON.stringify(wanted)}\n${' '.repeat(what.length)}     got ${JSON.stringify(got)}`;
}

function sameJson(a: unknown, b: unknown): boolean {
  return JSON.stringify(sorted(a)) === JSON.stringify(sorted(b));
}

/** With the members of objects in an order of their own. */
function sorted(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(sorted);
  const entries = Object.entries(value).map(([key, one]): [string, unknown] => [key, sorted(one)]);
  return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)));
}

function partsOf(status: RecordedStatus | Status | null | undefined): unknown {
  if (status === undefined || status === null) return null;
  const { message, reason, code, details } = status;
  return { message, reason, code, details };
}

/** Whether the recorded refusal is that of another decision than ours, where their order is not stable. */
function isCompeting(status: RecordedStatus | null, decisions: readonly Decision[]): boolean {
  return decisions.some(
    ({ actions, message, policy, reason }) =>
      actions.includes('Deny') &&
      status?.message.includes(`ValidatingAdmissionPolicy '${policy}'`) === true &&
      status.message.endsWith(` denied request: ${message}`) &&
      status.reason === (reason ?? 'Invalid'),
  );
}

function sameAnnotations(
  got: Readonly<Record<string, string>>,
  wanted: Readonly<Record<string, string>>,
  unordered: boolean,
): boolean {
  if (!unordered) return sameJson(got, wanted);
  const parts = (annotations: Readonly<Record<string, string>>): unknown =>
    Object.entries(annotations).map(([key, value]) => [key, value.split(', ').sort()]);
  return sameJson(parts(got), parts(wanted));
}
