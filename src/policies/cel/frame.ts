/** The state of one evaluation of one expression: what it has cost, its variables, what it may read. */
import type { Activation } from './activation.ts';
import { EvaluationCancelled } from './signals.ts';
import type { Value } from './values.ts';

/** Text of an overrun of the limit of one expression (cel-go interpreter/runtimecost.go). */
const LIMIT_EXCEEDED = 'operation cancelled: actual cost limit exceeded';
/** Text of an evaluation that was told to stop. */
const INTERRUPTED = 'operation interrupted';
/** Iterations between two looks at whether to stop (vap.md B05). */
const CHECK_FREQUENCY = 100;
/**
 * Elements that `+` of lists may copy in one evaluation: Go copies none, and charges nothing for it. More than any
 * policy needs, and some 50 ms.
 */
const MAX_COPIED_ELEMENTS = 4_000_000;

export class Frame {
  /** As cel-go counts it (cel.md §5.8). */
  cost = 0;
  readonly limit: number;
  readonly activation: Activation;
  /** Variables of macros, by the slots that the planner gave them. */
  readonly locals: (Value | undefined)[] = [];
  /** Lists that `+` adds to in place (plan-macros.ts, lazyVariable). */
  mutable: Set<Value> | undefined;
  #iterations = 0;
  #copied = 0;

  constructor(activation: Activation, limit: number) {
    this.activation = activation;
    this.limit = limit;
  }

  /**
   * So many steps of cost 1.
   *
   * @throws EvaluationCancelled at the first that is too much.
   */
  step(count: number): void {
    this.cost += count;
    if (this.cost > this.limit) this.#exceeded(count);
  }

  #exceeded(count: number): never {
    // cel-go looks after every step, so the others were not taken.
    if (this.cost - count <= this.limit) this.cost = Math.floor(this.limit) + 1;
    throw new EvaluationCancelled(LIMIT_EXCEEDED);
  }

  /**
   * One step of this cost.
   *
   * @throws EvaluationCancelled if it is too much.
   */
  charge(cost: number): void {
    this.cost += cost;
    if (this.cost > this.limit) throw new EvaluationCancelled(LIMIT_EXCEEDED);
  }

  /** Once before each round of a macro. */
  iterate(): void {
    if (++this.#iterations % CHECK_FREQUENCY === 0 && this.activation.interrupted?.() === true) {
      throw new EvaluationCancelled(INTERRUPTED);
    }
  }

  /** Before elements are copied that cel-go does not copy. */
  copy(elements: number): void {
    this.#copied += elements;
    if (this.#copied > MAX_COPIED_ELEMENTS) throw new EvaluationCancelled(LIMIT_EXCEEDED);
  }
}
