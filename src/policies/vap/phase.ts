/** Runs the expressions of one phase on one budget (vap.md B01, L02). */
import type { Activation, CompiledVariable } from '../cel/activation.ts';
import { VariableScope } from '../cel/activation.ts';
import { Budget, type Evaluation } from '../cel/program.ts';
import { AuthorizationPending } from '../cel/signals.ts';
import type { Value } from '../cel/values.ts';
import type { CompiledExpression } from './compile.ts';
import type { Inquiry, Steps } from './inquiry.ts';

/** Of one expression; undefined where there was none (a validation without messageExpression). */
export type Result = { readonly value: Value } | { readonly error: string } | undefined;

export type PhaseResult =
  | { readonly results: readonly Result[]; readonly remaining: number }
  /** The budget was spent: what came before does not count. */
  | { readonly exhausted: string };

/**
 * @param activation without `variables`: each phase evaluates them anew
 */
export function* runPhase(
  expressions: readonly (CompiledExpression | undefined)[],
  variables: readonly CompiledVariable[],
  activation: () => Activation,
  total: number,
  inquiry: Inquiry,
): Steps<PhaseResult> {
  if (expressions.every((expression) => expression === undefined)) return { results: [], remaining: total };
  const within = new VariableScope(variables, activation()).activation;
  const budget = new Budget(total);
  const results: Result[] = [];
  for (const expression of expressions) {
    if (expression === undefined) {
      results.push(undefined);
      continue;
    }
    const { program, source } = expression;
    if (!program.ok) {
      results.push({ error: `compilation error: ${program.error}` });
      continue;
    }
    let evaluation: Evaluation | undefined;
    while (evaluation === undefined) {
      try {
        evaluation = program.evaluate(within, budget);
      } catch (thrown) {
        if (!(thrown instanceof AuthorizationPending)) throw thrown;
        yield* inquiry.findOut(thrown.query);
      }
    }
    yield* inquiry.worked(evaluation.cost);
    if ('fatal' in evaluation) return { exhausted: evaluation.fatal };
    results.push(
      'error' in evaluation
        ? { error: `expression '${source}' resulted in error: ${evaluation.error}` }
        : { value: evaluation.value },
    );
  }
  return { results, remaining: budget.remaining };
}
