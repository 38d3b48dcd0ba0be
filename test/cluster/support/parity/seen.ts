/**
 * What came of a request, as somebody sees it who sends it by kubectl and reads the audit log; and what must be seen
 * through our webhook where the API server itself enforces the policies in that way.
 */
import { isDeepStrictEqual } from 'node:util';
import { policyEntryName } from '../../../../src/policies/vap/entry-name.ts';
import type { KubectlResult } from '../kubectl.ts';
import { policyNames, type ParityCase, type Sending } from './parity-case.ts';

/** The answer to one request. */
export interface Seen {
  /** Of a refusal. */
  readonly refusal: Refusal | undefined;
  /** Those of policies, where the answer came without kubectl, which shows them in its text. */
  readonly warnings: readonly string[];
  /** Of the audit event: those of policies. */
  readonly annotations: Readonly<Record<string, string>>;
}

export interface Refusal {
  readonly code: number | undefined;
  readonly reason: string | undefined;
  readonly message: string;
  readonly details: unknown;
}

/** What kubectl said while it sent one request, or several. */
export type Printed = Pick<KubectlResult, 'code' | 'stdout' | 'stderr'>;

/** What came of many. */
export interface Answers {
  /** By id of the sending; of those that kubectl sent. */
  readonly printed: ReadonlyMap<string, Printed>;
  /** By id of the case. */
  readonly seen: ReadonlyMap<string, Seen>;
}

const FAILURE = 'validation_failure';
const NATIVE_FAILURE = `validation.policy.admission.k8s.io/${FAILURE}`;

/** `pods "web" is forbidden: ` and the sentence of the policy. */
const NATIVE_REFUSAL = /^.*? is forbidden: (ValidatingAdmissionPolicy '([^']+)'.*)$/s;

/** F1: our sentence is the native one, and the API server puts the name of the entry in front. */
function messageThroughWebhook(message: string): string {
  const [, sentence = '', policy = ''] = NATIVE_REFUSAL.exec(message) ?? [];
  if (policy === '') return message;
  return `admission webhook "${policyEntryName(policy)}" denied the request: ${sentence}`;
}

/** F4: the entry stands for the policy, and keeps the failures of that policy alone. */
function annotationsThroughWebhook(native: Seen['annotations']): Seen['annotations'] {
  const annotations: Record<string, string> = {};
  for (const [key, value] of Object.entries(native)) {
    if (key === NATIVE_FAILURE) {
      for (const [policy, failures] of failuresByPolicy(value))
        annotations[`${policyEntryName(policy)}/${FAILURE}`] = failures;
      continue;
    }
    const slash = key.indexOf('/');
    annotations[`${policyEntryName(key.slice(0, slash))}${key.slice(slash)}`] = value;
  }
  return annotations;
}

/** The texts of the failures stay as they are, byte for byte. */
function failuresByPolicy(value: string): ReadonlyMap<string, string> {
  const failures = JSON.parse(value) as readonly { readonly policy: string }[];
  const policies = new Set(failures.map(({ policy }) => policy));
  const [only] = policies;
  if (policies.size === 1 && only !== undefined) return new Map([[only, value]]);
  throw new Error(`the failures of several policies in one annotation: ${value}`);
}

function seenThroughWebhook(native: Seen): Seen {
  const { refusal } = native;
  return {
    // The causes are the sentence of the policy alone, in both ways.
    refusal: refusal && { ...refusal, message: messageThroughWebhook(refusal.message) },
    warnings: native.warnings,
    annotations: annotationsThroughWebhook(native.annotations),
  };
}

/** @param refusals native, of the requests that this kubectl sent */
function printedThroughWebhook(native: Printed, refusals: readonly Refusal[]): Printed {
  let { stderr } = native;
  for (const { message } of refusals)
    stderr = stderr.replaceAll(message, () => messageThroughWebhook(message));
  return { ...native, stderr };
}

/** Keys of the annotations that a case may leave in the audit log of either API server. */
export function policyAnnotations(
  one: ParityCase,
  annotations: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  const names = policyNames(one);
  const prefixes = [...names, ...names.map(policyEntryName), 'validation.policy.admission.k8s.io'];
  return Object.fromEntries(
    Object.entries(annotations)
      .filter(([key]) => prefixes.some((prefix) => key.startsWith(`${prefix}/`)))
      .sort(([a], [b]) => (a < b ? -1 : 1)),
  );
}

const POLICY_WARNING = "Validation failed for ValidatingAdmissionPolicy '";

/** Without what API servers say of fields and versions: each minor has its own words for that. */
export function policyWarnings(warnings: readonly string[]): readonly string[] {
  return warnings.filter((text) => text.startsWith(POLICY_WARNING));
}

/** The same of a text of kubectl. */
export function withoutOtherWarnings(stderr: string): string {
  return stderr
    .split('\n')
    .filter((line) => !line.startsWith('Warning: ') || line.startsWith(`Warning: ${POLICY_WARNING}`))
    .join('\n');
}

/** Whether it was a policy that refused. */
export function refusedByPolicy({ refusal }: Seen): boolean {
  return refusal !== undefined && NATIVE_REFUSAL.test(refusal.message);
}

/** What is seen through our webhook and must not be, once F1 and F4 are allowed for. */
export function parityDifferences({ id, cases }: Sending, native: Answers, ours: Answers): readonly string[] {
  const found: string[] = [];
  const refusals: Refusal[] = [];
  for (const one of cases) {
    const seen = native.seen.get(one.id);
    if (seen === undefined) throw new Error(`${one.id} was not answered`);
    if (seen.refusal !== undefined) refusals.push(seen.refusal);
    const wanted = seenThroughWebhook(seen);
    const got = ours.seen.get(one.id);
    for (const part of ['refusal', 'warnings', 'annotations'] as const)
      found.push(...difference(`${part} of ${one.id}`, wanted[part], got?.[part]));
  }
  // Entries are asked at once, and who answers first warns first.
  const isOrdered = cases.every(({ policies }) => policies.length === 1);
  const textOf = (printed: Printed | undefined): Printed | undefined =>
    printed === undefined || isOrdered ? printed : { ...printed, stderr: warningsSorted(printed.stderr) };
  const printed = native.printed.get(id);
  const wanted = printed && printedThroughWebhook(printed, refusals);
  return [...found, ...difference('printed', textOf(wanted), textOf(ours.printed.get(id)))];
}

function difference(what: string, wanted: unknown, got: unknown): readonly string[] {
  const texts = [wanted, got].map((value) => JSON.stringify(value));
  return isDeepStrictEqual(wanted, got) ? [] : [`${what}: wanted ${texts[0]} got ${texts[1]}`];
}

function warningsSorted(stderr: string): string {
  const lines = stderr.split('\n');
  const warnings = lines.filter((line) => line.startsWith('Warning: ')).toSorted();
  return [...warnings, ...lines.filter((line) => !line.startsWith('Warning: '))].join('\n');
}
