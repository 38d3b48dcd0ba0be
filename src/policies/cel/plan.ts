/** An expression as it is evaluated: closures over the frame. */
import type { Frame } from './frame.ts';
import type { Value } from './values.ts';

/** Evaluates, and counts the cost. @throws EvaluationCancelled, AuthorizationPending; errors are values. */
export type Run = (frame: Frame) => Value;

export interface Plan {
  readonly run: Run;
  /** Known when the program is built: evaluating it costs nothing. */
  readonly constant?: Value;
  /** Something that fields and indexes can be added to without a step of its own: cel-go's attribute. */
  readonly attribute?: Attribute;
}

export interface Attribute {
  /** The value without the cost of reading the attribute as a whole, which not every use of it pays. */
  readonly resolve: Run;
  readonly with: (qualifier: Qualifier) => Attribute;
  /** What reading the whole costs: 1, and 0 for `?:`. */
  readonly cost: number;
  /** The value as a key of another: the error of what is none shows whether it comes from a review. */
  readonly key: Run;
}

/** One more step from a value: a field, an index. */
export interface Qualifier {
  /** `.?` and `[?]`. */
  readonly optional: boolean;
  /** The last field of `has()`. */
  readonly test: boolean;
  readonly key: { readonly constant: Value } | { readonly run: Run };
}

export function constantPlan(constant: Value): Plan {
  return { constant, run: () => constant };
}

/** The program cannot be built: what the API server refuses with `program instantiation failed`. */
export class PlanFailure {
  /** `panic`: the API server's code does not survive this expression. */
  readonly phase: 'program' | 'panic';
  readonly message: string;
  constructor(phase: PlanFailure['phase'], message: string) {
    this.phase = phase;
    this.message = message;
  }
}
