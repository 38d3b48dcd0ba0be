/** Macros. They are charged as what cel-go expands them to, step by step (cel-go parser/macro.go, ext/). */
import { isMap } from './equality.ts';
import type { Frame } from './frame.ts';
import { entriesOf, insertInto } from './libraries/comprehensions.ts';
import { NO_SUCH_OVERLOAD } from './ordering.ts';
import type { Plan, Run } from './plan.ts';
import { conjunction, disjunction } from './plan-logic.ts';
import { type Rounds, doubleRounds, singleRounds } from './rounds.ts';
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

function roundsOf(frame: Frame, { range, slots }: Loop): Rounds | CelError {
  const over = range(frame);
  if (over instanceof CelError) return over;
  return slots.length === 1 ? singleRounds(frame, over) : doubleRounds(frame, over);
}

/** Sets the variables. */
function enter(frame: Frame, { slots }: Loop, { first, second }: Rounds, index: number): void {
  const { locals } = frame;
  locals[slots[0] as number] = first === undefined ? index : first[index];
  if (second !== undefined && slots.length > 1) locals[slots[1] as number] = second[index];
}

/** `all` and `exists`. Each round costs what it takes to see whether the result is known, and to read it again. */
export function quantifierPlan(loop: Loop, kind: 'all' | 'exists'): Plan {
  const decided = kind === 'exists';
  const combine = decided ? disjunction : conjunction;
  const conditionCost = decided ? 3 : 2;
  const { run } = loop.body;
  return {
    run: (frame) => {
      const rounds = roundsOf(frame, loop);
      if (rounds instanceof CelError) return rounds;
      let result: Value = !decided;
      for (let i = 0; i < rounds.count; i++) {
        frame.iterate();
        frame.step(conditionCost);
        if (result === decided) break;
        enter(frame, loop, rounds, i);
        frame.step(1);
        result = combine(result, run(frame));
      }
      frame.step(1);
      return result;
    },
  };
}

/** `exists_one`: goes over everything, and absorbs nothing. */
export function existsOnePlan(loop: Loop): Plan {
  const { run } = loop.body;
  return {
    run: (frame) => {
      const rounds = roundsOf(frame, loop);
      if (rounds instanceof CelError) return rounds;
      let count = 0;
      let failure: CelError | undefined;
      for (let i = 0; i < rounds.count; i++) {
        frame.iterate();
        enter(frame, loop, rounds, i);
        const satisfied = run(frame);
        if (satisfied === true) {
          frame.step(2);
          count++;
        } else if (satisfied !== false) {
          failure = errorOf(satisfied);
        }
      }
      frame.step(2);
      return failure ?? count === 1;
    },
  };
}

function errorOf(value: Value): CelError {
  return value instanceof CelError ? value : NO_SUCH_OVERLOAD;
}

/** What the rounds of a macro that builds something make. */
interface Collector {
  /** One round; what it costs is charged here. After a failure nothing is added any more. */
  readonly add: (frame: Frame, failed: boolean) => CelError | undefined;
  readonly result: () => Value;
}

/** Macros that build a list or a map: all rounds are gone through, also after an error. */
function collectorPlan(loop: Loop, collect: () => Collector): Plan {
  const { filter } = loop;
  return {
    run: (frame) => {
      const rounds = roundsOf(frame, loop);
      if (rounds instanceof CelError) return rounds;
      const collector = collect();
      let failure: CelError | undefined;
      for (let i = 0; i < rounds.count; i++) {
        frame.iterate();
        enter(frame, loop, rounds, i);
        const chosen = filter === undefined ? true : filter(frame);
        if (chosen === true) {
          // The result is read first.
          frame.step(1);
          failure = collector.add(frame, failure !== undefined) ?? failure;
        } else if (chosen !== false) {
          failure = errorOf(chosen);
        }
      }
      frame.step(1);
      return failure ?? collector.result();
    },
  };
}

/** `map`, `filter`, `transformList`: `result + [body]` in every round. */
export function listPlan(loop: Loop): Plan {
  const { run, constant } = loop.body;
  const listCost = constant === undefined ? LIST_COST : 0;
  return collectorPlan(loop, () => {
    const list: Value[] = [];
    return {
      add: (frame, failed) => {
        const element = run(frame);
        if (listCost > 0) frame.charge(listCost);
        frame.step(1);
        if (failed) return undefined;
        if (element instanceof CelError) return element;
        list.push(element);
        return undefined;
      },
      result: () => list,
    };
  });
}

/** `transformMap`: the function that adds is not called any more after an error, so the rest is not evaluated. */
export function mapPlan(loop: Loop): Plan {
  const { run } = loop.body;
  const [slot = 0] = loop.slots;
  return collectorPlan(loop, () => {
    const map = new CelMap();
    return {
      add: (frame, failed) => {
        if (failed) return undefined;
        frame.step(1);
        const value = run(frame);
        frame.step(1);
        return value instanceof CelError ? value : insertInto(map, [[frame.locals[slot] as Value, value]]);
      },
      result: () => map,
    };
  });
}

/** `transformMapEntry`: the entries of the map that the body gives. */
export function mapEntryPlan(loop: Loop): Plan {
  const { run } = loop.body;
  return collectorPlan(loop, () => {
    const map = new CelMap();
    return {
      add: (frame, failed) => {
        const entries = run(frame);
        frame.step(1);
        return failed ? undefined : addEntries(map, entries);
      },
      result: () => map,
    };
  });
}

function addEntries(result: CelMap, entries: Value): CelError | undefined {
  if (entries instanceof CelError) return entries;
  if (isMap(entries)) return insertInto(result, entriesOf(entries));
  return new CelError(`no such overload: cel.@mapInsert(map, ${typeNameOf(entries)})`);
}

/**
 * A variable whose value is looked up when it is first read: that of `optMap` and `optFlatMap`, and the list of
 * `sortBy`. What it takes to find the value is charged then, and not at all if the variable is not read. cel-go takes
 * an empty list for one that a macro builds: `+` adds to the variable itself.
 */
export function lazyVariable(slot: number, initial: Run): Run {
  return (frame) => {
    const known = frame.locals[slot];
    if (known !== undefined) return known;
    let value = initial(frame);
    if (Array.isArray(value) && value.length === 0) {
      value = [];
      frame.mutable ??= new Set();
      frame.mutable.add(value);
    }
    frame.locals[slot] = value;
    return value;
  };
}
