/** `&&` and `||`, which absorb errors, `==`, `!=` and `in`. */
import { equal, isEqual, isMap } from './equality.ts';
import { VariableScope } from './activation.ts';
import type { Effort } from './effort.ts';
import { NO_SUCH_OVERLOAD } from './ordering.ts';
import { constantPlan, type Plan, type Run } from './plan.ts';
import { entry, requireHashable } from './qualify.ts';
import { STRING_TRAVERSAL, standardSize } from './sizes.ts';
import { CelError, Opaque, Uint, type Value, isBoxedDouble, isIntNumber } from './values.ts';

/** What `&&` makes of its sides: false wins over an error, the first error over the second. */
export function conjunction(left: Value, right: Value): Value {
  if (left === false || right === false) return false;
  if (left === true) return right === true ? true : errorOf(right);
  return errorOf(left);
}

/** As `conjunction`, with true. */
export function disjunction(left: Value, right: Value): Value {
  if (left === true || right === true) return true;
  if (left === false) return right === false ? false : errorOf(right);
  return errorOf(left);
}

function errorOf(value: Value): CelError {
  return value instanceof CelError ? value : NO_SUCH_OVERLOAD;
}

export function andPlan(left: Run, right: Run): Plan {
  return {
    run: (frame) => {
      const first = left(frame);
      return first === false ? false : conjunction(first, right(frame));
    },
  };
}

export function orPlan(left: Run, right: Run): Plan {
  return {
    run: (frame) => {
      const first = left(frame);
      return first === true ? true : disjunction(first, right(frame));
    },
  };
}

export function equalityPlan(left: Run, right: Run): Plan {
  return {
    run: (frame) => {
      const a = left(frame);
      const b = right(frame);
      if (typeof a === 'string' && typeof b === 'string') {
        frame.charge(textCost(a, b));
        return a === b;
      }
      if (typeof a === 'number' && typeof b === 'number') {
        frame.step(1);
        return a === b;
      }
      frame.charge(a instanceof Opaque ? 1 : equalityCost(a, b));
      if (a instanceof CelError) return a;
      if (b instanceof CelError) return b;
      return equal(a, b, frame.effort) ?? NO_SUCH_OVERLOAD;
    },
  };
}

/** What cannot be compared is not equal. */
export function inequalityPlan(left: Run, right: Run): Plan {
  return {
    run: (frame) => {
      const a = left(frame);
      const b = right(frame);
      if (typeof a === 'string' && typeof b === 'string') {
        frame.charge(textCost(a, b));
        return a !== b;
      }
      frame.charge(equalityCost(a, b));
      if (a instanceof CelError) return a;
      if (b instanceof CelError) return b;
      return !isEqual(a, b, frame.effort);
    },
  };
}

/** Up to ten code units are one to ten code points. */
const SHORT_TEXT = 10;

function textCost(left: string, right: string): number {
  const length = Math.min(left.length, right.length);
  return length <= SHORT_TEXT ? Math.sign(length) : equalityCost(left, right);
}

function equalityCost(left: Value, right: Value): number {
  return Math.ceil(Math.min(standardSize(left), standardSize(right)) * STRING_TRAVERSAL);
}

/** Whether a value is in a list or is a key of a map. */
export function contains(item: Value, container: Value, effort?: Effort): Value {
  if (Array.isArray(container)) {
    effort?.elements(container.length);
    for (const element of container as readonly Value[]) if (isEqual(item, element, effort)) return true;
    return false;
  }
  return isMap(container) && !(container instanceof VariableScope)
    ? entry(container, item) !== undefined
    : NO_SUCH_OVERLOAD;
}

/** @param inList the checker knows that it is a list: the call costs its size then. */
export function membershipPlan(item: Run, container: Run, inList: boolean): Plan {
  return {
    run: (frame) => {
      const a = item(frame);
      const b = container(frame);
      const result = a instanceof CelError ? a : b instanceof CelError ? b : contains(a, b, frame.effort);
      frame.charge(inList ? standardSize(b) : 1);
      return result;
    },
  };
}

/**
 * `item in [constants]`: cel-go looks into a set, and that is free.
 *
 * @returns undefined where the list holds what cel-go puts in no set.
 */
export function constantMembershipPlan(item: Run, list: readonly Value[]): Plan | undefined {
  if (list.length === 0) return constantPlan(false);
  const members = new MemberSet();
  for (const element of list) if (!members.add(element)) return undefined;
  return {
    run: (frame) => {
      const value = item(frame);
      return value instanceof CelError ? value : members.has(value);
    },
  };
}

/** Values by their type: cel-go adds each number in the other types too, where it converts. */
class MemberSet {
  readonly #plain = new Set<Value>();
  readonly #uints = new Set<bigint>();
  readonly #doubles = new Set<number>();

  /** @returns false for a value that no set can hold. */
  add(value: Value): boolean {
    if (typeof value === 'string' || typeof value === 'boolean') this.#plain.add(value);
    else if (typeof value === 'bigint' || (typeof value === 'number' && isIntNumber(value))) {
      this.#plain.add(value);
      this.#doubles.add(Number(value));
      if (value >= 0) this.#uints.add(BigInt(value));
    } else if (value instanceof Uint) {
      this.#uints.add(value.value);
      this.#doubles.add(Number(value.value));
      if (value.value < 2n ** 63n) this.#addInt(value.value);
    } else {
      const double = doubleOrUndefined(value);
      if (double === undefined) return false;
      this.#addDouble(double);
    }
    return true;
  }

  #addInt(value: bigint): void {
    const small = Number(value);
    this.#plain.add(Number.isSafeInteger(small) ? small : value);
  }

  #addDouble(double: number): void {
    // NaN is no member of anything.
    if (Number.isNaN(double)) return;
    this.#doubles.add(double + 0);
    if (!Number.isInteger(double)) return;
    if (Math.abs(double) < 2 ** 63) this.#addInt(BigInt(double));
    if (double >= 0 && double < 2 ** 64) this.#uints.add(BigInt(double));
  }

  has(value: Value): boolean {
    if (value instanceof Uint) return this.#uints.has(value.value);
    requireHashable(value);
    const double = doubleOrUndefined(value);
    return double === undefined ? this.#plain.has(value) : this.#doubles.has(double + 0);
  }
}

function doubleOrUndefined(value: Value): number | undefined {
  if (isBoxedDouble(value)) return value.valueOf();
  return typeof value === 'number' && !isIntNumber(value) ? value : undefined;
}
