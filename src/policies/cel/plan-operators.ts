/** Operators on one and two values, `size`, and the calls of optionals that look at their second side only if needed. */
import { type ArithmeticOperator, calculate, negate } from './arithmetic.ts';
import { allowElements } from './effort.ts';
import { isMap } from './equality.ts';
import type { Frame } from './frame.ts';
import {
  RELATIONS,
  type Relation,
  additionCost,
  isSized,
  relationCost,
} from './libraries/standard-operators.ts';
import type { CallFacts } from './library.ts';
import { NO_SUCH_OVERLOAD, compare, isComparable } from './ordering.ts';
import type { Plan, Run } from './plan.ts';
import { noSuchOverload } from './plan-calls.ts';
import { actualSize } from './sizes.ts';
import { CelError, CelMap, Optional, type Value } from './values.ts';

export function notPlan(operand: Run): Plan {
  return {
    run: (frame) => {
      const value = operand(frame);
      frame.step(1);
      if (typeof value === 'boolean') return !value;
      return value instanceof CelError ? value : NO_SUCH_OVERLOAD;
    },
  };
}

export function negationPlan(operand: Run): Plan {
  return {
    run: (frame) => {
      const value = operand(frame);
      frame.step(1);
      return value instanceof CelError ? value : (negate(value) ?? noSuchOverload('-_', value));
    },
  };
}

export function sizePlan(operand: Run): Plan {
  return {
    run: (frame) => {
      const value = operand(frame);
      frame.step(1);
      if (value instanceof CelError) return value;
      if (isMap(value) && !(value instanceof CelMap)) return frame.keysOf(value).length;
      return isSized(value) ? actualSize(value) : noSuchOverload('size', value);
    },
  };
}

type CostOf = (facts: CallFacts) => number;

/** The cost of a call with these operands; 1 where the overload says so, without a look at them. */
function chargeOf(cost: CostOf, overloadId: string | undefined): (frame: Frame, a: Value, b: Value) => void {
  if (overloadId === undefined || !/_(?:string|bytes)$/.test(overloadId)) return (frame) => frame.step(1);
  return (frame, a, b) => {
    frame.charge(cost({ args: [a, b], result: null, overloadId }));
  };
}

export function arithmeticPlan(
  operator: ArithmeticOperator,
  left: Run,
  right: Run,
  overloadId: string | undefined,
): Plan {
  const charge = chargeOf(additionCost, overloadId);
  return {
    run: (frame) => {
      const a = left(frame);
      const b = right(frame);
      charge(frame, a, b);
      if (a instanceof CelError) return a;
      if (b instanceof CelError) return b;
      if (operator === '_+_' && Array.isArray(a) && Array.isArray(b)) {
        frame.effort.elements(a.length + b.length);
        allowElements(a.length + b.length);
        if (frame.mutable?.has(a) === true) return append(a as Value[], b as readonly Value[]);
      }
      return calculate(operator, a, b) ?? noSuchOverload(operator, a);
    },
  };
}

function append(list: Value[], added: readonly Value[]): Value {
  const count = added.length;
  for (let i = 0; i < count; i++) list.push(added[i] as Value);
  return list;
}

export function relationPlan(
  relation: Relation,
  left: Run,
  right: Run,
  overloadId: string | undefined,
): Plan {
  const charge = chargeOf(relationCost, overloadId);
  const satisfies = RELATIONS[relation];
  return {
    run: (frame) => {
      const a = left(frame);
      const b = right(frame);
      charge(frame, a, b);
      if (a instanceof CelError) return a;
      if (b instanceof CelError) return b;
      if (!isComparable(a)) return noSuchOverload(relation, a);
      const order = compare(a, b);
      return typeof order === 'number' ? satisfies(order) : order;
    },
  };
}

/** `a.or(b)`. Neither it nor `orValue` costs anything. */
export function orOptionalPlan(left: Run, right: Run): Plan {
  return {
    run: (frame) => {
      const value = left(frame);
      return value instanceof Optional && value.value === undefined ? right(frame) : value;
    },
  };
}

/** `a.orValue(b)`. */
export function orValuePlan(left: Run, right: Run): Plan {
  return {
    run: (frame) => {
      const value = left(frame);
      if (!(value instanceof Optional)) return value;
      return value.value ?? (value.value === null ? null : right(frame));
    },
  };
}
