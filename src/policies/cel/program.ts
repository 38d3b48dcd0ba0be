/** A compiled expression: what it evaluates to, and what that costs. */
import type { Activation } from './activation.ts';
import type { CelType } from './cel-type.ts';
import { Frame } from './frame.ts';
import type { Run } from './plan.ts';
import { EvaluationCancelled } from './signals.ts';
import { CelError, type Value } from './values.ts';

/** Cost that one expression, and each variable, may have (vap.md B01). */
export const PER_EXPRESSION_LIMIT = 1_000_000;
/** Text of an overrun of what all expressions of a phase may cost together (vap.md B01). */
const OUT_OF_BUDGET =
  'validation failed due to running out of cost budget, no further validation rules will be run';

/** What is left for all expressions of a phase: 10,000,000 at its beginning, 2,500,000 for matchConditions. */
export class Budget {
  #remaining: number;

  constructor(total: number) {
    this.#remaining = total;
  }

  get remaining(): number {
    return this.#remaining;
  }

  /** @returns false where that is more than there is; nothing may be evaluated then any more. */
  spend(cost: number): boolean {
    this.#remaining -= cost;
    return this.#remaining >= 0;
  }
}

export type Evaluation =
  | { readonly value: Value; readonly cost: number }
  /** An error of this expression; others may go on. */
  | { readonly error: string; readonly cost: number }
  /** The budget is spent. */
  | { readonly fatal: string; readonly cost: number };

export class Program {
  readonly ok = true;
  readonly source: string;
  /** Static type of what it gives. */
  readonly type: CelType;
  readonly #run: Run;

  constructor(source: string, type: CelType, run: Run) {
    this.source = source;
    this.type = type;
    this.#run = run;
  }

  /**
   * Evaluates, and takes what it costs from the budget, the cost of the variables that it read first included.
   *
   * @throws AuthorizationPending, and nothing else: evaluate again then, on the same activation, once the answer is
   * known. The variables that were read keep their values, and their cost is counted once.
   */
  evaluate(activation: Activation, budget: Budget): Evaluation {
    const { value, cost: own } = this.run(activation, Math.min(PER_EXPRESSION_LIMIT, budget.remaining));
    const cost = own + (activation.variables?.takeCost() ?? 0);
    if (!budget.spend(cost)) return { fatal: OUT_OF_BUDGET, cost };
    return value instanceof CelError ? { error: value.message, cost } : { value, cost };
  }

  /**
   * Evaluates under a limit of its own, without a budget.
   *
   * @throws AuthorizationPending
   */
  run(
    activation: Activation,
    limit = PER_EXPRESSION_LIMIT,
  ): { readonly value: Value; readonly cost: number } {
    const frame = new Frame(activation, limit);
    try {
      return { value: this.#run(frame), cost: frame.cost };
    } catch (thrown) {
      if (thrown instanceof EvaluationCancelled) {
        return { value: new CelError(thrown.message), cost: frame.cost };
      }
      // Deeper than the stack, or longer than a text can be: parser, reader of JSON and functions have limits, so
      // this is the second line.
      if (thrown instanceof RangeError) {
        return { value: new CelError('internal error: a value is too deep or too long'), cost: frame.cost };
      }
      throw thrown;
    }
  }
}
