/** One policy with one binding and one parameter: what its validations and audit annotations say (vap.md §2.7). */
import type { Activation } from '../cel/activation.ts';
import { utf8Length } from '../cel/sizes.ts';
import type { CompiledPolicy } from './compile.ts';
import { meetsConditions } from './conditions.ts';
import { trimSpace } from './go-strings.ts';
import type { Inquiry, Steps } from './inquiry.ts';
import { runPhase, type Result } from './phase.ts';
import type { Validation } from './types.ts';

/** Of validations and messages together, and of audit annotations (vap.md B01). */
const VALIDATIONS_BUDGET = 10_000_000;
const ANNOTATIONS_BUDGET = 10_000_000;
/** Bytes of the longest text that a messageExpression may give (vap.md E08). */
const MAX_MESSAGE_BYTES = 5120;

/** What a validation came to, where it is not that the request is fine. */
export interface Failing {
  /** Of the validation, from 0. */
  readonly expressionIndex: number;
  /** `error`: there is no result, and it counts only under failurePolicy Fail (vap.md E04). */
  readonly evaluation: 'deny' | 'error';
  readonly message: string;
  /** Only of a denial. */
  readonly reason?: string;
}

export type Annotation =
  | { readonly key: string; readonly value: string }
  /** Denies, whatever the binding's actions are (vap.md E10). */
  | { readonly key: string; readonly error: string };

export interface Findings {
  readonly failing: readonly Failing[];
  readonly annotations: readonly Annotation[];
}

const NOTHING: Findings = { failing: [], annotations: [] };

/** What the expressions of the phases may read (vap.md C03, C04, E09, L06). Made only for a phase that has any. */
export interface Activations {
  conditions(): Activation;
  validations(): Activation;
  messages(): Activation;
  annotations(): Activation;
}

export function* evaluateOne(
  compiled: CompiledPolicy,
  activations: Activations,
  inquiry: Inquiry,
): Steps<Findings> {
  const met = yield* meetsConditions(compiled, () => activations.conditions(), inquiry);
  if (met === 'skip') return NOTHING;
  if (met !== 'match') return only(met.error);
  const { validations, messages, annotations, variables, policy } = compiled;
  const validated = yield* runPhase(
    validations,
    variables,
    () => activations.validations(),
    VALIDATIONS_BUDGET,
    inquiry,
  );
  if ('exhausted' in validated) return only(validated.exhausted);
  const told = yield* runPhase(
    messages,
    variables,
    () => activations.messages(),
    validated.remaining,
    inquiry,
  );
  const failing: Failing[] = [];
  for (const [index, validation] of policy.validations.entries()) {
    const message = 'exhausted' in told ? told : told.results[index];
    const found = failingOf(index, validation, validated.results[index], message);
    if (found !== undefined) failing.push(found);
  }
  const annotated = yield* runPhase(
    annotations,
    variables,
    () => activations.annotations(),
    ANNOTATIONS_BUDGET,
    inquiry,
  );
  // What the validations said is lost with the annotations (vap.md E09).
  if ('exhausted' in annotated) return only(annotated.exhausted);
  return { failing, annotations: annotationsOf(compiled, annotated.results) };
}

/** The whole evaluation is one error (vap.md B01). */
function only(message: string): Findings {
  return { failing: [{ expressionIndex: 0, evaluation: 'error', message }], annotations: [] };
}

function failingOf(
  expressionIndex: number,
  validation: Validation,
  result: Result,
  message: Result | { readonly exhausted: string },
): Failing | undefined {
  if (result === undefined) return undefined;
  if ('error' in result) return { expressionIndex, evaluation: 'error', message: result.error };
  if (message !== undefined && 'exhausted' in message) {
    // Also of validations that passed (vap.md E06).
    return {
      expressionIndex,
      evaluation: 'error',
      message: `failed messageExpression: ${message.exhausted}`,
    };
  }
  if (result.value === true) return undefined;
  return {
    expressionIndex,
    evaluation: 'deny',
    message: messageOf(validation, message),
    ...(validation.reason === undefined ? {} : { reason: validation.reason }),
  };
}

/** vap.md E08: what the messageExpression gave, if it can be shown; else the message; else the expression. */
function messageOf({ message = '', expression }: Validation, told: Result): string {
  if (told !== undefined && 'value' in told && typeof told.value === 'string') {
    const text = trimSpace(told.value);
    if (text !== '' && utf8Length(text) <= MAX_MESSAGE_BYTES && !text.includes('\n')) return text;
  }
  const text = trimSpace(message);
  return text === '' ? `failed expression: ${trimSpace(expression)}` : text;
}

/** vap.md E10. */
function annotationsOf({ policy }: CompiledPolicy, results: readonly Result[]): Annotation[] {
  const annotations: Annotation[] = [];
  for (const [index, { key }] of policy.auditAnnotations.entries()) {
    const result = results[index];
    if (result === undefined) continue;
    if ('error' in result) {
      if (policy.failurePolicy !== 'Ignore') annotations.push({ key, error: result.error });
    } else if (typeof result.value === 'string') {
      const value = trimSpace(result.value);
      if (value !== '') annotations.push({ key, value });
    }
  }
  return annotations;
}
