/**
 * `status` of a ValidatingAdmissionPolicy of the group gate.pacto.trianalab.io: whether it is enforced, by what, and
 * what its writer should know (manifests/crds). Whoever writes it decides when; this file decides what.
 */
import type { CompileProblem } from './compile.ts';
import type { ExpressionWarning } from './typecheck.ts';

/** What refuses requests by this policy: the API server itself, a webhook entry, or nothing. */
export type EnforcementPoint = 'Native' | 'Webhook' | 'None';

/** As metav1.Condition. */
export interface PolicyCondition {
  /** `Ready`: every expression compiles and the policy may be as it is. `Enforced`: something refuses by it. */
  readonly type: 'Ready' | 'Enforced';
  readonly status: 'True' | 'False';
  readonly reason: string;
  readonly message: string;
  readonly observedGeneration: number;
  /** RFC 3339, whole seconds: when `status` last became another. */
  readonly lastTransitionTime: string;
}

export interface PolicyStatus {
  /** `metadata.generation` that all of this is about. */
  readonly observedGeneration: number;
  readonly conditions: readonly PolicyCondition[];
  readonly enforcedBy: EnforcementPoint;
  /** Name of the webhook entry; left out without one. */
  readonly entry?: string;
  /** As in the native kind: types of the expressions against the schemas of what the rules name. */
  readonly typeChecking: { readonly expressionWarnings: readonly ExpressionWarning[] };
  readonly compileErrors: readonly { readonly field: string; readonly error: string }[];
  /** What its rules name and no webhook entry may reach, a sentence each. */
  readonly notEnforcedHere: readonly string[];
}

export interface PolicyStatusInput {
  readonly generation: number;
  readonly compileErrors: readonly Pick<CompileProblem, 'field' | 'error'>[];
  readonly typeWarnings: readonly ExpressionWarning[];
  readonly notEnforced: readonly string[];
  readonly enforcedBy: EnforcementPoint;
  readonly entry?: string | undefined;
  /** Why the policy may not be as it is, such as a paramKind that is not allowed (sources.ts). */
  readonly faults?: readonly string[];
  /**
   * Why nothing enforces it, or why it is not native where that was wanted: a word for programs and a sentence for
   * people. Default: nothing enforces it yet, or nothing else was wanted.
   */
  readonly because?: { readonly reason: string; readonly message: string };
  /** `status` of the stored object, whatever is in it. */
  readonly previous?: unknown;
  /** RFC 3339, whole seconds. */
  readonly now: string;
}

/** Bounds of the schema in manifests/crds, so that a status can be written whatever a policy brings about. */
const MOST_ITEMS = 100;
const MOST_CHARACTERS = 4_096;
/** Of metav1.Condition, 32768; nobody reads that far. */
const MOST_MESSAGE = 1_024;

/** @returns `previous` itself where it says the same already: nothing is to be written then. */
export function policyStatus(input: PolicyStatusInput): PolicyStatus {
  const { generation, enforcedBy, entry, previous } = input;
  const next: PolicyStatus = {
    observedGeneration: generation,
    conditions: [ready(input), enforced(input)],
    enforcedBy,
    ...(entry === undefined ? {} : { entry }),
    typeChecking: {
      expressionWarnings: few(input.typeWarnings).map(({ fieldRef, warning }) => ({
        fieldRef,
        warning: cut(warning, MOST_CHARACTERS),
      })),
    },
    compileErrors: few(input.compileErrors).map(({ field, error }) => ({
      field,
      error: cut(error, MOST_CHARACTERS),
    })),
    notEnforcedHere: few(input.notEnforced).map((sentence) => cut(sentence, MOST_MESSAGE)),
  };
  return isSame(previous, next) ? (previous as PolicyStatus) : next;
}

/**
 * @param previous as somebody stored it
 * @param now RFC 3339, whole seconds
 * @returns the same status of a policy that nothing enforces any more; undefined where it does not say that anything does
 */
export function endedStatus(previous: unknown, now: string): Readonly<Record<string, unknown>> | undefined {
  if (!['Native', 'Webhook'].includes(String(member(previous, 'enforcedBy')))) return undefined;
  const { entry: _gone, ...rest } = previous as Record<string, unknown>;
  const ended = condition(
    'Enforced',
    { status: 'False', reason: 'Uninstalled', message: 'pacto-gate was taken out of the cluster' },
    { generation: Number(member(previous, 'observedGeneration') ?? 1), previous, now },
  );
  const others = conditionsOf(previous).filter((one) => member(one, 'type') !== 'Enforced');
  return { ...rest, conditions: [...others, ended], enforcedBy: 'None', notEnforcedHere: [] };
}

type Condition = Pick<PolicyCondition, 'status' | 'reason' | 'message'>;

function ready(input: PolicyStatusInput): PolicyCondition {
  const { compileErrors, faults = [] } = input;
  const [fault] = faults;
  const [error] = compileErrors;
  if (fault !== undefined)
    return condition('Ready', { status: 'False', reason: 'NotAllowed', message: fault }, input);
  if (error !== undefined) {
    const message = `${String(compileErrors.length)} of its expressions do not compile, the first is ${error.field}`;
    return condition('Ready', { status: 'False', reason: 'CompileErrors', message }, input);
  }
  return condition(
    'Ready',
    { status: 'True', reason: 'Compiled', message: 'every expression compiles' },
    input,
  );
}

function enforced(input: PolicyStatusInput): PolicyCondition {
  const { enforcedBy, entry, notEnforced, because } = input;
  if (enforcedBy === 'None') {
    const { reason, message } = because ?? {
      reason: 'NotEnforced',
      message: 'neither the API server nor a webhook entry enforces it',
    };
    return condition('Enforced', { status: 'False', reason, message }, input);
  }
  const by =
    enforcedBy === 'Native'
      ? 'the API server enforces it'
      : `the webhook entry ${entry ?? 'of this policy'} enforces it`;
  const but =
    enforcedBy === 'Native' || notEnforced.length === 0 ? '' : ', but for what notEnforcedHere names';
  const why = because === undefined ? '' : `; ${because.message}`;
  const reason = because?.reason ?? enforcedBy;
  return condition('Enforced', { status: 'True', reason, message: `${by}${but}${why}` }, input);
}

function condition(
  type: PolicyCondition['type'],
  { status, reason, message }: Condition,
  { generation, previous, now }: Pick<PolicyStatusInput, 'generation' | 'previous' | 'now'>,
): PolicyCondition {
  const before = conditionsOf(previous).find((one) => member(one, 'type') === type);
  const since = member(before, 'status') === status ? member(before, 'lastTransitionTime') : undefined;
  return {
    type,
    status,
    reason,
    message: cut(message, MOST_MESSAGE),
    observedGeneration: generation,
    lastTransitionTime: typeof since === 'string' ? since : now,
  };
}

function conditionsOf(status: unknown): readonly unknown[] {
  const conditions = member(status, 'conditions');
  return Array.isArray(conditions) ? (conditions as unknown[]) : [];
}

function member(value: unknown, key: string): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined;
  return (value as Record<string, unknown>)[key];
}

function few<T>(items: readonly T[]): readonly T[] {
  return items.slice(0, MOST_ITEMS);
}

/** By UTF-16 units, without half a pair at the end. */
function cut(text: string, most: number): string {
  if (text.length <= most) return text;
  return `${text.slice(0, most - 1).replace(/[\ud800-\udbff]$/, '')}…`;
}

/** Whether two JSON values are the same; an empty list or object is the same as none, as API servers leave them out. */
function isSame(a: unknown, b: unknown): boolean {
  if (isEmpty(a) && isEmpty(b)) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return a === b;
  if (Array.isArray(a) !== Array.isArray(b)) return false;
  const keys = new Set([...Object.keys(a), ...Object.keys(b)]);
  return [...keys].every((key) => isSame(member(a, key), member(b, key)));
}

function isEmpty(value: unknown): boolean {
  if (value === undefined) return true;
  return typeof value === 'object' && value !== null && Object.values(value).every(isEmpty);
}
