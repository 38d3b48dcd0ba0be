/** The state of one evaluation of one expression: what it has cost, its variables, what it may read. */
import type { Activation } from './activation.ts';
import { Effort, LIMIT_EXCEEDED } from './effort.ts';
import { EvaluationCancelled } from './signals.ts';
import type { JsonMap, Value } from './values.ts';

/** Text of an evaluation that was told to stop. */
const INTERRUPTED = 'operation interrupted';
/** Iterations between two looks at whether to stop (vap.md B05). */
const CHECK_FREQUENCY = 100;
export class Frame {
  /** As cel-go counts it (cel.md §5.8). */
  cost = 0;
  readonly limit: number;
  readonly activation: Activation;
  /** Variables of macros, by the slots that the planner gave them. */
  readonly locals: (Value | undefined)[] = [];
  /** Lists that `+` adds to in place (plan-macros.ts, lazyVariable). */
  mutable: Set<Value> | undefined;
  /** What costs do not tell (effort.ts). */
  readonly effort = new Effort();
  /** Keys of maps of a review: listing them takes longer than cel-go charges, so it is done once for each. */
  #keys: Map<JsonMap, readonly string[]> | undefined;
  #iterations = 0;

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

  /**
   * A step that cel-go takes back: `has()` of `?:`, which has no cost itself. Its counter is unsigned, so that less than
   * nothing is more than any limit.
   *
   * @throws EvaluationCancelled where nothing has cost anything yet: the expression failed at its start.
   */
  refund(): void {
    if (this.cost > 0) this.cost -= 1;
    else {
      this.cost = Number.MAX_SAFE_INTEGER;
      throw new EvaluationCancelled(LIMIT_EXCEEDED);
    }
  }

  /** Once before each round of a macro. */
  iterate(): void {
    if (++this.#iterations % CHECK_FREQUENCY === 0 && this.activation.interrupted?.() === true) {
      throw new EvaluationCancelled(INTERRUPTED);
    }
  }

  keysOf(map: JsonMap): readonly string[] {
    let keys = this.#keys?.get(map);
    if (keys === undefined) {
      keys = Object.keys(map);
      this.effort.entries(keys.length);
      this.#keys ??= new Map();
      this.#keys.set(map, keys);
    }
    return keys;
  }
}
