/** Macros. They are charged as what cel-go expands them to, step by step (cel-go parser/macro.go, ext/). */
import { isMap } from './equality.ts';
import type { Frame } from './frame.ts';
import { goTypeName } from './go-type-name.ts';
import { entriesOf, insertInto } from './libraries/comprehensions.ts';
import { NO_SUCH_OVERLOAD } from './ordering.ts';
import type { Plan, Run } from './plan.ts';
import { conjunction, disjunction } from './plan-logic.ts';
import { typeNameOf } from './type-name.ts';
import { CelError, CelMap, type Value } from './values.ts';

/** Cost of making a list. */
export const LIST_COST = 10;

/** A macro with a loop, planned. */
export interface Loop {
  readonly range: Run;
  /** Of the variables: one, or key and value. */
  readonly slots: readonly number[];
  /** Undefined where there is none. */
  readonly filter: Run | undefined;
  readonly body: Plan;
}

/** One round. @returns false to end the loop. */
type Round = () => boolean;

/**
 * Goes over a list or a map.
 *
 * @param before what is done before the variables are set; false ends the loop.
 * @returns the error of a range that is neither list nor map.
 */
function iterate(
  frame: Frame,
  range: Value,
  slots: readonly number[],
  before: Round,
  round: Round,
): CelError | undefined {
  const { locals } = frame;
  const first = slots[0] as number;
  const second = slots[1];
  if (Array.isArray(range)) {
    const list = range as readonly Value[];
    for (let i = 0; i < list.length; i++) {
      frame.iterate();
      if (!before()) return undefined;
      if (second === undefined) locals[first] = list[i];
      else {
        locals[first] = i;
        locals[second] = list[i];
      }
      if (!round()) return undefined;
    }
    return undefined;
  }
  if (!isMap(range)) {
    return new CelError(
      second === undefined
        ? `got '${goTypeName(range)}', expected iterable type`
        : `unsupported comprehension range type: ${goTypeName(range)}`,
    );
  }
  for (const [key, value] of entriesOf(range)) {
    frame.iterate();
    if (!before()) return undefined;
    locals[first] = key;
    if (second !== undefined) locals[second] = value;
    if (!round()) return undefined;
  }
  return undefined;
}

function always(): boolean {
  return true;
}

/** `all` and `exists`. Each round costs what it takes to see whether the result is known, and to read it again. */
export function quantifierPlan({ range, slots, body }: Loop, kind: 'all' | 'exists'): Plan {
  const decided = kind === 'exists';
  const combine = decided ? disjunction : conjunction;
  const conditionCost = decided ? 3 : 2;
  const { run } = body;
  return {
    run: (frame) => {
      const over = range(frame);
      if (over instanceof CelError) return over;
      let result: Value = !decided;
      const error = iterate(
        frame,
        over,
        slots,
        () => {
          frame.step(conditionCost);
          return result !== decided;
        },
        () => {
          frame.step(1);
          result = combine(result, run(frame));
          return true;
        },
      );
      if (error !== undefined) return error;
      frame.step(1);
      return result;
    },
  };
}

/** `exists_one`: goes over everything, and absorbs nothing. */
export function existsOnePlan({ range, slots, body }: Loop): Plan {
  const { run } = body;
  return {
    run: (frame) => {
      const over = range(frame);
      if (over instanceof CelError) return over;
      let count = 0;
      let failure: CelError | undefined;
      const error = iterate(frame, over, slots, always, () => {
        const satisfied = run(frame);
        if (satisfied === true) {
          frame.step(2);
          count++;
        } else if (satisfied !== false) {
          failure = satisfied instanceof CelError ? satisfied : NO_SUCH_OVERLOAD;
        }
        return true;
      });
      if (error !== undefined) return error;
      frame.step(2);
      return failure ?? count === 1;
    },
  };
}

/**
 * `map`, `filter`, `transformList`: `result + [body]` in every round. After an error nothing is added any more, and
 * everything is evaluated still.
 */
export function listPlan({ range, slots, filter, body }: Loop): Plan {
  const { run } = body;
  const listCost = body.constant === undefined ? LIST_COST : 0;
  return {
    run: (frame) => {
      const over = range(frame);
      if (over instanceof CelError) return over;
      const result: Value[] = [];
      let failure: CelError | undefined;
      const error = iterate(frame, over, slots, always, () => {
        const chosen = filter === undefined ? true : filter(frame);
        if (chosen === false) return true;
        if (chosen !== true) {
          failure = chosen instanceof CelError ? chosen : NO_SUCH_OVERLOAD;
          return true;
        }
        frame.step(1);
        const element = run(frame);
        if (listCost > 0) frame.charge(listCost);
        frame.step(1);
        if (failure !== undefined) return true;
        if (element instanceof CelError) failure = element;
        else result.push(element);
        return true;
      });
      if (error !== undefined) return error;
      frame.step(1);
      return failure ?? result;
    },
  };
}

/** `transformMap`: the function that adds is not called any more after an error, so the rest is not evaluated. */
export function mapPlan({ range, slots, filter, body }: Loop): Plan {
  const { run } = body;
  const first = slots[0] as number;
  return {
    run: (frame) => {
      const over = range(frame);
      if (over instanceof CelError) return over;
      const result = new CelMap();
      let failure: CelError | undefined;
      const error = iterate(frame, over, slots, always, () => {
        const chosen = filter === undefined ? true : filter(frame);
        if (chosen === false) return true;
        if (chosen !== true) {
          failure = chosen instanceof CelError ? chosen : NO_SUCH_OVERLOAD;
          return true;
        }
        frame.step(1);
        if (failure !== undefined) return true;
        frame.step(1);
        const value = run(frame);
        frame.step(1);
        failure =
          value instanceof CelError ? value : insertInto(result, [[frame.locals[first] as Value, value]]);
        return true;
      });
      if (error !== undefined) return error;
      frame.step(1);
      return failure ?? result;
    },
  };
}

/** `transformMapEntry`: the entries of the map that the body gives. */
export function mapEntryPlan({ range, slots, filter, body }: Loop): Plan {
  const { run } = body;
  return {
    run: (frame) => {
      const over = range(frame);
      if (over instanceof CelError) return over;
      const result = new CelMap();
      let failure: CelError | undefined;
      const error = iterate(frame, over, slots, always, () => {
        const chosen = filter === undefined ? true : filter(frame);
        if (chosen === false) return true;
        if (chosen !== true) {
          failure = chosen instanceof CelError ? chosen : NO_SUCH_OVERLOAD;
          return true;
        }
        frame.step(1);
        const entries = run(frame);
        frame.step(1);
        failure ??= addEntries(result, entries);
        return true;
      });
      if (error !== undefined) return error;
      frame.step(1);
      return failure ?? result;
    },
  };
}

function addEntries(result: CelMap, entries: Value): CelError | undefined {
  if (entries instanceof CelError) return entries;
  if (isMap(entries)) return insertInto(result, entriesOf(entries));
  return new CelError(`no such overload: cel.@mapInsert(map, ${typeNameOf(entries)})`);
}

/**
 * A variable whose value is looked up when it is first read: that of `optMap` and `optFlatMap`, and the list of
 * `sortBy`. What it takes to find the value is charged then, and not at all if the variable is not read.
 */
export function lazyVariable(slot: number, initial: Run): Run {
  return (frame) => {
    const known = frame.locals[slot];
    if (known !== undefined) return known;
    const value = initial(frame);
    frame.locals[slot] = value;
    return value;
  };
}
