/** Whether the matchConditions let a policy be evaluated (vap.md C01 to C07). */
import type { Activation } from '../cel/activation.ts';
import type { CompiledPolicy } from './compile.ts';
import type { Inquiry, Steps } from './inquiry.ts';
import { runPhase } from './phase.ts';

/** Budget of all conditions of one evaluation together (vap.md C05). */
const CONDITIONS_BUDGET = 2_500_000;

export type ConditionsResult = 'match' | 'skip' | { readonly error: string };

/** @param activation without a namespace object, and with the request's own resource (vap.md C03, C04) */
export function* meetsConditions(
  { conditions, variables, policy }: CompiledPolicy,
  activation: () => Activation,
  inquiry: Inquiry,
): Steps<ConditionsResult> {
  if (conditions.length === 0) return 'match';
  const phase = yield* runPhase(conditions, variables, activation, CONDITIONS_BUDGET, inquiry);
  if ('exhausted' in phase) return byFailurePolicy(policy.failurePolicy, phase.exhausted);
  const errors: string[] = [];
  for (const result of phase.results) {
    if (result === undefined) continue;
    if ('error' in result) errors.push(result.error);
    // One that is false decides, whatever failed beside it.
    else if (result.value === false) return 'skip';
  }
  return errors.length === 0 ? 'match' : byFailurePolicy(policy.failurePolicy, joinErrors(errors));
}

function byFailurePolicy(failurePolicy: string, error: string): ConditionsResult {
  if (failurePolicy === 'Fail') return { error };
  // With a failurePolicy that it does not know, the API server forgets the error and goes on.
  return failurePolicy === 'Ignore' ? 'skip' : 'match';
}

/** Each text once; in brackets where there are several (vap.md C06). */
function joinErrors(errors: readonly string[]): string {
  const different = [...new Set(errors)];
  return different.length === 1 ? (different[0] ?? '') : `[${different.join(', ')}]`;
}
